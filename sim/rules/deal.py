"""Chapter 1: shuffle, deal, dealt ti, who deals next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.cards import KINDS, WANG
from sim.params import NEXT, RANDOM, REPLACEMENT_DRAW, STAYS, Params
from sim.rules.lay import EV_DRAW, EV_TI, FROM_DEAL, lay_dealt_ti, log_event, move_cards
from sim.state import (
    DEALER,
    DEALT_WANGS,
    END,
    N_SEATS,
    OWNED,
    P_ACTIVE,
    SITTER,
    TOP,
    WINNER,
    Table,
    clear,
    next_seat,
    quota,
)

Ints = npt.NDArray[np.int64]

ORDINARY = 80
_DEALER_WORD = 84


@kernel
def shuffle(words: Ints, wangs: int, deck: Ints) -> None:
    """Rule 1.1 deck: 80 cards and ``wangs`` wangs in random order.

    The 80 ordinary cards are shuffled first (Fisher-Yates), then each wang is put in at a random place. So decks
    with more or fewer wangs made of the same words hold the ordinary cards in the same order: the same deal
    for different variants, as far as that is possible.

    Parameters
    ----------
    words : ndarray of int64, shape (88,)
        32-bit random words.
    deck : ndarray of int64, shape (84,)
        Out.
    """
    for place in range(ORDINARY):
        deck[place] = place % KINDS
    for place in range(ORDINARY - 1, 0, -1):
        other = (words[place] * (place + 1)) >> 32
        kept = deck[place]
        deck[place] = deck[other]
        deck[other] = kept
    for wang in range(wangs):
        length = ORDINARY + wang
        place = (words[ORDINARY + wang] * (length + 1)) >> 32
        for position in range(length, place, -1):
            deck[position] = deck[position - 1]
        deck[place] = WANG


@kernel
def first_dealer(p: Params, words: Ints) -> int:
    """Who deals first in a session, seat 0 (owner) or a random seat (1.2)."""
    return (words[_DEALER_WORD] * p.seats) >> 32 if p.first_dealer == RANDOM else 0


@kernel
def following_dealer(p: Params, t: Table) -> int:
    """Rule 1.2 dealer: who deals after the game on the table."""
    dealer = t.game[DEALER]
    rule = p.dealer_after_draw if t.game[WINNER] < 0 else p.dealer_after_win
    if rule == NEXT:
        return next_seat(t, dealer)
    if rule == STAYS:
        return dealer
    return t.game[WINNER]


@kernel
def seat_players(p: Params, t: Table, dealer: int) -> None:
    """Three active seats; with four the one opposite the dealer sits out (1.12)."""
    clear(t)
    t.game[DEALER] = dealer
    t.game[N_SEATS] = p.seats
    t.game[END] = ORDINARY + p.wangs
    if p.seats == 4:
        t.game[SITTER] = (dealer + 2) % 4
    for seat in range(p.seats):
        t.public[seat, P_ACTIVE] = 1 if seat != t.game[SITTER] else 0


@kernel
def _take_top(t: Table, seat: int) -> int:
    """Move the top card of the deck into a hand, unseen."""
    card = t.deck[t.game[TOP]]
    t.game[TOP] += 1
    t.seat[seat, OWNED] += 1
    if card == WANG:
        t.seat[seat, DEALT_WANGS] += 1
    move_cards(t, seat, card, 1)
    return card


@kernel
def _lay_all_dealt(p: Params, t: Table, seat: int) -> None:
    for kind in range(KINDS):
        if t.hand[seat, kind] == 4:
            lay_dealt_ti(p, t, seat, kind)
            log_event(t, EV_TI, seat, kind, FROM_DEAL, -1, 0)


@kernel
def _replace(p: Params, t: Table, seat: int) -> None:
    """Key ``turn.extra_quad: replacement_draw``: draw, hidden, until the quota (the dealer's + 1) is owned."""
    extra = 1 if seat == t.game[DEALER] else 0
    while t.seat[seat, OWNED] < quota(t.seat[seat]) + extra and t.game[TOP] < t.game[END]:
        card = _take_top(t, seat)
        log_event(t, EV_DRAW, seat, card, 1, 0, 0)
        if card != WANG and t.hand[seat, card] == 4:
            lay_dealt_ti(p, t, seat, card)
            log_event(t, EV_TI, seat, card, FROM_DEAL, -1, 0)


@kernel
def deal(p: Params, t: Table, dealer: int) -> None:
    """Rule 1.13 deal: the dealer 21, the next two 20 each in blocks; dealt ti are laid in turn order.

    ``t.deck`` must be shuffled. Afterwards the heavenly win is to be asked.
    """
    seat_players(p, t, dealer)
    seat = dealer
    for place in range(3):
        for _ in range(21 if place == 0 else 20):
            _take_top(t, seat)
        seat = next_seat(t, seat)
    for _ in range(3):
        _lay_all_dealt(p, t, seat)
        seat = next_seat(t, seat)
    if p.extra_quad == REPLACEMENT_DRAW:
        for _ in range(3):
            _replace(p, t, seat)
            seat = next_seat(t, seat)
