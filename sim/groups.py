"""Kinds of groups, and the table of all groups of three that a chi can lay: 18 runs and 20 jiao."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim.cards import KINDS, RANKS

# group types, also codes in the game log
TI, PAO, WEI, KAN, PENG, TWO_SEVEN_TEN, ONE_TWO_THREE, RUN, JIAO, PAIR = range(10)
TYPE_NAMES = ("ti", "pao", "wei", "kan", "peng", "two_seven_ten", "one_two_three", "run", "jiao", "pair")
TYPE_ZH = ("提", "跑", "偎", "坎", "碰", "二七十", "一二三", "顺", "绞", "将")
HUXI_TYPES = 9
"""Types with a huxi value: all but the pair."""

SMALL, LARGE = 0, 1

_RUN_RANKS = [(rank, rank + 1, rank + 2) for rank in range(RANKS - 2)] + [(1, 6, 9)]


def _all_groups() -> list[tuple[int, tuple[int, int, int], int]]:
    """(type, kinds, size) of every run and jiao; the size of a jiao is that of its two alike."""
    groups: list[tuple[int, tuple[int, int, int], int]] = []
    for size in (SMALL, LARGE):
        for ranks in _RUN_RANKS:
            kind_of = {(0, 1, 2): ONE_TWO_THREE, (1, 6, 9): TWO_SEVEN_TEN}.get(ranks, RUN)
            first, second, third = (rank + RANKS * size for rank in ranks)
            groups.append((kind_of, (first, second, third), size))
    for kind in range(KINDS):
        other = kind - RANKS if kind >= RANKS else kind + RANKS
        groups.append((JIAO, (kind, kind, other), int(kind >= RANKS)))
    return groups


_GROUPS = _all_groups()

N_GROUPS = len(_GROUPS)
GROUP_TYPE: npt.NDArray[np.int64] = np.array([g[0] for g in _GROUPS], dtype=np.int64)
"""Rules 1.8 and 1.9: type of each of the 38 groups, shape (38,)."""
GROUP_KINDS: npt.NDArray[np.int64] = np.array([g[1] for g in _GROUPS], dtype=np.int64)
"""Its three kinds, shape (38, 3)."""
GROUP_SIZE: npt.NDArray[np.int64] = np.array([g[2] for g in _GROUPS], dtype=np.int64)

MAX_GROUPS_OF = 6


def _groups_of() -> npt.NDArray[np.int64]:
    """For each kind the groups that hold it and their two other kinds: (20, 6, 3), -1 where there is none."""
    table = np.full((KINDS, MAX_GROUPS_OF, 3), -1, dtype=np.int64)
    for kind in range(KINDS):
        row = 0
        for number, (_, kinds, _) in enumerate(_GROUPS):
            if kind in kinds:
                rest = list(kinds)
                rest.remove(kind)
                table[kind, row] = (number, rest[0], rest[1])
                row += 1
    return table


GROUPS_OF = _groups_of()
"""``GROUPS_OF[kind, i] = (group, other kind, other kind)``, -1 after the last."""
