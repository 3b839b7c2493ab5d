"""The game log: one game played again, as the events of the contract.

JSON lines, one event a line, enough to check every move by the rules alone. Nothing random and no clock is in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sim import rng
from sim.cards import FACES, NO_CARD, RANKS, WANG, is_red, show_cards
from sim.engine import start
from sim.explain import Hand, best_arrangement
from sim.groups import GROUP_KINDS, KAN, PAIR, TI, TYPE_NAMES, WEI
from sim.params import Params, compile_params
from sim.players import Players
from sim.rows import BY_NAMES, FAN_NAMES, NULL
from sim.rules.arrange import ALL, FORCED_ONLY
from sim.rules.deal import ORDINARY, first_dealer, following_dealer, shuffle
from sim.rules.fan import names_mask
from sim.rules.lay import (
    EV_CHI,
    EV_DEAD,
    EV_DISCARD,
    EV_DRAW,
    EV_DRAW_GAME,
    EV_PAO,
    EV_PASS,
    EV_PENG,
    EV_TI,
    EV_WEI,
    EV_WIN,
    FROM_DEAL,
)
from sim.rules.settle import PAY_NAMES, score_of
from sim.state import (
    BY,
    DEALER,
    HUXI,
    MELDS,
    N_LOG,
    N_SEATS,
    OWNED,
    P_ACTIVE,
    QUADS,
    REDS,
    SITTER,
    W_FAN,
    W_HUXI,
    W_REDS,
    W_SCORE,
    W_SPECIAL,
    W_TUN,
    WEIS,
    WIN_CARD,
    WIN_CARD_HELD,
    WINNER,
    XING_CARD,
    XING_COUNT,
    XING_KIND,
    Table,
    change,
    copy_table,
    new_table,
)
from sim.variant import Variant

Event = dict[str, Any]
Ints = npt.NDArray[np.int64]

_OPTIONS = {1: "win", 2: "peng", 3: "chi"}


class Player:
    """Plays chosen games of a seed again, with their log.

    Parameters
    ----------
    variant : Variant
    bots : sequence of three str
        Dealer, next, third.
    seed : int
    session : int
        Deals a session, as in the run; 0 for games that stand alone.
    """

    def __init__(self, variant: Variant, bots: Sequence[str], seed: int, session: int = 0) -> None:
        self.variant = variant
        self.bots = tuple(bots)
        self.seed = seed
        self.session = session
        self.params: Params = compile_params(variant)
        self.table: Table = new_table(log=True)
        self.players = Players(self.params, bots, variant.flat())

    def deal(self, game: int) -> None:
        """Bring the table to the beginning of a game; within a session its earlier games are played first."""
        dealer = 0
        if self.session:
            begin = game - game % self.session
            dealer = int(first_dealer(self.params, self._words(begin)))
            for earlier in range(begin, game):
                self._start(earlier, dealer)
                self.players.play(self.table, earlier)
                dealer = int(following_dealer(self.params, self.table))
        self._start(game, dealer)

    def _words(self, game: int) -> Ints:
        row: Ints = rng.words(self.seed, rng.STREAM_DEAL, game, 1, rng.DEAL_WORDS)[0]
        return row

    def _start(self, game: int, dealer: int) -> None:
        bot_words = rng.words(self.seed, rng.STREAM_BOTS, game, 1, rng.BOT_WORDS)[0]
        shuffle(self._words(game), self.params.wangs, self.table.deck)
        start(self.params, self.table, dealer, self.players.numbers, bot_words)

    def finish(self, game: int) -> Table:
        """Play a game and return the table at its end, with what was logged; the next call plays on it."""
        self.deal(game)
        self.players.play(self.table, game)
        return self.table

    def events(self, game: int) -> list[Event]:
        """Play a game and return its log."""
        self.finish(game)
        return [self._start_event(game), *read_events(self.variant, self.params, self.table)]

    def _start_event(self, game: int) -> Event:
        return start_event(self.variant, self.params, self.table, self.seed, game, self.bots)


def start_event(
    variant: Variant, p: Params, t: Table, seed: int | None, game: int | None, bots: Sequence[str]
) -> Event:
    """The ``start`` event of the game on the table."""
    deck = [int(kind) for kind in t.deck[: ORDINARY + p.wangs]]
    dealer, sitter = int(t.game[DEALER]), int(t.game[SITTER])
    seats = int(t.game[N_SEATS])
    hands = {}
    top, seat = 0, dealer
    for place in range(3):
        number = 21 if place == 0 else 20
        hands[str(seat)] = show_cards(sorted(deck[top : top + number]))
        top += number
        seat = (seat + 1) % seats
        if seat == sitter:
            seat = (seat + 1) % seats
    return {
        "type": "start",
        "variant": variant.preset,
        "overrides": variant.overrides,
        "seed": seed,
        "game": game,
        "dealer": dealer,
        "sitter": sitter if sitter >= 0 else None,
        "seats": seats,
        "bots": list(bots),
        "hands": hands,
        "wall": show_cards(deck[top:]),
    }


def read_events(variant: Variant, p: Params, t: Table) -> list[Event]:
    """Events of the finished game on the table, without its ``start``."""
    return [*events_since(variant, p, t, 0), end_event(t)]


def events_since(variant: Variant, p: Params, t: Table, first: int) -> list[Event]:
    """Events of the game on the table, finished or not, from number ``first`` of its log on."""
    rows = [[int(value) for value in t.log[number]] for number in range(first, int(t.game[N_LOG]))]
    return [_win_event(variant, p, t) if row[0] == EV_WIN else _event(t, row) for row in rows]


def _face(kind: int) -> str | None:
    return None if kind < 0 else FACES[kind]


def _event(t: Table, row: Sequence[int]) -> Event:
    event, seat, card, a = row[:4]
    face = _face(card)
    if event == EV_TI:
        base = "deal" if a == FROM_DEAL else TYPE_NAMES[row[4]]
        return {
            "type": "ti",
            "seat": seat,
            "card": face,
            "from": "deal" if a == FROM_DEAL else "draw",
            "base": base,
        }
    if event == EV_DRAW:
        drawn = {"type": "draw", "seat": seat, "card": face}
        return {**drawn, "hidden": True} if a else drawn
    if event == EV_WEI:
        return {"type": "wei", "seat": seat, "card": face, "open": bool(a)}
    if event == EV_PAO:
        return {"type": "pao", "seat": seat, "card": face, "base": TYPE_NAMES[a]}
    if event == EV_CHI:
        groups = [show_cards(_claimed_first(group, card)) for group in row[3:6] if group >= 0]
        return {"type": "chi", "seat": seat, "card": face, "groups": groups}
    if event == EV_PASS:
        return {"type": "pass", "seat": seat, "option": _OPTIONS[a], "card": face}
    if event == EV_DRAW_GAME:
        wangs = {str(s): int(t.hand[s, WANG]) for s in range(int(t.game[N_SEATS])) if t.public[s, P_ACTIVE]}
        return {"type": "draw_game", "wangs": wangs}
    name = {EV_PENG: "peng", EV_DISCARD: "discard", EV_DEAD: "dead"}[event]
    return {"type": name, "seat": seat, "card": face} if event != EV_DEAD else {"type": name, "seat": seat}


def _claimed_first(group: int, card: int) -> list[int]:
    kinds = [int(kind) for kind in GROUP_KINDS[group]]
    kinds.remove(card)
    return [card, *kinds]


def _take_back(p: Params, t: Table, seat: int, card: int, base: int) -> None:
    """Undo the ti or wei that a drawn card has just made, and the draw: the hand as the win was valued."""
    row = t.seat[seat]
    size, red = card // RANKS, int(is_red(card))
    row[OWNED] -= 1
    if base == WEI:
        row[QUADS] -= 1
        row[HUXI] -= p.huxi[TI, size] - p.huxi[WEI, size]
        row[REDS] -= red
        row[WEIS] |= 1 << card
        for number in range(int(row[MELDS])):
            if t.melds[seat, number, 0] == TI and t.melds[seat, number, 1] == card:
                t.melds[seat, number, 0] = WEI
        return
    laid, held = (TI, 3) if base == KAN else (WEI, 2)
    row[MELDS] -= 1  # a new group is always the last
    row[HUXI] -= p.huxi[laid, size]
    row[REDS] -= red * (held + 1)
    row[QUADS] -= int(laid == TI)
    row[WEIS] &= ~(1 << card)
    change(t.hand[seat], row, card, held)


def winning_hand(variant: Variant, p: Params, t: Table) -> Hand:
    """The winner's hand as it was when the win was valued, before a forced ti or wei was laid."""
    board = copy_table(t)
    seat, card = int(t.game[WINNER]), int(t.game[WIN_CARD])
    held = bool(t.game[WIN_CARD_HELD])
    if held:
        forced = t.log[int(t.game[N_LOG]) - 2]
        base = int(forced[4]) if forced[0] == EV_TI else PAIR
        _take_back(p, board, seat, card, base)
    which = FORCED_ONLY if held else ALL
    return Hand(variant, p, board, [], [], card, int(t.game[BY]), index=seat, which=which)


def _win_event(variant: Variant, p: Params, t: Table) -> Event:
    win = t.win
    card = int(t.game[WIN_CARD])
    best = best_arrangement(winning_hand(variant, p, t))
    if best is None or best.score != int(win[W_SCORE]):
        raise AssertionError("the win on the table is not the best arrangement of the hand")
    names = int(names_mask(p, t.game[BY], win[W_SPECIAL], win[W_REDS]))
    xing = None
    if int(t.game[XING_COUNT]) != NULL:
        xing = {
            "card": _face(int(t.game[XING_CARD])),
            "count": int(t.game[XING_COUNT]),
            "kind": _face(int(t.game[XING_KIND])),
        }
    return {
        "type": "win",
        "seat": int(t.game[WINNER]),
        "by": BY_NAMES[int(t.game[BY])],
        "card": None if card == NO_CARD else FACES[card],
        "huxi": int(win[W_HUXI]),
        "tun": int(win[W_TUN]),
        "fan": int(win[W_FAN]),
        "score": int(win[W_SCORE]),
        "names": [name for bit, name in enumerate(FAN_NAMES) if names >> bit & 1],
        "groups": [group.as_dict() for group in best.groups],
        "xing": xing,
    }


def end_event(t: Table) -> Event:
    """The ``end`` event of the finished game on the table."""
    seats = int(t.game[N_SEATS])
    transfers = [
        [payer, payee, int(t.money[reason, payer, payee]), PAY_NAMES[reason]]
        for reason in range(3)
        for payer in range(seats)
        for payee in range(seats)
        if t.money[reason, payer, payee]
    ]
    return {
        "type": "end",
        "transfers": transfers,
        "scores": {str(seat): int(score_of(t, seat)) for seat in range(seats)},
    }


def dump_line(event: Event) -> str:
    """One event as a JSON line: stable key order, Chinese as it is."""
    return json.dumps(event, ensure_ascii=False)
