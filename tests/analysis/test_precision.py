"""Playing until intervals are narrow: the same whatever the jobs, honest about a maximum, coverage kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from paired import fake_engine, run, variants  # noqa: F401

from analysis.metrics import BLOCKS, MetricError
from analysis.precision import (
    Need,
    PrecisionError,
    Round,
    chunk_for,
    look,
    next_games,
    plan,
    plan_json,
    plan_lines,
    run_until,
    until,
)
from analysis.sufficient import SufficientStats, collect_stats
from analysis.targets import parse_target, parse_targets
from sim.manifest import RunError
from sim.store import open_run

pytestmark = pytest.mark.usefixtures("fake_engine")

QUIET = {"quiet": True, "jobs": 1}


def counted(draws: int, games: int) -> SufficientStats:
    """Statistics of games of which only the winner is known."""
    columns = BLOCKS["outcome"]
    rows = [[None] * len(columns) + [draws], [0, 0, 0, 0, 0, games - draws]]
    schema = dict.fromkeys((*columns, "count"), pl.Int64)
    table = pl.DataFrame(rows, schema=schema, orient="row").filter(pl.col("count") > 0)
    return SufficientStats(games, {**SufficientStats.empty().blocks, "outcome": table})


def need(games: int | None, reached: bool) -> Need:
    """A need of so many games."""
    return Need("v", parse_target("draw_rate=0.01"), 0.1, 0.02, 0.01, games, reached)


def test_stops_at_the_width_and_not_before():
    targets = parse_targets(["draw_rate=0.005"])
    rng = np.random.default_rng(1)
    found = until(
        lambda first, last: {"v": counted(int(rng.binomial(last - first, 0.15)), last - first)},
        targets,
        minimum=1000,
        chunk=500,
    )
    assert found.reached
    assert all(not step.reached for step in found.rounds[:-1])
    last = found.rounds[-1].needs[0]
    assert last.half_width <= 0.005
    assert last.half_width > 0.0045  # no more than needed
    assert found.games % 500 == 0
    assert 2 <= len(found.rounds) <= 5
    assert found.shortfall() == []


def test_coverage_of_the_stopped_estimate():
    """Stopping on width keeps the interval's coverage (95 %), for a common and a rather rare event."""
    rng = np.random.default_rng(2)
    for rate, width in ((0.15, 0.02), (0.02, 0.006)):
        hits = 0
        for _ in range(200):
            found = until(
                lambda first, last, p=rate: {"v": counted(int(rng.binomial(last - first, p)), last - first)},
                parse_targets([f"draw_rate={width}"]),
                minimum=200,
                chunk=50,
            )
            last = found.rounds[-1].needs[0]
            # Wilson's interval is told by its half-width around a centre drawn towards a half.
            n, z2 = found.games, 1.959964**2
            centre = (last.value + z2 / (2 * n)) / (1 + z2 / n)
            hits += abs(centre - rate) <= last.half_width
        # P(Binomial(200, 0.95) < 175) is about 10⁻⁵
        assert hits >= 175, (rate, hits)


def test_growth_follows_the_widths():
    assert next_games(Round(1000, (need(3000, False),)), 100, 10**6) == 3100
    assert next_games(Round(1000, (need(30_000, False),)), 100, 10**6) == 4000  # early widths are rough
    assert next_games(Round(1000, (need(1001, False),)), 100, 10**6) == 1100
    assert next_games(Round(100_000, (need(100_001, False),)), 100, 10**6) == 105_000  # few looks
    assert next_games(Round(1000, (need(None, False), need(1200, False))), 100, 10**6) == 2000
    assert next_games(Round(1000, (need(9000, True), need(1500, False))), 100, 10**6) == 1600
    assert next_games(Round(1000, (need(3000, False),)), 100, 2050) == 2050


def test_same_games_whatever_the_jobs_and_after_a_resume(tmp_path: Path):
    how = {"minimum": 1000, "chunk": 500, "quiet": True}
    wanted = ["draw_rate=0.008", "fan_mean=3%"]
    one, first = run_until(variants(12, 15), wanted, out=tmp_path / "one", jobs=1, **how)
    two, second = run_until(variants(12, 15), wanted, out=tmp_path / "two", jobs=2, **how)
    assert first == second
    assert first.reached
    assert [part.sha256 for part in one.parts] == [part.sha256 for part in two.parts]
    assert one.manifest.games == first.games
    assert one.status == "complete"
    # Begun, stopped after the first round, and resumed; and resumed when all is there.
    run_until(variants(12, 15), wanted, out=tmp_path / "three", jobs=1, maximum=1000, **how)
    three, third = run_until(variants(12, 15), wanted, out=tmp_path / "three", jobs=1, resume=True, **how)
    assert third.rounds == first.rounds
    assert [part.sha256 for part in three.parts] == [part.sha256 for part in one.parts]
    _, again = run_until(variants(12, 15), wanted, out=tmp_path / "three", jobs=1, resume=True, **how)
    assert again.rounds == first.rounds


def test_statistics_grow_round_by_round_to_those_of_the_whole(tmp_path: Path):
    played, found = run_until(
        variants(15), ["score_dealer=0.2"], out=tmp_path / "run", minimum=500, chunk=500, **QUIET
    )
    assert len(found.rounds) > 1
    whole = look(collect_stats(played.games()), parse_targets(["score_dealer=0.2"]), found.games)
    assert whole == found.rounds[-1]


def test_a_maximum_that_does_not_do_is_told(tmp_path: Path):
    played, found = run_until(
        variants(15),
        ["draw_rate=0.001", "fan_mean=50%"],
        minimum=500,
        maximum=1700,
        chunk=500,
        out=tmp_path / "r",
        **QUIET,
    )
    assert not found.reached
    assert found.games == played.manifest.games == 1700
    assert [step.games for step in found.rounds] == [500, 1700]
    (line,) = found.shortfall()
    assert line.startswith("huxi15: draw-game rate ± 1.7 % (wanted ± 0.1 %), about ")
    assert line.endswith("after 1,700 games, the most allowed")
    (line,) = found.shortfall("zh")
    assert line.startswith("huxi15：荒庄率 ± 1.7 %（要求 ± 0.1 %），约需 ")
    assert line.endswith("（已达局数上限 1,700 局）")


def test_progress_says_what_is_still_needed(tmp_path: Path):
    class Listener:
        heard: list[str]

        def __init__(self) -> None:
            self.heard = []

        def message(self, text: str) -> None:
            self.heard.append(text)

        def start(self, done: int, total: int) -> None: ...

        def update(self, now: object) -> None: ...

        def close(self) -> None: ...

    listener = Listener()
    run_until(
        variants(15),
        ["draw_rate=0.015"],
        minimum=500,
        chunk=500,
        out=tmp_path / "r",
        jobs=1,
        progress=lambda: listener,
    )
    assert listener.heard[0].startswith("500 games: huxi15: draw-game rate ± 3")
    assert "about 2," in listener.heard[0]
    assert listener.heard[-1].endswith("reached")


def test_sessions_stay_whole(tmp_path: Path):
    played, found = run_until(
        variants(15), ["draw_rate=0.02"], minimum=300, maximum=9999, session=7, out=tmp_path / "r", **QUIET
    )
    assert found.games % 7 == 0
    assert played.manifest.chunk % 7 == 0
    assert found.reached


def test_a_failing_chunk_fails_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from paired import play

    def broken(*args):
        if args[3] >= 1000:
            raise MemoryError
        return play(*args)

    monkeypatch.setattr("sim.run.play_rows", broken)
    with pytest.raises(RunError, match="out of memory"):
        run_until(variants(15), ["draw_rate=0.001"], minimum=500, chunk=500, out=tmp_path / "r", **QUIET)
    assert open_run(tmp_path / "r").status == "failed"


def test_bad_wishes(tmp_path: Path):
    for wanted in (["draw_rat=0.1"], ["draw_rate"], ["draw_rate=0.1", "draw_rate=0.2"]):
        with pytest.raises(MetricError):
            run_until(variants(15), wanted, out=tmp_path / "r", **QUIET)
    with pytest.raises(PrecisionError, match="no width"):
        run_until(variants(15), [], out=tmp_path / "r", **QUIET)
    with pytest.raises(PrecisionError, match="minimum"):
        run_until(variants(15), ["draw_rate=0.1"], minimum=10, maximum=5, out=tmp_path / "r", **QUIET)
    assert not (tmp_path / "r").exists()
    with pytest.raises(PrecisionError, match="has no wangs"):
        look({"v": counted(10, 100)}, parse_targets(["wang_payout=1"]), 100, wangs={"v": 0})


def test_nothing_to_judge_by():
    found = look({"v": counted(0, 100)}, parse_targets(["draw_one_holder=0.1"]), 100, wangs={"v": 2})
    assert not found.reached
    assert found.needs[0].words() == "v: all wangs in one hand no interval yet"
    never = look({"v": counted(0, 100)}, parse_targets(["draw_rate=5%"]), 100)
    assert never.needs[0].games is None
    assert "nothing to judge by yet" in never.needs[0].words()
    assert look({"v": counted(0, 1000)}, parse_targets(["draw_rate=0.01"]), 1000).reached


def test_chunks_of_runs_on_demand():
    assert chunk_for(10**7) == 5000
    assert chunk_for(10**9) == 200_000
    assert chunk_for(10**7, 7) % 7 == 0


def test_plan_foretells_what_the_run_takes(tmp_path: Path):
    wanted = ["draw_rate=0.01"]
    found = plan(variants(12, 15), wanted, pilot=2000, jobs=1)
    assert found.speed > 0
    assert found.seconds == pytest.approx(found.games * 2 / found.speed)
    _, took = run_until(variants(12, 15), wanted, out=tmp_path / "r", minimum=500, chunk=100, **QUIET)
    assert took.games == pytest.approx(found.games, rel=0.25)
    document = plan_json(found)
    assert [row["variant"] for row in document["needs"]] == ["huxi12", "huxi15"]
    assert set(document["digests"]) == {"huxi12", "huxi15"}
    en, zh = plan_lines(found), plan_lines(found, "zh")
    assert en[-1].startswith("pilot: 2,000 games, seed 1; huxi12 #")
    assert "for each of 2 variants" in en[-2]
    assert "总计约" in zh[-2]
    unknown = plan(variants(12), ["heavenly_rate=10%"], pilot=500, jobs=1)
    assert unknown.games is None
    assert "do not tell" in plan_lines(unknown)[-2]
