"""Chapter 5: the best arrangement of a hand into seven groups.

The group of the winning card is chosen first, which settles wei or peng and the wang specials. Kans, exposed
groups and that group are then fixed; what is left is covered by the two tables of :mod:`sim.cover`, one a size,
after running through the jiao, the only groups that join both sizes. Since the number of red cards depends only on
what the wangs stand for, it is enough to know the greatest huxi for each number of red wangs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.cards import KINDS, NO_CARD, RANKS, WANG, is_red, size_of
from sim.cover import COUNTED, HELD, LONELY, MAX_WANGS, PACKED, STATES
from sim.groups import (
    GROUP_KINDS,
    GROUP_TYPE,
    GROUPS_OF,
    JIAO,
    KAN,
    MAX_GROUPS_OF,
    N_GROUPS,
    PAIR,
    PAO,
    PENG,
    TI,
    WEI,
)
from sim.params import (
    CHUANG,
    CHUANG_WANG,
    DIAO,
    DIAO_WANG,
    LIMIT_BY_WANG,
    ZHA,
    ZHA_WANG,
    Params,
)
from sim.rules.fan import BY_DEAL, BY_OTHER, BY_OWN, draw_fan, fan_of, within_limit
from sim.rules.huxi import NO_LIFT, kans_value, lift_gain, tun_of
from sim.state import (
    C_BASE,
    C_FAN,
    C_LIFT_BLACK,
    C_LIFT_RED,
    C_ONLY_SPECIAL,
    C_QUADS,
    C_REDS,
    C_TRIES,
    C_WANGS,
    CODE,
    HUXI,
    KANS,
    OWNED,
    PAIRS,
    PENGS,
    POW3,
    QUADS,
    REDS,
    W_COVERED,
    W_ENOUGH,
    W_FAN,
    W_FOUND,
    W_HUXI,
    W_MOST_FAN,
    W_MOST_HUXI,
    W_REDS,
    W_SCORE,
    W_SPECIAL,
    W_TUN,
    WEIS,
    Table,
    natural_reds,
)

Ints = npt.NDArray[np.int64]

ALL, FORCED_ONLY, DECLARED_ONLY = range(3)
"""Which arrangements :func:`evaluate` looks at when a forced move applies: see rule 5.3."""

NO_SURE = 1_000_000
"""Marks an option whose huxi need not be sure beforehand."""

THREE, PAIR_GIVEN, QUAD_GIVEN = range(3)
"""What the group of the winning card is, for the count of groups."""

PLAN_PLAIN, PLAN_PAIR, PLAN_QUAD, PLAN_LIFT = 1, 2, 4, 8
"""Ways to make the rest: threes only; with the pair; with a quad of wangs; with a kan or wei lifted by a wang."""

# columns of the scratch stack of the cover search
_RANK, _SMALL, _LARGE, _WANGS, _HUXI, _RED, _CHOICE, _OPEN = range(8)
_JIAO_CHOICES = 5
# columns of Work.tries
(
    T_CODE,
    T_WANGS,
    T_GIVES,
    T_HUXI,
    T_REDS,
    T_SPECIAL,
    T_SURE,
    T_TYPE,  # group type of the winning card's group, NO_GROUP if the card is just one of the rest
    T_WHAT,  # its kind, or the group number of a run or jiao
    T_LIFTS,  # type of the group that it grew from, NO_GROUP if it is new
) = range(10)
NO_GROUP = -1


@kernel
def _join_tables(p: Params, row: Ints, pair: int, quad: int, cover: Ints) -> None:
    """Add both sizes' tables for one choice of jiao; keep the greatest huxi by red wangs in ``cover``."""
    small = row[_SMALL]
    large = row[_LARGE]
    wangs = row[_WANGS]
    cards = int(p.states[small, COUNTED])
    for wangs_small in range(wangs + 1):
        wangs_large = wangs - wangs_small
        for plane in range(4):
            pair_small = plane & 1
            quad_small = plane >> 1
            if pair_small > pair or quad_small > quad:
                continue
            if (cards + wangs_small + pair_small - quad_small) % 3 != 0:
                continue
            plane_large = pair - pair_small + 2 * (quad - quad_small)
            for reds_small in range(wangs_small + 1):
                use_small = wangs_small * (wangs_small + 1) // 2 + reds_small
                huxi_small = int(p.covers[0, plane, use_small, small])
                if huxi_small < 0:
                    continue
                for reds_large in range(wangs_large + 1):
                    use_large = wangs_large * (wangs_large + 1) // 2 + reds_large
                    huxi_large = int(p.covers[1, plane_large, use_large, large])
                    if huxi_large >= 0:
                        reds = row[_RED] + reds_small + reds_large
                        cover[reds] = max(cover[reds], row[_HUXI] + huxi_small + huxi_large)


@kernel
def _take_jiao(p: Params, row: Ints, following: Ints, choice: int) -> int:
    """Rule 1.9 jiao: take the ``choice``-th way of jiao at the rank out of both sizes; 0 if it is not there.

    0 none, 1 two small and a large, 2 a small and two large, 3 one of each and a wang, 4 that twice.
    """
    rank = row[_RANK]
    used_small = 0
    used_large = 0
    used_wangs = 0
    value = 0
    if choice == 1 or choice == 2:
        used_small = 3 - choice
        used_large = choice
        value = p.huxi[JIAO, choice - 1]
    elif choice > 2:
        used_wangs = choice - 2
        used_small = used_wangs
        used_large = used_wangs
        value = used_wangs * max(p.huxi[JIAO, 0], p.huxi[JIAO, 1])
    held_small = (int(p.states[row[_SMALL], PACKED]) >> (2 * rank)) & 3
    held_large = (int(p.states[row[_LARGE], PACKED]) >> (2 * rank)) & 3
    if held_small < used_small or held_large < used_large or row[_WANGS] < used_wangs:
        return 0
    following[_SMALL] = row[_SMALL] - used_small * POW3[rank]
    following[_LARGE] = row[_LARGE] - used_large * POW3[rank]
    following[_WANGS] = row[_WANGS] - used_wangs
    following[_HUXI] = row[_HUXI] + value
    following[_RED] = row[_RED] + used_wangs * is_red(rank)
    following[_CHOICE] = 0
    following[_OPEN] = row[_OPEN] & ~(1 << rank)
    return 1


@kernel
def _count_bits(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def _alone(p: Params, row: Ints) -> int:
    """Ranks that hold cards in no natural run of their size, where no jiao is to be chosen any more."""
    settled = ~row[_OPEN]
    return _count_bits(int(p.states[row[_SMALL], LONELY]) & settled) + _count_bits(
        int(p.states[row[_LARGE], LONELY]) & settled
    )


@kernel
def _jiao_ranks(p: Params, stack: Ints, wangs: int) -> int:
    """Note the ranks at which a jiao is possible in the scratch stack; their number."""
    small = int(p.states[stack[0, _SMALL], PACKED])
    large = int(p.states[stack[0, _LARGE], PACKED])
    both = int(p.states[stack[0, _SMALL], HELD]) & int(p.states[stack[0, _LARGE], HELD])
    ranks = 0
    rank = 0
    possible = 0
    while both:
        if both & 1 and ((small >> (2 * rank)) & 3) + ((large >> (2 * rank)) & 3) + wangs >= 3:
            stack[ranks, _RANK] = rank
            ranks += 1
            possible |= 1 << rank
        both >>= 1
        rank += 1
    stack[0, _OPEN] = possible
    return ranks


@kernel
def best_cover(p: Params, work: Table, code: int, wangs: int, pair: int, quad: int) -> int:
    """Greatest huxi of an exact cover of free cards, by number of red wangs.

    Parameters
    ----------
    p : Params
    work : Table
        Out: ``work.cover[reds]``, -1 where there is no cover.
    code : int
        The free cards as a base-3 number.
    wangs : int
        Wangs that must all serve, 0 to 4.
    pair, quad : int
        Whether exactly one pair, one four alike with wangs, must be in it.

    Returns
    -------
    int
        1 if there is any cover.
    """
    stack = work.stack
    cover = work.cover
    for reds in range(MAX_WANGS + 1):
        cover[reds] = -1
    stack[0, _SMALL] = code % STATES
    stack[0, _LARGE] = code // STATES
    stack[0, _WANGS] = wangs
    stack[0, _HUXI] = 0
    stack[0, _RED] = 0
    stack[0, _CHOICE] = 0
    ranks = _jiao_ranks(p, stack, wangs)
    # a wang helps two such ranks at most, the pair one: most hopeless hands end here
    depth = 0 if _alone(p, stack[0]) <= 2 * wangs + pair else -1
    while depth >= 0:
        choice = stack[depth, _CHOICE]
        if depth == ranks:
            _join_tables(p, stack[depth], pair, quad, cover)
            depth -= 1
        elif choice == _JIAO_CHOICES:
            depth -= 1
        else:
            stack[depth, _CHOICE] = choice + 1
            if _take_jiao(p, stack[depth], stack[depth + 1], choice):
                depth += 1
                if _alone(p, stack[depth]) > 2 * stack[depth, _WANGS] + pair:
                    depth -= 1
    found = 0
    for reds in range(wangs + 1):
        if cover[reds] >= 0:
            found = 1
    return found


@kernel
def special_rank(p: Params, special: int) -> int:
    """Order of wang specials where score and huxi are equal: the larger factor, then the later rule."""
    return 10 * p.special_fan[special] + special if special > 0 else 0


@kernel
def _score(p: Params, huxi: int, reds: int, special: int, sure: int, win: Ints) -> None:
    """Keep an arrangement that may be won with if it is the best so far (5.1, 5.3)."""
    win[W_COVERED] = 1
    if huxi < p.min_huxi or sure < p.min_huxi:
        win[W_MOST_HUXI] = max(win[W_MOST_HUXI], min(huxi, sure))
        return
    win[W_ENOUGH] = 1
    fan = fan_of(p, win, special, reds)
    if not within_limit(p, win, special, fan):
        win[W_MOST_FAN] = max(win[W_MOST_FAN], fan)
        return
    tun = tun_of(p, huxi)
    score = tun * fan
    if win[W_FOUND]:
        if score < win[W_SCORE]:
            return
        if score == win[W_SCORE]:
            if huxi < win[W_HUXI]:
                return
            if huxi == win[W_HUXI] and special_rank(p, special) <= special_rank(p, win[W_SPECIAL]):
                return
    win[W_FOUND] = 1
    win[W_SCORE] = score
    win[W_HUXI] = huxi
    win[W_TUN] = tun
    win[W_FAN] = fan
    win[W_SPECIAL] = special
    win[W_REDS] = reds


@kernel
def _score_covers(p: Params, work: Table, row: Ints, used: int, gain: int, red: int) -> None:
    """Score every cover found, with a lift of a kan or wei by ``used`` (0 or 1) wang that gains ``gain``."""
    win = work.win
    for red_wangs in range(row[T_WANGS] - used + 1):
        covered = work.cover[red_wangs]
        if covered >= 0:
            fixed = win[C_BASE] + gain + covered
            reds = win[C_REDS] + row[T_REDS] + red + red_wangs
            _score(p, fixed + row[T_HUXI], reds, row[T_SPECIAL], fixed + row[T_SURE], win)


@kernel
def plans_for(p: Params, win: Ints, gives: int, wangs: int) -> int:
    """Rule 2.12 group: which ways to make the rest come out at seven groups, as a mask.

    A hand with a quad laid down has no cards for another; one with none may make one, and then needs the pair.
    """
    if gives == QUAD_GIVEN:
        return PLAN_PAIR if win[C_QUADS] == 0 else 0
    if win[C_QUADS] > 0:
        return PLAN_PAIR
    plans = PLAN_PLAIN if gives == THREE else 0
    if p.wang_ti and wangs >= 1 and (win[C_LIFT_BLACK] != NO_LIFT or win[C_LIFT_RED] != NO_LIFT):
        plans |= PLAN_LIFT
    if p.wang_ti and wangs >= 2:
        plans |= PLAN_QUAD
    return plans


@kernel
def _complete(p: Params, work: Table, row: Ints) -> None:
    """Rule 5.2 seven groups: complete the winning card's group by all that can be made of the rest, and score it."""
    win = work.win
    pair = 0 if row[T_GIVES] == PAIR_GIVEN else 1
    plans = plans_for(p, win, row[T_GIVES], row[T_WANGS])
    for number in range(4):
        plan = 1 << number
        if not plans & plan:
            continue
        used = 1 if plan == PLAN_LIFT else 0
        need_pair = 0 if plan == PLAN_PLAIN else pair
        need_quad = 1 if plan == PLAN_QUAD else 0
        if best_cover(p, work, row[T_CODE], row[T_WANGS] - used, need_pair, need_quad):
            if not used:
                _score_covers(p, work, row, 0, 0, 0)
            for red in range(2 * used):
                gain = win[C_LIFT_BLACK + red]
                if gain != NO_LIFT:
                    _score_covers(p, work, row, 1, gain, red)


@kernel
def _note(
    work: Table,
    code: int,
    wangs: int,
    gives: int,
    huxi: int,
    reds: int,
    special: int,
    sure: int,
    group_type: int,
    what: int,
    lifts: int,
) -> None:
    """Note one way to use the winning card, to be completed later.

    Parameters
    ----------
    code, wangs : int
        What is left.
    gives : int
        ``THREE``, ``PAIR_GIVEN`` or ``QUAD_GIVEN``.
    huxi, reds : int
        Of the group; ``reds`` counts what its wangs stand for only.
    special : int
        Wang special it makes, 0 none.
    sure : int
        Its huxi as counted for a declared special, ``NO_SURE`` if it need not be sure.
    group_type, what, lifts : int
        What group it is: for the explanation, not for the value.
    """
    if wangs < 0:
        return
    row = work.tries[work.win[C_TRIES]]
    row[T_CODE] = code
    row[T_WANGS] = wangs
    row[T_GIVES] = gives
    row[T_HUXI] = huxi
    row[T_REDS] = reds
    row[T_SPECIAL] = special
    row[T_SURE] = sure
    row[T_TYPE] = group_type
    row[T_WHAT] = what
    row[T_LIFTS] = lifts
    work.win[C_TRIES] += 1


@kernel
def _note_with_wangs(
    p: Params, seat: Ints, wangs: int, kind: int, by: int, declared: int, work: Table
) -> None:
    """The card with one, two or three wangs as pair, three or four alike (4.5, 4.7, 4.9).

    On an own draw that is a wang special. Another's draw a holder of wangs cannot win on; there it only shows whether
    seven groups could be made.
    """
    code = seat[CODE]
    size = size_of(kind)
    red = is_red(kind)
    own = 1 if by == BY_OWN else 0
    three = WEI if own else KAN
    sure = 0 if declared else NO_SURE
    _note(work, code, wangs - 1, PAIR_GIVEN, 0, red, own * DIAO, sure, PAIR, kind, NO_GROUP)
    sure = p.huxi[WEI, 0] if declared else NO_SURE
    value = p.huxi[three, size]
    _note(work, code, wangs - 2, THREE, value, 2 * red, own * CHUANG, sure, three, kind, NO_GROUP)
    if p.wang_ti:
        sure = p.huxi[TI, 0] if declared else NO_SURE
        value = p.huxi[TI, size]
        _note(work, code, wangs - 3, QUAD_GIVEN, value, 3 * red, own * ZHA, sure, TI, kind, NO_GROUP)


@kernel
def _note_lifted(p: Params, seat: Ints, wangs: int, kind: int, by: int, work: Table) -> None:
    """The card as the fourth of a kan, wei or peng: a ti on an own draw, else a pao."""
    code = seat[CODE]
    size = size_of(kind)
    quad = TI if by == BY_OWN else PAO
    if (seat[KANS] >> kind) & 1:
        gain = p.huxi[quad, size] - p.huxi[KAN, size]
        _note(work, code, wangs, QUAD_GIVEN, gain, 0, 0, NO_SURE, quad, kind, KAN)
    if (seat[WEIS] >> kind) & 1:
        gain = p.huxi[quad, size] - p.huxi[WEI, size]
        _note(work, code, wangs, QUAD_GIVEN, gain, 0, 0, NO_SURE, quad, kind, WEI)
    if (seat[PENGS] >> kind) & 1 and (by == BY_OTHER or p.own_draw_lifts_peng):
        gain = p.huxi[PAO, size] - p.huxi[PENG, size]
        _note(work, code, wangs, QUAD_GIVEN, gain, 0, 0, NO_SURE, PAO, kind, PENG)


@kernel
def _note_with_pair(p: Params, seat: Ints, wangs: int, kind: int, by: int, work: Table) -> None:
    """The card as the third of a concealed pair: a wei on an own draw, which a wang may lift, else a peng."""
    code = seat[CODE] - 2 * POW3[kind]
    size = size_of(kind)
    three = WEI if by == BY_OWN else PENG
    _note(work, code, wangs, THREE, p.huxi[three, size], 0, 0, NO_SURE, three, kind, NO_GROUP)
    if p.wang_ti:
        _note(
            work, code, wangs - 1, QUAD_GIVEN, p.huxi[TI, size], is_red(kind), 0, NO_SURE, TI, kind, NO_GROUP
        )


@kernel
def _note_with_one(p: Params, seat: Ints, wangs: int, kind: int, by: int, work: Table) -> None:
    """Rule 1.5 pair: the card with one free card of its kind and up to two wangs: pair, three or four alike."""
    code = seat[CODE] - POW3[kind]
    size = size_of(kind)
    red = is_red(kind)
    three = WEI if by == BY_OWN else KAN
    _note(work, code, wangs, PAIR_GIVEN, 0, 0, 0, NO_SURE, PAIR, kind, NO_GROUP)
    _note(work, code, wangs - 1, THREE, p.huxi[three, size], red, 0, NO_SURE, three, kind, NO_GROUP)
    if p.wang_ti:
        _note(work, code, wangs - 2, QUAD_GIVEN, p.huxi[TI, size], 2 * red, 0, NO_SURE, TI, kind, NO_GROUP)


@kernel
def _note_threes(p: Params, hand: Ints, seat: Ints, wangs: int, kind: int, work: Table) -> None:
    """Rule 1.8 run: the card in a run or jiao, its other two cards free ones or wangs."""
    for row in range(MAX_GROUPS_OF):
        group = GROUPS_OF[kind, row, 0]
        if group < 0:
            break
        first = GROUPS_OF[kind, row, 1]
        second = GROUPS_OF[kind, row, 2]
        for natural in range(4):
            use_first = natural & 1
            use_second = natural >> 1
            used = 2 - use_first - use_second
            if used > wangs or (first == second and natural == 2):
                continue
            need_first = use_first + (use_second if first == second else 0)
            if use_first and not 0 < need_first <= hand[first] <= 2:
                continue
            if use_second and not 0 < hand[second] <= 2:
                continue
            code = seat[CODE] - use_first * POW3[first] - use_second * POW3[second]
            red = (1 - use_first) * is_red(first) + (1 - use_second) * is_red(second)
            _note(
                work,
                code,
                wangs - used,
                THREE,
                p.group_huxi[group],
                red,
                0,
                NO_SURE,
                GROUP_TYPE[group],
                group,
                NO_GROUP,
            )


@kernel
def _note_wang_alone(p: Params, seat: Ints, wangs: int, work: Table) -> None:
    """The drawn wang in a group of wangs alone, which stands for what pays best (4.6, 4.8, 4.10)."""
    code = seat[CODE]
    for red in range(2):
        stand_in = red  # 一 is black, 二 is red
        _note(work, code, wangs - 2, PAIR_GIVEN, 0, 2 * red, DIAO_WANG, NO_SURE, PAIR, stand_in, NO_GROUP)
        for size in range(2):
            _note(
                work,
                code,
                wangs - 3,
                THREE,
                p.huxi[WEI, size],
                3 * red,
                CHUANG_WANG,
                NO_SURE,
                WEI,
                stand_in + RANKS * size,
                NO_GROUP,
            )
            if p.wang_ti:
                _note(
                    work,
                    code,
                    wangs - 4,
                    QUAD_GIVEN,
                    p.huxi[TI, size],
                    4 * red,
                    ZHA_WANG,
                    NO_SURE,
                    TI,
                    stand_in + RANKS * size,
                    NO_GROUP,
                )


@kernel
def _note_wang_alike(p: Params, hand: Ints, seat: Ints, wangs: int, kind: int, work: Table) -> None:
    """The drawn wang in a group with cards of ``kind`` (only where its own group must be looked at)."""
    size = size_of(kind)
    red = is_red(kind)
    held = hand[kind] if hand[kind] <= 2 else 0
    if p.wang_ti and (seat[KANS] >> kind) & 1:
        gain = p.huxi[TI, size] - p.huxi[KAN, size]
        _note(work, seat[CODE], wangs - 1, QUAD_GIVEN, gain, red, 0, NO_SURE, TI, kind, KAN)
    if p.wang_ti and (seat[WEIS] >> kind) & 1:
        gain = p.huxi[TI, size] - p.huxi[WEI, size]
        _note(work, seat[CODE], wangs - 1, QUAD_GIVEN, gain, red, 0, NO_SURE, TI, kind, WEI)
    for natural in range(1, held + 1):
        code = seat[CODE] - natural * POW3[kind]
        if natural == 1:
            _note(work, code, wangs - 1, PAIR_GIVEN, 0, red, 0, NO_SURE, PAIR, kind, NO_GROUP)
        used = 3 - natural
        _note(work, code, wangs - used, THREE, p.huxi[WEI, size], used * red, 0, NO_SURE, WEI, kind, NO_GROUP)
        if p.wang_ti:
            used = 4 - natural
            _note(
                work,
                code,
                wangs - used,
                QUAD_GIVEN,
                p.huxi[TI, size],
                used * red,
                0,
                NO_SURE,
                TI,
                kind,
                NO_GROUP,
            )


@kernel
def _note_wang_threes(p: Params, hand: Ints, seat: Ints, wangs: int, work: Table) -> None:
    """The drawn wang in any run or jiao (only where its own group must be looked at)."""
    for group in range(N_GROUPS):
        for natural in range(7):  # mask of the cards that are natural; never all three
            code = seat[CODE]
            used = 0
            red = 0
            held = 1
            for place in range(3):
                kind = GROUP_KINDS[group, place]
                if (natural >> place) & 1:
                    # only the first two cards of a jiao are alike
                    need = 2 if place == 1 and natural & 1 and GROUP_KINDS[group, 0] == kind else 1
                    if hand[kind] > 2 or hand[kind] < need:
                        held = 0
                    code -= POW3[kind]
                else:
                    used += 1
                    red += is_red(kind)
            if held:
                _note(
                    work,
                    code,
                    wangs - used,
                    THREE,
                    p.group_huxi[group],
                    red,
                    0,
                    NO_SURE,
                    GROUP_TYPE[group],
                    group,
                    NO_GROUP,
                )


@kernel
def _note_wang(p: Params, hand: Ints, seat: Ints, wangs: int, work: Table) -> None:
    """All ways to use a wang just drawn (counted in ``wangs``) (1.4)."""
    if p.explicit_wang:
        for kind in range(KINDS):
            _note_wang_alike(p, hand, seat, wangs, kind, work)
        _note_wang_threes(p, hand, seat, wangs, work)
    else:
        _note(work, seat[CODE], wangs, THREE, 0, 0, 0, NO_SURE, NO_GROUP, -1, NO_GROUP)
    _note_wang_alone(p, seat, wangs, work)


@kernel
def is_forced(seat: Ints, kind: int) -> int:
    """1 if a card of ``kind`` from the wall goes into a wei or ti of the drawer (2.1, 2.3)."""
    return ((seat[KANS] | seat[WEIS] | seat[PAIRS]) >> kind) & 1


@kernel
def _note_ordinary(
    p: Params, hand: Ints, seat: Ints, wangs: int, kind: int, by: int, which: int, work: Table
) -> None:
    """All ways to use an ordinary winning card (5.3)."""
    pair = (seat[PAIRS] >> kind) & 1
    if by == BY_OWN and p.forced_first and is_forced(seat, kind):
        if which != DECLARED_ONLY:
            if pair:
                _note_with_pair(p, seat, wangs, kind, by, work)
            else:
                _note_lifted(p, seat, wangs, kind, by, work)
        if which != FORCED_ONLY and p.declare_special:
            _note_with_wangs(p, seat, wangs, kind, by, 1, work)
        return
    _note_lifted(p, seat, wangs, kind, by, work)
    if pair:
        _note_with_pair(p, seat, wangs, kind, by, work)
    if 0 < hand[kind] <= 2:
        _note_with_one(p, seat, wangs, kind, by, work)
    _note_threes(p, hand, seat, wangs, kind, work)
    _note_with_wangs(p, seat, wangs, kind, by, 0, work)


@kernel
def _set_context(p: Params, hand: Ints, seat: Ints, kind: int, by: int, win: Ints) -> None:
    """Reset the result and note what does not depend on the arrangement."""
    win[:] = 0
    win[C_BASE] = seat[HUXI] + kans_value(p, seat[KANS])
    win[C_REDS] = seat[REDS] + natural_reds(hand)
    if kind != NO_CARD and kind != WANG:
        win[C_REDS] += is_red(kind)
    win[C_QUADS] = seat[QUADS]
    win[C_WANGS] = hand[WANG]
    win[C_FAN] = draw_fan(p, by)
    win[C_LIFT_BLACK] = NO_LIFT
    win[C_LIFT_RED] = NO_LIFT
    if hand[WANG] > 0 and seat[QUADS] == 0 and p.wang_ti:
        win[C_LIFT_BLACK] = lift_gain(p, seat, 0)
        win[C_LIFT_RED] = lift_gain(p, seat, 1)
    if p.limit == LIMIT_BY_WANG and hand[WANG] >= p.special_only_from:
        win[C_ONLY_SPECIAL] = 1


@kernel
def evaluate(p: Params, hand: Ints, seat: Ints, kind: int, by: int, which: int, work: Table) -> int:
    """Rule 5.3 what wins: the best arrangement of a hand with the winning card, if it is a win.

    Parameters
    ----------
    p : Params
    hand : ndarray of int64, shape (21,)
        Concealed cards. An ordinary winning card is not among them; a drawn wang is.
    seat : ndarray of int64, shape (SEAT_FIELDS,)
        Masks, code and exposed groups that belong to ``hand``.
    kind : int
        The winning card: a kind, ``WANG`` or ``NO_CARD`` (heavenly win).
    by : int
        ``BY_OWN``, ``BY_OTHER`` or ``BY_DEAL``.
    which : int
        Under a forced move: ``ALL``, only the forced arrangements, or only specials declared before it.
    work : Table
        Out: ``work.win``.

    Returns
    -------
    int
        1 if the hand wins. That a holder of a wang may not win on another's draw is the caller's business.
    """
    win = work.win
    _set_context(p, hand, seat, kind, by, win)
    wangs = hand[WANG]
    ordinary = 1 if kind != NO_CARD and kind != WANG else 0
    if seat[OWNED] + ordinary != (20 + seat[QUADS] if seat[QUADS] > 0 else 21):
        return 0
    if by == BY_DEAL:
        _note(work, seat[CODE], wangs, THREE, 0, 0, 0, NO_SURE, NO_GROUP, -1, NO_GROUP)
    elif kind == WANG:
        _note_wang(p, hand, seat, wangs, work)
    else:
        _note_ordinary(p, hand, seat, wangs, kind, by, which, work)
    for number in range(win[C_TRIES]):
        _complete(p, work, work.tries[number])
    return win[W_FOUND]
