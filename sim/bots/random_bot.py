"""``random``: wins when it can, otherwise uniform over the distinct legal options, pass included.

Looks at nothing but the options. A chi option is a multiset of groups, a discard a kind. The weakest player that
still wins: a floor for comparisons, and the quickest way to reach odd corners of the rules.
"""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.decisions import D_CHI, D_PENG, D_WIN, PASS, TAKE
from sim.bots.view import View
from sim.cards import KINDS
from sim.rng import below
from sim.state import DECISION, DECISIONS, N_OPTIONS, WORD_A, WORD_B


@kernel
def decide_random(view: View) -> int:
    """Choose; see :mod:`sim.bots.decisions` for what the number means."""
    decision = view.game[DECISION]
    number = view.seat[DECISIONS]
    if decision == D_WIN:
        return TAKE
    if decision == D_PENG:
        return below(view.seat[WORD_A], view.seat[WORD_B], number, 2)
    if decision == D_CHI:
        return below(view.seat[WORD_A], view.seat[WORD_B], number, view.game[N_OPTIONS] + 1)
    kinds = 0
    for kind in range(KINDS):
        if 0 < view.hand[kind] <= 2:
            kinds += 1
    choice = below(view.seat[WORD_A], view.seat[WORD_B], number, kinds)
    for kind in range(KINDS):
        if 0 < view.hand[kind] <= 2:
            if choice == 0:
                return kind
            choice -= 1
    return PASS
