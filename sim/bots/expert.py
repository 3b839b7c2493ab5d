"""``expert``: as ``careful``, and near the end of its hand it counts what it waits for, exactly.

When the hand may be one card from a win, every promising discard is tried with every unseen card by the rules
themselves: huxi, fan, wang specials and limits of the variant. So it holds wangs for a wang special where that pays,
keeps a hand that the limit lets win, and may let a small win go when waiting on is worth more. Up to some hundred
evaluations a decision; strength in ``docs/bots.md``.
"""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.decisions import D_DISCARD, D_WIN, PASS, TAKE
from sim.bots.features import UNIT, groups_left, note_unseen
from sim.bots.plan import GROUP
from sim.bots.planner import decide_by_plan
from sim.bots.view import View
from sim.bots.weights import EXPERT_ROW, W_NEAR, W_PATIENCE, W_WAIT, Brain
from sim.cards import KINDS, WANG
from sim.params import Params
from sim.rules.arrange import ALL, evaluate
from sim.rules.fan import BY_OTHER, BY_OWN
from sim.state import (
    DECIDER,
    DECISION,
    END,
    N_SEATS,
    NOTE_RANK,
    NOTE_UNSEEN,
    NOTE_WIN,
    OWNED,
    P_WANGS,
    QUADS,
    SEAT_FIELDS,
    TOP,
    W_SCORE,
    WIN_FIELDS,
    Table,
    change,
)

HORIZON = 6
"""Draws that a hand may hope for before another wins."""

SHARE = 64
"""Scores of waits are in 64ths: an average over cards is small."""


@kernel
def _think_of(view: View, t: Table) -> None:
    """Copy the own hand to the spare one."""
    for kind in range(KINDS + 1):
        t.spare_hand[kind] = view.hand[kind]
    for field in range(SEAT_FIELDS):
        t.spare_seat[field] = view.seat[field]


@kernel
def waits_value(p: Params, view: View, t: Table, unseen: int) -> int:
    """Expected score, in 64ths, of the next card from the wall for the spare hand; ``t.win`` is written over.

    A third of the draws are the seat's own; a holder of a wang wins on those only. Unseen cards and wangs are taken
    as equally likely to come.
    """
    hand = t.spare_hand
    seat = t.spare_seat
    if seat[OWNED] + 1 != (20 + seat[QUADS] if seat[QUADS] > 0 else 21):
        return 0
    total = 0
    for kind in range(KINDS):
        number = view.notes[NOTE_UNSEEN + kind]
        if number > 0 and evaluate(p, hand, seat, kind, BY_OWN, ALL, t):
            total += number * t.win[W_SCORE]
            if hand[WANG] == 0 and evaluate(p, hand, seat, kind, BY_OTHER, ALL, t):
                total += 2 * number * t.win[W_SCORE]
    wangs = p.wangs - hand[WANG]
    for other in range(view.game[N_SEATS]):
        if other != view.game[DECIDER]:
            wangs -= view.public[other, P_WANGS]
    if wangs > 0:
        hand[WANG] += 1
        seat[OWNED] += 1
        if evaluate(p, hand, seat, WANG, BY_OWN, ALL, t):
            total += wangs * t.win[W_SCORE]
        hand[WANG] -= 1
        seat[OWNED] -= 1
    return SHARE * total // (3 * max(1, unseen + wangs))


@kernel
def near_discard(p: Params, brain: Brain, row: int, view: View, t: Table, unseen: int, planned: int) -> int:
    """The discard with the best plan and waits together, where a win may be one card away; else the plan's."""
    missing = brain.weights[row, W_NEAR] + GROUP * view.hand[WANG]
    near = UNIT * (GROUP * groups_left(view) - missing)
    best = -1
    choice = planned
    for kind in range(KINDS):
        ranked = view.notes[NOTE_RANK + kind]
        if ranked < 0 or ranked // KINDS < near:
            continue
        _think_of(view, t)
        change(t.spare_hand, t.spare_seat, kind, -1)
        t.spare_seat[OWNED] -= 1
        value = ranked // KINDS + brain.weights[row, W_WAIT] * waits_value(p, view, t, unseen) // SHARE
        if value > best:
            best = value
            choice = kind
    return choice


@kernel
def is_patient(p: Params, brain: Brain, row: int, view: View, t: Table, unseen: int) -> int:
    """1 if waiting on is worth more than the win offered, by the margin of the weights."""
    patience = brain.weights[row, W_PATIENCE]
    if patience == 0:
        return 0
    for field in range(WIN_FIELDS):
        view.notes[NOTE_WIN + field] = view.win[field]
    _think_of(view, t)
    value = waits_value(p, view, t, unseen)
    for field in range(WIN_FIELDS):  # the win is settled by what stands there
        view.win[field] = view.notes[NOTE_WIN + field]
    draws = min(HORIZON, view.game[END] - view.game[TOP])
    return 1 if 100 * value * draws > SHARE * (100 + patience) * view.win[W_SCORE] else 0


@kernel
def decide_closely(p: Params, brain: Brain, row: int, view: View, t: Table) -> int:
    """Choose by the weights of a row, exact waits included. Of ``t`` only scratch is used."""
    decision = view.game[DECISION]
    if decision == D_WIN:
        unseen = note_unseen(view)
        return PASS if is_patient(p, brain, row, view, t, unseen) else TAKE
    choice = decide_by_plan(p, brain, row, view)
    if decision == D_DISCARD:
        unseen = note_unseen(view)
        choice = near_discard(p, brain, row, view, t, unseen, choice)
    return choice


@kernel
def decide_expert(p: Params, brain: Brain, view: View, t: Table) -> int:
    """Choose; see :mod:`sim.bots.decisions` for what the number means."""
    return decide_closely(p, brain, EXPERT_ROW, view, t)
