"""The replay as one page: no network, no other file, playable by keyboard and mouse.

Everything that the page shows comes as JSON in a data block; the script writes it as text, never as markup.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from sim.board import Meld
from sim.cards import FACES
from sim.gamelog import Event
from sim.replay_frames import (
    Frame,
    GameView,
    Offer,
    SeatView,
    split_games,
    transfer_text,
    view_game,
    win_steps,
)
from sim.replay_words import LANGS, OPTIONS, ROLES, TYPES, VARIANTS, check_lang, describe, seat_name

MAX_GAMES = 500
"""Games on one page; each takes some 50 kilobytes."""

Notes = Mapping[int, Mapping[str, Any]]
"""What is said about the events of a game, by language."""


def _faces(kinds: Iterable[int]) -> str:
    return "".join(FACES[kind] for kind in kinds)


def _both(tell: Any) -> dict[str, Any]:
    return {lang: tell(lang) for lang in LANGS}


def _meld(meld: Meld, new: bool) -> list[Any]:
    return [meld.type, _faces(meld.cards), meld.huxi, int(meld.hidden), int(new)]


def _seat(seat: SeatView) -> dict[str, Any]:
    return {
        "hand": _faces(seat.hand),
        "melds": [_meld(meld, number in seat.touched) for number, meld in enumerate(seat.melds)],
        "thrown": _faces(kind for kind, drawn in seat.pile if not drawn),
        "drawn": _faces(kind for kind, drawn in seat.pile if drawn),
        "huxi": seat.huxi,
        "kans": seat.kan_huxi,
        "dead": int(seat.dead),
    }


def _offer(offer: Offer) -> list[Any]:
    return [offer.seat, offer.option, offer.state, int(offer.forced), list(offer.choices), offer.chosen]


def _win(view: GameView, win: Event) -> dict[str, Any]:
    groups = [
        [
            group["type"],
            group["cards"],
            group.get("faces", group["cards"]),
            group.get("huxi"),
            int(bool(group.get("winning"))),
        ]
        for group in win["groups"]
    ]
    return {
        "seat": win["seat"],
        "groups": groups,
        "steps": _both(lambda lang: win_steps(view.variant, win, lang)),
    }


def _frame(view: GameView, frame: Frame) -> dict[str, Any]:
    event, card = frame.event, frame.card
    told: dict[str, Any] = {
        "type": event["type"],
        "seat": event.get("seat"),
        "text": _both(lambda lang: describe(event, lang)),
        "card": [FACES[card.kind], card.seat, int(card.drawn), int(card.hidden)] if card else None,
        "wall": frame.wall_left,
        "turn": frame.turn,
        "offers": [_offer(offer) for offer in frame.offers],
        "seats": [_seat(seat) for seat in frame.seats],
    }
    if frame.complaints:
        told["faults"] = [_both(complaint.text) for complaint in frame.complaints]
    if event["type"] == "win":
        told["win"] = _win(view, event)
    if event["type"] == "end":
        told["pays"] = _both(lambda lang: [transfer_text(entry, lang) for entry in event["transfers"]])
        told["scores"] = event["scores"]
    return told


def _outcome(view: GameView, lang: str) -> str:
    """How the game ended, in a few words."""
    for frame in view.frames:
        event = frame.event
        if event["type"] == "win":
            how = {
                "zh": {"own": "自摸", "other": "胡", "deal": "天胡"},
                "en": {"own": "own draw", "other": "another's draw", "deal": "on the deal"},
            }[lang][event["by"]]
            if lang == "zh":
                return f"{seat_name(event['seat'], lang)} {how} {event['score']} 分"
            return f"{seat_name(event['seat'], lang)} wins {event['score']}, {how}"
        if event["type"] == "draw_game":
            return "荒庄" if lang == "zh" else "draw game"
    return "未完" if lang == "zh" else "unfinished"


def _name(view: GameView, number: int, lang: str) -> str:
    game = view.start["game"] if view.start["game"] is not None else number
    return (f"第 {game} 局" if lang == "zh" else f"Game {game}") + f" · {_outcome(view, lang)}"


def _about(view: GameView, lang: str) -> str:
    """Variant, changes and seed in one line."""
    start = view.start
    parts = [VARIANTS[lang].get(start["variant"], str(start["variant"]))]
    parts += [f"{key} = {value}" for key, value in start["overrides"].items()]
    if start["seed"] is not None:
        parts.append(f"{'种子' if lang == 'zh' else 'seed'} {start['seed']}")
    return " · ".join(parts)


def game_data(view: GameView, number: int = 0, notes: Notes | None = None) -> dict[str, Any]:
    """What the page needs of one game: plain lists, numbers and texts; ``notes`` explain decisions by event."""
    frames = [_frame(view, frame) for frame in view.frames]
    for event, note in (notes or {}).items():
        frames[event]["why"] = note
    bots = dict(zip(("dealer", "next", "third"), (str(bot) for bot in view.start["bots"]), strict=False))
    roles = [seat.role for seat in view.frames[0].seats]
    return {
        "name": _both(lambda lang: _name(view, number, lang)),
        "about": _both(lambda lang: _about(view, lang)),
        "roles": roles,
        "bots": [bots.get(role, "") for role in roles],
        "wall": view.start["wall"],
        "frames": frames,
    }


def embed(data: Mapping[str, Any] | Sequence[Any]) -> str:
    """JSON that is safe inside a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode("utf-8", "replace").decode()


@cache
def _template() -> str:
    """The page with its look and script; language, title and data are still to be filled in."""
    folder = files("sim") / "replay_page"
    page, style, script = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.html", "style.css", "script.js")
    )
    return page.replace("@STYLE@", style).replace("@SCRIPT@", script)


def render_html(events: Iterable[Event], lang: str = "zh", notes: Sequence[Notes] = ()) -> str:
    """A page that shows the games of a log, step by step.

    Parameters
    ----------
    events : iterable of dict
        One game or several, one after another.
    lang : str
        Language that the page begins with, ``zh`` or ``en``; it can be changed there.
    notes : sequence of mapping, optional
        Game by game, explained decisions by event and language (:func:`sim.whatif_words.page_note`).

    Returns
    -------
    str
        A whole HTML document that loads nothing.

    Raises
    ------
    LogError
        If a game does not begin with ``start``, or its variant cannot be made.
    ValueError
        If there is no game, or there are more than 500.
    """
    lang = check_lang(lang)
    games = split_games(events)
    if not 1 <= len(games) <= MAX_GAMES:
        raise ValueError(f"{len(games)} games: a page shows 1 to {MAX_GAMES}; choose fewer")
    views = [view_game(game) for game in games]
    data = {
        "lang": lang,
        "words": _both(lambda code: {"types": TYPES[code], "options": OPTIONS[code], "roles": ROLES[code]}),
        "games": [
            game_data(view, number, notes[number] if number < len(notes) else None)
            for number, view in enumerate(views)
        ],
    }
    title = "扯胡子牌局回放" if lang == "zh" else "Chehuzi replay"
    page = (
        _template()
        .replace("@LANG@", "zh-CN" if lang == "zh" else "en")
        .replace("@TITLE@", html.escape(title))
    )
    return page.replace("@DATA@", embed(data))
