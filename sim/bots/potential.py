"""A table of what free cards of one size are worth on the way to seven groups.

``potential[size, state]`` is the greatest sum over ways to split the cards of a state (see
:mod:`sim.cover`) into runs, pairs, parts of runs and single cards.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from sim._jit import stored_table
from sim.cards import RANKS
from sim.cover import STATES

GROUP = 60  # a complete run
HUXI_WEIGHT = 5  # a point of huxi
PAIR = 27  # two alike: a peng, a wei, a jiao or the pair may come
OPEN_PART = 24  # two of a run that two kinds complete
PART = 18  # two of a run that one kind completes

_RUN_HUXI = {(0, 1, 2): (3, 6), (1, 6, 9): (3, 6)}
_RUNS = [(rank, rank + 1, rank + 2) for rank in range(RANKS - 2)] + [(1, 6, 9)]


def _pieces(size: int, rank: int) -> list[tuple[tuple[int, ...], int]]:
    """Ways to use the lowest card ``rank``: (ranks taken, value)."""
    pieces: list[tuple[tuple[int, ...], int]] = [((rank,), 0), ((rank, rank), PAIR)]
    for ranks in _RUNS:
        huxi = _RUN_HUXI.get(ranks, (0, 0))[size]
        if ranks[0] == rank:
            pieces.append((ranks, GROUP + HUXI_WEIGHT * huxi))
        for low, high in ((0, 1), (0, 2), (1, 2)):
            if ranks[low] == rank:
                bonus = HUXI_WEIGHT * huxi // 3
                is_open = ranks[high] == rank + 1 and 0 < rank < RANKS - 2
                pieces.append(((rank, ranks[high]), (OPEN_PART if is_open else PART) + bonus))
    return pieces


def _build(size: int) -> npt.NDArray[np.int16]:
    best = np.zeros(STATES, dtype=np.int16)
    for rank in range(RANKS - 1, -1, -1):
        for digit in (1, 2):
            states = 3**rank * (digit + 3 * np.arange(3 ** (RANKS - 1 - rank), dtype=np.int64))
            result = np.full(len(states), -1, dtype=np.int16)
            for ranks, value in _pieces(size, rank):
                if ranks.count(rank) > digit:
                    continue
                held = np.ones(len(states), dtype=bool)
                for other in set(ranks) - {rank}:
                    held &= states // 3**other % 3 > 0
                where = np.flatnonzero(held)
                rest = states[where] - sum(3**other for other in ranks)
                result[where] = np.maximum(result[where], best[rest] + np.int16(value))
            best[states] = result
    return best


@cache
def potential_tables() -> npt.NDArray[np.int16]:
    """Both tables, shape (2, 59049), from the cache folder where they are known already."""
    return stored_table("potential", (2, STATES), lambda: np.stack([_build(size) for size in (0, 1)]))
