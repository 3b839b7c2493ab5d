"""Tails of transfers against plain sorting."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from synthetic import synthetic

from analysis.load import LoadError
from analysis.tails import tails


def test_shortfall_is_the_mean_of_the_worst_games() -> None:
    games = synthetic(4_000, 3)
    money = np.sort(
        games.select(pl.sum_horizontal("money_win", "money_xing", "money_wang")).to_series().to_numpy()
    )
    found = tails(games, shares=((95, 100), (99, 100)))
    for row, worst in zip(found.iter_rows(named=True), (200, 40), strict=True):
        assert row["shortfall"] == pytest.approx(money[-worst:].mean())
        assert row["quantile"] == money[4_000 - worst - 1]
        assert row["quantile_low"] <= row["quantile"] <= row["quantile_high"]
        assert row["low"] < row["shortfall"] < row["high"]
        assert row["n"] == 4_000


def test_sessions_are_refused() -> None:
    with pytest.raises(LoadError, match="stand alone"):
        tails(synthetic(100, 1, session=10))


def test_too_few_games_for_a_tail_have_no_interval() -> None:
    (row,) = tails(synthetic(300, 4), shares=((999, 1000),)).iter_rows(named=True)
    assert row["shortfall"] == row["quantile"] and row["low"] is None and row["high"] is None
