"""Do 95 % intervals hold the truth 95 times in 100? Laws with known answers, through the whole of summarise.

Every replicate is a variant of one frame. The bounds below let a method through that covers 93 % (exact ones
95 %) with a false alarm of 10⁻⁵ a test, and catch the usual mistakes, which cover far less: the last test shows
that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from synthetic import synthetic

from analysis.summary import summarise

REPLICATES = 200
ALPHA = 1e-5


def replicated(games: int, seed: int, **options: Any) -> pl.DataFrame:
    """``REPLICATES`` variants of ``games`` rows each; a session never runs over two of them."""
    frame = synthetic(games * REPLICATES, seed=seed, **options)
    return frame.with_columns(variant=pl.format("{}", pl.int_range(pl.len()) // games))


def coverage(frame: pl.DataFrame, truths: dict[str, float]) -> dict[str, float]:
    """Share of the replicates whose interval holds the truth, by metric."""
    summary = summarise(frame, metrics=list(truths))
    assert summary.height == REPLICATES * len(truths)
    found = {}
    for metric, truth in truths.items():
        mine = summary.filter(pl.col("metric") == metric)
        low, high = mine["low"].fill_null(-np.inf), mine["high"].fill_null(np.inf)
        found[metric] = float(((low <= truth) & (truth <= high)).mean())  # type: ignore[arg-type]
    return found


def least(nominal: float = 0.93) -> float:
    """Coverage below which a method that covers ``nominal`` falls with chance ``ALPHA``."""
    return float(stats.binom.ppf(ALPHA, REPLICATES, nominal)) / REPLICATES


def check(frame: pl.DataFrame, truths: dict[str, float], nominal: float = 0.93) -> None:
    found = coverage(frame, truths)
    assert min(found.values()) >= least(nominal), found


def draw(law: dict[int, float], size: int, seed: int) -> np.ndarray:
    values = np.array(list(law))
    return np.random.default_rng(seed).choice(values, p=list(law.values()), size=size)


def mean_of(law: dict[int, float]) -> float:
    return sum(value * chance for value, chance in law.items())


def heavy_law() -> dict[int, float]:
    """Payouts as in play: mostly nothing much, doubled again and again by fan, with a tail of about 1/x²."""
    weights = {
        2**k * tun: 0.5**k * 0.6**tun * (2.0 if k % 2 else 1.0) for k in range(9) for tun in (1, 2, 3, 5)
    }
    total = sum(weights.values())
    return {value: weight / total for value, weight in sorted(weights.items())}


@pytest.mark.parametrize(("rate", "games"), [(0.12, 400), (0.003, 1000)])
def test_rates(rate: float, games: int) -> None:
    frame = replicated(games, seed=int(rate * 1000), draw_rate=rate)
    check(frame, {"draw_rate": rate})


def test_shares_of_wins_with_their_random_denominator() -> None:
    frame = replicated(200, seed=5, role_rates=(0.5, 0.3, 0.2), draw_rate=0.3)
    check(frame, {"win_share_dealer": 0.5, "win_rate_next": 0.3 * 0.7})


def test_short_tailed_means() -> None:
    frame = replicated(300, seed=6)
    check(frame, {"chi": 4.0, "chou_wei": 0.1, "wangs_dealt_dealer": 4 * 21 / 84})


def test_heavy_tailed_payouts() -> None:
    law = heavy_law()
    games = 600
    frame = replicated(games, seed=7, draw_rate=0.0)
    frame = frame.with_columns(fan=pl.Series(draw(law, frame.height, 70), dtype=pl.Int32))
    # Per game, with a third of the games at nothing at all.
    paid = draw(law, frame.height, 71) * (np.random.default_rng(72).random(frame.height) < 2 / 3)
    frame = frame.with_columns(money_xing=pl.Series(paid, dtype=pl.Int64))
    check(frame, {"fan_mean": mean_of(law), "xing_money": mean_of(law) * 2 / 3})


def test_ratios_of_paired_money() -> None:
    law = heavy_law()
    frame = replicated(500, seed=8, draw_rate=0.0)
    fan = draw(law, frame.height, 80)
    xing = draw({0: 0.4, 1: 0.4, 3: 0.2}, frame.height, 81)
    frame = frame.with_columns(
        money_win=pl.Series(2 * fan, dtype=pl.Int64),
        money_xing=pl.Series(xing * fan, dtype=pl.Int64),
        money_wang=pl.lit(0, pl.Int64),
    )
    check(frame, {"share_xing": 1.0 / (2 + 1.0)})


def test_spread_of_scores() -> None:
    law = {-10: 0.4, -5: 0.2, 8: 0.2, 15: 0.15, 40: 0.05}
    frame = replicated(600, seed=9)
    frame = frame.with_columns(score_0=pl.Series(draw(law, frame.height, 90), dtype=pl.Int64))
    variance = sum(chance * value**2 for value, chance in law.items()) - mean_of(law) ** 2
    check(frame, {"sd_score_dealer": variance**0.5})


def test_quantiles_of_a_discrete_law() -> None:
    frame = replicated(300, seed=10)
    huxi = stats.geom(0.25, loc=14)
    truths = {f"huxi_p{percent}": float(huxi.ppf(percent / 100)) for percent in (10, 50, 90, 99)}
    check(frame, truths, nominal=0.95)


def in_sessions(seed: int, length: int = 20, sessions: int = 60) -> tuple[pl.DataFrame, float]:
    """Games whose draw rate and length are their session's own; the true draw rate is 0.2."""
    frame = replicated(length * sessions, seed=seed, session=length, draw_rate=0.0)
    rng = np.random.default_rng(seed)
    rates = np.repeat(rng.beta(1.0, 4.0, size=REPLICATES * sessions), length)
    drawn = pl.Series(rng.random(frame.height) < rates)
    shift = pl.Series(np.repeat(rng.integers(0, 6, size=REPLICATES * sessions), length))
    frame = frame.with_columns(
        winner=pl.when(drawn).then(None).otherwise(pl.col("winner")),
        chi=pl.col("chi") + shift,
    )
    return frame, 0.2


def test_dependent_sessions() -> None:
    frame, rate = in_sessions(seed=11)
    check(frame, {"draw_rate": rate, "chi": 4.0 + 2.5})


def test_quantiles_in_dependent_sessions() -> None:
    frame, _ = in_sessions(seed=12)
    rng = np.random.default_rng(120)
    # Each session plays at its own level: 0 to 40 in steps of 1, and ± 10 within.
    level = np.repeat(rng.integers(0, 41, size=frame.height // 20), 20)
    frame = frame.with_columns(
        winner=pl.lit(0, pl.Int8),
        huxi=pl.Series(level + rng.integers(-10, 11, size=frame.height), dtype=pl.Int16),
    )
    check(frame, {"huxi_p50": 20.0})


def test_these_tests_would_notice() -> None:
    """Dependent games taken for independent ones fall far short of 95 %."""
    frame, rate = in_sessions(seed=13)
    wrong = coverage(frame.with_columns(session=pl.lit(None, pl.Int64)), {"draw_rate": rate})
    assert wrong["draw_rate"] < least()
