"""Worlds that a seat can imagine: everything it knows as it is, everything hidden from it dealt anew.

Hidden are the concealed cards of the other seats, the kinds of their groups that lie face down, the order of the wall,
and what they have noted for themselves. Known are the numbers of all these cards, the wangs that were drawn
openly, and, since a pao is forced, that nobody holds three of a kind that has been shown and went by. A world is a
function of the seat's knowledge and of the random words alone: from two tables that look the same to the seat the same
worlds come.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim import rng
from sim._jit import kernel
from sim.bots.decisions import D_WIN
from sim.cards import KINDS, WANG, is_red, size_of
from sim.engine import PH_BEFORE, PH_CHI, PH_PENG
from sim.groups import GROUP_KINDS, PAO, PENG, WEI
from sim.params import Params
from sim.state import (
    CARD,
    CHI_BLOCK,
    CODE,
    DEALT_WANGS,
    DECISION,
    DECISIONS,
    END,
    FREE,
    HUXI,
    KANS,
    N_SEATS,
    P_ACTIVE,
    P_CONCEALED,
    P_DISCARDS,
    P_MELDS,
    P_PASSED,
    P_WANGS,
    PAIRS,
    PENG_BLOCK,
    PENG_PASSED,
    PHASE,
    REDS,
    TOP,
    WEIS,
    WORD_A,
    WORD_B,
    Table,
    change,
)

Ints = npt.NDArray[np.int64]

POOL = 128
"""Length of the scratch row of :func:`imagine`: the hidden cards, then how many of each kind there are."""

_LEFT = 96  # where the counts begin

_TRIES = 20  # whole deals before single cards are exchanged
_DRAWS = 4096  # random numbers a world may take
_FROM_SHUFFLE, _FROM_REPAIR, _FROM_WORDS = 64, 2048, 4080


@kernel
def _count_hidden(p: Params, t: Table, seat: int, pool: Ints) -> None:
    """Cards of each kind whose place the seat does not know, into ``pool[_LEFT:]``."""
    for kind in range(KINDS):
        pool[_LEFT + kind] = 4 - t.seen[kind] - t.hand[seat, kind]
    wangs = p.wangs - t.hand[seat, WANG]
    for owner in range(t.game[N_SEATS]):
        if owner != seat:
            wangs -= t.public[owner, P_WANGS]
    pool[_LEFT + WANG] = wangs
    for number in range(t.public[seat, P_MELDS]):
        if t.shown[seat, number, 1] < 0:
            pool[_LEFT + t.melds[seat, number, 1]] -= 4 if t.melds[seat, number, 0] <= PAO else 3
    if t.game[DECISION] == D_WIN and t.game[PHASE] == PH_BEFORE:
        pool[_LEFT + t.game[CARD]] -= 1  # just drawn, not shown and not in the hand yet


@kernel
def _ways(left: int, size: int) -> int:
    """In how many ways ``size`` of ``left`` alike can be chosen."""
    if left < size:
        return 0
    return 4 if left == 4 and size == 3 else 1


@kernel
def _fill_groups(t: Table, seat: int, size: int, pool: Ints, word_a: int, word_b: int, at: int) -> int:
    """Give kinds to the other seats' face-down groups of ``size`` cards; the next random number to use."""
    for owner in range(t.game[N_SEATS]):
        for number in range(t.public[owner, P_MELDS]):
            group_size = 4 if t.shown[owner, number, 0] <= PAO else 3
            if owner == seat or t.shown[owner, number, 1] >= 0 or group_size != size:
                continue
            total = 0
            for kind in range(KINDS):
                total += _ways(pool[_LEFT + kind], size)
            pick = rng.below(word_a, word_b, at, total)
            at += 1
            for kind in range(KINDS):
                pick -= _ways(pool[_LEFT + kind], size)
                if pick < 0:
                    t.melds[owner, number, 1] = kind
                    pool[_LEFT + kind] -= size
                    break
    return at


@kernel
def _shown_kinds(t: Table) -> int:
    """Kinds of which a card has been shown and no pao came: nobody holds three of them any more."""
    shown = 0
    for owner in range(t.game[N_SEATS]):
        shown |= t.public[owner, P_DISCARDS] | t.public[owner, P_PASSED]
    if t.game[PHASE] == PH_PENG or t.game[PHASE] == PH_CHI:
        shown |= 1 << t.game[CARD]
    return shown


@kernel
def _most(shown: int, kind: int) -> int:
    """Cards of a kind that another seat can hold."""
    if kind == WANG:
        return 4
    return 2 if (shown >> kind) & 1 else 3


@kernel
def _deal_hands(t: Table, seat: int, pool: Ints) -> int:
    """Count the first cards of the pool into the other hands; the place after the last."""
    place = 0
    for owner in range(t.game[N_SEATS]):
        if owner == seat or not t.public[owner, P_ACTIVE]:
            continue
        for kind in range(KINDS + 1):
            t.hand[owner, kind] = 0
        t.hand[owner, WANG] = t.public[owner, P_WANGS]
        for _ in range(t.public[owner, P_CONCEALED] - t.public[owner, P_WANGS]):
            t.hand[owner, pool[place]] += 1
            place += 1
    return place


@kernel
def _is_possible(t: Table, seat: int, shown: int) -> int:
    """Whether no other hand holds more of a kind than it can."""
    for owner in range(t.game[N_SEATS]):
        if owner != seat and t.public[owner, P_ACTIVE]:
            for kind in range(KINDS):
                if t.hand[owner, kind] > _most(shown, kind):
                    return 0
    return 1


@kernel
def _owner_at(t: Table, seat: int, place: int) -> int:
    """The seat whose hand a place of the pool belongs to, -1 for the wall."""
    for owner in range(t.game[N_SEATS]):
        if owner != seat and t.public[owner, P_ACTIVE]:
            place -= t.public[owner, P_CONCEALED] - t.public[owner, P_WANGS]
            if place < 0:
                return owner
    return -1


@kernel
def _repair(
    t: Table, seat: int, shown: int, pool: Ints, length: int, word_a: int, word_b: int, at: int
) -> None:
    """Exchange cards of which a hand has too many with others, until every hand is possible."""
    for place in range(length):
        owner = _owner_at(t, seat, place)
        for attempt in range(100):
            kind = pool[place]
            if owner < 0 or t.hand[owner, kind] <= _most(shown, kind):
                break
            other = rng.below(word_a, word_b, at + place * 16 + attempt, length)
            taken = pool[other]
            receiver = _owner_at(t, seat, other)
            fits = receiver < 0 or (receiver != owner and t.hand[receiver, kind] < _most(shown, kind))
            if fits and t.hand[owner, taken] < _most(shown, taken):
                t.hand[owner, kind] -= 1
                t.hand[owner, taken] += 1
                if receiver >= 0:
                    t.hand[receiver, kind] += 1
                    t.hand[receiver, taken] -= 1
                pool[place] = taken
                pool[other] = kind


@kernel
def _deal_hidden(t: Table, seat: int, pool: Ints, word_a: int, word_b: int, at: int) -> None:
    """Deal the hidden cards to the other hands and the wall."""
    length = 0
    for kind in range(KINDS + 1):
        for _ in range(pool[_LEFT + kind]):
            pool[length] = kind
            length += 1
    shown = _shown_kinds(t)
    number = at + _FROM_SHUFFLE
    possible = 0
    for _ in range(_TRIES):
        if not possible:
            for place in range(length - 1, 0, -1):
                other = rng.below(word_a, word_b, number, place + 1)
                number += 1
                kept = pool[place]
                pool[place] = pool[other]
                pool[other] = kept
            _deal_hands(t, seat, pool)
            possible = _is_possible(t, seat, shown)
    if not possible:
        _repair(t, seat, shown, pool, length, word_a, word_b, at + _FROM_REPAIR)
    place = _deal_hands(t, seat, pool)
    for top in range(t.game[TOP], t.game[END]):
        t.deck[top] = pool[place]
        place += 1


@kernel
def _count_groups(p: Params, t: Table, owner: int) -> None:
    """Huxi, red cards and weis of a seat from its groups."""
    row = t.seat[owner]
    row[HUXI] = 0
    row[REDS] = 0
    row[WEIS] = 0
    for number in range(t.public[owner, P_MELDS]):
        group_type = t.melds[owner, number, 0]
        what = t.melds[owner, number, 1]
        if group_type <= PENG:
            row[HUXI] += p.huxi[group_type, size_of(what)]
            row[REDS] += is_red(what) * (4 if group_type <= PAO else 3)
            if group_type == WEI:
                row[WEIS] |= 1 << what
        else:
            row[HUXI] += p.group_huxi[what]
            for position in range(3):
                row[REDS] += is_red(GROUP_KINDS[what, position])


@kernel
def _note(p: Params, t: Table, owner: int, word_a: int, word_b: int, at: int) -> None:
    """Bring everything that a seat has noted for itself into line with its new cards."""
    row = t.seat[owner]
    row[KANS] = 0
    row[PAIRS] = 0
    row[FREE] = 0
    row[CODE] = 0
    for kind in range(KINDS):
        count = t.hand[owner, kind]
        t.hand[owner, kind] = 0
        change(t.hand[owner], row, kind, count)
    _count_groups(p, t, owner)
    row[CHI_BLOCK] = 0
    if p.own_discard_blocks_chi:
        row[CHI_BLOCK] |= t.public[owner, P_DISCARDS]
    if p.blocks_chi:
        row[CHI_BLOCK] |= t.public[owner, P_PASSED]
    row[PENG_BLOCK] = 0  # a peng is passed in silence
    row[PENG_PASSED] = 0
    row[DEALT_WANGS] = t.hand[owner, WANG] - t.public[owner, P_WANGS]
    row[DECISIONS] = 0
    row[WORD_A] = rng.below(word_a, word_b, at + 2 * owner, 1 << 30)
    row[WORD_B] = rng.below(word_a, word_b, at + 2 * owner + 1, 1 << 30)


@kernel
def imagine(p: Params, t: Table, seat: int, word_a: int, word_b: int, number: int, pool: Ints) -> None:
    """Deal anew, in place, all that is hidden from a seat; a decision may be pending.

    Parameters
    ----------
    seat : int
        An active seat.
    word_a, word_b : int
        Random words; 32 bits each.
    number : int
        Which of the worlds, 0 to 2**18 - 1.
    pool : ndarray of int64, shape (POOL,)
        Scratch.
    """
    at = number * _DRAWS
    _count_hidden(p, t, seat, pool)
    following = _fill_groups(t, seat, 4, pool, word_a, word_b, at)
    _fill_groups(t, seat, 3, pool, word_a, word_b, following)
    _deal_hidden(t, seat, pool, word_a, word_b, at)
    for owner in range(t.game[N_SEATS]):
        if owner != seat and t.public[owner, P_ACTIVE]:
            _note(p, t, owner, word_a, word_b, at + _FROM_WORDS)
