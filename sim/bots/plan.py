"""Tables of what free cards of one size are worth when only so many groups are still to be made.

:mod:`sim.bots.potential` values every part of a group that a hand holds; but a hand needs seven groups, and with five
of them down a third part is worth nothing. ``plans[level, size, state]`` therefore is a row of sixteen values: the
greatest sum over ways to make at most 0 to 7 groups out of the cards of a state (see :mod:`sim.cover`), and the same
with one of them the pair that a hand with a quad must have. The levels weigh huxi differently: a hand short of
the huxi that a win needs looks at another level than one that has them.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sim._jit import stored_table
from sim.cards import RANKS
from sim.cover import STATES

Plans = npt.NDArray[np.int16]

WIDTH = 8
"""Values a row without the pair; the row with the pair follows."""

GROUP = 60
"""A complete group, at every level."""

LEVELS = 3
PIECES: dict[str, int] = {
    "pair": 31,  # two alike: a peng, a wei, a jiao may come
    "open": 20,  # two of a run that two kinds complete
    "part": 17,  # two of a run that one kind completes
    "cross": 20,  # one of each size: two kinds make a jiao
    "seed": 15,  # one card on the way to the pair of a hand with a quad
    "huxi_0": 2,  # a point of huxi when the hand has enough
    "huxi_1": 6,  # when some are missing
    "huxi_2": 9,  # when many are missing
    "alike": 4,  # share of a peng's huxi that a pair counts for, in quarters
}
"""Values of the parts, in sixtieths of a group; tuned by ``tests/bench/tune_bots.py``."""

_RUN_HUXI = {(0, 1, 2): (3, 6), (1, 6, 9): (3, 6)}
_RUNS = [(rank, rank + 1, rank + 2) for rank in range(RANKS - 2)] + [(1, 6, 9)]
_PENG_HUXI = (1, 3)


def _pieces(
    values: dict[str, int], weight: int, size: int, rank: int
) -> list[tuple[tuple[int, ...], int, int]]:
    """Ways to use the lowest card ``rank``: (ranks taken, value, 0 or 1 for the pair of a quad hand)."""
    alike = weight * _PENG_HUXI[size] * values["alike"] // 4
    pieces: list[tuple[tuple[int, ...], int, int]] = [
        ((rank, rank), values["pair"] + alike, 0),
        ((rank, rank), GROUP, 1),
        ((rank,), values["seed"], 1),
    ]
    for ranks in _RUNS:
        huxi = _RUN_HUXI.get(ranks, (0, 0))[size]
        if ranks[0] == rank:
            pieces.append((ranks, GROUP + weight * huxi, 0))
        for low, high in ((0, 1), (0, 2), (1, 2)):
            if ranks[low] == rank:
                is_open = ranks[high] == rank + 1 and 0 < rank < RANKS - 2
                value = values["open"] if is_open else values["part"]
                pieces.append(((rank, ranks[high]), value + weight * huxi // 3, 0))
    return pieces


def build_plan(values: dict[str, int], weight: int, size: int) -> Plans:
    """Table of one size and level, shape (59049, 16): columns 0 to 7 without the pair, 8 to 15 with it."""
    best = np.zeros((STATES, 2 * WIDTH), dtype=np.int16)
    for rank in range(RANKS - 1, -1, -1):
        for digit in (1, 2):
            states = 3**rank * (digit + 3 * np.arange(3 ** (RANKS - 1 - rank), dtype=np.int64))
            result = best[states - 3**rank].copy()  # the card is of no use
            for ranks, value, pair in _pieces(values, weight, size, rank):
                if ranks.count(rank) > digit:
                    continue
                held = np.ones(len(states), dtype=bool)
                for other in set(ranks) - {rank}:
                    held &= states // 3**other % 3 > 0
                where = np.flatnonzero(held)
                rest = best[states[where] - sum(3**other for other in ranks)] + np.int16(value)
                plain, paired = rest[:, : WIDTH - 1], rest[:, WIDTH : 2 * WIDTH - 1]
                if not pair:
                    result[where, 1:WIDTH] = np.maximum(result[where, 1:WIDTH], plain)
                    result[where, WIDTH + 1 :] = np.maximum(result[where, WIDTH + 1 :], paired)
                else:
                    result[where, WIDTH + 1 :] = np.maximum(result[where, WIDTH + 1 :], plain)
            best[states] = result
    return best


@lru_cache(maxsize=4)
def _plans(items: tuple[tuple[str, int], ...]) -> Plans:
    values = dict(items)
    name = hashlib.sha256(repr(items).encode()).hexdigest()[:16]

    def build() -> Plans:
        return np.stack(
            [
                np.stack([build_plan(values, values[f"huxi_{level}"], size) for size in (0, 1)])
                for level in range(LEVELS)
            ]
        )

    return stored_table(f"plan-{name}", (LEVELS, 2, STATES, 2 * WIDTH), build)


def plan_tables(pieces: dict[str, int] | None = None) -> Plans:
    """All levels and both sizes, shape (3, 2, 59049, 16), from the cache folder where they are known already."""
    return _plans(tuple(sorted((PIECES | (pieces or {})).items())))
