"""Summaries against a plain count of the rows; merging, order, sessions, files, and what is not applicable."""

from __future__ import annotations

import json
import statistics
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from synthetic import synthetic

from analysis.load import LoadError, as_source
from analysis.metrics import BLOCKS, METRICS, SECTIONS, UNITS, MetricError, metric
from analysis.sufficient import SufficientStats, collect_stats
from analysis.summary import SCHEMA, summarise, summarise_stats, write_summary
from analysis.tables import to_csv
from sim.manifest import Manifest, PartRecord, RunError, VariantRecord, dump_manifest, hash_file, part_file
from sim.rows import FAN_NAMES


def values_of(summary: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["metric"]: row for row in summary.iter_rows(named=True)}


def by_hand(games: pl.DataFrame) -> dict[str, float | None]:
    """Some of the metrics once more, row by row and without any of the code under test."""
    rows = games.rows(named=True)
    won = [row for row in rows if row["winner"] is not None]
    drawn = [row for row in rows if row["winner"] is None]
    seats = 4 if rows[0]["sitter"] is not None else 3
    third = 3 if seats == 4 else 2
    steps = {"dealer": 0, "next": 1, "third": third, "sitter": 2}
    found: dict[str, float | None] = {"draw_rate": len(drawn) / len(rows)}
    total = sum(row["money_win"] + row["money_xing"] + row["money_wang"] for row in rows)
    pooled: list[int] = []
    for role, step in steps.items():
        if role == "sitter" and seats == 3:
            found["score_sitter"] = found["sd_score_sitter"] = None
            continue
        seat = [(row["dealer"] + step) % seats for row in rows]
        scores = [row[f"score_{s}"] for row, s in zip(rows, seat, strict=True)]
        found[f"score_{role}"] = statistics.fmean(scores)
        found[f"sd_score_{role}"] = statistics.pstdev(scores)
        if role == "sitter":
            continue
        pooled += scores
        wins = sum(row["winner"] == s for row, s in zip(rows, seat, strict=True))
        found[f"win_rate_{role}"] = wins / len(rows)
        found[f"win_share_{role}"] = wins / len(won)
        for when in ("dealt", "final"):
            held = [row[f"wangs_{when}_{s}"] for row, s in zip(rows, seat, strict=True)]
            found[f"wangs_{when}_{role}"] = statistics.fmean(held)
    found["sd_score"] = statistics.pstdev(pooled)
    active = (found["score_dealer"], found["score_next"], found["score_third"])
    found["dealer_advantage"] = active[0] - (active[1] + active[2]) / 2  # type: ignore[operator]
    found["transfers"] = total / len(rows)
    found["wang_payout"] = sum(row["money_wang"] for row in rows) / len(rows)
    found["wang_payout_draw"] = sum(row["money_wang"] for row in drawn) / len(drawn)
    found["xing_money"] = sum(row["money_xing"] for row in rows) / len(rows)
    found["xing_money_win"] = sum(row["money_xing"] for row in won) / len(won)
    found["xing_count"] = statistics.fmean(row["xing"] for row in won)
    found["own_draw_share"] = sum(row["by"] in ("own", "deal") for row in won) / len(won)
    found["heavenly_rate"] = sum(row["by"] == "deal" for row in won) / len(rows)
    found["wang_win_share"] = sum(row["wangs_win"] > 0 for row in won) / len(won)
    held = [[row[f"wangs_final_{s}"] or 0 for s in range(4)] for row in drawn]
    found["draw_one_holder"] = sum(max(h) == sum(h) for h in held) / len(drawn)
    for name in ("huxi", "tun", "fan", "score"):
        ordered = sorted(row[name] for row in won)
        found[f"{name}_mean"] = statistics.fmean(ordered)
        for percent in (10, 50, 90, 99):
            found[f"{name}_p{percent}"] = ordered[-(-len(ordered) * percent // 100) - 1]
    for name in FAN_NAMES:
        mine = [row for row in won if row[name]]
        found[f"rate_{name}"] = len(mine) / len(rows)
        found[f"share_{name}"] = sum(row["money_win"] + row["money_xing"] for row in mine) / total
    found["rate_plain"] = sum(not any(row[name] for name in FAN_NAMES) for row in won) / len(rows)
    for source in ("win", "xing", "wang"):
        found[f"share_{source}"] = sum(row[f"money_{source}"] for row in rows) / total
    for name in (
        "draws",
        "wall_left",
        "chi",
        "peng",
        "wei",
        "chou_wei",
        "ti",
        "pao",
        "dead",
        "passes",
        "decisions",
    ):
        found[name] = statistics.fmean(row[name] for row in rows)
    return found


@pytest.mark.parametrize("seats", [3, 4])
def test_values_are_those_of_a_plain_count(seats: int) -> None:
    games = synthetic(3000, seed=seats, seats=seats, rotate=True)
    found = values_of(summarise(games))
    wanted = by_hand(games)
    assert len(wanted) > 80
    for key, value in wanted.items():
        assert found[key]["value"] == (None if value is None else pytest.approx(value, rel=1e-12)), key
    assert {row["n"] for key, row in found.items() if key.startswith("huxi")} == {
        3000 - games["winner"].null_count()
    }


def test_every_row_is_complete() -> None:
    summary = summarise(synthetic(20_000))
    assert dict(summary.schema) == SCHEMA
    assert summary["metric"].to_list() == list(METRICS)
    for row in summary.iter_rows(named=True):
        assert row["value"] is not None, row
        assert row["n"] > 0
        assert row["low"] <= row["value"] <= row["high"], row
        assert (row["events"] is None) == (row["kind"] != "rate")
        if row["events"]:
            assert row["value"] == row["events"] / row["n"]
            assert row["one_in"] == row["n"] / row["events"]


def test_the_synthetic_rows_keep_the_books() -> None:
    for seats in (3, 4):
        games = synthetic(5000, seats=seats, rotate=True)
        scores = games.select(pl.sum_horizontal([f"score_{seat}" for seat in range(4)]))
        assert scores.to_series().to_list() == [0] * 5000
        drawn = games.filter(pl.col("winner").is_null())
        assert (drawn["money_win"] + drawn["money_xing"]).sum() == 0
        assert (
            drawn.select(pl.sum_horizontal([f"wangs_final_{seat}" for seat in range(4)]) == 4)
            .to_series()
            .all()
        )


@pytest.mark.parametrize("session", [None, 5])
def test_neither_order_nor_parts_change_a_byte(session: int | None) -> None:
    games = synthetic(4000, session=session, rotate=True)
    whole = SufficientStats.from_frame(games)
    shuffled = games.sample(fraction=1.0, shuffle=True, seed=3)
    for other in (shuffled, pl.concat([games[2500:], games[:2500]]).lazy()):
        assert SufficientStats.from_frame(other).to_json() == whole.to_json()
    for cuts in ((0, 1000, 4000), (0, 500, 505, 3000, 4000)):
        parts = [SufficientStats.from_frame(games[start:stop]) for start, stop in pairwise(cuts)]
        merged = sum(reversed(parts), SufficientStats.empty())
        assert merged.to_json() == whole.to_json()
    assert to_csv(summarise_stats({"run": merged})) == to_csv(summarise(games)) == to_csv(summarise(shuffled))


@pytest.mark.parametrize("session", [None, 5])
def test_statistics_survive_json(session: int | None) -> None:
    held = SufficientStats.from_frame(synthetic(2000, session=session))
    text = held.to_json()
    again = SufficientStats.from_json(text)
    assert again.to_json() == text
    keys = ["score_third", "tun_p50", "share_xing", "sd_score"]
    assert summarise_stats({"x": again}, metrics=keys).equals(summarise_stats({"x": held}, metrics=keys))
    with pytest.raises(LoadError, match="format 99"):
        SufficientStats.from_json(json.dumps(json.loads(text) | {"format": 99}))


def test_statistics_stay_small() -> None:
    small, large = (SufficientStats.from_frame(synthetic(n)) for n in (20_000, 200_000))
    cells = [sum(table.height for table in held.blocks.values()) for held in (small, large)]
    assert cells[1] < 2.5 * cells[0]
    assert all(table["count"].sum() == 200_000 for table in large.blocks.values())


def test_variants_are_kept_apart() -> None:
    frames = {name: synthetic(2000, seed=k, wangs=k) for k, name in ((2, "b_two"), (4, "a_four"))}
    both = pl.concat([frame.with_columns(variant=pl.lit(name)) for name, frame in frames.items()])
    keys = ["draw_rate", "score_next", "huxi_p90", "rate_wang_zha", "share_wang", "wangs_final_third", "chi"]
    summary = summarise(both, metrics=keys)
    assert summary["variant"].unique(maintain_order=True).to_list() == ["a_four", "b_two"]
    for name, frame in frames.items():
        alone = summarise(frame, metrics=keys).drop("variant")
        assert summary.filter(pl.col("variant") == name).drop("variant").equals(alone)


def test_sessions_use_batch_means() -> None:
    games = synthetic(6000, session=20, rotate=True)
    alone = values_of(summarise(games.with_columns(session=pl.lit(None, pl.Int64))))
    found = values_of(summarise(games))
    for key, row in found.items():
        assert row["value"] == alone[key]["value"]
        assert row["method"] in ("batch", "upper", "lower"), row
        assert row["units"] == pytest.approx(300, abs=120), row  # sessions with a draw game, for some
        # These games are independent in truth, so both ways must come to about the same length.
        if row["kind"] != "quantile" and (row["events"] or 1000) > 100 and alone[key]["method"] != "few":
            ratio = (row["high"] - row["low"]) / (alone[key]["high"] - alone[key]["low"])
            assert 0.6 < ratio < 1.5, key


def test_half_a_variant_in_sessions_is_refused() -> None:
    games = pl.concat([synthetic(100), synthetic(100, session=5)])
    with pytest.raises(LoadError, match="100 of 200 games are in sessions"):
        summarise(games)
    with pytest.raises(LoadError, match="cannot be summarised together"):
        SufficientStats.from_frame(games[:100]) + SufficientStats.from_frame(games[100:])


def test_deck_without_wangs_has_no_wang_numbers() -> None:
    found = values_of(summarise(synthetic(2000, wangs=0)))
    for key, item in METRICS.items():
        if item.needs_wangs:
            assert found[key]["value"] is None, key
            assert found[key]["low"] is None
    assert found["rate_zimo"]["value"] > 0


def test_no_win_at_all() -> None:
    found = values_of(summarise(synthetic(500, draw_rate=1.1)))
    assert found["draw_rate"]["value"] == 1
    assert found["draw_rate"]["method"] == "lower"
    assert 0.99 < found["draw_rate"]["low"] < 1
    for key in ("huxi_mean", "huxi_p50", "own_draw_share", "xing_money_win", "win_share_dealer"):
        assert (found[key]["value"], found[key]["n"]) == (None, 0), key
    assert found["rate_red"]["events"] == 0
    assert found["rate_red"]["one_in"] is None
    assert found["rate_red"]["high"] == pytest.approx(3 / 500, rel=0.01)


def test_single_game_and_no_game() -> None:
    one = values_of(summarise(synthetic(1, draw_rate=0.0)))
    assert one["draws"]["value"] is not None
    assert one["draws"]["low"] is None
    none = summarise(synthetic(1)[:0])
    assert none.is_empty()
    empty = summarise_stats({"x": SufficientStats.empty()})
    assert empty["value"].null_count() == len(METRICS)


def test_level_and_exact_rates() -> None:
    games = synthetic(3000)
    keys = ("draw_rate", "score_dealer", "huxi_mean", "sd_score", "share_wang")
    narrow, wide = (values_of(summarise(games, level=level, metrics=keys)) for level in (0.8, 0.99))
    for key in keys:
        assert wide[key]["high"] - wide[key]["low"] > 1.5 * (narrow[key]["high"] - narrow[key]["low"])
        assert wide[key]["level"] == 0.99
    exact = values_of(summarise(games, metrics=["draw_rate"], rates="exact"))
    assert list(exact) == ["draw_rate"]
    assert exact["draw_rate"]["method"] == "exact"
    with pytest.raises(ValueError, match="level is a share"):
        summarise(games, level=95)


def test_unknown_metrics_and_sources_are_refused() -> None:
    with pytest.raises(MetricError, match="did you mean draw_rate"):
        metric("drawrate")
    with pytest.raises(MetricError, match="metrics are draw_rate"):
        summarise(synthetic(10), metrics=["qqq"])
    with pytest.raises(LoadError, match="missing column chi, peng"):
        summarise(synthetic(10).drop("chi", "peng"))
    with pytest.raises(LoadError, match="cannot summarise int"):
        summarise(7)
    with pytest.raises(RunError, match="no run folder"):
        summarise("nowhere")
    with pytest.raises(LoadError, match="one variant are wanted, not of a, b"):
        SufficientStats.from_frame(
            pl.concat([synthetic(5).with_columns(variant=pl.lit(name)) for name in ("a", "b")])
        )


def test_registry_is_complete_and_bilingual() -> None:
    assert {item.section for item in METRICS.values()} == set(SECTIONS)
    for key, item in METRICS.items():
        assert key == item.key
        assert item.unit in UNITS
        assert item.block in BLOCKS
        assert item.meaning.en.endswith(".")
        assert item.meaning.zh.endswith("。")
        assert any("\u4e00" <= sign <= "\u9fff" for sign in item.name.zh), key
        assert item.name["en"] == item.name.en
    for section in SECTIONS:
        mine = [item for item in METRICS.values() if item.section == section]
        for lang in ("en", "zh"):
            assert len({item.name[lang] for item in mine}) == len(mine), (section, lang)
    with pytest.raises(ValueError, match="en or zh"):
        METRICS["draw_rate"].name["fr"]


class FakeRun:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.manifest = SimpleNamespace(seed=2**64 - 1)
        self.variants = {
            name: SimpleNamespace(digest=f"{name}0123456789", flat=lambda wangs=wangs: {"deck.wangs": wangs})
            for name, wangs in (("zero", 0), ("four", 4))
        }

    def games(self) -> pl.LazyFrame:
        frames = [
            synthetic(400, wangs=wangs).with_columns(variant=pl.lit(name))
            for name, wangs in (("four", 4), ("zero", 0))
        ]
        return pl.concat(frames).lazy()


def test_run_gives_order_seed_and_hash() -> None:
    summary = summarise(FakeRun())
    assert summary["variant"].unique(maintain_order=True).to_list() == ["zero", "four"]
    assert summary["seed"].unique().to_list() == [2**64 - 1]
    assert set(summary["digest"]) == {"zero0123456789", "four0123456789"}
    assert as_source(FakeRun()).wangs == {"zero": 0, "four": 4}


def test_a_deck_with_wangs_that_nobody_saw_is_still_asked() -> None:
    games = synthetic(200, wangs=0)
    told = as_source(games.lazy())
    stats = collect_stats(told.frame)
    unknown = summarise_stats(stats, told, metrics=["rate_wang_zha"])
    known = summarise_stats(stats, type(told)(told.frame, wangs={"run": 4}), metrics=["rate_wang_zha"])
    assert unknown["value"].to_list() == [None]
    assert known["value"].to_list() == [0.0]
    assert known["method"].to_list() == ["upper"]


def test_write_summary_writes_both_files_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "summary.csv").write_text("old")
    found = write_summary(FakeRun(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["summary.csv", "summary.parquet"]
    assert pl.read_parquet(tmp_path / "summary.parquet").equals(found)
    assert (tmp_path / "summary.csv").read_bytes() == to_csv(found).encode()
    first = (tmp_path / "summary.csv").read_bytes()
    write_summary(FakeRun(tmp_path))
    assert (tmp_path / "summary.csv").read_bytes() == first
    with pytest.raises(LoadError, match="no folder"):
        write_summary(FakeRun())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "summary.csv").write_text("old")

    def fail(_: pl.DataFrame) -> str:
        raise OSError("disk full")

    monkeypatch.setattr("analysis.summary.to_csv", fail)
    with pytest.raises(OSError, match="disk full"):
        write_summary(FakeRun(tmp_path))
    assert (tmp_path / "summary.csv").read_text() == "old"
    assert not list(tmp_path.glob(".summary*"))


def run_folder(folder: Path, games: pl.DataFrame, chunk: int) -> Path:
    """A real run folder of one variant, in parts of ``chunk`` games."""
    parts = []
    for number, first in enumerate(range(0, games.height, chunk)):
        rows, name = games[first : first + chunk], part_file("four_wang", number)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        rows.write_parquet(folder / name)
        parts.append(
            PartRecord(
                variant="four_wang", first=first, count=rows.height, file=name,
                sha256=hash_file(folder / name), bytes=(folder / name).stat().st_size,
                rows=rows.height, draw_games=rows["winner"].null_count(),
            )
        )  # fmt: skip
    variant = VariantRecord(
        label="four_wang", name="four_wang", title={}, preset="four_wang", overrides={},
        keys={"deck.wangs": 4}, digest="ab" * 32,
    )  # fmt: skip
    manifest = Manifest(
        format=1, tool_version="test", created="2024-01-01T00:00:00+00:00", command=None, seed=7,
        games=games.height, session=0, chunk=chunk, bots=("greedy",) * 3, variants=[variant], versions={},
        source="0" * 64, rules="0" * 64, status="complete", parts=parts,
    )  # fmt: skip
    (folder / "manifest.json").write_bytes(dump_manifest(manifest))
    return folder


def test_chunks_of_a_run_folder_change_no_byte(tmp_path: Path) -> None:
    games = synthetic(1500)
    written = set()
    for chunk in (1500, 400):
        folder = run_folder(tmp_path / str(chunk), games, chunk)
        summary = write_summary(folder)
        assert summary["variant"].unique().to_list() == ["four_wang"]
        assert summary["seed"].unique().to_list() == [7]
        assert summary["digest"].unique().to_list() == ["ab" * 32]
        written.add((folder / "summary.csv").read_bytes())
    assert len(written) == 1
