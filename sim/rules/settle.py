"""Rules 1.3, 2.13 and 3.9: who pays whom after a win or a draw game."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.cards import KINDS, WANG
from sim.groups import GROUP_KINDS, PAO, TWO_SEVEN_TEN
from sim.params import ANY_WINNER, DEALER_SIDE, WINNER_ONLY, XING_FLIP, XING_NONE, Params
from sim.rows import NULL
from sim.state import (
    DEALER,
    END,
    MELDS,
    N_SEATS,
    P_ACTIVE,
    SITTER,
    TOP,
    W_FAN,
    W_SCORE,
    WIN_CARD,
    WIN_CARD_HELD,
    WINNER,
    XING_CARD,
    XING_COUNT,
    XING_KIND,
    Table,
)

Ints = npt.NDArray[np.int64]

PAY_WIN, PAY_XING, PAY_WANG = range(3)
PAY_NAMES = ("win", "xing", "wang")


@kernel
def pay(p: Params, t: Table, reason: int, payer: int, payee: int, amount: int) -> None:
    """Rule 3.9 payment: one transfer, times the stake; win and xing money of one pair is cut to ``cap`` in all."""
    amount = amount * p.stake
    if reason != PAY_WANG and p.cap > 0:
        before = t.money[PAY_WIN, payer, payee] + t.money[PAY_XING, payer, payee]
        amount = min(amount, max(0, p.cap - before))
    t.money[reason, payer, payee] += amount


@kernel
def owned_of_kind(t: Table, seat: int, kind: int) -> int:
    """Ordinary cards of a kind among all a seat's cards, concealed and exposed."""
    count = t.hand[seat, kind]
    for number in range(t.seat[seat, MELDS]):
        group_type = t.melds[seat, number, 0]
        what = t.melds[seat, number, 1]
        if group_type >= TWO_SEVEN_TEN:
            for place in range(3):
                if GROUP_KINDS[what, place] == kind:
                    count += 1
        elif what == kind:
            count += 4 if group_type <= PAO else 3
    return count


@kernel
def _with_winning_card(t: Table, seat: int, kind: int) -> int:
    """The same with the winning card, where it is not in the hand or a group already."""
    extra = 1 if t.game[WIN_CARD] == kind and not t.game[WIN_CARD_HELD] else 0
    return owned_of_kind(t, seat, kind) + extra


@kernel
def _most_held(t: Table, seat: int) -> int:
    """Kind of which the winner has most ordinary cards, the first among equals."""
    best = 0
    most = -1
    for kind in range(KINDS):
        count = _with_winning_card(t, seat, kind)
        if count > most:
            most = count
            best = kind
    return best


@kernel
def turn_xing(p: Params, t: Table) -> None:
    """Find the xing card, its kind and how many of it the winner has (2.13)."""
    if p.xing_card == XING_NONE:
        return
    winner = t.game[WINNER]
    card = t.game[WIN_CARD]
    if p.xing_card == XING_FLIP and t.game[TOP] < t.game[END]:
        card = t.deck[t.game[TOP]]
    kind = card
    if card < 0 or card == WANG:
        kind = _most_held(t, winner)
    t.game[XING_CARD] = card
    t.game[XING_KIND] = kind
    t.game[XING_COUNT] = _with_winning_card(t, winner, kind)


@kernel
def _pay_loser(p: Params, t: Table, loser: int, single: int) -> None:
    """What one active loser pays: the win, and xing to the winner and the sitter (2.13, 3.9)."""
    winner = t.game[WINNER]
    dealer = t.game[DEALER]
    sitter = t.game[SITTER]
    second = single if p.xing_singles == 2 else 0
    payment = p.xing_payment if p.seats == 4 else WINNER_ONLY
    pay(p, t, PAY_WIN, loser, winner, t.win[W_SCORE])
    if payment == WINNER_ONLY:
        pay(p, t, PAY_XING, loser, winner, single + second)
    elif payment == ANY_WINNER or winner == dealer:
        pay(p, t, PAY_XING, loser, winner, single)
        pay(p, t, PAY_XING, loser, sitter, second)
    else:
        pay(p, t, PAY_XING, loser, winner, single if loser == dealer else single + second)


@kernel
def settle_win(p: Params, t: Table) -> None:
    """Rule 2.13 xing: all transfers of a won game; the win on the table is ``t.win``."""
    turn_xing(p, t)
    winner = t.game[WINNER]
    count = t.game[XING_COUNT]
    single = 0 if count == NULL else count * t.win[W_FAN]
    for seat in range(t.game[N_SEATS]):
        if seat != winner and t.public[seat, P_ACTIVE]:
            _pay_loser(p, t, seat, single)
    sitter = t.game[SITTER]
    if sitter >= 0 and p.xing_payment == DEALER_SIDE and winner != t.game[DEALER] and p.xing_singles == 2:
        pay(p, t, PAY_XING, sitter, winner, single)


@kernel
def settle_draw(p: Params, t: Table) -> None:
    """Rule 1.3 draw game: every holder of wangs pays every seat without; all in one hand counts double."""
    if not p.wang_payout:
        return
    sitter = t.game[SITTER]
    for payer in range(t.game[N_SEATS]):
        held = t.hand[payer, WANG]
        if held == 0:
            continue
        for payee in range(t.game[N_SEATS]):
            if payee == payer or t.hand[payee, WANG] > 0:
                continue
            if payee == sitter and payer == t.game[DEALER]:
                continue
            factor = p.all_in_one if held == p.wangs and payee != sitter else 1
            pay(p, t, PAY_WANG, payer, payee, p.wang_unit * held * factor)


@kernel
def score_of(t: Table, seat: int) -> int:
    """A seat's score: what it got less what it paid."""
    score = 0
    for reason in range(3):
        for other in range(t.game[N_SEATS]):
            score += t.money[reason, other, seat] - t.money[reason, seat, other]
    return score
