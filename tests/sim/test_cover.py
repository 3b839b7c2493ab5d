"""The tables behind values and bots, against plain search, built anew and not read from the cache."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from sim.bots.potential import GROUP, HUXI_WEIGHT, OPEN_PART, PAIR, PART, _build, potential_tables
from sim.cover import COUNTED, HELD, LONELY, PACKED, build_cover, cover_tables, state_tables, use_index

HUXI = np.array([[9, 12], [6, 9], [3, 6], [3, 6], [1, 3], [3, 6], [3, 6], [0, 0], [0, 0]])
ODD = np.array([[8, 2], [6, 9], [3, 6], [1, 7], [1, 3], [2, 9], [5, 4], [3, 1], [4, 6]])
RED = {1, 6, 9}
RUNS = [(r, r + 1, r + 2) for r in range(8)] + [(1, 6, 9)]


def plain(huxi: np.ndarray, size: int, wang_ti: bool):
    """Greatest huxi by (digits, wangs, reds, pair, quad): every group of the first card, by recursion."""
    jiao = int(huxi[8].max())

    @cache
    def best(digits: tuple[int, ...], wangs: int, reds: int, pair: int, quad: int) -> int:
        if not any(digits) and wangs == 0:
            return 0 if reds == pair == quad == 0 else -1
        first = next((rank for rank in range(10) if digits[rank]), None)
        top = -1
        for rank in range(10) if first is None else [first]:
            held = digits[rank]
            for total in (2, 3, 4):
                for natural in range(0 if first is None else 1, min(held, total) + 1):
                    used = total - natural
                    if used > wangs or (total > 2 and natural == total) or (total == 4 and not wang_ti):
                        continue
                    worth = {2: 0, 3: max(int(huxi[3, size]), jiao if natural < 2 else int(huxi[8, size]))}
                    value = worth.get(total, int(huxi[0, size]))
                    top = max(
                        top,
                        gain(digits, {rank: natural}, wangs - used, reds - used * (rank in RED), pair - (total == 2),
                             quad - (total == 4), value),
                    )  # fmt: skip
        for ranks in RUNS:
            kind = {(0, 1, 2): 6, (1, 6, 9): 5}.get(ranks, 7)
            for mask in range(8):
                natural = [rank for place, rank in enumerate(ranks) if mask >> place & 1]
                if (first is None) != (not natural) or (first is not None and first not in natural):
                    continue
                missing = [rank for rank in ranks if rank not in natural]
                taken = dict.fromkeys(natural, 1)
                red = sum(rank in RED for rank in missing)
                value = int(huxi[kind, size])
                top = max(top, gain(digits, taken, wangs - len(missing), reds - red, pair, quad, value))
        return top

    def gain(digits, taken, wangs, reds, pair, quad, value) -> int:
        rest = list(digits)
        for rank, number in taken.items():
            rest[rank] -= number
        if min(rest) < 0 or min(wangs, reds, pair, quad) < 0:
            return -1
        more = best(tuple(rest), wangs, reds, pair, quad)
        return -1 if more < 0 else more + value

    return best


@pytest.mark.parametrize(
    ("huxi", "size", "wang_ti"), [(HUXI, 0, True), (HUXI, 1, False), (ODD, 0, True), (ODD, 1, True)]
)
def test_cover_table_against_plain_search(huxi: np.ndarray, size: int, wang_ti: bool) -> None:
    table = build_cover(huxi, size, wang_ti)
    best = plain(huxi, size, wang_ti)
    chance = random.Random(size)
    checked = 0
    while checked < 120:
        digits = tuple(chance.choice([0, 0, 0, 1, 1, 2]) for _ in range(10))
        if sum(digits) > 10:
            continue
        state = sum(digit * 3**rank for rank, digit in enumerate(digits))
        for wangs in range(4):
            for reds in range(wangs + 1):
                for pq in range(4):
                    right = best(digits, wangs, reds, pq & 1, pq >> 1)
                    assert table[pq, use_index(wangs, reds), state] == right, (digits, wangs, reds, pq)
        checked += 1


def test_stored_table_is_the_built_one() -> None:
    stored = cover_tables(HUXI, True)
    assert (stored[0] == build_cover(HUXI, 0, True)).all()
    assert (potential_tables()[1] == _build(1)).all()


def test_state_tables() -> None:
    table = state_tables()
    digits = (1, 1, 1, 0, 0, 2, 0, 0, 1, 0)  # 一二三 六六 九
    state = sum(digit * 3**rank for rank, digit in enumerate(digits))
    assert table[state, COUNTED] == 6
    assert table[state, PACKED] == sum(digit << 2 * rank for rank, digit in enumerate(digits))
    assert table[state, HELD] == 0b0100100111
    assert table[state, LONELY] == 0b0100100000


def test_potential_of_small_hands() -> None:
    small = _build(0)

    def worth(*ranks: int) -> int:
        return int(small[sum(3 ** (rank - 1) for rank in ranks)])

    assert worth(4, 5, 6) == GROUP
    assert worth(1, 2, 3) == GROUP + 3 * HUXI_WEIGHT
    assert worth(5, 5) == PAIR
    assert worth(4, 5) == OPEN_PART
    assert worth(9, 10) == PART
    assert worth(4) == 0
