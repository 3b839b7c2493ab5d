"""Reading game logs back.

A log is untrusted input: sizes, depth, types and texts are checked before anything is made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sim.cards import CardError, parse_cards, show_cards
from sim.gamelog import Event

MAX_LINE = 100_000
"""Characters of a line; a ``start`` has about 700."""
MAX_EVENTS = 1000
"""Events of a game; the longest possible game has some 300."""
MAX_GAMES = 100_000
MAX_TEXT = 400
MAX_INT = 2**64

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_KEY = re.compile(r"[a-z0-9_]{1,40}(\.[a-z0-9_]{1,40}){0,5}")


class LogError(ValueError):
    """A text that is no game log; the message begins with ``line N:``."""


@dataclass(frozen=True)
class LoggedGame:
    """One game of a log."""

    events: list[Event]
    lines: list[int]
    """Line number of each event, from 1."""


class _BadError(Exception):
    """A field of the line at hand is wrong."""


def _no_constant(name: str) -> None:
    raise _BadError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _BadError("a field stands there twice")
    return found


def _show(value: object) -> str:
    text = repr(value)
    return ascii(text)[1:-1] if not text.isprintable() else text if len(text) <= 40 else text[:40] + "…"


def _parse(line: str) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise _BadError(f"{len(line)} characters; no event has more than {MAX_LINE}")
    try:
        value = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise _BadError(f"no JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise _BadError("nested too deeply") from None
    except ValueError:  # a number with thousands of digits
        raise _BadError("a number in it is too long") from None
    if not isinstance(value, dict):
        raise _BadError("an event must be a JSON object")
    return value


def _field(event: Mapping[str, Any], name: str) -> Any:
    if name not in event:
        raise _BadError(f"field {name!r} is missing")
    return event[name]


def _int(event: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = _field(event, name)
    if type(value) is not int or not least <= value <= most:
        raise _BadError(f"{name} {_show(value)} must be a whole number from {least} to {most}")
    return value


def _int_or_null(event: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    return None if _field(event, name) is None else _int(event, name, least, most)


def _bool(event: Mapping[str, Any], name: str) -> bool:
    value = _field(event, name)
    if type(value) is not bool:
        raise _BadError(f"{name} {_show(value)} must be true or false")
    return value


def _one_of(event: Mapping[str, Any], name: str, *choices: str) -> str:
    value = _field(event, name)
    if value not in choices or not isinstance(value, str):
        raise _BadError(f"{name} {_show(value)} must be {' or '.join(choices)}")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise _BadError(f"{name} {_show(value)} must be a text")
    if len(value) > MAX_TEXT:
        raise _BadError(f"{name} has {len(value)} characters; at most {MAX_TEXT} are possible")
    return value


def _cards(value: object, name: str) -> str:
    try:
        return show_cards(parse_cards(_text(value, name)))
    except CardError as error:
        raise _BadError(f"{name}: {error}") from None


def _card(event: Mapping[str, Any], name: str = "card") -> str:
    cards = _cards(_field(event, name), name)
    if len(cards) != 1:
        raise _BadError(f"{name} {_show(event[name])} must be one card")
    return cards


def _by_seat(event: Mapping[str, Any], name: str, seats: int) -> dict[str, Any]:
    value = _field(event, name)
    if not isinstance(value, dict) or any(key not in "0123"[:seats] or len(key) != 1 for key in value):
        raise _BadError(f"{name} must be an object with seats 0 to {seats - 1} as keys")
    return value


def _list(event: Mapping[str, Any], name: str, most: int) -> list[Any]:
    value = _field(event, name)
    if not isinstance(value, list) or len(value) > most:
        raise _BadError(f"{name} must be a list of at most {most}")
    return value


def _override(value: object) -> bool:
    if isinstance(value, dict):
        return len(value) <= 10 and all(len(key) <= 40 and type(v) is int for key, v in value.items())
    if isinstance(value, str):
        return len(value) <= 40 and value.isascii() and value.isprintable()
    return type(value) is bool or type(value) is float or (type(value) is int and abs(value) <= MAX_INT)


def _read_start(event: Mapping[str, Any]) -> Event:
    variant = _text(_field(event, "variant"), "variant")
    if not _NAME.fullmatch(variant):
        raise _BadError(f"variant {_show(variant)} must be the name of a preset")
    overrides = _field(event, "overrides")
    if not isinstance(overrides, dict) or len(overrides) > 200:
        raise _BadError("overrides must be an object with keys like win.min_huxi")
    for key, value in overrides.items():
        if not _KEY.fullmatch(key) or not _override(value):
            raise _BadError(f"overrides: {_show(key)}: {_show(value)} is no key with a plain value")
    seats = _int(event, "seats", 3, 4)
    bots = _list(event, "bots", 4)
    for bot in bots:
        if not _text(bot, "bots").isprintable():
            raise _BadError(f"bots: {_show(bot)} is no name")
    hands = _by_seat(event, "hands", seats)
    if len(hands) != 3:
        raise _BadError(f"hands must be those of the three active seats, not of {len(hands)}")
    return {
        "variant": variant,
        "overrides": overrides,
        "seed": _int_or_null(event, "seed", 0, MAX_INT - 1),
        "game": _int_or_null(event, "game", 0, MAX_INT - 1),
        "dealer": _int(event, "dealer", 0, seats - 1),
        "sitter": _int_or_null(event, "sitter", 0, seats - 1),
        "seats": seats,
        "hands": {seat: _cards(hand, f"hands of seat {seat}") for seat, hand in hands.items()},
        "wall": _cards(_field(event, "wall"), "wall"),
    }


def _read_win(event: Mapping[str, Any], seats: int) -> Event:
    by = _one_of(event, "by", "own", "other", "deal")
    groups = []
    for group in _list(event, "groups", 10):
        if not isinstance(group, dict):
            raise _BadError("groups must be a list of objects")
        wangs = _int(group, "wangs", 0, 4) if "wangs" in group else 0
        read = {
            "type": _text(_field(group, "type"), "type of a group"),
            "cards": _cards(_field(group, "cards"), "cards of a group"),
            "wangs": wangs,
        }
        if "faces" in group:
            read["faces"] = _cards(group["faces"], "faces of a group")
        if "huxi" in group:
            read["huxi"] = _int(group, "huxi", 0, 10_000)
        for flag in ("exposed", "winning"):
            if flag in group:
                read[flag] = _bool(group, flag)
        groups.append(read)
    xing = _field(event, "xing")
    if xing is not None:
        if not isinstance(xing, dict):
            raise _BadError("xing must be an object or null")
        card = _field(xing, "card")
        kind = {} if xing.get("kind") is None else {"kind": _card(xing, "kind")}
        xing = {"card": None if card is None else _card(xing), "count": _int(xing, "count", 0, 100), **kind}
    names = [_text(name, "names") for name in _list(event, "names", 20)]
    return {
        "seat": _int(event, "seat", 0, seats - 1),
        "by": by,
        "card": None if _field(event, "card") is None else _card(event),
        **{name: _int(event, name, 0, MAX_INT) for name in ("huxi", "tun", "fan", "score")},
        "names": names,
        "groups": groups,
        "xing": xing,
    }


def _read_end(event: Mapping[str, Any], seats: int) -> Event:
    for entry in _list(event, "transfers", 100):
        if not isinstance(entry, list) or len(entry) != 4:
            raise _BadError("a transfer must be [from seat, to seat, amount, reason]")
        _int({"from": entry[0]}, "from", 0, seats - 1)
        _int({"to": entry[1]}, "to", 0, seats - 1)
        _int({"amount": entry[2]}, "amount", -MAX_INT, MAX_INT)
        _one_of({"reason": entry[3]}, "reason", "win", "xing", "wang")
    scores = _by_seat(event, "scores", seats)
    for seat in scores:
        _int(scores, seat, -MAX_INT, MAX_INT)
    return {}


def _read_chi(event: Mapping[str, Any]) -> Event:
    groups = [_cards(text, "groups") for text in _list(event, "groups", 7)]
    if not groups or any(len(group) != 3 for group in groups):
        raise _BadError("groups must be a list of groups of three cards")
    return {"groups": groups}


def _read_draw_game(event: Mapping[str, Any], seats: int) -> Event:
    wangs = _by_seat(event, "wangs", seats)
    for seat in wangs:
        _int(wangs, seat, 0, 4)
    return {}


def _read_action(kind: str, event: Mapping[str, Any], seats: int) -> Event:
    read: Event = {"seat": _int(event, "seat", 0, seats - 1)}
    if kind != "dead":
        nothing = kind == "pass" and event.get("option") == "win" and _field(event, "card") is None
        read["card"] = None if nothing else _card(event)
    if kind == "ti":
        _one_of(event, "from", "deal", "draw")
        _one_of(event, "base", "deal", "kan", "wei")
    elif kind == "draw" and "hidden" in event:
        _bool(event, "hidden")
    elif kind == "wei":
        _bool(event, "open")
    elif kind == "pao":
        _one_of(event, "base", "kan", "wei", "peng")
    elif kind == "pass":
        _one_of(event, "option", "win", "peng", "chi")
    elif kind == "chi":
        read |= _read_chi(event)
    return read


_ACTIONS = ("ti", "draw", "wei", "pao", "peng", "chi", "pass", "discard", "dead")


def _read_event(line: str, seats: int | None) -> Event:
    """One line, checked field by field; card texts come back in Chinese."""
    event = _parse(line)
    kind = _field(event, "type")
    if not isinstance(kind, str):
        raise _BadError(f"type {_show(kind)} must be a text")
    if kind == "start":
        return {**event, **_read_start(event)}
    if seats is None:
        raise _BadError(f"{_show(kind)} before the start of a game")
    if kind == "win":
        return {**event, **_read_win(event, seats)}
    if kind == "end":
        return {**event, **_read_end(event, seats)}
    if kind == "draw_game":
        return {**event, **_read_draw_game(event, seats)}
    if kind in _ACTIONS:
        return {**event, **_read_action(kind, event, seats)}
    raise _BadError(f"type {_show(kind)} is no event of a game log")


def iter_log(lines: Iterable[str]) -> Iterator[LoggedGame]:
    """Read a log game by game; see :func:`read_log`."""
    game: LoggedGame | None = None
    games = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            event = _read_event(line, game.events[0]["seats"] if game else None)
            if event["type"] == "start":
                games += 1
                if games > MAX_GAMES:
                    raise _BadError(f"more than {MAX_GAMES} games")
                if game:
                    yield game
                game = LoggedGame([], [])
            elif game is None or game.events[-1]["type"] == "end":
                raise _BadError(f"{event['type']!r} after the end of a game")
            elif len(game.events) >= MAX_EVENTS:
                raise _BadError(f"more than {MAX_EVENTS} events in one game")
        except _BadError as error:
            raise LogError(f"line {number}: {error}") from None
        game.events.append(event)
        game.lines.append(number)
    if game:
        yield game


def read_log(lines: Iterable[str]) -> list[LoggedGame]:
    """Read the games of a JSON-lines log.

    Parameters
    ----------
    lines : iterable of str
        Such as an open text file. Empty lines are skipped.

    Returns
    -------
    list of LoggedGame
        Card texts in Chinese, whatever they were written in. The last event of a game need not be ``end``:
        :func:`check_log` complains about that.

    Raises
    ------
    LogError
        At the first line that is no event, or where there is no game at all; ``line 12: …``.
    """
    games = list(iter_log(lines))
    if not games:
        raise LogError("line 1: no game in it; a log begins with an event of type 'start'")
    return games
