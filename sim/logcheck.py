"""Judging game logs: the engine plays the same deal, the log makes the choices.

Whatever the engine would have written and the log does not is a complaint.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sim.board import Board
from sim.bots.decisions import D_CHI, D_DISCARD, D_NONE, D_PENG, D_WIN, PASS, TAKE
from sim.cards import FACES, KINDS, WANG, parse_cards, show_cards
from sim.engine import advance, apply, start
from sim.explain import QueryError, all_arrangements, judge, lay_out
from sim.gamelog import Event, end_event, events_since, winning_hand
from sim.groups import GROUP_KINDS
from sim.params import Params, compile_params
from sim.replay_words import OPTIONS, describe, seat_name
from sim.rules.claims import chi_options
from sim.rules.deal import ORDINARY
from sim.state import DECIDER, DECISION, N_LOG, N_OPTIONS, OWNED, QUADS, Table, change, clear, new_table
from sim.variant import Variant, VariantError, load_variant


@dataclass(frozen=True)
class Complaint:
    """Where a log departs from the rules."""

    event: int
    """Index in the list of events; the number of events where the log is too short."""
    rule: str | None
    """Number in rules.md, where one is known."""
    en: str
    zh: str
    expected: Event | None = None
    """What should have been there instead, where that is one event."""
    line: int | None = None
    """Line in the file, where it was read from one."""

    def text(self, lang: str = "en") -> str:
        """The complaint in one line."""
        if lang == "zh":
            where = f"第 {self.event} 步" if self.line is None else f"第 {self.line} 行"
            rule = f"（规则 {self.rule}）" if self.rule else ""
            should = f"，应为：{describe(self.expected, 'zh')}" if self.expected else ""
            return f"{where}：{self.zh}{rule}{should}"
        where = f"event {self.event}" if self.line is None else f"line {self.line}"
        rule = f" (rule {self.rule})" if self.rule else ""
        should = f"; it should be: {describe(self.expected, 'en')}" if self.expected else ""
        return f"{where}: {self.en}{rule}{should}"

    def __str__(self) -> str:
        return self.text("en")


@dataclass
class Following:
    """What :func:`follow` found."""

    complaints: list[Complaint] = field(default_factory=list)
    options: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """By the index of a chosen event: all chi options (groups joined by ``+``), or all cards to discard."""


Watch = Callable[[int, Table, int], None]
"""See :func:`follow`."""


class _Departed(Exception):  # noqa: N818 - not an error: it ends the comparison
    """The log has left the rules; what follows cannot be compared."""


_RULE_OF = {
    "ti": "2.3",
    "draw": "2.6",
    "wei": "2.1",
    "pao": "2.5",
    "peng": "2.4",
    "chi": "2.9",
    "discard": "2.8",
    "dead": "2.8",
    "win": "5.3",
    "draw_game": "2.6",
    "end": "3.9",
}
_CHOICE_RULES = {D_WIN: "2.6", D_PENG: "2.4", D_CHI: "2.9", D_DISCARD: "2.8"}
_CHOICE_EN = {D_WIN: "win", D_PENG: "peng", D_CHI: "chi"}


def variant_of(start: Mapping[str, Any]) -> Variant:
    """The variant that a ``start`` event names, with its overrides.

    Raises
    ------
    VariantError
        If there is no such preset, or an override is not possible.
    """
    return load_variant(start["variant"], start["overrides"])


def check_log(events: Sequence[Event]) -> list[Complaint]:
    """Judge the log of one game by the rules.

    The same deal is played by the engine, the log makes the choices, and everything that the engine would have written
    is compared: order of turns, forced moves, who is asked, values, transfers and scores. ``seed``, ``game`` and
    ``bots`` do not matter, so any log can be judged alone. A single wrong value is reported and the comparison
    goes on; after another course of play it stops.

    Parameters
    ----------
    events : sequence of dict
        One game, from ``start`` to ``end``; as :func:`read_log` or ``Player.events`` give it.

    Returns
    -------
    list of Complaint
        Empty for a log that keeps the rules.
    """
    return follow(events).complaints


def follow(events: Sequence[Event], watch: Watch | None = None) -> Following:
    """Judge a log as :func:`check_log` does, and note what else could have been chosen.

    Parameters
    ----------
    events : sequence of dict
        One game.
    watch : callable, optional
        Called at every decision, before it is carried out, with the index of the event that makes it, the table and the
        choice; the table is to be left as it is, but for the counters and random words of bots. What it
        raises ends the following.
    """
    found = Following()
    if not events or events[0]["type"] != "start":
        found.complaints.append(Complaint(0, None, "a log begins with 'start'", "日志须以 start 开头"))
        return found
    try:
        variant = variant_of(events[0])
    except VariantError as error:
        found.complaints.append(Complaint(0, None, f"no such variant: {error}", f"没有这种玩法：{error}"))
        return found
    params = compile_params(variant)
    found.complaints += _start_complaints(events[0], params)
    if not found.complaints:
        judge_ = _Judge(variant, params, events, found, watch)
        with contextlib.suppress(_Departed):
            judge_.run()
    return found


def _start_complaints(start: Mapping[str, Any], p: Params) -> list[Complaint]:
    """Faults of the deal: seats, sizes of hands, the deck."""
    complaints = []
    if start["seats"] != p.seats:
        complaints.append(
            Complaint(0, "1.12", f"{start['seats']} seats, the variant has {p.seats}", f"座位应为 {p.seats}")
        )
        return complaints
    sitter = (start["dealer"] + 2) % 4 if p.seats == 4 else None
    if start["sitter"] != sitter:
        complaints.append(
            Complaint(
                0,
                "1.12",
                f"the sitter is {start['sitter']}, opposite dealer {start['dealer']} is {sitter}",
                f"醒家应为 {sitter}（庄家对面），日志为 {start['sitter']}",
            )
        )
        return complaints
    active = [seat for seat in range(p.seats) if seat != sitter]
    hands = start["hands"]
    if sorted(hands) != [str(seat) for seat in active]:
        complaints.append(
            Complaint(
                0, "1.12", f"hands of seats {', '.join(hands)}, not of the active {active}", "手牌与座位不符"
            )
        )
        return complaints
    counts = [0] * (KINDS + 1)
    for seat in active:
        cards = parse_cards(hands[str(seat)])
        right = 21 if seat == start["dealer"] else 20
        if len(cards) != right:
            complaints.append(
                Complaint(
                    0,
                    "1.13",
                    f"seat {seat} is dealt {len(cards)} cards, not {right}",
                    f"{seat}号发了 {len(cards)} 张，应为 {right} 张",
                )
            )
        for kind in cards:
            counts[kind] += 1
    for kind in parse_cards(start["wall"]):
        counts[kind] += 1
    for kind, count in enumerate(counts):
        right = p.wangs if kind == WANG else 4
        if count != right:
            face = FACES[kind]
            complaints.append(
                Complaint(
                    0,
                    "1.1",
                    f"{count} cards {face} in the deck, not {right}",
                    f"{face} 有 {count} 张，应为 {right} 张",
                )
            )
    return complaints


def _same(expected: Event, actual: Mapping[str, Any], name: str) -> bool:
    if name == "hidden":
        return True  # compared later
    if name == "transfers":
        return sorted(map(list, expected[name])) == sorted(map(list, actual[name]))
    if name == "names":
        return sorted(expected[name]) == sorted(actual[name])
    if name == "groups" and expected["type"] == "chi":
        return _option_of(expected[name]) == _option_of(actual[name]) and _first_is_claimed(actual)
    if name == "xing" and expected[name] is not None and actual.get(name) is not None:
        return all(expected[name][key] == actual[name].get(key) for key in ("card", "count"))
    return bool(expected[name] == actual.get(name))


def _option_of(groups: Iterable[str]) -> tuple[tuple[int, ...], ...]:
    return tuple(sorted(tuple(sorted(parse_cards(group))) for group in groups))


def _first_is_claimed(event: Mapping[str, Any]) -> bool:
    return event["card"] in event["groups"][0]


def _one(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


_VALUE_RULES = {
    ("win", "huxi"): "3",
    ("win", "tun"): "3.8",
    ("win", "fan"): "4",
    ("win", "score"): "3.9",
    ("win", "names"): "4",
    ("win", "groups"): "5.3",
    ("win", "xing"): "2.13",
    ("end", "transfers"): "3.9",
    ("end", "scores"): "3.9",
    ("wei", "open"): "2.2",
    ("ti", "base"): "2.3",
    ("ti", "from"): "1.13",
    ("pao", "base"): "2.5",
    ("chi", "groups"): "2.11",
    ("draw_game", "wangs"): "1.3",
}


class _Judge:
    """Plays the deal of a log with its choices and compares."""

    def __init__(
        self,
        variant: Variant,
        params: Params,
        events: Sequence[Event],
        found: Following,
        watch: Watch | None = None,
    ) -> None:
        self.watch = watch
        self.variant = variant
        self.params = params
        self.events = events
        self.found = found
        self.at = 1
        """Index of the event that is next to be compared."""
        self.board = Board.of_start(events[0], params)
        """The table as the log tells it, up to there: for reasons."""
        self.table: Table = new_table(log=True)
        self._written = 0
        self._draw: tuple[int, int] | None = None
        """Index and log row of the last draw, while its ``hidden`` is still to be compared."""
        self._deal()

    def _deal(self) -> None:
        deck: list[int] = []
        for seat in self.board.active:
            deck += parse_cards(self.events[0]["hands"][str(seat)])
        deck += parse_cards(self.events[0]["wall"])
        self.table.deck[: ORDINARY + self.params.wangs] = deck
        nobody = np.zeros(3, dtype=np.int64)
        start(self.params, self.table, self.board.dealer, nobody, np.zeros(8, dtype=np.int64))

    def run(self) -> None:
        """Compare until the game is over or the log departs."""
        p, t = self.params, self.table
        while True:
            decision = advance(p, t)
            self._compare_new()
            if decision == D_NONE:
                break
            choice = self._choice()
            if self.watch is not None:
                self.watch(self.at, t, choice)
            apply(p, t, choice)
        self._compare(end_event(t))
        if self.at < len(self.events):
            self._complain(None, "the game is over here, but the log goes on", "牌局已结束，日志却还有内容")

    def _compare_new(self) -> None:
        first, t = self._written, self.table
        new = events_since(self.variant, self.params, t, first)
        self._written = int(t.game[N_LOG])
        for number, expected in enumerate(new, start=first):
            self._compare(expected)
            if expected["type"] == "draw":
                self._draw = (self.at - 1, number)

    def _check_hidden(self) -> None:
        """Compare the flag of the last draw, once what was done with the card is known: a declared win shows it."""
        if self._draw is None:
            return
        (index, number), self._draw = self._draw, None
        right, told = bool(self.table.log[number, 3]), bool(self.events[index].get("hidden"))
        if right != told:
            flags = "true" if told else "false", "true" if right else "false"
            self.found.complaints.append(
                Complaint(
                    index,
                    "2.6",
                    f"hidden of draw is {flags[0]}, right is {flags[1]}",
                    f"draw 的 hidden 为 {flags[0]}，应为 {flags[1]}",
                )
            )

    def _complain(self, rule: str | None, en: str, zh: str, expected: Event | None = None) -> None:
        self.found.complaints.append(Complaint(self.at, rule, en, zh, expected))

    def _depart(self, rule: str | None, en: str, zh: str, expected: Event | None = None) -> _Departed:
        self._complain(rule, en, zh, expected)
        return _Departed()

    # --- the course of play ----------------------------------------------------------------------

    def _next(self, expected: Event | None, rule: str | None) -> Event:
        if self.at >= len(self.events):
            raise self._depart(rule, "the log ends before the game does", "日志在牌局结束前中断", expected)
        return self.events[self.at]

    def _compare(self, expected: Event) -> None:
        self._check_hidden()
        kind = expected["type"]
        rule = _RULE_OF.get(kind)
        actual = self._next(expected, rule)
        if any(expected.get(name) != actual.get(name) for name in ("type", "seat", "card")):
            raise self._other_course(expected, actual)
        for name in expected:
            if name == "groups" and kind == "win":
                self._compare_groups(expected, actual)
            elif not _same(expected, actual, name):
                self._complain(
                    _VALUE_RULES.get((kind, name), rule),
                    f"{name} of {kind} is {_one(actual.get(name))}, right is {_one(expected[name])}",
                    f"{kind} 的 {name} 为 {_one(actual.get(name))}，应为 {_one(expected[name])}",
                )
        self.board.apply(actual)
        self.at += 1

    def _compare_groups(self, expected: Event, actual: Mapping[str, Any]) -> None:
        """The groups of a win: those that are scored, or others worth exactly the same."""

        def key(groups: Iterable[Mapping[str, Any]]) -> list[tuple[str, tuple[int, ...], int]]:
            return sorted(
                (g["type"], tuple(sorted(parse_cards(g["cards"]))), g.get("wangs", 0)) for g in groups
            )

        told = key(actual["groups"])
        if told == key(expected["groups"]):
            return
        for other in all_arrangements(winning_hand(self.variant, self.params, self.table)):
            if told == key([group.as_dict() for group in other.groups]):
                if other.wins and (other.score, other.huxi) == (expected["score"], expected["huxi"]):
                    return
                self._complain(
                    "5.3",
                    f"these groups are worth {other.score}, the best ones {expected['score']}",
                    f"这样组牌值 {other.score}，最优组合值 {expected['score']}",
                )
                return
        shown = " ".join(group["cards"] for group in expected["groups"])
        self._complain(
            "5.2",
            f"these groups cannot be made of the hand; right is {shown}",
            f"手牌组不成这些门子，应为 {shown}",
        )

    def _choice(self) -> int:
        """The choice that the log makes at the pending decision."""
        t = self.table
        decision, seat = int(t.game[DECISION]), int(t.game[DECIDER])
        actual = self._next(None, _CHOICE_RULES[decision])
        kind, own = actual["type"], actual.get("seat") == seat
        if decision == D_DISCARD:
            return self._discard_choice(seat, actual)
        name = _CHOICE_EN[decision]
        options = self._options() if decision == D_CHI else ()
        if own and kind == "pass" and actual["option"] == name:
            if options:
                self.found.options[self.at] = tuple(text for text, _ in options)
            return PASS
        if own and kind == name:
            if decision == D_CHI:
                return self._chi_choice(seat, actual, options)
            return TAKE
        self._refuse(actual)
        raise self._depart(
            _CHOICE_RULES[decision],
            f"seat {seat} could {name} here: its {name} or its pass must stand here, not: {describe(actual, 'en')}",
            f"{seat}号此时可{OPTIONS['zh'][name]}，此处应记其选择或过，而非：{describe(actual, 'zh')}",
        )

    def _options(self) -> list[tuple[str, tuple[tuple[int, ...], ...]]]:
        """Legal chi options of the pending decision: as text, and in a form to compare."""
        t = self.table
        found = []
        for number in range(int(t.game[N_OPTIONS])):
            groups = [int(g) for g in t.options[number, 1:] if g >= 0][: int(t.options[number, 0])]
            texts = [show_cards(int(kind) for kind in GROUP_KINDS[group]) for group in groups]
            found.append(("+".join(texts), _option_of(texts)))
        return found

    def _chi_choice(
        self, seat: int, actual: Event, options: Sequence[tuple[str, tuple[tuple[int, ...], ...]]]
    ) -> int:
        told = _option_of(actual["groups"])
        texts = tuple(text for text, _ in options)
        for number, (_, groups) in enumerate(options):
            if groups == told:
                self.found.options[self.at] = texts
                return 1 + number
        raise self._depart(
            "2.11",
            f"seat {seat} cannot chi {actual['card']} so; possible is {', or '.join(texts)}",
            f"{seat}号不能这样吃 {actual['card']}；可选 {' 或 '.join(texts)}",
        )

    def _discard_choice(self, seat: int, actual: Event) -> int:
        free = self.board.free(seat)
        if actual["type"] != "discard" or actual["seat"] != seat:
            if actual["type"] == "win":
                self._refuse(actual)
            raise self._depart(
                "2.8",
                f"seat {seat} owns more than its quota and must discard, not: {describe(actual, 'en')}",
                f"{seat}号须打牌，而非：{describe(actual, 'zh')}",
            )
        kind = FACES.index(actual["card"])
        if kind in free:
            self.found.options[self.at] = tuple(FACES[card] for card in free)
            return kind
        held = self.board.hands[seat].count(kind)
        if kind == WANG:
            raise self._depart("1.4", "a wang is never discarded", "王霸不能打出")
        if held >= 3:
            raise self._depart(
                "1.6", f"{actual['card']} is a kan and is never broken", f"{actual['card']} 成坎，不可拆"
            )
        raise self._depart(
            "2.8", f"seat {seat} holds no {actual['card']}", f"{seat}号手中没有 {actual['card']}"
        )

    # --- reasons ---------------------------------------------------------------------------------

    def _other_course(self, expected: Event, actual: Event) -> _Departed:
        """The log has another event than the rules; the best reason that can be found."""
        kind = expected["type"]
        if kind not in ("ti", "wei", "pao") or actual["type"] == "win":
            self._refuse(actual)
        same = actual["type"] == kind
        rule = _RULE_OF.get(kind)
        en, zh = f"not: {describe(actual, 'en')}", f"不应为：{describe(actual, 'zh')}"
        if kind == "draw" and same and actual.get("seat") == expected["seat"]:
            rule, en, zh = "1.13", "that is not the top card of the wall", "不是牌墙的第一张"
        elif kind == "draw" and same:
            rule, en, zh = "1.12", "another seat is to draw", "不该由这一家摸牌"
        elif kind == "ti" and expected["from"] == "deal":
            rule, en, zh = "1.13", "a dealt ti is laid down at once", "起手四张须立即提出"
        elif kind in ("ti", "wei", "pao"):
            en, zh = f"a {kind} is forced here, {en}", f"此处必须{OPTIONS['zh'][kind]}，{zh}"
        return self._depart(rule, en, zh, expected)

    def _refuse(self, actual: Event) -> None:
        """End with a reason of its own where the log's event itself is impossible."""
        kind = actual["type"]
        if kind not in ("win", "peng", "chi", "pass", "pao", "ti", "wei", "discard", "draw"):
            return
        seat = actual["seat"]
        if seat == self.board.sitter:
            raise self._depart("1.12", f"seat {seat} sits out", f"{seat}号是醒家，不参与打牌")
        option = actual["option"] if kind == "pass" else kind
        reason = None
        if option == "win":
            reason = self._why_no_win(seat, actual)
        elif option == "peng":
            reason = self._why_no_peng(seat, actual)
        elif option == "chi":
            reason = self._why_no_chi(seat, actual)
        elif option == "discard":
            if self.board.owned(seat) <= self.board.quota(seat):
                reason = ("2.8", "owes no discard", "不需打牌")
        if reason:
            rule, en, zh = reason
            what = f"seat {seat} cannot {option} {actual.get('card') or ''}".rstrip()
            wrong = f"{what}, so it has nothing to pass" if kind == "pass" else what
            name = seat_name(seat, "zh")
            raise self._depart(rule, f"{wrong}: it {en}", f"{name}{zh}（{describe(actual, 'zh')} 不成立）")

    def _claimed(self, actual: Mapping[str, Any]) -> int | None:
        """The kind on the table, if the event is about that card."""
        card = self.board.card
        return card.kind if card and not card.hidden and FACES[card.kind] == actual.get("card") else None

    def _why_no_peng(self, seat: int, actual: Mapping[str, Any]) -> tuple[str, str, str] | None:
        board = self.board
        kind = self._claimed(actual)
        if kind is None or board.card is None:
            return "2.4", "has no such card on the table before it", "面前没有这张牌可碰"
        held = board.hands[seat].count(kind)
        if seat == board.card.seat:
            return "2.4", "shows that card itself", "不能碰自己亮出的牌"
        if held != 2:
            return "2.4", f"holds {held} of it, not exactly two", f"手中有 {held} 张，不是恰好两张"
        if kind in board.peng_passed[seat]:
            return "2.10", "has passed a peng of it before", "曾过碰此牌（忍碰）"
        if seat in board.dead or len([k for k in board.hands[seat] if k in board.free(seat)]) <= 2:
            return "2.9", "would be left without a card to discard", "碰后无牌可打"
        return None

    def _why_no_chi(self, seat: int, actual: Mapping[str, Any]) -> tuple[str, str, str] | None:
        board = self.board
        kind = self._claimed(actual)
        if kind is None or board.card is None:
            return "2.9", "has no such card on the table before it", "面前没有这张牌可吃"
        order = board.active
        following = order[(order.index(board.card.seat) + 1) % len(order)]
        asked = [following] if not board.card.drawn else [board.card.seat, following]
        if seat not in asked:
            return "2.9", "is not asked for a chi by position", "位置不对，不能吃"
        if board.hands[seat].count(kind) >= 3:
            return "2.9", "holds three of it concealed", "手中已有三张，不能吃"
        if kind in board.discarded[seat]:
            return "2.10", "has discarded that kind itself", "自己打过此牌（过张）"
        if not self._has_chi(seat, kind):
            return "2.9", "has no groups for it", "没有可吃的组合"
        return None

    def _has_chi(self, seat: int, kind: int) -> bool:
        """Whether the hand that the log tells of has a chi option: the engine's table may be ahead of it."""
        scratch = new_table()
        clear(scratch)
        row = scratch.seat[0]
        for card in self.board.hands[seat]:
            change(scratch.hand[0], row, card, 1)
        row[OWNED] = self.board.owned(seat)
        row[QUADS] = sum(meld.type in ("ti", "pao") for meld in self.board.melds[seat])
        return bool(chi_options(scratch, 0, kind))

    def _why_no_win(self, seat: int, actual: Mapping[str, Any]) -> tuple[str, str, str] | None:
        board = self.board
        if seat in board.dead:
            return "2.8", "has a dead hand", "已是死手"
        card = board.card
        if actual.get("card") is None:
            by, win = "deal", None
        elif card is None or FACES[card.kind] != actual["card"]:
            return None
        elif not card.drawn:
            return "5.3", "cannot win on a discard", "不能胡打出的牌"
        else:
            by, win = ("own" if card.seat == seat else "other"), card.kind
        concealed = list(board.hands[seat])
        if win == WANG and by == "own":
            concealed.remove(WANG)
        names = {"two_seven_ten": "chi", "one_two_three": "chi", "run": "chi", "jiao": "chi"}
        melds = [f"{names.get(meld.type, meld.type)}:{show_cards(meld.cards)}" for meld in board.melds[seat]]
        try:
            answer = judge(lay_out(self.variant, concealed, melds, win, by))
        except (QueryError, ValueError):
            return None
        if answer["win"]:
            return None
        zh = {
            "not seven groups": "凑不成七门",
            "too few huxi": "胡息不够",
            "a limit": "不满足限胡",
            "a wang holder on another's draw": "手中有王，只能自摸",
        }
        rule = {
            "not seven groups": "5.2",
            "too few huxi": "5.1",
            "a limit": "1.10",
            "a wang holder on another's draw": "1.4",
        }
        reason = str(answer["reason"])
        detail = f"{reason} ({answer['detail']})" if "detail" in answer else reason
        return rule[reason], f"does not win: {detail}", zh[reason]
