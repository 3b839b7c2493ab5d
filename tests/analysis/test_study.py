"""The study: its settings mean something, and a small one is written whole."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from analysis.metrics import METRICS
from analysis.study import CHANGED, MAIN, VARIATIONS, write_study
from sim.variant import differences, load_variant


@pytest.mark.parametrize(
    ("base", "setting"), [(base, one) for base, all in VARIATIONS.items() for one in all]
)
def test_every_setting_changes_one_rule(base: str, setting: str) -> None:
    before, after = load_variant(base), load_variant(base, [setting])
    assert len(differences(before, after, "en")) == len(differences(before, after, "zh")) == 1
    assert {*MAIN, *CHANGED} <= set(METRICS)


@pytest.mark.slow
def test_a_small_study_is_written_whole_and_again_the_same(tmp_path: Path) -> None:
    def write(name: str) -> dict[str, bytes]:
        written = write_study(tmp_path / name, tmp_path / "runs", 500, jobs=1, quiet=True)
        return {path.name: path.read_bytes() for path in written}

    first = write("one")
    assert {"README.md", "README.zh.md", "presets.csv", "strong.csv", "differences-four_wang.csv"} <= set(
        first
    )
    assert write("two") == first  # nothing is played again, nothing depends on the moment
    rates = pl.read_csv(first["presets.csv"]).filter(pl.col("metric") == "draw_rate")
    assert f"{100 * rates['value'][0]:.1f}" in first["README.md"].decode()
    for name in ("README.md", "README.zh.md"):
        page = first[name].decode()
        assert "None" not in page and "nan" not in page and page.count("win.min_huxi=18") == 2
