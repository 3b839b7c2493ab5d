"""``greedy``: a table-driven potential of the hand; takes what raises it, discards what lowers it least.

Looks at its own hand only: runs, pairs and parts of runs, by :mod:`sim.bots.potential`, and two alike of one
size with one of the other as a jiao. Wins whenever it can. Two look-ups a candidate: the engine's speed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.bots.decisions import D_CHI, D_PENG, D_WIN, PASS, TAKE
from sim.bots.potential import GROUP, HUXI_WEIGHT
from sim.bots.view import View
from sim.cards import KINDS, size_of
from sim.cover import PACKED, STATES
from sim.groups import GROUP_KINDS, PENG
from sim.params import Params
from sim.state import CARD, CODE, DECISION, N_OPTIONS, POW3

Potential = npt.NDArray[np.int16]

JIAO_PART = 16  # a third card to a pair makes a jiao
SEEN_WEIGHT = 2  # a kind of which others lie open is less likely to be wanted or completed


@kernel
def hand_potential(p: Params, potential: Potential, code: int) -> int:
    """Potential of free cards: both sizes' tables and what jiao may come."""
    small = code % STATES
    large = code // STATES
    value = int(potential[0, small]) + int(potential[1, large])
    packed_small = int(p.states[small, PACKED])
    packed_large = int(p.states[large, PACKED])
    jiao = packed_small & (packed_large >> 1) | packed_large & (packed_small >> 1)
    jiao &= 0x55555
    while jiao:
        jiao &= jiao - 1
        value += JIAO_PART
    return value


@kernel
def best_discard(p: Params, potential: Potential, view: View) -> int:
    """The free kind without which the hand keeps most potential."""
    best = -1
    choice = PASS
    for kind in range(KINDS):
        if 0 < view.hand[kind] <= 2:
            value = 16 * hand_potential(p, potential, view.seat[CODE] - POW3[kind])
            value += SEEN_WEIGHT * view.seen[kind]
            if value > best:
                best = value
                choice = kind
    return choice


@kernel
def best_chi(p: Params, potential: Potential, view: View) -> int:
    """The option that raises potential most, or pass."""
    card = view.game[CARD]
    best = hand_potential(p, potential, view.seat[CODE])
    choice = PASS
    for number in range(view.game[N_OPTIONS]):
        code = view.seat[CODE] + POW3[card]
        value = 0
        for place in range(view.options[number, 0]):
            group = view.options[number, 1 + place]
            value += GROUP + HUXI_WEIGHT * p.group_huxi[group]
            for position in range(3):
                code -= POW3[GROUP_KINDS[group, position]]
        value += hand_potential(p, potential, code)
        if value > best:
            best = value
            choice = number + 1
    return choice


@kernel
def decide_greedy(p: Params, potential: Potential, view: View) -> int:
    """Choose; see :mod:`sim.bots.decisions` for what the number means."""
    decision = view.game[DECISION]
    if decision == D_WIN:
        return TAKE
    if decision == D_PENG:
        card = view.game[CARD]
        before = hand_potential(p, potential, view.seat[CODE])
        after = hand_potential(p, potential, view.seat[CODE] - 2 * POW3[card])
        laid = GROUP + HUXI_WEIGHT * p.huxi[PENG, size_of(card)]
        return TAKE if after + laid > before else PASS
    if decision == D_CHI:
        return best_chi(p, potential, view)
    return best_discard(p, potential, view)
