"""What the planning players see in a hand: its worth, its outlook, what a discard risks.

Only the seat's own cards and what lies open are read. All values are in 960ths of a complete group.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.bots.plan import GROUP, WIDTH
from sim.bots.view import View
from sim.bots.weights import (
    W_CHI_RISK,
    W_CLAIM_LOOK,
    W_COLOUR,
    W_CROSS,
    W_HUXI_0,
    W_MARGIN,
    W_MIDDLE,
    W_PAO_RISK,
    W_PENG_RISK,
    W_SEEN,
    W_TOP,
    Brain,
)
from sim.cards import KINDS, RANKS, is_red, size_of
from sim.cover import PACKED, STATES
from sim.groups import GROUP_KINDS, PAO, PENG, TWO_SEVEN_TEN
from sim.params import MAX_REDS, Params
from sim.rules.huxi import kans_value
from sim.state import (
    DECIDER,
    HUXI,
    KANS,
    MELDS,
    N_SEATS,
    NOTE_BIAS,
    NOTE_RANK,
    NOTE_UNSEEN,
    OWNED,
    P_ACTIVE,
    P_DEAD,
    P_DISCARDS,
    P_PASSED,
    POW3,
    QUADS,
    REDS,
    SITTER,
    natural_reds,
    quota,
)

Ints = npt.NDArray[np.int64]

UNIT = 16
"""960ths of a group in a sixtieth, the unit of the plan tables."""
SEVEN = 7


def _connected() -> Ints:
    """For each kind a mask of the kinds that can share a group with it, itself included."""
    masks = np.zeros(KINDS, dtype=np.int64)
    for kinds in GROUP_KINDS:
        for kind in kinds:
            for other in kinds:
                masks[kind] |= 1 << int(other)
    return masks


CONNECTED = _connected()


@kernel
def join(brain: Brain, level: int, small: int, large: int, groups: int, pair: int) -> int:
    """Greatest plan value of both sizes with at most ``groups`` groups in all, one of them the pair if ``pair``."""
    best = 0
    for first in range(groups + 1):
        rest = groups - first
        if pair:
            value = max(
                brain.plans[level, 0, small, WIDTH + first] + brain.plans[level, 1, large, rest],
                brain.plans[level, 0, small, first] + brain.plans[level, 1, large, WIDTH + rest],
            )
        else:
            value = brain.plans[level, 0, small, first] + brain.plans[level, 1, large, rest]
        best = max(best, value)
    return best


@kernel
def worth(p: Params, brain: Brain, cross: int, level: int, code: int, groups: int, pair: int) -> int:
    """Worth of free cards that have ``groups`` groups to make, in 960ths of a group.

    Jiao and their beginnings join the sizes: they are taken out greedily, each where it raises the whole.
    """
    if groups <= 0:
        return 0
    small = code % STATES
    large = code // STATES
    best = join(brain, level, small, large, groups, pair)
    taken = 0
    packed_small = int(p.states[small, PACKED])
    packed_large = int(p.states[large, PACKED])
    both = (packed_small | packed_small >> 1) & (packed_large | packed_large >> 1) & 0x55555
    if both == 0:
        return UNIT * best
    step = 1
    for rank in range(RANKS):
        if (both >> (2 * rank)) & 1 and groups > 0:
            held_small = (packed_small >> (2 * rank)) & 3
            held_large = (packed_large >> (2 * rank)) & 3
            least = min(held_small, held_large)
            use_small = min(held_small, 2 if held_small >= held_large else 1)
            use_large = min(held_large, 1 if held_small >= held_large else 2)
            piece = GROUP if use_small + use_large == 3 else cross
            rest_small = small - use_small * step
            rest_large = large - use_large * step
            value = piece + join(brain, level, rest_small, rest_large, groups - 1, pair)
            if least == 2:  # two of each: the jiao may have either size twice
                other = piece + join(brain, level, small - step, large - 2 * step, groups - 1, pair)
                if other > value:
                    value = other
                    rest_small = small - step
                    rest_large = large - 2 * step
            if taken + value > best:
                best = taken + value
                taken += piece
                small = rest_small
                large = rest_large
                groups -= 1
        step *= 3
    return UNIT * best


@kernel
def level_of(p: Params, brain: Brain, row: int, huxi: int) -> int:
    """Which level of the plans: 0 with huxi enough, 1 with some missing, 2 with many."""
    missing = p.min_huxi - huxi
    if missing <= 0:
        return 0
    return 1 if missing <= brain.weights[row, W_MIDDLE] else 2


@kernel
def sure_huxi(p: Params, view: View) -> int:
    """Huxi that the hand has whatever comes: groups laid down and concealed kans."""
    return view.seat[HUXI] + kans_value(p, view.seat[KANS])


@kernel
def groups_left(view: View) -> int:
    """Groups still to be made of free cards, the pair among them."""
    left = SEVEN - view.seat[MELDS]
    kans = view.seat[KANS]
    while kans:
        kans &= kans - 1
        left -= 1
    return left


@kernel
def needs_pair(view: View) -> int:
    """1 if one of the groups must be a pair."""
    return 1 if view.seat[QUADS] > 0 else 0


@kernel
def due_after_claim(view: View) -> int:
    """1 if taking the card on the table leaves a discard to be made."""
    return 1 if view.seat[OWNED] + 1 > quota(view.seat) else 0


@kernel
def note_unseen(view: View) -> int:
    """Write how many cards of each kind the seat cannot see; the number of all of them, wangs aside."""
    total = 0
    for kind in range(KINDS):
        view.notes[NOTE_UNSEEN + kind] = 4 - view.hand[kind] - view.seen[kind]
    for number in range(view.seat[MELDS]):  # own groups that lie face down are known, and not among the seen
        group_type = view.melds[number, 0]
        if group_type < TWO_SEVEN_TEN and not view.melds[number, 2]:
            view.notes[NOTE_UNSEEN + view.melds[number, 1]] -= 4 if group_type <= PAO else 3
    for kind in range(KINDS):
        view.notes[NOTE_UNSEEN + kind] = max(0, view.notes[NOTE_UNSEEN + kind])
        total += view.notes[NOTE_UNSEEN + kind]
    return total


@kernel
def colour_outlook(p: Params, laid: int, reds: int) -> int:
    """Expected colour fan, in ninths, of a hand that now has so many reds, ``laid`` of which must stay."""
    total = 0
    for change in range(-2, 3):
        number = min(MAX_REDS, max(laid, reds + change))
        total += (3 - abs(change)) * p.colour_fan[number]
    return total


@kernel
def claim_colour(p: Params, brain: Brain, row: int, view: View, card: int, reds: int) -> int:
    """What laying down groups with ``reds`` red cards, the claimed ``card`` among them, does to the colour fan."""
    colour = brain.weights[row, W_COLOUR]
    if colour == 0:
        return 0
    laid = view.seat[REDS]
    held = laid + natural_reds(view.hand)
    now = colour_outlook(p, laid, held)
    return colour * (colour_outlook(p, laid + reds, held + is_red(card)) - now) // now


@kernel
def _risk(brain: Brain, row: int, p: Params, view: View, kind: int) -> int:
    """What others may do with a discard: the next player chi it, either peng it or pao it."""
    unseen = view.notes[NOTE_UNSEEN + kind]
    me = view.game[DECIDER]
    seat = me
    risk = 0
    order = 0
    for _ in range(view.game[N_SEATS] - 1):
        seat = (seat + 1) % view.game[N_SEATS]
        if seat == view.game[SITTER] or not view.public[seat, P_ACTIVE]:
            continue
        order += 1
        if view.public[seat, P_DEAD]:
            continue
        if order == 1:
            discarded = (view.public[seat, P_DISCARDS] >> kind) & 1 & p.own_discard_blocks_chi
            passed = (view.public[seat, P_PASSED] >> kind) & 1 & p.blocks_chi
            if not discarded and not passed:
                risk += brain.weights[row, W_CHI_RISK]
        if unseen >= 2:
            risk += brain.weights[row, W_PENG_RISK] * (unseen - 1)
        if unseen >= 3:
            risk += brain.weights[row, W_PAO_RISK]
    return risk


@kernel
def note_bias(p: Params, brain: Brain, row: int, view: View) -> None:
    """Write what letting each kind go is worth apart from the groups of the hand: colour, cards seen, risk."""
    reds = view.seat[REDS] + natural_reds(view.hand)
    now = colour_outlook(p, view.seat[REDS], reds)
    fewer = colour_outlook(p, view.seat[REDS], reds - 1)
    colour = brain.weights[row, W_COLOUR]
    more = colour_outlook(p, view.seat[REDS], reds + 1)
    for kind in range(KINDS):
        bias = brain.weights[row, W_SEEN] * view.seen[kind]
        if colour > 0:
            if is_red(kind):
                bias += colour * (fewer - now) // now
            else:
                bias += colour * (more - now) // (2 * now)
        if brain.weights[row, W_CHI_RISK] > 0:
            bias -= _risk(brain, row, p, view, kind)
        view.notes[NOTE_BIAS + kind] = bias


@kernel
def _held(p: Params, code: int) -> int:
    """Mask of the kinds among free cards."""
    mask = 0
    small = code % STATES
    large = code // STATES
    packed = int(p.states[small, PACKED]) | int(p.states[large, PACKED]) << (2 * RANKS)
    for kind in range(KINDS):
        if (packed >> (2 * kind)) & 3:
            mask |= 1 << kind
    return mask


@kernel
def digit_of(p: Params, code: int, kind: int) -> int:
    """How many free cards of a kind a code holds."""
    state = code // STATES if kind >= RANKS else code % STATES
    rank = kind - RANKS if kind >= RANKS else kind
    return (int(p.states[state, PACKED]) >> (2 * rank)) & 3


@kernel
def outlook(
    p: Params,
    brain: Brain,
    row: int,
    view: View,
    level: int,
    code: int,
    groups: int,
    pair: int,
    unseen: int,
) -> int:
    """What one unseen card would add on average to free cards, in 960ths of a group."""
    if unseen <= 0 or groups <= 0:
        return 0
    cross = brain.weights[row, W_CROSS]
    now = worth(p, brain, cross, level, code, groups, pair)
    held = _held(p, code)
    total = 0
    for kind in range(KINDS):
        number = view.notes[NOTE_UNSEEN + kind]
        if number == 0 or CONNECTED[kind] & held == 0:
            continue
        if digit_of(p, code, kind) == 2:
            rest = worth(p, brain, cross, level, code - 2 * POW3[kind], groups - 1, pair)
            after = rest + laid_value(brain, row, level, p.huxi[PENG, size_of(kind)])
        else:
            after = worth(p, brain, cross, level, code + POW3[kind], groups, pair)
        if after > now:
            total += number * (after - now)
    return total // unseen


@kernel
def kept_value(
    p: Params,
    brain: Brain,
    row: int,
    view: View,
    level: int,
    code: int,
    groups: int,
    pair: int,
    due: int,
    unseen: int,
) -> int:
    """Value of free cards, less the best discard if one is due: worth, bias and a share of the outlook."""
    cross = brain.weights[row, W_CROSS]
    look = brain.weights[row, W_CLAIM_LOOK]
    if not due:
        value = worth(p, brain, cross, level, code, groups, pair)
        if look > 0:
            value += look * outlook(p, brain, row, view, level, code, groups, pair, unseen) // 64
        return value
    return plan_discard(p, brain, row, view, look, level, code, groups, pair, unseen) // KINDS


@kernel
def plan_discard(
    p: Params,
    brain: Brain,
    row: int,
    view: View,
    look: int,
    level: int,
    code: int,
    groups: int,
    pair: int,
    unseen: int,
) -> int:
    """Best discard out of free cards, as ``value * 20 + kind``; -1 if there is none.

    All kinds are ranked by worth and bias; with ``look`` the best ``top`` of them within ``margin`` are looked
    at again with their outlook. The values of those stay in the notes, -1 for the others.
    """
    cross = brain.weights[row, W_CROSS]
    best = -1
    held = _held(p, code)
    for kind in range(KINDS):
        ranked = -1
        if (held >> kind) & 1:
            value = worth(p, brain, cross, level, code - POW3[kind], groups, pair)
            ranked = max(0, value + view.notes[NOTE_BIAS + kind]) * KINDS + kind
            best = max(best, ranked)
        view.notes[NOTE_RANK + kind] = ranked
    if look == 0 or best < 0:
        return best
    least = best // KINDS - brain.weights[row, W_MARGIN]
    looked = -1
    done = 0
    for _ in range(brain.weights[row, W_TOP]):
        kind = best % KINDS
        value = best // KINDS
        value += look * outlook(p, brain, row, view, level, code - POW3[kind], groups, pair, unseen) // 64
        view.notes[NOTE_RANK + kind] = value * KINDS + kind
        looked = max(looked, value * KINDS + kind)
        done |= 1 << kind
        best = -1
        for other in range(KINDS):
            if not (done >> other) & 1:
                best = max(best, view.notes[NOTE_RANK + other])
        if best < 0 or best // KINDS < least:
            break
    for kind in range(KINDS):
        if not (done >> kind) & 1:
            view.notes[NOTE_RANK + kind] = -1
    return looked


@kernel
def laid_value(brain: Brain, row: int, level: int, huxi: int) -> int:
    """Value of a group laid down, in 960ths."""
    return UNIT * (GROUP + brain.weights[row, W_HUXI_0 + level] * huxi)
