"""The replay for a terminal: the table after each event, at most 100 columns wide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len

from sim.board import Meld
from sim.cards import KINDS, WANG, card_name, is_red
from sim.gamelog import Event
from sim.replay_frames import (
    OPEN,
    PASSED,
    Frame,
    GameView,
    Offer,
    SeatView,
    group_text,
    split_games,
    transfer_text,
    view_game,
    win_steps,
)
from sim.replay_words import OPTIONS, ROLES, TYPES, check_lang, describe, recode, seat_name

WIDTH = 100
"""Columns that no line exceeds; a Chinese character takes two."""

# marks around pieces of text that become colours, or nothing
_RED, _BOLD, _DIM, _WANG, _PLAIN = "\x01", "\x02", "\x03", "\x04", "\x05"
_CODES = {_RED: "\x1b[31m", _BOLD: "\x1b[1m", _DIM: "\x1b[2m", _WANG: "\x1b[35;1m", _PLAIN: "\x1b[0m"}
_MARKS = re.compile(f"[{_RED}-{_PLAIN}]")

_INDENT = 20  # columns of seat and label at the left of cards

WORDS = {
    "zh": {
        "step": "第 {} 步，共 {} 步",
        "wall": "牌墙余 {}",
        "hand": "手牌",
        "groups": "门子",
        "dead_pile": "弃牌",
        "huxi": "{} 息",
        "kans": "+坎 {}",
        "discards": "打",
        "draws": "摸",
        "could": "可以",
        "took": "取",
        "passed": "过",
        "forced": "必须",
        "choices": "可选 {}",
        "table": "台面 {}（{}{}）",
        "drew": "摸",
        "threw": "打",
        "hidden": "，暗",
        "deadhand": "死手",
        "sits": "旁坐，不发牌",
        "game": "永州扯胡子 {} 第 {} 局，种子 {}",
        "overrides": "改动",
        "seats": "座位",
        "wall_order": "牌墙",
        "win": "胡牌",
        "pays": "收付",
        "scores": "得失",
        "fault": "违规",
        "or": "、",
        "none": "无",
    },
    "en": {
        "step": "step {} of {}",
        "wall": "{} left in the wall",
        "hand": "hand",
        "groups": "groups",
        "dead_pile": "dead",
        "huxi": "{} huxi",
        "kans": "+{} kan",
        "discards": "discarded",
        "draws": "drawn",
        "could": "could",
        "took": "took",
        "passed": "passed",
        "forced": "must",
        "choices": "of {}",
        "table": "on the table: {} ({} {})",
        "drew": "drew it",
        "threw": "discarded it",
        "hidden": ", hidden",
        "deadhand": "dead hand",
        "sits": "sits out, holds no cards",
        "game": "Chehuzi {}, game {}, seed {}",
        "overrides": "changed",
        "seats": "seats",
        "wall_order": "wall",
        "win": "win",
        "pays": "payments",
        "scores": "scores",
        "fault": "FAULT",
        "or": ", ",
        "none": "none",
    },
}


def plain(text: str) -> str:
    """Text without what could steer a terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)


def columns(text: str) -> int:
    """Columns of a line on a terminal; marks for colours take none."""
    return cell_len(_MARKS.sub("", text))


def _pad(text: str, width: int) -> str:
    return text + " " * max(0, width - columns(text))


def _flow(items: Iterable[str], prefix: str, separator: str = "  ") -> list[str]:
    """Items one after the other behind a prefix, in as many lines as they need."""
    width = columns(prefix)
    lines, line = [], ""
    for item in items:
        joined = f"{line}{separator}{item}" if line else item
        if line and width + columns(joined) > WIDTH:
            lines.append(line)
            joined = item
        line = joined
    lines.append(line)
    return [prefix + lines[0], *(" " * width + line for line in lines[1:])]


def wrap(text: str, prefix: str) -> list[str]:
    """Running text behind a prefix; broken at spaces, or between any two wide characters."""
    width = columns(prefix)
    words = re.findall(r"[^\u0000-\u2fff][，。；：、）」]*|[\u0000-\u0020]+|[!-\u2fff]{1,60}", text)
    lines, line = [], ""
    for word in words:
        if line.strip() and width + columns(line + word.rstrip()) > WIDTH:
            lines.append(line.rstrip())
            line = ""
        line += word if line else word.lstrip()
    lines.append(line.rstrip())
    return [prefix + lines[0], *(" " * width + line for line in lines[1:])]


class TextReplay:
    """Draws the frames of one game as text.

    Parameters
    ----------
    view : GameView
    lang : str
        ``zh`` or ``en``.
    ascii : bool
        Cards and lines in ASCII; with ``en`` the whole text is.
    color : bool
        With terminal colours.
    notes : mapping of int to lines, optional
        Remarks by event, put below its frame.
    """

    def __init__(
        self,
        view: GameView,
        lang: str = "zh",
        ascii: bool = False,
        color: bool = False,
        notes: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        self.view = view
        self.notes = notes or {}
        self.lang = check_lang(lang)
        self.ascii = ascii
        self.color = color
        self.words = WORDS[self.lang]
        self.types = TYPES[self.lang]

    def frame(self, number: int) -> str:
        """One frame: several lines, without a newline at the end."""
        frame = self.view.frames[number]
        lines = self._head(frame)
        if number == 0:
            lines += self._deal()
        for complaint in frame.complaints:
            lines += wrap(plain(complaint.text(self.lang)), f"{_RED}!! {self.words['fault']}{_PLAIN}  ")
        lines += self._offers(frame)
        for seat in sorted(frame.seats, key=lambda s: ("dealer", "next", "third", "sitter").index(s.role)):
            lines += self._seat(frame, seat)
        if frame.event["type"] == "win":
            lines += self._win(frame.event)
        elif frame.event["type"] == "end":
            lines += self._end(frame.event)
        if number in self.notes:
            lines += ["", *self.notes[number]]
        return "\n".join(self._finish(line) for line in lines)

    def frames(self) -> Iterator[str]:
        """All frames in order."""
        for number in range(len(self.view.frames)):
            yield self.frame(number)

    # --- parts -----------------------------------------------------------------------------------

    def _finish(self, line: str) -> str:
        line = line.rstrip()
        if self.ascii and self.lang == "en":
            line = line.replace("−", "-").replace("×", "x").replace("…", "...")
            line = line.encode("ascii", "replace").decode()
        if self.color:
            return _MARKS.sub(lambda mark: _CODES[mark.group()], line)
        return _MARKS.sub("", line)

    def _cards(self, kinds: Sequence[int]) -> str:
        """Cards with red ones and wangs marked."""
        pieces = []
        for kind in kinds:
            face = card_name(kind, self.ascii)
            if kind == WANG:
                face = f"{_WANG}{face}{_PLAIN}"
            elif is_red(kind):
                face = f"{_RED}{face}{_PLAIN}"
            pieces.append(face)
        return (" " if self.ascii else "").join(pieces)

    def _head(self, frame: Frame) -> list[str]:
        left = self.words["step"].format(frame.number, len(self.view.frames) - 1)
        right = self.words["wall"].format(frame.wall_left)
        bar = "-" if self.ascii else "─"
        fill = bar * (WIDTH - columns(left) - columns(right) - 8)
        rule = f"{bar * 2} {_BOLD}{left}{_PLAIN} {fill} {right} {bar * 2}"
        arrow = ">>" if self.ascii else "▶"
        lines = [rule]
        told = describe(frame.event, self.lang, self.ascii)
        lines += wrap(told, f"{arrow} {_BOLD}")
        lines[-1] += _PLAIN
        if frame.card is not None:
            card = frame.card
            how = self.words["drew" if card.drawn else "threw"]
            how += self.words["hidden"] if card.hidden else ""
            face = self._cards([card.kind])
            lines.append("   " + self.words["table"].format(face, seat_name(card.seat, self.lang), how))
        return lines

    def _deal(self) -> list[str]:
        start, words = self.view.start, self.words
        game, seed = (words["none"] if start[key] is None else start[key] for key in ("game", "seed"))
        lines = [f"   {words['game'].format(start['variant'], game, seed)}"]
        if start["overrides"]:
            items = [plain(f"{key}={value}") for key, value in start["overrides"].items()]
            lines += _flow(items, f"   {words['overrides']}  ")
        roles = ("dealer", "next", "third")
        bots = dict(zip(roles, (plain(str(bot)) for bot in start["bots"]), strict=False))
        names = [
            f"{seat_name(view.seat, self.lang)} {ROLES[self.lang][view.role]}"
            + (f" ({bots[view.role]})" if view.role in bots else "")
            for view in self.view.frames[0].seats
        ]
        lines += _flow(names, f"   {words['seats']}  ", "   ")
        wall = [recode(face, self.ascii) for face in start["wall"]]
        return lines + _flow(wall, f"   {words['wall_order']}  ", " ")

    def _offer(self, offer: Offer) -> str:
        words = self.words
        name = f"{seat_name(offer.seat, self.lang)} {OPTIONS[self.lang][offer.option]}"
        arrow = " -> " if self.ascii else " → "
        if offer.option == "discard":
            told = arrow + recode(offer.chosen, self.ascii) if offer.chosen else ""
        elif offer.state == PASSED:
            told = arrow + words["passed"]
        elif offer.state == OPEN:
            told = f" ({words['forced']})" if offer.forced else ""
        else:
            chosen = " ".join(recode(group, self.ascii) for group in offer.chosen.split("+") if group)
            told = arrow + (chosen or words["took"])
        return f"{name}{told}{self._choices(offer)}"

    def _choices(self, offer: Offer) -> str:
        if not offer.choices or (offer.option == "chi" and len(offer.choices) == 1 and offer.chosen):
            return ""
        if offer.option == "discard":
            shown = recode("".join(offer.choices), self.ascii)
        else:
            texts = (" ".join(recode(g, self.ascii) for g in choice.split("+")) for choice in offer.choices)
            shown = " / ".join(texts)
        return f"  [{self.words['choices'].format(shown)}]"

    def _offers(self, frame: Frame) -> list[str]:
        if not frame.offers:
            return []
        lines = []
        prefix = f"   {self.words['could']}  "
        for offer in frame.offers:
            lines += wrap(self._offer(offer), prefix)
            prefix = " " * columns(prefix)
        return lines

    def _meld(self, meld: Meld, new: bool) -> str:
        cards = self._cards(meld.cards)
        if meld.hidden:
            cards = f"[{cards}]"
        name = self.types[meld.type]
        mark = "*" if new else ""
        huxi = f"{meld.huxi}息" if self.lang == "zh" else f"({meld.huxi})"
        return f"{mark}{_BOLD if new else ''}{name}{_PLAIN if new else ''} {cards} {huxi}"

    def _hand(self, hand: Sequence[int]) -> list[str]:
        """The hand in order, alike together, small and large apart."""
        items: list[str] = []
        for size in (range(KINDS // 2), range(KINDS // 2, KINDS), (WANG,)):
            alike = [self._cards([kind] * hand.count(kind)) for kind in size if kind in hand]
            if alike and items:
                items.append("|" if self.ascii else "┃")
            items += alike
        return items

    def _seat(self, frame: Frame, seat: SeatView) -> list[str]:
        words = self.words
        turn = frame.turn == seat.seat
        mark = (">" if self.ascii else "▸") if turn else " "
        name = f"{seat_name(seat.seat, self.lang)} {ROLES[self.lang][seat.role]}"
        name = f" {mark} {_BOLD}{name}{_PLAIN}" if turn else f" {mark} {name}"
        if seat.role == "sitter":
            return [f"{_pad(name, _INDENT)}{_DIM}{words['sits']}{_PLAIN}"]

        def prefix(left: str, label: str) -> str:
            return _pad(left, _INDENT) + _pad(words[label], 5 if self.lang == "zh" else 7)

        number = f"({len(seat.hand)})"
        lines = _flow([*self._hand(seat.hand), number], prefix(name, "hand"), " ")
        huxi = "   " + words["huxi"].format(seat.huxi)
        if seat.kan_huxi:
            huxi += " " + words["kans"].format(seat.kan_huxi)
        melds = [self._meld(meld, number in seat.touched) for number, meld in enumerate(seat.melds)]
        lines += _flow(melds or ["-"], prefix(huxi, "groups"))
        dead = "   " + words["deadhand"] if seat.dead else ""
        piles = [
            f"{words[label]} {self._cards([kind for kind, drawn in seat.pile if drawn == was_drawn])}"
            for label, was_drawn in (("discards", False), ("draws", True))
            if any(drawn == was_drawn for _, drawn in seat.pile)
        ]
        return lines + _flow(piles or ["-"], prefix(dead, "dead_pile"))

    def _win(self, win: Event) -> list[str]:
        prefix = f"   {_BOLD}{self.words['win']}{_PLAIN}  "
        groups = [group_text(group, self.lang, self.ascii) for group in win["groups"]]
        lines = ["", *_flow(groups, prefix, "   ")]
        for step in win_steps(self.view.variant, win, self.lang, self.ascii):
            lines += wrap(step, " " * columns(prefix))
        return lines

    def _end(self, end: Event) -> list[str]:
        words = self.words
        payments = [transfer_text(entry, self.lang, self.ascii) for entry in end["transfers"]]
        lines = ["", *_flow(payments or [words["none"]], f"   {words['pays']}  ", "   ")]
        scores = [
            f"{seat_name(int(seat), self.lang)} {score:+d}" for seat, score in sorted(end["scores"].items())
        ]
        return lines + _flow(scores, f"   {words['scores']}  ", "   ")


def render_text(
    events: Iterable[Event], lang: str = "zh", ascii: bool = False, color: bool = False
) -> Iterator[str]:
    """The table after each event of a log, as text.

    Parameters
    ----------
    events : iterable of dict
        One game or several, one after another.
    lang : str
        ``zh`` or ``en``.
    ascii : bool
        Cards as ``s1``…``s10``, ``b1``…``b10``, ``w``, and no line-drawing characters.
    color : bool
        With terminal colours.

    Yields
    ------
    str
        One frame: lines of at most 100 columns, without a newline at the end.

    Raises
    ------
    LogError
        If a game does not begin with ``start``, or its variant cannot be made.
    """
    check_lang(lang)
    for game in split_games(events):
        yield from TextReplay(view_game(game), lang, ascii, color).frames()
