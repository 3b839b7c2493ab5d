"""A stand-in for playing in which every bot has a strength that is known, so that tests can ask for it back."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sim import bots
from sim.rng import words
from sim.rows import COLUMN, NULL, ROW_COLUMNS

Rows = npt.NDArray[np.int64]

STRENGTH = {"p_weak": 0.0, "p_same": 0.0, "p_good": 0.4, "p_best": 0.8}
"""Log of the chance to win, by bot: a seat wins in proportion to exp(strength)."""
DRAW = 0.1
_STREAMS = True  # whether players bring some luck of their own


def play(
    keys: Mapping[str, Any], names: tuple[str, str, str], seed: int, first: int, count: int, session: int
) -> Rows:
    """Rows of games whose winner follows Luce's model; the winner gets 2 · stake, the others pay a stake each."""
    del keys, session
    # The luck of a deal is mostly the same for each role, whoever sits there; not in three deals of ten.
    u = words(seed, 9, first, count, 8) / 2.0**32
    other = words(seed, zlib.crc32(",".join(names).encode()), first, count, 8) / 2.0**32
    u = np.where(u[:, 5:6] < 0.3, other, u) if _STREAMS else u
    noise = -np.log(-np.log(np.clip(u[:, :3], 1e-12, 1 - 1e-12)))
    value = noise + np.array([STRENGTH[name] for name in names])
    winner = np.where(u[:, 3] < DRAW, -1, value.argmax(axis=1))
    fan = 2 ** (u[:, 4] * 4).astype(int)
    rows = np.full((count, len(ROW_COLUMNS)), NULL, dtype=np.int64)
    rows[:, COLUMN["dealer"]] = 0
    rows[:, COLUMN["sitter"]] = 2
    seat = np.array([0, 1, 3])
    rows[:, COLUMN["winner"]] = np.where(winner < 0, NULL, seat[winner])
    rows[:, COLUMN["fan"]] = np.where(winner < 0, NULL, fan)
    for role in range(3):
        money = np.where(winner < 0, 0, np.where(winner == role, 2 * fan, -fan))
        rows[:, COLUMN[f"score_{seat[role]}"]] = money
    rows[:, COLUMN["score_2"]] = 0
    return rows


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play by :func:`play`; the bots of ``STRENGTH`` exist."""
    for number, name in enumerate(STRENGTH):
        monkeypatch.setitem(bots.BOTS, name, 900 + number)
    monkeypatch.setattr("sim.parts.play_rows", play)
