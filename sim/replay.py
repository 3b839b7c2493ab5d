"""The replay: plays games again or reads a log back, shows them, and says where a log breaks the rules."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TextIO

from sim.gamelog import Event, Player, dump_line
from sim.logcheck import Complaint, check_log
from sim.logread import MAX_LINE, LogError, LoggedGame, iter_log
from sim.players import parse_players
from sim.replay_frames import split_games, view_game
from sim.replay_html import MAX_GAMES, render_html
from sim.replay_text import TextReplay, render_text
from sim.replay_words import check_lang
from sim.variant import Variant, load_variant

__all__ = [
    "LogError",
    "check_log",
    "log_lines",
    "play_log",
    "render_html",
    "render_text",
    "replay_command",
    "split_games",
    "step_through",
]

LOG_SUFFIXES = (".jsonl", ".ndjson", ".log")

WORDS = {
    "zh": {
        "prompt": "[回车] 下一步  b 上一步  数字 跳到该步  n 下一局  q 退出 > ",
        "clean": "第 {} 局（第 {} 行起）：没有违规",
        "broken": "第 {} 局（第 {} 行起）：{} 处违规",
        "total": "{} 局中 {} 局违规",
        "wrote": "已写入 {}（{} 局）",
        "nothing": "日志中没有第 {}:{} 局",
        "one": "--what-if 一次问一局，请用 --game 选定",
    },
    "en": {
        "one": "--what-if asks about one game; choose it with --game",
        "prompt": "[Enter] next  b back  number: to that step  n next game  q quit > ",
        "clean": "game {} (line {}): keeps the rules",
        "broken": "game {} (line {}): breaks a rule, {} found",
        "total": "{} games, {} of them break a rule",
        "wrote": "wrote {} ({} games)",
        "nothing": "the log has no game in {}:{}",
    },
}


def play_log(
    variant: Variant | str | Path,
    bots: str | Sequence[str] = "greedy",
    seed: int = 1,
    games: Iterable[int] = range(1),
    session: int = 0,
    overrides: Sequence[str] | Mapping[str, object] = (),
) -> Iterator[list[Event]]:
    """Play games of a run again, with their logs.

    Parameters
    ----------
    variant : Variant, str or Path
        What :func:`sim.load_variant` takes.
    bots : str or sequence of str
        One name, or those of dealer, next and third.
    seed : int
    games : iterable of int
        Game numbers.
    session : int
        Deals a session, as in the run.
    overrides : sequence of str or mapping
        As in :func:`sim.load_variant`.

    Yields
    ------
    list of dict
        The events of one game.

    Raises
    ------
    VariantError, sim.bots.BotError
    """
    names = parse_players(bots if isinstance(bots, str) else ",".join(bots))
    player = Player(load_variant(variant, overrides), names, seed, session)
    for game in games:
        yield player.events(game)


def log_lines(stream: BinaryIO) -> Iterator[str]:
    """Lines of an open log file.

    Raises
    ------
    LogError
        At a line that is too long, or no UTF-8.
    """
    number = 0
    while line := stream.readline(4 * MAX_LINE):
        number += 1
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise LogError(f"line {number}: no UTF-8 text") from None
        if len(text) > MAX_LINE + 1:
            raise LogError(f"line {number}: more than {MAX_LINE} characters")
        yield text


def step_through(
    frames: Sequence[str], out: TextIO, read: Callable[[str], str] = input, lang: str = "zh"
) -> bool:
    """Show one frame after another on a terminal: Enter goes on, ``b`` back, a number to that step, ``q`` ends.

    Parameters
    ----------
    frames : sequence of str
        What :func:`render_text` yields.
    out : text stream
    read : callable
        Asks for a line, like :func:`input`.
    lang : str

    Returns
    -------
    bool
        False if the reader wants no more, True for the next game.
    """
    at, prompt = 0, WORDS[check_lang(lang)]["prompt"]
    while True:
        if out.isatty():
            out.write("\x1b[2J\x1b[H")
        out.write(frames[at] + "\n")
        out.flush()
        try:
            answer = read(prompt).strip().lower()
        except (EOFError, KeyboardInterrupt):
            out.write("\n")
            return False
        if answer == "q":
            return False
        if answer == "n" or (not answer and at == len(frames) - 1):
            return True
        if answer == "b":
            at = max(0, at - 1)
        elif answer.isascii() and answer.isdigit() and len(answer) < 10:
            at = min(int(answer), len(frames) - 1)
        elif not answer:
            at += 1


def _is_log(source: str) -> bool:
    return source == "-" or source.lower().endswith(LOG_SUFFIXES)


class _Show:
    """Where and how the games of one command are shown."""

    def __init__(
        self,
        out: TextIO,
        read: Callable[[str], str],
        lang: str,
        ascii: bool,
        step: bool,
        worlds: int = 0,
        own_bots: bool = False,
    ) -> None:
        self.own_bots = own_bots
        self.out, self.read, self.lang, self.ascii, self.step = out, read, lang, ascii, step
        self.worlds = worlds
        """Imagined worlds for explaining each decision; 0: nothing is explained."""
        self.color = out.isatty() and not os.environ.get("NO_COLOR")

    def game(self, events: Sequence[Event]) -> bool:
        """Show a game; False if the reader wants no more."""
        notes = self._notes(events) if self.worlds else {}
        replayed = TextReplay(view_game(events), self.lang, self.ascii, self.color, notes)
        if self.step:
            return step_through(list(replayed.frames()), self.out, self.read, self.lang)
        for frame in replayed.frames():
            self.out.write(frame + "\n\n")
        return True

    def _notes(self, events: Sequence[Event]) -> dict[int, list[str]]:
        """Explanations of the decisions of a game, by event."""
        from sim.whatif import Game
        from sim.whatif_words import explain_lines

        game = Game(events, self.worlds, own_bots=self.own_bots)
        return {
            decision.event: explain_lines(decision, game.params, self.lang, self.ascii)
            for decision in game.decisions()
        }


def explain_events(events: Sequence[Event], worlds: int, own_bots: bool = False) -> list[Event]:
    """The log of a game with its decisions explained, under ``meta`` of the events that make them.

    Parameters
    ----------
    events : sequence of dict
        One game.
    worlds : int
        Imagined worlds a decision.
    own_bots : bool
        Whether users' bots that the log names may be run (:class:`sim.whatif.Game`).
    """
    from sim.whatif import Game
    from sim.whatif_words import facts, verdict

    game = Game(events, worlds, own_bots=own_bots)
    told = [dict(event) for event in events]
    for decision in game.decisions():
        document = decision.as_dict()
        for valued, option in zip(decision.options, document["options"], strict=True):
            option["facts"] = {lang: facts(decision.view, valued.option, game.params, lang) for lang in WORDS}
        document["reason"] = {lang: " ".join(verdict(decision, lang)) for lang in WORDS}
        told[decision.event]["meta"] = {"explained": document}
    return told


def _what_if(
    events: Sequence[Event], number: int, option: int | None, worlds: int, as_json: bool, show: _Show
) -> None:
    """Play other options of a decision on, and tell what comes of them."""
    from sim.whatif import Game
    from sim.whatif_words import facts, verdict, whatif_lines

    game = Game(events, worlds, own_bots=show.own_bots)
    decision = game.at(number)
    wanted = range(len(decision.options)) if option is None else dict.fromkeys((decision.chosen, option))
    outcomes = [game.play_on(number, place) for place in wanted]
    if not as_json:
        show.out.write("\n".join(whatif_lines(game, decision, outcomes, show.lang, show.ascii)) + "\n")
        return
    document = decision.as_dict()
    for valued, each in zip(decision.options, document["options"], strict=True):
        each["facts"] = facts(decision.view, valued.option, game.params, show.lang)
    document["reason"] = " ".join(verdict(decision, show.lang))
    document["replaced_players"] = game.replaced
    document["on_this_deck"] = [
        {
            "option": outcome.place,
            "winner": outcome.winner,
            "scores": {str(seat): score for seat, score in outcome.scores.items()},
            **({"log": outcome.events} if option is not None else {}),
        }
        for outcome in outcomes
    ]
    show.out.write(json.dumps(document, ensure_ascii=False) + "\n")


def _page_notes(events: Sequence[Event], worlds: int, own_bots: bool) -> dict[int, dict[str, object]]:
    """Explanations of the decisions of a game for the page, by event and language."""
    from sim.whatif import Game
    from sim.whatif_words import page_note

    game = Game(events, worlds, own_bots=own_bots)
    return {
        decision.event: {lang: page_note(decision, game.params, lang) for lang in WORDS}
        for decision in game.decisions()
    }


def _write_page(
    path: str | Path,
    games: Iterable[list[Event]],
    lang: str,
    err: TextIO,
    worlds: int = 0,
    own_bots: bool = False,
) -> None:
    events: list[Event] = []
    notes = []
    count = 0
    for game in games:
        count += 1
        if count > MAX_GAMES:
            raise ValueError(f"more than {MAX_GAMES} games for one page; choose fewer with --games")
        events += game
        notes.append(_page_notes(game, worlds, own_bots) if worlds else {})
    Path(path).write_text(render_html(events, lang, notes), encoding="utf-8")
    err.write(WORDS[lang]["wrote"].format(path, count) + "\n")


def _open_log(source: str) -> BinaryIO:
    return sys.stdin.buffer if source == "-" else Path(source).open("rb")


def _chosen(games: range | None, stream: BinaryIO) -> Iterator[tuple[int, LoggedGame]]:
    """Games of a log by their ``game`` number, or by their place where they have none."""
    for place, logged in enumerate(iter_log(log_lines(stream))):
        number = logged.events[0]["game"]
        number = place if number is None else number
        if games is None or number in games:
            yield number, logged


def _judged(logged: LoggedGame) -> list[Complaint]:
    """Complaints about a game, each with its line in the file."""
    after = logged.lines[-1] + 1
    return [
        replace(complaint, line=[*logged.lines, after][min(complaint.event, len(logged.lines))])
        for complaint in check_log(logged.events)
    ]


def _verdict(number: int, logged: LoggedGame, complaints: Sequence[Complaint], lang: str) -> Iterator[str]:
    words = WORDS[lang]
    if not complaints:
        yield words["clean"].format(number, logged.lines[0])
        return
    yield words["broken"].format(number, logged.lines[0], len(complaints))
    for complaint in complaints:
        text = complaint.text(lang)
        yield "  " + "".join(char if char.isprintable() else "?" for char in text)


def _as_json(number: int, logged: LoggedGame, complaints: Sequence[Complaint]) -> dict[str, object]:
    return {
        "game": number,
        "line": logged.lines[0],
        "events": len(logged.events),
        "complaints": [
            {
                "event": complaint.event,
                "line": complaint.line,
                "rule": complaint.rule,
                "message": complaint.en,
                "expected": complaint.expected,
            }
            for complaint in complaints
        ],
    }


def _replay_file(source: str, games: range | None, as_json: bool, check_only: bool, show: _Show) -> int:
    told: list[dict[str, object]] = []
    count = broken = 0
    going_on = not (as_json or check_only)
    with _open_log(source) as stream:
        for number, logged in _chosen(games, stream):
            complaints = _judged(logged)
            count += 1
            broken += bool(complaints)
            if as_json:
                told.append(_as_json(number, logged, complaints))
                continue
            if going_on:
                going_on = show.game(logged.events)
                if not going_on:
                    break
            for line in _verdict(number, logged, complaints, show.lang):
                show.out.write(line + "\n")
    if count == 0:
        first, last = (games.start, games.stop) if games is not None else (0, "")
        raise LogError(WORDS[show.lang]["nothing"].format(first, last))
    if as_json:
        show.out.write(json.dumps({"games": told, "broken": broken}, ensure_ascii=False) + "\n")
    elif count > 1:
        show.out.write(WORDS[show.lang]["total"].format(count, broken) + "\n")
    return 1 if broken else 0


def _one_game(
    source: str,
    games: range | None,
    seed: int,
    bots: str | Sequence[str],
    session: int,
    overrides: Sequence[str] | Mapping[str, object],
    lang: str,
) -> list[Event]:
    """The game that ``--what-if`` is about."""
    from sim.whatif import WhatIfError

    if not _is_log(source):
        wanted = range(1) if games is None else games
        if len(wanted) != 1:
            raise WhatIfError(WORDS[lang]["one"])
        return next(play_log(source, bots, seed, wanted, session, overrides))
    with _open_log(source) as stream:
        found = [logged.events for _, logged in islice(_chosen(games, stream), 2)]
    if not found and games is not None:
        raise LogError(WORDS[lang]["nothing"].format(games.start, games.stop))
    if len(found) != 1:
        raise WhatIfError(WORDS[lang]["one"])
    return found[0]


def replay_command(
    source: str,
    games: range | None = None,
    *,
    seed: int = 1,
    bots: str | Sequence[str] = "greedy",
    session: int = 0,
    overrides: Sequence[str] | Mapping[str, object] = (),
    as_json: bool = False,
    page: str | Path | None = None,
    check_only: bool = False,
    lang: str = "zh",
    ascii: bool = False,
    step: bool | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
    read: Callable[[str], str] = input,
    explain: bool = False,
    what_if: int | None = None,
    option: int | None = None,
    worlds: int | None = None,
) -> int:
    """What ``chehuzi replay`` does.

    Parameters
    ----------
    source : str
        A variant, whose games are played again; or a game log (a file ending in ``.jsonl``, or ``-`` for standard
        input), which is shown and judged.
    games : range, optional
        Game numbers. Of a variant game 0 if not given, of a log all.
    seed, bots, session, overrides
        As in the run; a log has its own.
    as_json : bool
        Of a variant print the game log, of a log one JSON document with the complaints.
    page : path, optional
        Write a page there, and no text (a log is still judged).
    check_only : bool
        Of a log print the verdict only.
    lang : str
        ``zh`` or ``en``.
    ascii : bool
        Cards in ASCII.
    step : bool, optional
        Wait after each step; if not given, when both ends are a terminal.
    out, err, read
        Standard output, standard error and :func:`input` if not given.
    explain : bool
        With every decision its options, their values and the reason.
    what_if : int, optional
        Play the options of the decision at that event on, instead of showing the game; of one game only.
    option : int, optional
        Only this one, with its course.
    worlds : int, optional
        Imagined worlds a decision; 200 if not given.

    Returns
    -------
    int
        Exit status: 1 if a log breaks a rule, else 0.

    Raises
    ------
    ValueError
        Bad input, for exit status 2: :class:`LogError`, ``VariantError``, ``BotError`` among them.
    OSError
        A file that cannot be read or written.
    """
    out = sys.stdout if out is None else out
    err = sys.stderr if err is None else err
    lang = check_lang(lang)
    stepwise = (out.isatty() and sys.stdin.isatty()) if step is None else step
    if worlds is None:
        from sim.whatif import WORLDS

        worlds = WORLDS
    show = _Show(out, read, lang, ascii, stepwise, worlds if explain else 0, not _is_log(source))
    if what_if is not None:
        events = _one_game(source, games, seed, bots, session, overrides, lang)
        _what_if(events, what_if, option, worlds, as_json, show)
        return 0
    if _is_log(source):
        if page is not None:
            with _open_log(source) as stream:
                _write_page(
                    page, (logged.events for _, logged in _chosen(games, stream)), lang, err, show.worlds
                )
            if source == "-":
                return 0
        return _replay_file(source, games, as_json, check_only or page is not None, show)
    played = play_log(source, bots, seed, range(1) if games is None else games, session, overrides)
    if page is not None:
        _write_page(page, played, lang, err, show.worlds, own_bots=True)
        return 0
    for events in played:
        if as_json:
            for event in explain_events(events, worlds, own_bots=True) if explain else events:
                out.write(dump_line(event) + "\n")
        elif not show.game(events):
            break
    return 0
