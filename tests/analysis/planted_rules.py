"""A stand-in for the engine with planted effects of rules, for tunings and sensitivities.

* Chance of a draw game: 0.01 × (min_huxi − 10) + 0.04 with ``by_fan``, and 0.02 more when ``pass.blocks_chi`` is false
  and the limit is ``by_fan`` (an interaction).
* The dealer wins 0.40 + 0.05 × (tun.base − 1) of the games won; every win pays 2 × ``tun.base`` from each loser.
* Other keys do nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sim.rng import DEAL_WORDS, STREAM_DEAL, words
from sim.rows import COLUMN, COUNTERS, FAN_NAMES, NULL, ROW_COLUMNS

Rows = npt.NDArray[np.int64]


def draw_chance(keys: Mapping[str, Any]) -> float:
    """The planted draw rate."""
    by_fan = keys["win.wang_limit.mode"] == "by_fan"
    chance = 0.01 * (int(keys["win.min_huxi"]) - 10) + 0.04 * by_fan
    return chance + 0.02 * (by_fan and not keys["pass.blocks_chi"])


def dealer_share(keys: Mapping[str, Any]) -> float:
    """The planted share of wins of the dealer."""
    return 0.40 + 0.05 * (int(keys["tun.base"]) - 1)


def dealer_advantage(keys: Mapping[str, Any]) -> float:
    """The planted dealer advantage: 4 b from a win, −2 b from a loss, the others share alike."""
    share, pay = dealer_share(keys), 2 * int(keys["tun.base"])
    dealer = share * 2 * pay - (1 - share) * pay
    return (1 - draw_chance(keys)) * (dealer + dealer / 2)


def deviation(keys: Mapping[str, Any]) -> float:
    """The planted ``sd_score``, but for the mean, which is 0."""
    return 2 * int(keys["tun.base"]) * math.sqrt(2 * (1 - draw_chance(keys)))


def play(
    keys: Mapping[str, Any], bots: tuple[str, str, str], seed: int, first: int, count: int, session: int
) -> Rows:
    """Rows that keep the books of the rules."""
    u = words(seed, STREAM_DEAL, first, count, DEAL_WORDS)[:, :8] / 2.0**32
    rows = np.full((count, len(ROW_COLUMNS)), NULL, dtype=np.int64)

    def put(name: str, values: Any) -> None:
        rows[:, COLUMN[name]] = values

    drawn = u[:, 0] < draw_chance(keys) + (0.1 if "random" in bots else 0.0)
    share = dealer_share(keys)
    winner = np.where(u[:, 1] < share, 0, np.where(u[:, 1] < share + (1 - share) / 2, 1, 3))
    pay = 2 * int(keys["tun.base"])
    put("game", np.arange(first, first + count))
    put("dealer", 0)
    put("sitter", 2)
    for name, value in (
        ("winner", winner),
        ("by", 0),
        ("huxi", int(keys["win.min_huxi"])),
        ("tun", pay),
        ("fan", 1),
        ("score", pay),
        ("red_cards", 5),
        ("wangs_win", 0),
        ("xing", 0),
        ("xing_kind", 3),
    ):
        put(name, np.where(drawn, NULL, value))
    for name in FAN_NAMES:
        put(name, 0)
    for seat in (0, 1, 3):
        put(f"wangs_dealt_{seat}", 0)
        put(f"wangs_final_{seat}", 0)
    for seat in range(4):
        won = np.where(winner == seat, 2 * pay, -pay) * (seat != 2)
        put(f"score_{seat}", np.where(drawn, 0, won))
        put(f"wang_paid_{seat}", 0)
    put("money_win", np.where(drawn, 0, 2 * pay))
    put("money_xing", 0)
    put("money_wang", 0)
    for number, name in enumerate(COUNTERS):
        put(name, (u[:, 2 + number % 6] * 20).astype(int))
    return rows


def no_warm_up(*_: Any) -> None:
    """There is nothing to compile."""


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put :func:`play` in the place of the engine."""
    monkeypatch.setattr("sim.run.play_rows", play)
    monkeypatch.setattr("sim.run._warm_up", no_warm_up)
    # the stand-in does not deal the wangs of its words; few deals are enough here
    monkeypatch.setattr("analysis.honesty.wrong_hands", lambda *_: [])
    monkeypatch.setattr("analysis.honesty.DEALS_CHECKED", 500)


@pytest.fixture
def planted_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play by :func:`play` instead of the engine."""
    plant(monkeypatch)
