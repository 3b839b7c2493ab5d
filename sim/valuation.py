"""What a compiled player itself thinks its options are worth, asked from Python one decision at a time.

The unit is one group of the hand. Discards are valued by the hand that is kept, claims by what they bring over passing.
"""

from __future__ import annotations

from sim.bots.brain import Brain
from sim.bots.decisions import D_CHI, D_DISCARD, D_PENG, D_WIN
from sim.bots.expert import SHARE, waits_value
from sim.bots.features import (
    UNIT,
    groups_left,
    level_of,
    needs_pair,
    note_bias,
    note_unseen,
    plan_discard,
    sure_huxi,
)
from sim.bots.greedy import SEEN_WEIGHT, hand_potential
from sim.bots.plan import GROUP
from sim.bots.planner import hand_as_it_is, plan_chi, plan_peng
from sim.bots.potential import GROUP as WHOLE
from sim.bots.potential import HUXI_WEIGHT
from sim.bots.view import View, view_of
from sim.bots.weights import (
    CAREFUL_ROW,
    EXPERT_ROW,
    TEMPO_ROW,
    VALUE_ROW,
    W_LOOK,
    W_NEAR,
    W_RELUCTANT,
    W_WAIT,
)
from sim.cards import KINDS, WANG, size_of
from sim.groups import GROUP_KINDS, PENG
from sim.params import Params
from sim.state import CARD, CODE, DECISION, N_OPTIONS, NOTE_RANK, OWNED, POW3, Table, change, copy_table

_ROWS = {"tempo": TEMPO_ROW, "value": VALUE_ROW, "careful": CAREFUL_ROW, "expert": EXPERT_ROW}


def own_values(p: Params, brain: Brain, t: Table, name: str) -> list[float | None] | None:
    """Value of each option of the pending decision, in the order of :func:`sim.search.choices_of`.

    Parameters
    ----------
    p : Params
    brain : Brain
        Of the compiled players.
    t : Table
        Left as it is.
    name : str
        A compiled player.

    Returns
    -------
    list or None
        None for a player, or a decision, without such values; None in the list for a discard that was not looked at
        closely. Passing counts what a claim must bring at least.
    """
    if t.game[DECISION] == D_WIN or (name != "greedy" and name not in _ROWS):
        return None
    board = copy_table(t)  # bots scribble on their table
    view = view_of(board)
    if name == "greedy":
        return [value / WHOLE for value in _greedy(p, brain, view)]
    values = _planned(p, brain, _ROWS[name], view, board)
    return [None if value is None else value / (GROUP * UNIT) for value in values]


def _greedy(p: Params, brain: Brain, view: View) -> list[float]:
    code, card = int(view.seat[CODE]), int(view.game[CARD])
    now = int(hand_potential(p, brain.potential, code))
    if view.game[DECISION] == D_DISCARD:
        return [
            int(hand_potential(p, brain.potential, code - int(POW3[kind])))
            + SEEN_WEIGHT * int(view.seen[kind]) / 16
            for kind in range(KINDS)
            if 0 < view.hand[kind] <= 2
        ]
    if view.game[DECISION] == D_PENG:
        rest = int(hand_potential(p, brain.potential, code - 2 * int(POW3[card])))
        return [0.0, rest + WHOLE + HUXI_WEIGHT * int(p.huxi[PENG, size_of(card)]) - now]
    values = [0.0]
    for number in range(int(view.game[N_OPTIONS])):
        left, laid = code + int(POW3[card]), 0
        for group in view.options[number, 1 : 1 + int(view.options[number, 0])]:
            laid += WHOLE + HUXI_WEIGHT * int(p.group_huxi[group])
            left -= sum(int(POW3[kind]) for kind in GROUP_KINDS[group])
        values.append(float(laid + int(hand_potential(p, brain.potential, left)) - now))
    return values


def _planned(p: Params, brain: Brain, row: int, view: View, board: Table) -> list[float | None]:
    unseen = int(note_unseen(view))
    note_bias(p, brain, row, view)
    least = float(brain.weights[row, W_RELUCTANT])
    if view.game[DECISION] == D_PENG:
        return [least, float(plan_peng(p, brain, row, view, unseen))]
    if view.game[DECISION] == D_CHI:
        options = range(int(view.game[N_OPTIONS]))
        before = hand_as_it_is(p, brain, row, view, unseen)
        return [least, *(float(plan_chi(p, brain, row, view, number, unseen, before)) for number in options)]
    plan_discard(
        p,
        brain,
        row,
        view,
        int(brain.weights[row, W_LOOK]),
        int(level_of(p, brain, row, sure_huxi(p, view))),
        int(view.seat[CODE]),
        int(groups_left(view)),
        int(needs_pair(view)),
        unseen,
    )
    return [
        _discard(p, brain, row, view, board, kind, unseen)
        for kind in range(KINDS)
        if 0 < view.hand[kind] <= 2
    ]


def _discard(
    p: Params, brain: Brain, row: int, view: View, board: Table, kind: int, unseen: int
) -> float | None:
    """Value of the hand without a kind; the expert's with what it then waits for, if a win may be near."""
    ranked = int(view.notes[NOTE_RANK + kind])
    if ranked < 0:
        return None
    value = ranked // KINDS
    if row == EXPERT_ROW:
        missing = int(brain.weights[row, W_NEAR]) + GROUP * int(view.hand[WANG])
        if value >= UNIT * (GROUP * int(groups_left(view)) - missing):
            board.spare_hand[:] = view.hand
            board.spare_seat[:] = view.seat
            change(board.spare_hand, board.spare_seat, kind, -1)
            board.spare_seat[OWNED] -= 1
            value += int(brain.weights[row, W_WAIT]) * int(waits_value(p, view, board, unseen)) // SHARE
    return float(value)
