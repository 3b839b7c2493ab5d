"""A game as a row of pictures: after each event the whole table, and who could do what.

The text replay and the page both draw these frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sim.board import Board, CardInPlay, Meld
from sim.cards import FACES, card_name
from sim.gamelog import Event
from sim.logcheck import Complaint, follow, variant_of
from sim.logread import LogError
from sim.params import compile_params
from sim.replay_words import FANS, REASONS, TYPES, recode, role_of, seat_name
from sim.variant import Variant, VariantError

OPEN, PASSED, TAKEN = "open", "passed", "taken"
_CLAIMS = ("win", "peng", "chi", "pao", "ti", "wei")
_FORCED = ("pao", "ti", "wei")


@dataclass(frozen=True)
class Offer:
    """Something that a seat may, or must, do."""

    seat: int
    option: str
    """win, peng, chi, pao, ti, wei or discard."""
    state: str
    """``open`` until the log tells the choice, then ``passed`` or ``taken``."""
    forced: bool = False
    choices: tuple[str, ...] = ()
    """Of a chi its options, of a discard the free cards; empty where they are not known."""
    chosen: str = ""


@dataclass(frozen=True)
class SeatView:
    """One seat in a frame."""

    seat: int
    role: str
    hand: tuple[int, ...]
    melds: tuple[Meld, ...]
    touched: tuple[int, ...]
    """Positions in ``melds`` of what the event has laid or changed."""
    pile: tuple[tuple[int, bool], ...]
    """Dead cards: kind, and whether it was drawn (else discarded)."""
    huxi: int
    """Of the groups laid down."""
    kan_huxi: int
    """Of the kans still held."""
    dead: bool


@dataclass(frozen=True)
class Frame:
    """The table after one event."""

    number: int
    event: Event
    seats: tuple[SeatView, ...]
    card: CardInPlay | None
    wall_left: int
    turn: int
    offers: tuple[Offer, ...]
    complaints: tuple[Complaint, ...] = ()


@dataclass(frozen=True)
class GameView:
    """One game, ready to be drawn."""

    start: Event
    variant: Variant
    frames: tuple[Frame, ...]
    complaints: tuple[Complaint, ...] = field(default=())


def split_games(events: Iterable[Event]) -> list[list[Event]]:
    """Cut a log into its games, each beginning with ``start``.

    Raises
    ------
    LogError
        If it does not begin with one.
    """
    games: list[list[Event]] = []
    for event in events:
        if event["type"] == "start":
            games.append([])
        elif not games:
            raise LogError("line 1: a log begins with an event of type 'start'")
        games[-1].append(event)
    return games


def _round_start(events: Sequence[Event], number: int) -> int:
    """Index of the draw or discard whose card is on the table at an event (0: the deal)."""
    while number > 0 and events[number]["type"] not in ("draw", "discard"):
        number -= 1
    return number


def _offer(event: Event, done: bool, choices: tuple[str, ...]) -> Offer | None:
    kind = event["type"]
    if kind == "pass":
        option, state = event["option"], PASSED if done else OPEN
    elif kind in (*_CLAIMS, "discard"):
        option, state = kind, TAKEN if done else OPEN
    else:
        return None
    chosen = ""
    if done and kind == "chi":
        chosen = "+".join(event["groups"])
    elif done and kind == "discard":
        chosen = event["card"]
    return Offer(event["seat"], option, state, option in _FORCED, choices, chosen)


def _offers(events: Sequence[Event], number: int, options: Mapping[int, tuple[str, ...]]) -> list[Offer]:
    """What the seats may do with the card on the table, and the discard that comes next or has just been made."""
    offers: list[Offer] = []

    def add(index: int) -> None:
        offer = _offer(events[index], index <= number, options.get(index, ()))
        if offer is not None:
            offers.append(offer)

    begin = _round_start(events, number)
    if events[number]["type"] == "discard":
        add(number)
    following = begin + 1
    while following < len(events) and events[following]["type"] in (*_CLAIMS, "pass"):
        if events[following].get("from") != "deal":
            add(following)
        following += 1
    if following == number + 1 < len(events) and events[following]["type"] == "discard":
        add(following)
    return offers


def _seat_view(board: Board, seat: int) -> SeatView:
    return SeatView(
        seat,
        role_of(board.dealer, board.sitter, board.seats, seat),
        tuple(board.hands[seat]),
        tuple(board.melds[seat]),
        tuple(sorted(number for owner, number in board.touched if owner == seat)),
        tuple(board.piles[seat]),
        board.exposed_huxi(seat),
        board.kan_huxi(seat),
        seat in board.dead,
    )


def _card_of(board: Board) -> CardInPlay | None:
    card = board.card
    return CardInPlay(card.kind, card.seat, card.drawn, card.hidden) if card else None


def view_game(events: Sequence[Event]) -> GameView:
    """Follow the log of one game and take a picture after each event.

    The game is judged on the way (:func:`sim.logcheck.follow`): complaints go with their frame, and a choice shows what
    else could have been chosen.

    Parameters
    ----------
    events : sequence of dict
        One game, beginning with ``start``.

    Raises
    ------
    LogError
        If its variant cannot be made.
    """
    start = events[0]
    try:
        variant = variant_of(start)
    except VariantError as error:
        raise LogError(f"the variant of the log cannot be made: {error}") from None
    followed = follow(events)
    board = Board.of_start(start, compile_params(variant))
    frames = []
    for number, event in enumerate(events):
        if number:
            board.apply(event)
        frames.append(
            Frame(
                number,
                event,
                tuple(_seat_view(board, seat) for seat in range(board.seats)),
                _card_of(board),
                len(board.wall),
                board.turn,
                tuple(_offers(events, number, followed.options)),
                tuple(
                    complaint
                    for complaint in followed.complaints
                    if number == min(complaint.event, len(events) - 1)
                ),
            )
        )
    return GameView(start, variant, tuple(frames), tuple(followed.complaints))


# --- the end of a game in words ------------------------------------------------------------------------


def fan_factors(variant: Variant, names: Iterable[str]) -> list[tuple[str, int]]:
    """The factors behind a fan, by name."""
    flat = variant.flat()
    return [(name, int(str(flat[f"fan.{name}"]))) for name in names if f"fan.{name}" in flat]


def group_text(group: Mapping[str, Any], lang: str, ascii: bool = False) -> str:
    """A group of a win: ``坎 拾拾王 6息``."""
    name = TYPES[lang].get(group["type"], str(group["type"]))
    cards = recode(group.get("faces", group["cards"]), ascii)
    if group.get("wangs"):
        cards += f" = {recode(group['cards'], ascii)}"
    huxi = group.get("huxi")
    if huxi is None:
        return f"{name} {cards}"
    return f"{name} {cards} {huxi}息" if lang == "zh" else f"{name} {cards} ({huxi})"


def win_steps(variant: Variant, win: Mapping[str, Any], lang: str, ascii: bool = False) -> list[str]:
    """From huxi to tun to fan to score to xing, a line each."""
    flat = variant.flat()
    least, base, step = (int(str(flat[key])) for key in ("win.min_huxi", "tun.base", "tun.step"))
    times, minus = (" x ", " - ") if ascii else (" × ", " − ")
    parts = [group["huxi"] for group in win["groups"] if group.get("huxi")]
    total = " + ".join(str(part) for part in parts)
    total = f"{total} = {win['huxi']}" if len(parts) > 1 else str(win["huxi"])
    factors = fan_factors(variant, win["names"])
    product = times.join(f"{FANS[lang][name]} {factor}" for name, factor in factors) or (
        "平胡 1" if lang == "zh" else "none 1"
    )
    fan = f"{product} = {win['fan']}"
    tun = f"{base} + ({win['huxi']}{minus}{least}) / {step} = {win['tun']}"
    score = f"{win['tun']}{times}{win['fan']} = {win['score']}"
    if lang == "zh":
        lines = [
            f"胡息：{total}（起胡 {least}）",
            f"囤数：{tun}（舍去余数）",
            f"番数：{fan}",
            f"得分：{score}（囤 × 番）",
        ]
    else:
        lines = [
            f"huxi: {total} (at least {least})",
            f"tun: {tun} (rounded down)",
            f"fan: {fan}",
            f"score: {score} (tun{times}fan)",
        ]
    xing = win.get("xing")
    if xing:
        kind = xing.get("kind") or xing["card"]
        face = "?" if kind is None else card_name(FACES.index(kind), ascii)
        single = f"{xing['count']}{times}{win['fan']} = {xing['count'] * win['fan']}"
        if lang == "zh":
            lines.append(f"醒牌：{face} 共 {xing['count']} 张，单醒 {single}")
        else:
            lines.append(f"xing: {xing['count']} of {face}, one single {single}")
    return lines


def transfer_text(entry: Sequence[Any], lang: str, ascii: bool = False) -> str:
    """One payment: ``1号 付 0号 8（胡牌）``."""
    payer, payee, amount, reason = entry
    why = REASONS[lang].get(str(reason), str(reason))
    if lang == "zh":
        return f"{seat_name(payer, lang)} 付 {seat_name(payee, lang)} {amount}（{why}）"
    return f"{seat_name(payer, lang)} pays {seat_name(payee, lang)} {amount} ({why})"
