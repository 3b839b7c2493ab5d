"""Estimates by strata against plain runs, against laws that are known, and what they refuse."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from synthetic import synthetic

from analysis import intervals as ci
from analysis.cli import main
from analysis.exact import wang_strata
from analysis.metrics import METRICS
from analysis.strata import (
    Part,
    StrataError,
    estimate_strata,
    joined_strata,
    label_of,
    neyman,
    poststratify,
    print_strata,
    simulate_strata,
    whole_shares,
    zero_bound,
)
from analysis.sufficient import SufficientStats
from analysis.summary import estimate, summarise
from sim._jit import PURE
from sim.run import simulate
from sim.variant import load_variant

KEYS = ("draw_rate", "score_dealer", "win_share_next", "wangs_final_third", "wang_payout", "share_xing")
GAMES = 20_000
jit_only = pytest.mark.skipif(PURE, reason="needs tens of thousands of games")


# --- arithmetic -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 50, 10_000])
def test_the_bound_of_one_stratum_is_that_of_a_plain_run(n: int):
    assert zero_bound(np.array([1.0]), np.array([float(n)]), 0.95) == pytest.approx(ci.one_sided(n, 0.95))


def test_the_bound_is_the_greatest_chance_that_may_show_nothing():
    weights, games = np.array([0.6, 0.3, 0.1]), np.array([40.0, 10.0, 30.0])
    bound = zero_bound(weights, games, 0.95)
    rng = np.random.default_rng(1)
    directions = rng.dirichlet([0.5] * 3, size=20_000)
    # along each direction go to the border of Π (1 − p)ⁿ = 0.05
    chances = -np.expm1(directions * math.log(0.05) / games)
    values = chances @ weights
    assert values.max() <= bound + 1e-12
    assert values.max() >= 0.999 * bound


def test_a_stratum_without_games_counts_in_full():
    assert zero_bound(np.array([0.9, 0.1]), np.array([1e9, 0.0]), 0.95) == pytest.approx(0.1, abs=1e-6)


def test_shares_are_whole_and_add_up():
    rng = np.random.default_rng(2)
    for _ in range(50):
        shares = rng.dirichlet([0.2] * 35)
        split = whole_shares(shares, 5_000, 20)
        assert split.sum() == 5_000
        assert split.min() >= 20
    assert whole_shares(np.array([0.5, 0.3, 0.2]), 1_000, 1).tolist() == [500, 300, 200]
    with pytest.raises(StrataError, match="at least 700"):
        whole_shares(np.ones(35), 699, 20)


def parts_of(frame: pl.DataFrame, weights: list[float], cut: list[int]) -> list[Part]:
    ends = np.cumsum(cut)
    frames = [frame.slice(end - size, size) for end, size in zip(ends, cut, strict=True)]
    return [Part(weight, SufficientStats.from_frame(f)) for weight, f in zip(weights, frames, strict=True)]


@pytest.mark.parametrize("key", ["draw_rate", "score_dealer", "huxi_mean", "share_win"])
def test_one_stratum_is_a_plain_estimate(key: str):
    frame = synthetic(4000, seed=5)
    item = METRICS[key]
    plain = estimate(SufficientStats.from_frame(frame), item)
    found = estimate_strata(parts_of(frame, [1.0], [4000]), item)
    assert found.value == pytest.approx(plain.value)
    assert found.gain == pytest.approx(1.0, rel=1e-3)
    for end in ("low", "high"):
        width = plain.interval.high - plain.interval.low
        assert getattr(found.interval, end) == pytest.approx(getattr(plain.interval, end), abs=0.1 * width)


def test_by_hand():
    frame = synthetic(3000, seed=6)
    drawn = frame["winner"].is_null().to_numpy().astype(float)
    first, second = drawn[:1000], drawn[1000:]
    found = estimate_strata(parts_of(frame, [0.25, 0.75], [1000, 2000]), METRICS["draw_rate"])
    value = 0.25 * first.mean() + 0.75 * second.mean()
    variance = 0.0625 * first.var(ddof=1) / 1000 + 0.5625 * second.var(ddof=1) / 2000
    assert found.value == pytest.approx(value)
    assert found.gain == pytest.approx(value * (1 - value) / 3000 / variance)
    assert found.interval.high - found.interval.low == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.02)


def draws(events: int, n: int) -> SufficientStats:
    """``n`` games of which ``events`` are draw games."""
    names = ("winner_role", "by", "names", "wangs_win", "xing", "count")
    rows = [(None, None, 0, None, None, events), (0, 0, 0, 0, 0, n - events)]
    cells = pl.DataFrame(
        [row for row in rows if row[-1]], schema=dict.fromkeys(names, pl.Int64), orient="row"
    )
    return SufficientStats(n, {"outcome": cells})


def test_intervals_cover_a_known_law():
    """Draw rates of 2 %, 30 % and, in a stratum with few games, 5 %."""
    weights, rates, cut = np.array([0.75, 0.2, 0.05]), np.array([0.02, 0.3, 0.05]), [300, 200, 25]
    rng = np.random.default_rng(8)
    hits, looks = 0, 1000
    for _ in range(looks):
        parts = [
            Part(float(weight), draws(int(rng.binomial(n, rate)), n))
            for weight, rate, n in zip(weights, rates, cut, strict=True)
        ]
        interval = estimate_strata(parts, METRICS["draw_rate"]).interval
        hits += interval.low <= weights @ rates <= interval.high
    assert 0.93 <= hits / looks <= 0.97


def test_games_go_where_the_spread_is():
    parts = [Part(0.9, draws(2, 2000)), Part(0.1, draws(1000, 2000))]
    shares = neyman(parts, [METRICS["draw_rate"]])
    assert shares.sum() == pytest.approx(1)
    assert shares[1] > 0.3
    same = [Part(weight, parts[1].stats) for weight in (0.9, 0.1)]
    assert neyman(same, [METRICS["draw_rate"]]).tolist() == pytest.approx([0.9, 0.1])


@pytest.mark.parametrize("wangs", [1, 2, 3, 4])
def test_rare_strata_join_a_common_neighbour(wangs: int):
    law = wang_strata(wangs)
    joined = joined_strata(wangs, 3_000)
    assert set(joined) == set(law)
    for target in set(joined.values()):
        assert joined[target] == target
        assert float(law[target]) * 3_000 >= 20
    assert joined_strata(wangs, 10**9) == {stratum: stratum for stratum in law}


# --- the engine's games -----------------------------------------------------------------------------------


@jit_only
@pytest.mark.parametrize(
    ("variant", "overrides"),
    [
        ("four_wang", ()),
        ("two_wang", ("turn.extra_quad=replacement_draw",)),
        ("three_wang", ("table.seats=3", "win.wang_limit.mode=by_wang")),
    ],
)
def test_forced_deals_agree_with_a_plain_run(variant: str, overrides: tuple[str, ...]):
    loaded = load_variant(variant, overrides)
    forced = simulate_strata(loaded, GAMES, seed=1, jobs=1, metrics=KEYS)
    run = simulate(loaded, GAMES, seed=2, jobs=1, quiet=True)
    plain = {row["metric"]: row for row in summarise(run, metrics=KEYS).iter_rows(named=True)}
    weighted = poststratify(run, metrics=KEYS)
    assert sum(part.weight for part in forced.parts.values()) == pytest.approx(1)
    for key in KEYS:
        one, two, three = forced.estimate(key), plain[key], weighted.estimate(key)
        error = (one.interval.high - one.interval.low) / 3.92
        other = (two["high"] - two["low"]) / 3.92
        assert abs(one.value - two["value"]) < 4.5 * math.hypot(error, other), key
        assert abs(three.value - two["value"]) < 4.5 * other, key
        assert three.gain > 0.97, key
    assert forced.estimate("wangs_final_third").gain > 3
    assert weighted.estimate("wangs_final_third").gain > 3


@jit_only
def test_small_run_by_strata(capsys: pytest.CaptureFixture[str]):
    run = simulate_strata("two_wang", 2_000, seed=3, jobs=1, metrics=("draw_rate", "wangs_dealt_dealer"))
    assert set(run.parts) == {label_of(stratum) for stratum in wang_strata(2)}
    assert run.games + run.pilot == 2_000
    dealt = run.estimate("wangs_dealt_dealer")
    assert dealt.value == pytest.approx(42 / 82)  # exact: nothing is left to chance
    assert dealt.interval.low == dealt.interval.high == pytest.approx(42 / 82)
    again = simulate_strata("two_wang", 2_000, seed=3, jobs=1, metrics=("draw_rate",))
    assert again.estimate("draw_rate") == run.estimate("draw_rate")
    print_strata(run, lang="zh")
    out = capsys.readouterr().out
    assert "荒庄率" in out
    assert "由分层确定" in out
    assert "种子 3" in out


@pytest.fixture(scope="module")
def plain_run(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("run") / "plain"
    return simulate("two_wang", 2_000, seed=5, jobs=1, quiet=True, out=folder)


def test_command(plain_run, capsys: pytest.CaptureFixture[str]):
    for what in ("two_wang", str(plain_run.folder)):
        with pytest.raises(SystemExit) as stop:
            main(["strata", what, "--games", "2000", "--metric", "draw_rate", "--jobs", "1", "--json"])
        assert not stop.value.code
        document = json.loads(capsys.readouterr().out)
        assert document["forced"] == (what == "two_wang")
        assert sum(each["weight"] for each in document["strata"].values()) == pytest.approx(1)
        assert sum(each["games"] for each in document["strata"].values()) == document["games"]
        found = document["metrics"]["draw_rate"]
        assert 0 < found["low"] < found["value"] < found["high"] < 0.2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("two_wang", "--metric", "huxi_p50"), "quantile"),
        (("two_wang", "--metric", "draw_rat"), "did you mean draw_rate"),
        (("two_wang", "--games", "100"), "at least 2000"),
        (("two_wang", "--set", "deck.wangs=0"), "without wangs"),
    ],
)
def test_refusals(arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        main(["strata", *arguments])
    assert stop.value.code == 2
    assert says in capsys.readouterr().err


def test_sessions_are_refused():
    run = simulate("two_wang", 20, session=10, seed=5, jobs=1, quiet=True)
    with pytest.raises(StrataError, match="sessions"):
        poststratify(run)


def test_every_metric_by_strata_or_a_reason():
    frame = synthetic(2_000, seed=12)
    parts = parts_of(frame, [0.5, 0.5], [1000, 1000])
    for item in METRICS.values():
        if item.kind in ("quantile", "spread"):
            with pytest.raises(StrataError):
                estimate_strata(parts, item)
            continue
        found = estimate_strata(parts, item, wangs=4)
        assert found.value is not None, item.key
        if found.interval.low is not None and found.interval.high is not None:
            assert found.interval.low <= found.value <= found.interval.high, item.key
