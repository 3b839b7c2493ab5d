"""The commands ``compare``, ``plan`` and ``simulate --until``: output, exit status, nothing else on stdout."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from command import call
from paired import fake_engine, one_odd_chunk, run  # noqa: F401

pytestmark = pytest.mark.usefixtures("fake_engine")


VARY = ("--vary", "win.min_huxi=12,15", "--games", 4000, "--jobs", 1, "--quiet")


def test_compare_prints_a_table_and_verdicts(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    out_args = ("--out", tmp_path / "run", "--metric", "draw_rate", "--margin", "tun_mean=0.2")
    status, out, err = call(capsys, "compare", "two_wang", *VARY, *out_args, "--lang", "en")
    assert (status, err) == (0, "")
    out = " ".join(out.split())
    assert "two_wang+min_huxi=15 draws " in out
    assert "equivalent within ± 0.2" in out
    assert "all 2 claims together" in out
    assert "Bots greedy; checked: 8,000 of 8,000 games" in out
    # Once more from the folder, in Chinese, without playing.
    status, out, _ = call(capsys, "compare", tmp_path / "run", "--metric", "draw_rate", "--lang", "zh")
    assert status == 0
    assert "的荒庄率比" in out


def test_compare_json_and_csv(capsys: pytest.CaptureFixture[str]):
    status, out, _ = call(
        capsys, "compare", "two_wang", *VARY, "--json", "--metric", "draw_rate", "--lang", "en"
    )
    document = json.loads(out)
    assert status == 0
    assert document["games"] == 4000
    assert document["findings"] == []
    cell = document["pairs"][0]["metrics"]["draw_rate"]
    assert cell["decision"] == "higher"
    assert cell["reduction"] > 2
    assert set(cell["verdict"]) == {"en", "zh"}
    status, out, _ = call(capsys, "compare", "two_wang", *VARY, "--csv", "--metric", "draw_rate")
    (row,) = csv.DictReader(io.StringIO(out))
    assert status == 0
    assert row["metric"] == "draw_rate"
    assert float(row["difference"]) == pytest.approx(cell["difference"], rel=1e-5)
    assert len(row["digest"]) == 64
    assert row["seed"] == "1"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("two_wang",), "two variants or more"),
        (("two_wang", "two_wang"), "same rules"),
        (("two_wang", "four_wang", "--metric", "draw_rat"), "did you mean draw_rate"),
        (("two_wang", "four_wang", "--margin", "draw_rate=x"), "must be METRIC=WIDTH"),
        (("two_wang", "--vary", "win.min_huxi"), "must be key=value,value"),
        (("two_wang", "--vary", "win.min_huxi=12,nonsense"), "win.min_huxi"),
    ],
)
def test_bad_usage_is_exit_2_before_anything_is_played(capsys, args, message):
    status, out, err = call(capsys, "compare", *args)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_compare_of_a_run_with_an_odd_chunk_says_so(monkeypatch, capsys, tmp_path: Path):
    monkeypatch.setattr("sim.run.play_rows", one_odd_chunk)
    run(tmp_path / "run", 12, 15, games=8000)
    status, out, err = call(capsys, "compare", tmp_path / "run", "--metric", "draw_rate", "--lang", "en")
    assert status == 1
    assert "draws" in out
    assert "games 3000–3999 differ from the others" in err


def test_simulate_until(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    common = (
        "simulate",
        "two_wang",
        "--jobs",
        1,
        "--csv",
        "--min-games",
        500,
        "--chunk",
        500,
        "--lang",
        "en",
    )
    status, out, err = call(capsys, *common, "--until", "draw_rate=0.015", "--out", tmp_path / "a")
    assert status == 0
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(out))}
    width = (float(rows["draw_rate"]["high"]) - float(rows["draw_rate"]["low"])) / 2
    assert 0.013 < width <= 0.015
    assert "wanted ± 1.5 %" in err
    status, out, err = call(
        capsys, *common, "--until", "draw_rate=1%", "--max-games", 1000, "--out", tmp_path / "b", "--quiet"
    )
    assert status == 1
    assert out.startswith("variant,metric")
    assert err.startswith("chehuzi: two_wang: draw-game rate ± ")
    assert "after 1,000 games, the most allowed" in err


def test_plan(capsys: pytest.CaptureFixture[str]):
    status, out, _ = call(
        capsys, "plan", "two_wang", "--until", "draw_rate=0.01", "--pilot", 1000, "--jobs", 1, "--json"
    )
    document = json.loads(out)
    assert status == 0
    assert 3500 < document["games"] < 7000  # 4,898 for a rate of 15 %
    assert document["seconds"] > 0
    status, out, _ = call(
        capsys, "plan", "two_wang", "--until", "draw_rate=0.01", "--pilot", 1000, "--jobs", 1, "--lang", "zh"
    )
    assert "总计约" in out
    assert call(capsys, "plan", "two_wang")[0] == 2
