"""Rare events: against brute force, unbiased off the path of the levels, and honest about what was not seen."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from analysis.cli import main
from analysis.events import parse_event
from analysis.exact import wang_strata
from analysis.intervals import one_sided
from analysis.rare import (
    RareError,
    RareResult,
    Way,
    _Counts,
    _Job,
    _stratified,
    describe,
    is_possible,
    rare_event,
    split_once,
    way_to,
)
from sim._jit import PURE
from sim.variant import load_variant

jit_only = pytest.mark.skipif(PURE, reason="needs tens of thousands of games")
ZHA_WANG = "wang_zha_wang"


@pytest.fixture(scope="module")
def brute_force() -> RareResult:
    return rare_event("four_wang", ZHA_WANG, 100_000, method="plain", seed=11, jobs=1)


def log_error(found: RareResult) -> float:
    assert found.error is not None
    return found.error / found.chance


@jit_only
@pytest.mark.parametrize(("method", "factor"), [("strata", 4.0), ("split", 10.0)])
def test_one_in_a_thousand_agrees_with_brute_force_for_fewer_games(brute_force, method, factor):
    """王炸王 in four-wang: splitting needs less than a tenth of the games of a plain run."""
    assert 800 < brute_force.one_in < 3_000
    found = rare_event("four_wang", ZHA_WANG, 40_000, method=method, seed=12, jobs=1)
    assert found.games <= 40_000
    gap = math.log(found.chance / brute_force.chance)
    assert abs(gap) < 4.4 * math.hypot(log_error(found), log_error(brute_force))
    assert found.factor > factor
    assert found.low < found.chance < found.high


@jit_only
def test_auto_takes_what_suits():
    assert rare_event("four_wang", ZHA_WANG, 20_000, jobs=1).method == "split"
    assert rare_event("four_wang", "wang_zha", 20_000, jobs=1).method == "strata"
    assert rare_event("four_wang", "huxi >= 30", 20_000, jobs=1).method == "strata"


@jit_only
def test_an_event_off_the_path_of_the_levels_is_estimated_without_bias():
    """Draw games have nothing to do with a hand ready for 王炸; all stages together must still add up."""
    plain = rare_event("four_wang", "draw_game", 40_000, method="plain", seed=13, jobs=1)
    keys = load_variant("four_wang").flat()
    law = wang_strata(4)
    done = [
        split_once(
            keys,
            ("greedy",) * 3,
            14,
            replicate,
            "draw_game",
            list(law),
            [float(chance) for chance in law.values()],
            [30] * len(law),
            300,
            way,
        ).chance
        for way in (Way((2, 3, 4), 6, 3), Way((1, 2), 0, 2))
        for replicate in range(12)
    ]
    error = np.std(done, ddof=1) / math.sqrt(len(done))
    assert abs(np.mean(done) - plain.chance) < 4.4 * math.hypot(error, plain.error)


@jit_only
def test_processes_change_no_digit():
    found = [rare_event("four_wang", ZHA_WANG, 6_000, seed=15, jobs=jobs) for jobs in (1, 2)]
    assert found[0] == found[1]


def replicate(number: int) -> object:
    law = [s for s in wang_strata(4) if is_possible(s, parse_event(ZHA_WANG))]
    chances = [float(wang_strata(4)[s]) for s in law]
    keys = load_variant("four_wang").flat()
    return split_once(
        keys, ("greedy",) * 3, 1, number, ZHA_WANG, law, chances, [3] * len(law), 20, Way((3,), 6, 3)
    )


def test_a_replicate_repeats_itself_and_no_other():
    first, second = replicate(0), replicate(1)
    again = replicate(0)
    assert (first.chance, first.games, first.cells) == (again.chance, again.games, again.cells)
    assert first.games == 13 * 3 + 20
    assert first.cells != second.cells
    assert first.origins.sum() == pytest.approx(first.chance)
    passed = first.cells[-1][0]
    assert 0 < passed < sum(weight for weight, _ in first.cells[:-1])


@pytest.mark.parametrize(
    ("event", "wangs", "way"),
    [
        ("wang_zha_wang", 4, Way((4,), 6, 3)),
        ("wang_zha", 4, Way((4,), 5, 3)),
        ("wang_zha", 3, Way((3,), 0, 3)),  # who is ready for it holds every wang
        ("wang_chuang_wang", 3, Way((3,), 4, 2)),
        ("wang_diao", 2, Way((2,), 1, 1)),
        ("wangs_win >= 3", 4, Way((3,), 0, 3)),
        ("fan >= 64", 4, None),
        ("wang_diao or fan > 8", 4, None),
    ],
)
def test_levels(event: str, wangs: int, way: Way | None):
    assert way_to(parse_event(event), wangs) == way


def test_strata_in_which_an_event_is_impossible():
    possible = [s for s in wang_strata(4) if is_possible(s, parse_event(ZHA_WANG))]
    assert len(possible) == 13
    assert (1, 1, 1, 1) not in possible
    assert all(is_possible(s, parse_event("fan > 8")) for s in wang_strata(4))


def job(level: float = 0.95) -> _Job:
    return _Job(parse_event("red"), {}, ("greedy",) * 3, 1, 1, 4, level)


def test_intervals_by_strata_cover():
    """Rates from 1 in 50 to 1 in 5000, games spread unevenly."""
    rng = np.random.default_rng(16)
    weights = np.array([0.05, 0.15, 0.3, 0.5])
    rates = np.array([0.02, 0.004, 0.0005, 0.0002])
    games = np.array([3000, 3000, 2000, 2000])
    truth = weights @ rates
    hits = below = 0
    for _ in range(2000):
        events = rng.binomial(games, rates)
        found = _stratified(job(), _Counts([], weights, games, events), int(games.sum()))
        hits += found.low <= truth <= found.high
        below += truth < found.low
    assert 0.935 <= hits / 2000 <= 0.985
    assert below / 2000 < 0.05


def test_nothing_seen_is_a_bound_that_holds():
    rng = np.random.default_rng(17)
    weights, games = np.array([0.2, 0.8]), np.array([3000, 1000])
    rates = np.array([0.0002, 0.0016])  # nothing seen with chance 0.11
    truth = weights @ rates
    misses = seen = 0
    for _ in range(4000):
        events = rng.binomial(games, rates)
        if not events.any():
            seen += 1
            misses += _stratified(job(), _Counts([], weights, games, events), 4000).high < truth
    assert seen > 300
    assert misses == 0  # a bound below the truth would need a rarer silence than 5 %
    single = _stratified(job(), _Counts([], np.array([1.0]), np.array([500]), np.array([0])), 500)
    assert single.high == pytest.approx(one_sided(500, 0.95))


def test_words_when_nothing_is_seen(capsys: pytest.CaptureFixture[str]):
    found = RareResult(
        "red", "x", "0" * 64, ("greedy",) * 3, 1, "strata", 0.0, 0.0, 1e-4, 0.95, 30_000, 0, None, None
    )
    assert "not seen in 30,000 games; rarer than 1 in 10k" in describe(found)
    assert "30,000 局中未出现；少于 1万 局一次" in describe(found, "zh")


@jit_only
def test_command(capsys: pytest.CaptureFixture[str]):
    arguments = ["rare", "four_wang", "王炸王", "--games", "8000", "--jobs", "1"]
    for extra in (["--lang", "zh"], ["--lang", "en"], ["--json"]):
        with pytest.raises(SystemExit) as stop:
            main([*arguments, *extra])
        assert not stop.value.code
        out, _ = capsys.readouterr()
        if extra == ["--json"]:
            found = json.loads(out)
            assert found["low"] < found["chance"] < found["high"]
            assert found["one_in"] == pytest.approx(1 / found["chance"])
            assert found["games"] <= 8_000
            assert found["seed"] == 1
        else:
            assert ("局一次" in out) == (extra[1] == "zh")
            assert ("1 in " in out) == (extra[1] == "en")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("four_wang", "wang_zah"), "did you mean"),
        (("two_wang", "wang_zha_wang"), "the deck of two_wang has 2"),
        (("four_wang", "fan >= 64", "--method", "split"), "no levels"),
        (("four_wang", "red", "--games", "10"), "at least"),
        (("four_wang", "red", "--method", "magic"), "magic"),
        (("five_wang", "red"), "five_wang"),
    ],
)
def test_refusals(arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        main(["rare", *arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_an_impossible_stratum_that_shows_the_event_is_reported(monkeypatch: pytest.MonkeyPatch):
    from analysis import rare

    monkeypatch.setattr(rare, "is_possible", lambda stratum, event: stratum[3] == 0)
    with pytest.raises(RareError, match="taken to be impossible"):
        rare_event("two_wang", "won", 5_000, jobs=1)
