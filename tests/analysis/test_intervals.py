"""Interval formulas against scipy, numpy and textbook calculations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis import intervals as ci


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(
    ("events", "n"), [(1, 2), (3, 10), (1, 1000), (999, 1000), (5, 10**7), (123456, 654321)]
)
def test_rates_agree_with_scipy(events: int, n: int, level: float) -> None:
    for ours, theirs in (("wilson", "wilson"), ("exact", "exact")):
        found = ci.rate_interval(events, n, level, ours)
        wanted = stats.binomtest(events, n).proportion_ci(level, method=theirs)
        assert found.low == pytest.approx(wanted.low, rel=1e-9)
        assert found.high == pytest.approx(wanted.high, rel=1e-9)
        assert found.method == ours


@pytest.mark.parametrize("n", [1, 7, 100_000])
def test_no_event_gives_a_one_sided_bound(n: int) -> None:
    none, full = ci.rate_interval(0, n), ci.rate_interval(n, n)
    one_sided = stats.binomtest(0, n, alternative="less").proportion_ci(0.95, method="exact")
    assert (none.low, none.method) == (0.0, "upper")
    assert none.high == pytest.approx(one_sided.high, rel=1e-9)
    assert (full.high, full.method) == (1.0, "lower")
    assert full.low == pytest.approx(1 - one_sided.high, rel=1e-9)
    assert none.high is not None
    assert none.high > 0


def test_rate_of_nothing_has_no_interval() -> None:
    assert ci.rate_interval(0, 0) == ci.NO_INTERVAL


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2), "events must lie"),
        ((-1, 2), "events must lie"),
        ((1, 2, 1.0), "level is a share"),
        ((1, 2, 95), "level is a share"),
        ((1, 2, 0.95, "normal"), "wilson or exact"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ci.rate_interval(*arguments)


def grouped(sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, counts = np.unique(sample, return_counts=True)
    return values.astype(np.int64), counts.astype(np.int64)


def test_mean_of_symmetrical_values_is_student() -> None:
    values, counts = np.array([-2, -1, 0, 1, 2]), np.array([5, 20, 40, 20, 5])
    sample = np.repeat(values, counts)
    found = ci.mean_interval(values, counts)
    wanted = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))
    scaled = ci.mean_interval(values, counts, scale=2)
    assert scaled.high == pytest.approx(wanted.high / 2)


def test_mean_of_skewed_values_leans_to_the_tail() -> None:
    values, counts = grouped(np.random.default_rng(4).geometric(0.3, size=300))
    mean = float(values @ counts) / counts.sum()
    found = ci.mean_interval(values, counts)
    assert found.method == "johnson"
    assert found.low is not None
    assert found.high is not None
    assert found.high - mean > mean - found.low > 0


def test_equal_values_say_nothing_about_the_rest() -> None:
    same = np.array([5]), np.array([1000])
    assert ci.mean_interval(*same) == ci.NO_INTERVAL
    assert ci.payout_interval(*same, "x") == ci.NO_INTERVAL
    assert ci.spread_interval(np.array([[5, 25, 1]]), np.array([1000]), "x") == ci.NO_INTERVAL


def test_few_deviations_rest_on_their_number() -> None:
    values, counts = np.array([0, 10, 40]), np.array([9_997, 2, 1])
    low, high = ci.clopper_pearson(3, 10_000, 0.95)
    for found in (ci.mean_interval(values, counts), ci.payout_interval(values, counts, "x")):
        assert found == ci.Interval(low * 10, high * 40, "few")
    both_sides = ci.mean_interval(np.array([-10, 0, 40]), np.array([2, 9_997, 1]))
    assert both_sides == ci.Interval(-10 * high, 40 * high, "few")


def test_bootstrap_depends_on_name_and_data_only() -> None:
    values, counts = grouped(np.random.default_rng(1).lognormal(1, 1.2, size=2000).astype(int))
    first = ci.payout_interval(values, counts, "a")
    assert first.method == "bootstrap"
    assert ci.payout_interval(values, counts, "a") == first
    assert ci.payout_interval(values, counts, "b") != first


def test_bootstrap_of_tame_data_is_close_to_student() -> None:
    values, counts = grouped(np.random.default_rng(2).binomial(50, 0.4, size=5000))
    found, wanted = ci.payout_interval(values, counts, "x"), ci.mean_interval(values, counts)
    assert found.low == pytest.approx(wanted.low, abs=0.01)
    assert found.high == pytest.approx(wanted.high, abs=0.01)


def test_ratio_of_equal_denominators_is_a_mean() -> None:
    values, counts = grouped(np.random.default_rng(3).binomial(10, 0.4, size=5000))
    pairs = np.stack([values, np.full_like(values, 10)], axis=1)
    found, wanted = ci.ratio_interval(pairs, counts, "x"), ci.mean_interval(values, counts, scale=10)
    assert found.low == pytest.approx(wanted.low, abs=0.001)
    assert found.high == pytest.approx(wanted.high, abs=0.001)


def test_ratio_without_numerators_is_bounded() -> None:
    none = ci.ratio_interval(np.array([[0, 5], [0, 20]]), np.array([900, 100]), "x")
    assert (none.low, none.method) == (0.0, "upper")
    assert none.high == pytest.approx(ci.one_sided(1000, 0.95) * 20 / 6.5)
    full = ci.ratio_interval(np.array([[5, 5], [20, 20]]), np.array([900, 100]), "x")
    assert full.method == "lower"
    few = ci.ratio_interval(np.array([[0, 5], [4, 20]]), np.array([997, 3]), "x")
    assert few.method == "few"
    assert few.low is not None
    assert few.high is not None
    assert 0 < few.low < 12 / (997 * 5 + 60) < few.high < 1
    assert ci.ratio_interval(np.array([[0, 0]]), np.array([9]), "x") == ci.NO_INTERVAL


def test_spread_of_normal_data_is_the_chi_square_one() -> None:
    sample = np.random.default_rng(5).normal(0, 100, size=20_000).round().astype(np.int64)
    values, counts = grouped(sample)
    features = np.stack([values, values**2, np.ones_like(values)], axis=1)
    found = ci.spread_interval(features, counts, "x")
    n, sd = len(sample), sample.std()
    low, high = (sd * math.sqrt(n / q) for q in stats.chi2.ppf([0.975, 0.025], n - 1))
    assert found.low == pytest.approx(low, rel=2e-3)
    assert found.high == pytest.approx(high, rel=2e-3)


def test_merging_cells_keeps_the_mean_and_the_variance() -> None:
    values, counts = grouped((np.random.default_rng(6).pareto(1.5, size=200_000) * 50).astype(int))
    assert len(values) > 10 * ci.CELLS
    influence = values - float(values @ counts) / counts.sum()
    table, merged = ci._merge_cells(influence, influence[:, None], counts)
    assert len(merged) <= ci.CELLS
    assert merged.sum() == counts.sum()
    assert float(merged @ table[:, 0]) == pytest.approx(0, abs=1e-4)
    assert float(merged @ table[:, 0] ** 2) == pytest.approx(float(counts @ influence**2), rel=2e-3)


@pytest.mark.parametrize("share", [(1, 100), (10, 100), (1, 2), (99, 100)])
@pytest.mark.parametrize("n", [1, 9, 100, 10_000])
def test_quantiles_are_numpys_and_ranks_are_binomial(n: int, share: tuple[int, int]) -> None:
    sample = np.random.default_rng(n).geometric(0.05, size=n)
    values, counts = grouped(sample)
    found = ci.value_at_rank(values, counts, ci.quantile_rank(n, share))
    assert found == np.quantile(sample, share[0] / share[1], method="inverted_cdf")
    for tail in (0.025, 0.975):
        assert ci.binomial_rank(tail, n, share[0] / share[1]) == stats.binom.ppf(tail, n, share[0] / share[1])


def test_quantile_interval_agrees_with_scipy() -> None:
    sample = np.arange(1, 501)
    found = ci.quantile_interval(sample, np.ones_like(sample), (3, 4))
    wanted = stats.quantile_test(sample, p=0.75).confidence_interval(0.95)
    assert (found.low, found.high) == (wanted.low, wanted.high)


def test_quantile_of_few_values_is_open() -> None:
    sample = np.arange(1, 51)
    found = ci.quantile_interval(sample, np.ones_like(sample), (99, 100))
    assert found.high is None
    assert found.low is not None


def batch_of(features: np.ndarray) -> ci.Batch:
    products = [
        int(features[:, i] @ features[:, j])
        for i in range(features.shape[1])
        for j in range(i, features.shape[1])
    ]
    return ci.Batch(
        int((features[:, -1] != 0).sum()), tuple(int(x) for x in features.sum(axis=0)), tuple(products)
    )


def test_batch_means_are_the_textbook_ratio_estimator() -> None:
    rng = np.random.default_rng(8)
    size = rng.integers(5, 15, size=60)
    total = rng.poisson(size * rng.gamma(2.0, 1.0, size=60))
    found = ci.batch_interval(batch_of(np.stack([total, size], axis=1)))
    ratio = total.sum() / size.sum()
    error = np.std(total - ratio * size, ddof=1) * math.sqrt(60) / size.sum()
    half = stats.t.ppf(0.975, 59) * error
    assert (found.low, found.high) == pytest.approx((ratio - half, ratio + half))
    assert ci.batch_interval(batch_of(np.array([[3, 10]]))) == ci.NO_INTERVAL


def test_batch_rate_is_wilson_with_the_effective_size() -> None:
    rng = np.random.default_rng(9)
    size = np.full(80, 25)
    events = rng.binomial(25, rng.beta(2, 8, size=80))
    batch = batch_of(np.stack([events, size], axis=1))
    found = ci.batch_rate_interval(batch)
    share = events.sum() / 2000
    error = np.std(events / 25, ddof=1) / math.sqrt(80)
    n = share * (1 - share) / error**2
    assert n < 1500  # dependence costs games
    assert (found.low, found.high) == pytest.approx(ci.wilson(share * n, n, stats.t.ppf(0.975, 79)))
    none = ci.batch_rate_interval(batch_of(np.stack([0 * events, size], axis=1)))
    assert none == ci.Interval(0.0, ci.one_sided(80, 0.95), "upper")


def test_batch_share_without_numerators_is_bounded() -> None:
    totals = np.array([10, 20, 30, 0, 40])
    none = ci.batch_share_interval(batch_of(np.stack([0 * totals, totals], axis=1)))
    full = ci.batch_share_interval(batch_of(np.stack([totals, totals], axis=1)))
    assert (none.low, none.method, full.high, full.method) == (0.0, "upper", 1.0, "lower")
    # √(p · 4 · Σ x²) / Σ x with p for the four sessions that have any
    assert none.high == pytest.approx(math.sqrt(ci.one_sided(4, 0.95) * 4 * 3000) / 100)


def test_batch_spread_is_close_to_the_jackknife() -> None:
    rng = np.random.default_rng(10)
    values = np.round(rng.normal(0, 20, size=(200, 10)) + rng.normal(0, 10, size=(200, 1)) ** 2 / 10).astype(
        int
    )
    features = np.stack([values.sum(axis=1), (values**2).sum(axis=1), np.full(200, 10)], axis=1)
    found = ci.batch_spread_interval(batch_of(features))
    logs = np.array([math.log(np.delete(values, s, axis=0).std()) for s in range(200)])
    error = math.sqrt(199 / 200 * ((logs - logs.mean()) ** 2).sum())
    centre, half = math.log(values.std()), stats.t.ppf(0.975, 199) * error
    assert found.low == pytest.approx(math.exp(centre - half), rel=2e-3)
    assert found.high == pytest.approx(math.exp(centre + half), rel=2e-3)
