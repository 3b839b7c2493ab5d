"""How a summary looks: the printed table, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import polars as pl
import pytest
from rich.cells import cell_len
from synthetic import synthetic

from analysis.metrics import METRICS
from analysis.summary import summarise
from analysis.tables import WIDTH, format_cell, print_table, to_csv, to_json


@pytest.fixture(scope="module")
def summary() -> pl.DataFrame:
    frames = [
        synthetic(20_000, seed=wangs, wangs=wangs).with_columns(variant=pl.lit(name))
        for wangs, name in ((2, "two_wang"), (3, "three_wang"), (4, "four_wang"), (0, "no_wang"))
    ]
    return summarise(pl.concat(frames))


def printed(summary: pl.DataFrame, lang: str = "en") -> str:
    stream = io.StringIO()
    print_table(summary, lang, stream)
    return stream.getvalue()


def row(**fields: Any) -> dict[str, Any]:
    return {"low": None, "high": None, "n": 1000, "units": 1000, "method": "wilson"} | fields


@pytest.mark.parametrize(
    ("metric", "fields", "en", "zh"),
    [
        ("draw_rate", {"value": 0.1234, "low": 0.1215, "high": 0.1253}, "12.34 ± 0.19 %", None),
        ("draw_rate", {"value": 0.003, "low": 0.001, "high": 0.0087}, "0.30 [0.10, 0.87] %", None),
        ("draw_rate", {"value": 0.0, "low": 0.0, "high": 0.003, "method": "upper"}, "< 0.3 %", None),
        ("draw_rate", {"value": 1.0, "low": 0.9971, "high": 1.0, "method": "lower"}, "> 99.71 %", None),
        ("draw_rate", {"value": None}, "–", "–"),
        ("rate_red", {"value": 0.2, "low": 0.19, "high": 0.21}, "1 in 5.00 ± 0.26", "5.00 ± 0.26 局一次"),
        ("rate_red", {"value": 0.001, "low": 0.0005, "high": 0.002}, "1 in 1000 [500–2000]", None),
        (
            "rate_red",
            {"value": 1e-5, "low": 5e-6, "high": 2e-5},
            "1 in 100k [50k–200k]",
            "10万 [5.0万–20万] 局一次",
        ),
        (
            "rate_red",
            {"value": 0.0, "low": 0.0, "high": 3e-5, "method": "upper"},
            "< 1 in 33.3k",
            "> 3.33万 局一次",
        ),
        ("score_dealer", {"value": -2.0, "low": -2.25, "high": -1.75}, "-2.00 ± 0.25", None),
        ("score_dealer", {"value": 2.0, "low": 1.9, "high": 2.4}, "2.00 [1.90, 2.40]", None),
        ("transfers", {"value": 12345.6, "low": 12300.0, "high": 12391.2}, "12,346 ± 46", None),
        ("wang_payout", {"value": 0.0, "method": "none"}, "0 (all equal)", "0（皆同）"),
        ("draws", {"value": 12.0, "method": "none", "units": 1}, "12.0 (too few)", "12.0（太少）"),
        ("huxi_p90", {"value": 22.0, "low": 22.0, "high": 23.0}, "22 [22, 23]", None),
        ("huxi_p90", {"value": 22.0, "low": 22.0, "high": 22.0}, "22 ± 0", None),
        ("huxi_p99", {"value": 31.0, "low": 28.0}, "31 [≥ 28]", None),
    ],
)
def test_cells(metric: str, fields: dict[str, Any], en: str, zh: str | None) -> None:
    assert format_cell(row(**fields), METRICS[metric], "en") == en
    if zh is not None:
        assert format_cell(row(**fields), METRICS[metric], "zh") == zh


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_table_fits_and_says_everything(summary: pl.DataFrame, lang: str) -> None:
    text = printed(summary, lang)
    assert max(map(cell_len, text.splitlines())) <= WIDTH
    for item in METRICS.values():
        assert item.name[lang] in text
    assert "\x1b" not in text
    assert "n = 20,000" in text
    assert "95 %" in text
    for name in ("two_wang", "three_wang", "four_wang", "no_wang"):
        assert name in text


def test_nothing_seen_is_never_nought_percent(summary: pl.DataFrame) -> None:
    text = printed(summary)
    assert " 0 %" not in text
    assert " 0.0 %" not in text
    assert "< 1 in 6680" in text  # wang zha wang in two_wang: 20,000 games without one
    assert "0 in" not in text


def test_three_variants_stand_side_by_side(summary: pl.DataFrame) -> None:
    text = printed(summary.filter(pl.col("variant") != "no_wang"))
    assert sum("draw-game rate" in line for line in text.splitlines()) == 1


def test_table_carries_seed_and_hash(summary: pl.DataFrame) -> None:
    marked = summary.with_columns(seed=pl.lit(7, pl.UInt64), digest=pl.lit("abcdef0123456789"))
    text = printed(marked)
    assert "#abcdef01" in text
    assert "Seed 7." in text


def test_dependent_sessions_are_said() -> None:
    text = printed(summarise(synthetic(1000, session=10)))
    assert "batch means over 100 sessions" in " ".join(text.split())


def test_empty_summary_prints() -> None:
    assert printed(summarise(synthetic(1)[:0])).strip() == ""


def test_csv_is_plain_and_stable(summary: pl.DataFrame) -> None:
    text = to_csv(summary)
    assert text == to_csv(summary)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == summary.height
    for written, held in zip(rows, summary.iter_rows(named=True), strict=True):
        assert list(written) == summary.columns
        for key in ("value", "low", "high", "one_in"):
            if held[key] is None:
                assert written[key] == ""
            else:
                assert float(written[key]) == pytest.approx(held[key], rel=1e-5, abs=1e-12)
        assert written["n"] == str(held["n"])


def test_json_is_one_document(summary: pl.DataFrame) -> None:
    document = json.loads(to_json(summary))
    assert document["level"] == 0.95
    assert set(document["variants"]) == {"two_wang", "three_wang", "four_wang", "no_wang"}
    held = document["variants"]["four_wang"]["metrics"]
    assert list(held) == list(METRICS)
    assert held["draw_rate"]["name"] == {"en": "draw-game rate", "zh": "荒庄率"}
    assert held["draw_rate"]["low"] < held["draw_rate"]["value"] < held["draw_rate"]["high"]
