"""The decisions of the planning players: one body, which the weights of a row turn into the players of the ladder."""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.decisions import D_CHI, D_PENG, D_WIN, PASS, TAKE
from sim.bots.features import (
    claim_colour,
    due_after_claim,
    groups_left,
    kept_value,
    laid_value,
    level_of,
    needs_pair,
    note_bias,
    note_unseen,
    plan_discard,
    sure_huxi,
)
from sim.bots.view import View
from sim.bots.weights import W_LOOK, W_RELUCTANT, Brain
from sim.cards import KINDS, is_red, size_of
from sim.groups import GROUP_KINDS, PENG
from sim.params import Params
from sim.state import CARD, CODE, DECISION, N_OPTIONS, POW3


@kernel
def hand_as_it_is(p: Params, brain: Brain, row: int, view: View, unseen: int) -> int:
    """Value of the hand if the card on the table is let go."""
    level = level_of(p, brain, row, sure_huxi(p, view))
    return kept_value(
        p, brain, row, view, level, view.seat[CODE], groups_left(view), needs_pair(view), 0, unseen
    )


@kernel
def plan_peng(p: Params, brain: Brain, row: int, view: View, unseen: int) -> int:
    """What a peng of the card on the table brings: value with it, less the value without."""
    card = view.game[CARD]
    huxi = p.huxi[PENG, size_of(card)]
    before = sure_huxi(p, view)
    level = level_of(p, brain, row, before)
    after = level_of(p, brain, row, before + huxi)
    due = due_after_claim(view)
    code = view.seat[CODE] - 2 * POW3[card]
    rest = kept_value(p, brain, row, view, after, code, groups_left(view) - 1, needs_pair(view), due, unseen)
    if rest < 0:
        return -1
    colour = claim_colour(p, brain, row, view, card, 3 * is_red(card))
    return rest + laid_value(brain, row, level, huxi) + colour - hand_as_it_is(p, brain, row, view, unseen)


@kernel
def plan_chi(p: Params, brain: Brain, row: int, view: View, option: int, unseen: int, before: int) -> int:
    """What the chi option ``option`` brings: value with it, less ``before``, the value of the hand as it is."""
    card = view.game[CARD]
    huxi = 0
    reds = 0
    code = view.seat[CODE] + POW3[card]
    number = view.options[option, 0]
    level = level_of(p, brain, row, sure_huxi(p, view))
    laid = 0
    for place in range(number):
        group = view.options[option, 1 + place]
        huxi += p.group_huxi[group]
        laid += laid_value(brain, row, level, p.group_huxi[group])
        for position in range(3):
            kind = GROUP_KINDS[group, position]
            code -= POW3[kind]
            reds += is_red(kind)
    after = level_of(p, brain, row, sure_huxi(p, view) + huxi)
    groups = groups_left(view) - number
    rest = kept_value(
        p, brain, row, view, after, code, groups, needs_pair(view), due_after_claim(view), unseen
    )
    if rest < 0:
        return -1
    laid += claim_colour(p, brain, row, view, card, reds)
    return rest + laid - before


@kernel
def best_plan_chi(p: Params, brain: Brain, row: int, view: View, unseen: int) -> int:
    """The chi option that brings most, or pass."""
    best = brain.weights[row, W_RELUCTANT]
    choice = PASS
    before = hand_as_it_is(p, brain, row, view, unseen)
    for option in range(view.game[N_OPTIONS]):
        value = plan_chi(p, brain, row, view, option, unseen, before)
        if value > best:
            best = value
            choice = option + 1
    return choice


@kernel
def decide_by_plan(p: Params, brain: Brain, row: int, view: View) -> int:
    """Choose by the weights of a row; wins are always taken."""
    decision = view.game[DECISION]
    if decision == D_WIN:
        return TAKE
    unseen = note_unseen(view)
    note_bias(p, brain, row, view)
    if decision == D_PENG:
        brings = plan_peng(p, brain, row, view, unseen)
        return TAKE if brings > brain.weights[row, W_RELUCTANT] else PASS
    if decision == D_CHI:
        return best_plan_chi(p, brain, row, view, unseen)
    level = level_of(p, brain, row, sure_huxi(p, view))
    look = brain.weights[row, W_LOOK]
    groups = groups_left(view)
    pair = needs_pair(view)
    best = plan_discard(p, brain, row, view, look, level, view.seat[CODE], groups, pair, unseen)
    return best % KINDS
