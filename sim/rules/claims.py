"""Chapter 2: who may claim a card, and what passing costs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.groups import GROUPS_OF, MAX_GROUPS_OF
from sim.params import Params
from sim.state import (
    CHI_BLOCK,
    DEAD,
    FREE,
    KANS,
    MAX_OPTIONS,
    ON_DRAW,
    OWNED,
    P_PASSED,
    PAIRS,
    PENG_BLOCK,
    PENG_PASSED,
    PENGS,
    SOURCE,
    WEIS,
    Table,
    must_discard,
    next_seat,
    quota,
)

Ints = npt.NDArray[np.int64]


@kernel
def may_pao(p: Params, t: Table, seat: int, kind: int) -> int:
    """Rule 2.5 pao: whether the shown card goes to this seat's kan, wei or (drawn cards only) peng."""
    row = t.seat[seat]
    own = 1 if seat == t.game[SOURCE] else 0
    if not own and ((row[KANS] | row[WEIS]) >> kind) & 1:
        return 1
    if t.game[ON_DRAW] and (row[PENGS] >> kind) & 1:
        return 1 if not own or p.own_draw_lifts_peng else 0
    return 0


@kernel
def _leaves_discard(row: Ints, used: int) -> int:
    """0 if gaining the card and laying ``used`` free ones leaves a due discard without a free card (2.9)."""
    return 1 if row[OWNED] + 1 <= quota(row) or row[FREE] > used else 0


@kernel
def may_peng(t: Table, seat: int, kind: int) -> int:
    """Rule 2.4 peng: exactly two concealed, not blocked (2.10), and a card left to discard if one is due."""
    row = t.seat[seat]
    if row[DEAD] or not (row[PAIRS] >> kind) & 1 or (row[PENG_BLOCK] >> kind) & 1:
        return 0
    return _leaves_discard(row, 2)


@kernel
def _add_option(t: Table, count: int, size: int, first: int, second: int, third: int) -> int:
    if count < MAX_OPTIONS:
        t.options[count, 0] = size
        t.options[count, 1] = first
        t.options[count, 2] = second
        t.options[count, 3] = third
        return count + 1
    return count


@kernel
def _use_group(hand: Ints, kind: int, row: int, number: int) -> int:
    """Take (``number`` 1) or give back (-1) the two other cards of a group; 0 if they are not free cards."""
    first = GROUPS_OF[kind, row, 1]
    second = GROUPS_OF[kind, row, 2]
    if number == 1:
        need = 2 if first == second else 1
        if hand[first] > 2 or hand[second] > 2 or hand[first] < need or hand[second] < 1:
            return 0
    hand[first] -= number
    hand[second] -= number
    return 1


@kernel
def chi_options(t: Table, seat: int, kind: int) -> int:
    """Rule 2.9 chi: list the options in ``t.options``; their number.

    An option is a multiset of groups, each with a card of the kind, that use the claimed card, every free
    card of the kind in the hand, and other free cards.
    """
    hand = t.hand[seat]
    row = t.seat[seat]
    held = hand[kind]
    if held > 2 or row[DEAD]:
        return 0
    count = 0
    for first in range(MAX_GROUPS_OF):
        group = GROUPS_OF[kind, first, 0]
        if group < 0:
            break
        if not _use_group(hand, kind, first, 1):
            continue
        left = hand[kind]
        if left == 0:
            if _leaves_discard(row, 2):
                count = _add_option(t, count, 1, group, -1, -1)
        else:
            count = _more_groups(t, hand, row, kind, first, group, left, count)
        _use_group(hand, kind, first, -1)
    return count


@kernel
def _more_groups(
    t: Table, hand: Ints, row: Ints, kind: int, first: int, group: int, left: int, count: int
) -> int:
    """Rule 2.11 bi: options of two and three groups from row ``first`` on, for the cards of the kind still held.

    ``left`` of them are in the hand after the first group took its own.
    """
    hand[kind] -= 1
    for second in range(first, MAX_GROUPS_OF):
        group_two = GROUPS_OF[kind, second, 0]
        if group_two < 0:
            break
        if not _use_group(hand, kind, second, 1):
            continue
        if hand[kind] == 0:
            if _leaves_discard(row, 5):
                count = _add_option(t, count, 2, group, group_two, -1)
        elif left == 2:
            hand[kind] -= 1
            for third in range(second, MAX_GROUPS_OF):
                group_three = GROUPS_OF[kind, third, 0]
                if group_three < 0:
                    break
                if _use_group(hand, kind, third, 1):
                    if hand[kind] == 0 and _leaves_discard(row, 8):
                        count = _add_option(t, count, 3, group, group_two, group_three)
                    _use_group(hand, kind, third, -1)
            hand[kind] += 1
        _use_group(hand, kind, second, -1)
    hand[kind] += 1
    return count


@kernel
def may_chi(t: Table, seat: int, kind: int) -> int:
    """Number of options of a seat that is asked and not blocked (2.9)."""
    if (t.seat[seat, CHI_BLOCK] >> kind) & 1:
        return 0
    return chi_options(t, seat, kind)


@kernel
def chi_asked(p: Params, t: Table, order: int) -> int:
    """The ``order``-th seat asked for a chi, -1 after the last (2.6).

    On a drawn card the drawer, then the next player; on a discard the next player only.
    """
    source = t.game[SOURCE]
    if t.game[ON_DRAW]:
        if order == 0:
            return source
        return next_seat(t, source) if order == 1 and p.chi_from_upstream_draw else -1
    return next_seat(t, source) if order == 0 else -1


@kernel
def pass_chi(p: Params, t: Table, seat: int, kind: int) -> None:
    """Rule 2.10 passing: whoever was asked by position and did not take the card may not chi its kind again."""
    t.public[seat, P_PASSED] |= 1 << kind
    if p.blocks_chi:
        t.seat[seat, CHI_BLOCK] |= 1 << kind


@kernel
def pass_peng(p: Params, t: Table, seat: int, kind: int) -> None:
    """Rule 2.7 ren peng: a legal peng passed blocks the peng and makes a later wei a chou wei."""
    t.seat[seat, PENG_PASSED] |= 1 << kind
    if p.blocks_peng:
        t.seat[seat, PENG_BLOCK] |= 1 << kind


@kernel
def is_chou_wei(t: Table, seat: int, kind: int) -> int:
    """Rule 2.2 chou wei: a wei after passing the peng of that kind is laid open."""
    return (t.seat[seat, PENG_PASSED] >> kind) & 1


@kernel
def is_stuck(row: Ints) -> int:
    """1 if a discard is due and no free card is there (2.8)."""
    return 1 if must_discard(row) and row[FREE] == 0 else 0
