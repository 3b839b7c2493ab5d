"""The cover table: how much huxi the free cards of one size can make, by wangs used and their colour.

The free cards of one size are at most two of each of ten ranks, so they are a base-3 number below 3**10.
``best[pair + 2 * quad, use(wangs, reds), state]`` is the greatest huxi of an exact cover of the state by
runs, three alike with wangs, one pair if ``pair``, one four alike with wangs if ``quad``, in which exactly
``wangs`` wangs serve, ``reds`` of them as red cards; -1 if there is none. Only a jiao joins both sizes
(:mod:`sim.rules.arrange` runs through those).

Built by taking the lowest rank's card out in every way, for all states of one lowest rank at once.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sim._jit import stored_table
from sim.cards import RANKS, RED_RANKS
from sim.groups import JIAO, KAN, LARGE, ONE_TWO_THREE, RUN, SMALL, TI, TWO_SEVEN_TEN

STATES = 3**RANKS
MAX_WANGS = 4
USES = (MAX_WANGS + 1) * (MAX_WANGS + 2) // 2

Table = npt.NDArray[np.int16]


def use_index(wangs: int, reds: int) -> int:
    """Row of the table for ``wangs`` wangs of which ``reds`` stand for red cards."""
    return wangs * (wangs + 1) // 2 + reds


_RED = [int(rank in RED_RANKS) for rank in range(RANKS)]
_RUNS = [(rank, rank + 1, rank + 2) for rank in range(RANKS - 2)] + [(1, 6, 9)]


def _run_huxi(huxi: npt.NDArray[np.int64], size: int, ranks: tuple[int, int, int]) -> int:
    kind = {(0, 1, 2): ONE_TWO_THREE, (1, 6, 9): TWO_SEVEN_TEN}.get(ranks, RUN)
    return int(huxi[kind, size])


def _removals(
    huxi: npt.NDArray[np.int64], size: int, rank: int
) -> list[tuple[tuple[int, ...], int, int, int, int]]:
    """Every group that holds ``rank`` as the lowest card left: (ranks taken, wangs, reds, huxi, pq).

    ``pq`` is 1 for a pair, 2 for a four alike. A wang with two alike may also be a jiao, one with one card too:
    the better value counts, the colour is the same.
    """
    red = _RED[rank]
    jiao_any = int(max(huxi[JIAO, SMALL], huxi[JIAO, LARGE]))
    kan, ti = int(huxi[KAN, size]), int(huxi[TI, size])
    ways: list[tuple[tuple[int, ...], int, int, int, int]] = [
        ((rank, rank), 0, 0, 0, 1),
        ((rank,), 1, red, 0, 1),
        ((rank, rank), 1, red, max(kan, int(huxi[JIAO, size])), 0),
        ((rank,), 2, 2 * red, max(kan, jiao_any), 0),
        ((rank, rank), 2, 2 * red, ti, 2),
        ((rank,), 3, 3 * red, ti, 2),
    ]
    for ranks in _RUNS:
        if rank not in ranks:
            continue
        others = [other for other in ranks if other != rank]
        value = _run_huxi(huxi, size, ranks)
        for natural in range(4):
            taken = [other for bit, other in enumerate(others) if natural >> bit & 1]
            if any(other < rank for other in taken):
                continue
            missing = [other for other in others if other not in taken]
            ways.append(((rank, *taken), len(missing), sum(_RED[other] for other in missing), value, 0))
    return ways


def _wang_groups(huxi: npt.NDArray[np.int64], size: int, wang_ti: bool) -> Table:
    """The column of state 0: groups of wangs alone."""
    column = np.full((4, USES), -1, dtype=np.int16)
    column[0, 0] = 0
    for red in (0, 1):
        column[1, use_index(2, 2 * red)] = 0
        if wang_ti:
            column[2, use_index(4, 4 * red)] = huxi[TI, size]
    alike = max(int(huxi[KAN, size]), int(max(huxi[JIAO, SMALL], huxi[JIAO, LARGE])))
    threes = [(0, alike), (3, alike)]
    threes += [(sum(_RED[rank] for rank in ranks), _run_huxi(huxi, size, ranks)) for ranks in _RUNS]
    for reds, value in threes:
        row = use_index(3, reds)
        column[0, row] = max(int(column[0, row]), value)
    return column


def build_cover(huxi: npt.NDArray[np.int64], size: int, wang_ti: bool) -> Table:
    """Cover table of one size.

    Parameters
    ----------
    huxi : ndarray of int64, shape (9, 2)
        Huxi by group type and size.
    size : int
        0 small, 1 large.
    wang_ti : bool
        Whether wangs may make a four alike (key ``wang.ti``).

    Returns
    -------
    ndarray of int16, shape (4, 15, 59049)
    """
    best = np.full((4, USES, STATES), -1, dtype=np.int16)
    best[:, :, 0] = _wang_groups(huxi, size, wang_ti)
    uses = [(wangs, reds) for wangs in range(MAX_WANGS + 1) for reds in range(wangs + 1)]
    for rank in range(RANKS - 1, -1, -1):
        step = 3**rank
        for digit in (1, 2):
            states = step * (digit + 3 * np.arange(3 ** (RANKS - 1 - rank), dtype=np.int64))
            result = np.full((4, USES, len(states)), -1, dtype=np.int16)
            for ranks, wangs, reds, value, pq in _removals(huxi, size, rank):
                if ranks.count(rank) > digit or (pq == 2 and not wang_ti):
                    continue
                held = np.ones(len(states), dtype=bool)
                for other in set(ranks) - {rank}:
                    held &= states // 3**other % 3 > 0
                where = np.flatnonzero(held)
                rest = states[where] - sum(3**other for other in ranks)
                pairs = [
                    (use_index(w + wangs, r + reds), use_index(w, r))
                    for w, r in uses
                    if w + wangs <= MAX_WANGS
                ]
                target, source = np.array(pairs, dtype=np.int64).T
                for after in range(4):
                    if after & pq != pq:
                        continue
                    before = best[after - pq][np.ix_(source, rest)]
                    gained = np.where(before >= 0, before + np.int16(value), np.int16(-1))
                    cells = np.ix_(target, where)
                    result[after][cells] = np.maximum(result[after][cells], gained)
            best[:, :, states] = result
    return best


@lru_cache(maxsize=8)
def _cover_pair(values: tuple[int, ...], wang_ti: bool) -> Table:
    huxi = np.array(values, dtype=np.int64).reshape(-1, 2)
    name = hashlib.sha256(repr((values, wang_ti)).encode()).hexdigest()[:16]

    def build() -> Table:
        return np.stack([build_cover(huxi, size, wang_ti) for size in (SMALL, LARGE)])

    return stored_table(f"cover-{name}", (2, 4, USES, STATES), build)


def cover_tables(huxi: npt.NDArray[np.int64], wang_ti: bool) -> Table:
    """Both cover tables, shape (2, 4, 15, 59049), from memory or the cache folder where they are known already."""
    return _cover_pair(tuple(int(value) for value in huxi.ravel()), wang_ti)


PACKED, COUNTED, LONELY, HELD = range(4)
"""Columns of :func:`state_tables`."""


def state_tables() -> npt.NDArray[np.int32]:
    """What a state holds.

    Returns
    -------
    ndarray of int32, shape (59049, 4)
        Digits packed two bits a rank, number of cards, mask of ranks held that are in no natural run, mask of
        ranks held.
    """
    states = np.arange(STATES, dtype=np.int64)
    digits = np.stack([states // 3**rank % 3 for rank in range(RANKS)])
    table = np.zeros((STATES, 4), dtype=np.int32)
    table[:, COUNTED] = digits.sum(axis=0)
    for rank in range(RANKS):
        held = digits[rank] > 0
        in_run = np.zeros(STATES, dtype=bool)
        for ranks in _RUNS:
            if rank in ranks:
                in_run |= np.logical_and.reduce([digits[other] > 0 for other in ranks])
        table[:, PACKED] |= (digits[rank] << (2 * rank)).astype(np.int32)
        table[:, LONELY] |= (held & ~in_run).astype(np.int32) << rank
        table[:, HELD] |= held.astype(np.int32) << rank
    return table
