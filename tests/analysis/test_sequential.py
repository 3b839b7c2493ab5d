"""Decisions: error rates by simulation, however often one looks, and what the command says."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from synthetic import synthetic

from analysis.cli import main
from analysis.metrics import METRICS
from analysis.sequential import (
    DecideError,
    Question,
    chunks,
    decide,
    describe,
    log_evidence,
    look,
    mean_half_width,
    parse_question,
    rate_sequence,
    tuned_for,
    tuning,
)
from analysis.sufficient import SufficientStats, collect_stats
from sim._jit import PURE

ALPHA = 0.05
jit_only = pytest.mark.skipif(PURE, reason="needs tens of thousands of games")


# --- confidence sequences ---------------------------------------------------------------------------------


def test_evidence_is_a_martingale_of_mean_one():
    """Σ over all outcomes of chance × likelihood ratio is 1, for any hypothesis and mixture."""
    for n, rate, weight, centre in ((1, 0.3, 5.0, 0.2), (40, 0.03, 100.0, 0.1), (200, 0.5, 1.0, 0.5)):
        events = np.arange(n + 1)
        ratio = [math.exp(log_evidence(k, n, rate, weight, centre)) for k in events]
        assert stats.binom.pmf(events, n, rate) @ ratio == pytest.approx(1.0)


@pytest.mark.parametrize(("events", "n"), [(3, 2000), (300, 2000), (1999, 2000), (1, 10)])
def test_ends_of_the_sequence_are_where_the_evidence_is_one_over_alpha(events: int, n: int):
    low, high = rate_sequence(events, n, ALPHA, 200.0, 0.1)

    def excess(rate: float) -> float:
        return log_evidence(events, n, rate, 200.0, 0.1) + math.log(ALPHA)

    share = events / n
    assert low == pytest.approx(optimize.brentq(excess, 1e-12, share), rel=1e-6)
    assert high == pytest.approx(optimize.brentq(excess, share, 1 - 1e-12), rel=1e-6)


def test_no_event_and_nothing_but_events():
    low, high = rate_sequence(0, 1000, ALPHA)
    assert low == 0
    assert 3 / 1000 < high < 0.02
    low, high = rate_sequence(1000, 1000, ALPHA)
    assert high == 1
    assert rate_sequence(0, 0, ALPHA) == (0.0, 1.0)


def verdicts(rate: float, bound: float, most: int, runs: int, seed: int) -> tuple[float, float, float]:
    """Shares of runs decided above and below, looking after every chunk, and the median number of games."""
    rng = np.random.default_rng(seed)
    plan = list(chunks(most))
    weight = tuning(ALPHA, tuned_for(most))
    above = below = 0
    games = []
    for _ in range(runs):
        events = n = 0
        for _, count in plan:
            events += rng.binomial(count, rate)
            n += count
            # the two ends of rate_sequence exclude the bound just when the evidence against it is 1/α
            if log_evidence(events, n, bound, weight, bound) >= -math.log(ALPHA):
                above += events / n > bound
                below += events / n < bound
                games.append(n)
                break
    return above / runs, below / runs, float(np.median(games)) if games else math.inf


@pytest.mark.parametrize("bound", [0.15, 0.03, 0.0007])
def test_a_true_bound_is_rejected_no_more_often_than_declared(bound: float):
    above, below, _ = verdicts(bound, bound, 200_000, 1500, 1)
    assert above + below <= ALPHA


def test_looking_at_ordinary_intervals_would_be_wrong_far_more_often():
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(500):
        events = rng.binomial([count for _, count in chunks(200_000)], 0.15).cumsum()
        n = np.array([count for _, count in chunks(200_000)]).cumsum()
        wrong += bool((abs(events / n - 0.15) > 1.96 * np.sqrt(0.1275 / n)).any())
    assert wrong / 500 > 3 * ALPHA


@pytest.mark.parametrize(("rate", "bound"), [(0.16, 0.15), (0.14, 0.15), (0.001, 0.0005)])
def test_a_clear_difference_is_decided_rightly_and_soon(rate: float, bound: float):
    above, below, games = verdicts(rate, bound, 300_000, 200, 3)
    right, wrong = (above, below) if rate > bound else (below, above)
    assert right > 0.99
    assert wrong <= ALPHA / 2
    assert games < 60_000


@pytest.mark.parametrize("law", ["skewed", "normal"])
def test_a_true_mean_is_rejected_no_more_often_than_declared(law: str):
    """Payout-like numbers: most are 0, some are large; looked at from 2,000 games on."""
    rng = np.random.default_rng(4)
    ends = np.array([first + count for first, count in chunks(60_000)])
    wrong, runs = 0, 400
    for _ in range(runs):
        if law == "normal":
            values = rng.normal(size=ends[-1])
            truth = 0.0
        else:
            values = np.where(rng.random(ends[-1]) < 0.05, np.ceil(rng.lognormal(2, 1, ends[-1])), 0.0)
            truth = TRUTH
        first, second = values.cumsum()[ends - 1] / ends, (values**2).cumsum()[ends - 1] / ends
        halves = [
            mean_half_width(math.sqrt(s - f * f), n, ALPHA, tuned_for(60_000))
            for f, s, n in zip(first, second, ends, strict=True)
        ]
        wrong += bool((abs(first - truth) > halves).any())
    assert wrong / runs <= ALPHA + 0.01


def _ceiling_mean() -> float:
    """0.05 · E ceil(X) of the skewed law: Σ P(X > k)."""
    return 0.05 * float(stats.lognorm(1, scale=math.exp(2)).sf(np.arange(5000)).sum())


TRUTH = _ceiling_mean()


# --- questions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key", "sign", "bound"),
    [
        ("draw_rate > 0.15", "draw_rate", ">", 0.15),
        ("draw_rate>15%", "draw_rate", ">", 0.15),
        (" draw_rate <= 1.5e-1 ", "draw_rate", "<=", 0.15),
        ("score_dealer < -3", "score_dealer", "<", -3.0),
        ("huxi_p90 >= 24", "huxi_p90", ">=", 24.0),
        ("draw_rate ＞ 15％", "draw_rate", ">", 0.15),
    ],
)
def test_questions(text: str, key: str, sign: str, bound: float):
    assert parse_question(text) == Question(METRICS[key], sign, pytest.approx(bound))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("draw_rate", "is no question"),
        ("draw_rate = 0.15", "is no question"),
        ("draw_rate > x", "is no question"),
        ("draw_rat > 0.1", "did you mean draw_rate"),
        ("draw_rate > 15", "did you mean 15%"),
        ("draw_rate > 0", "between 0 and 1"),
        ("draw_rate > -0.1", "between 0 and 1"),
        ("score_mean > 10%", "no share"),
        ("sd_score > 3", "spread"),
        ("win_money > -1", "never below 0"),
        ("score_mean > 1e999", "too large"),
        ("draw_rate > " + "1" * 300, "is no question"),
    ],
)
def test_what_is_no_question(text: str, says: str):
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        parse_question(text)


def stats_of(frame: pl.DataFrame, key: str) -> SufficientStats:
    return collect_stats(frame.lazy().with_columns(variant=pl.lit("x")), [METRICS[key]])["x"]


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("draw_rate", 0.03),
        ("win_share_dealer", 0.04),
        ("score_mean", 30.0),
        ("share_win", 0.2),
        ("transfers", 60),
    ],
)
def test_verdicts_of_every_kind(key: str, near: float):
    frame = synthetic(30_000, seed=5)
    stats_ = stats_of(frame, key)
    value = look(stats_, Question(METRICS[key], ">", 0.5), ALPHA, 6_000).value
    for shift, verdict in ((-near, "above"), (near, "below"), (0.0, "undecided")):
        found = look(stats_, Question(METRICS[key], ">", value + shift), ALPHA, 6_000)
        assert found.verdict == verdict, shift
        assert found.low < found.value < found.high


def test_quantiles_with_equality():
    """85 % of wins have 20 huxi, 14 % 24, 1 % 30: the 90 % point is 24."""
    huxi = pl.lit(np.random.default_rng(6).choice([20, 24, 30], p=[0.85, 0.14, 0.01], size=30_000))
    frame = synthetic(30_000, seed=6).with_columns(huxi=pl.when(pl.col("winner").is_not_null()).then(huxi))
    stats_ = stats_of(frame, "huxi_p90")
    item = METRICS["huxi_p90"]
    v = look(stats_, Question(item, ">", 20.0), ALPHA, 6_000).value
    assert v == 24
    for sign, bound, verdict in (
        (">", v - 1, "above"),
        (">", v, "below"),
        ("<", v, "above"),
        (">=", v, "above"),
        ("<", v + 1, "below"),
        ("<=", v, "below"),
    ):
        assert look(stats_, Question(item, sign, bound), ALPHA, 6_000).verdict == verdict, (sign, bound)


def test_a_mean_of_a_few_events_is_not_judged():
    frame = synthetic(30_000, seed=7).with_columns(
        money_wang=pl.when(pl.int_range(pl.len()) < 50).then(5).otherwise(0).cast(pl.Int64)
    )
    found = look(stats_of(frame, "wang_payout"), Question(METRICS["wang_payout"], "<", 1.0), ALPHA, 6_000)
    assert found.verdict == "undecided"


def test_chunks_are_all_the_games_in_order():
    for most in (2_000, 2_001, 77_777, 1_000_000):
        plan = list(chunks(most))
        assert plan[0][0] == 0
        assert all(a + b == c for (a, b), (c, _) in pairwise(plan))
        assert sum(plan[-1]) == most
    assert len(list(chunks(1_000_000))) < 60


# --- playing ----------------------------------------------------------------------------------------------


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["decide", *arguments])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@jit_only
def test_command_decides(capsys: pytest.CaptureFixture[str]):
    status, out, _ = call(capsys, "four_wang", "draw_rate > 0.15", "--alpha", "0.01", "--lang", "en")
    assert status == 0
    assert out.startswith("Is “draw-game rate” (draw_rate) above 15 %?\nNo: it is below 15 %; ")
    assert "Chance of a wrong verdict at most 1 %" in out
    assert "seed 1" in out
    status, out, _ = call(capsys, "four_wang", "draw_rate < 15%", "--lang", "zh")
    assert status == 0
    assert "“荒庄率”（draw_rate）低于 15 % 吗？\n是：低于 15 %；" in out


@jit_only
def test_command_gives_up(capsys: pytest.CaptureFixture[str]):
    status, out, _ = call(capsys, "four_wang", "draw_rate > 0.035", "--max", "2000", "--json")
    document = json.loads(out)
    assert status == 1
    assert document["answer"] is None
    assert document["games"] == 2_000
    assert document["low"] < 0.035 < document["high"]
    status, out, _ = call(capsys, "four_wang", "draw_rate > 0.035", "--max", "2000", "--lang", "en")
    assert status == 1
    assert "Undecided after 2,000 games, the maximum" in out


def test_command_refuses(capsys: pytest.CaptureFixture[str]):
    for arguments, says in (
        (("four_wang", "draw_rate"), "no question"),
        (("four_wang", "draw_rate > 0.1", "--alpha", "0.7"), "0.5"),
        (("four_wang", "wang_payout > 1", "--set", "deck.wangs=0"), "does not apply"),
    ):
        status, _, err = call(capsys, *arguments)
        assert status == 2
        assert says in err


@jit_only
def test_the_verdict_depends_on_neither_processes_nor_time():
    found = [decide("two_wang", "score_dealer > 1", most=60_000, jobs=jobs) for jobs in (1, 2)]
    assert found[0] == found[1]
    assert found[0].answer is not None
    assert "in the limit of many games" in describe(found[0])


def test_alpha_must_be_a_chance():
    with pytest.raises(DecideError, match="alpha"):
        decide("two_wang", "draw_rate > 0.1", alpha=0.6)
