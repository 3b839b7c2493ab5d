"""``sensitivity`` and ``value``: planted effects, interactions and indices come out, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_rules import planted_engine  # noqa: F401

from analysis.cli import main
from analysis.sensitivity import (
    SensitivityError,
    effect_lines,
    other_values,
    parse_axis,
    sensitivity,
    switches,
    value_of_rules,
)
from sim.variant import load_variant

VARY = ("win.min_huxi=12,16", "win.wang_limit.mode=none,by_fan", "pass.blocks_chi=true,false", "fan.red=2,3")


@pytest.mark.usefixtures("planted_engine")
def test_planted_effects_and_interactions_are_found():
    found = sensitivity("four_wang", VARY, 20_000, metrics=["draw_rate"], jobs=1)
    effects = {(row["key"], row["change"]): row for row in found["effects"]}
    # 0.01 a huxi; 0.04 by fan and half of 0.02 more; half of 0.02 for the pass; the interaction 0.02
    planted = {
        ("win.min_huxi", "12 → 16"): 0.04,
        ("win.wang_limit.mode", "none → by_fan"): 0.05,
        ("pass.blocks_chi", "true → false"): 0.01,
        ("fan.red", "2 → 3"): 0.0,
        ("win.wang_limit.mode × pass.blocks_chi", "by_fan × false"): 0.02,
        ("win.min_huxi × win.wang_limit.mode", "16 × by_fan"): 0.0,
    }
    for name, value in planted.items():
        row = effects[name]
        assert row["low"] - 1e-9 <= value <= row["high"] + 1e-9
        assert row["shown"] == (value != 0)
    assert effects["fan.red", "2 → 3"]["effect"] == 0  # the same deals: no noise at all
    shares = {row["key"]: row for row in found["indices"]}
    # variances of ±half effects: 0.04², 0.05², 0.01², and (0.02/2)² for the interaction
    total = 0.04**2 + 0.05**2 + 0.01**2 + 0.01**2
    for key, value in (("win.min_huxi", 0.04**2), ("win.wang_limit.mode", 0.05**2), ("fan.red", 0.0)):
        assert shares[key]["low"] - 0.01 <= value / total <= shares[key]["high"] + 0.01
    assert shares["win.wang_limit.mode"]["value"] == pytest.approx(0.05**2 / total, abs=0.06)


@pytest.mark.parametrize(("method", "index", "samples"), [("morris", "mu_star", 8), ("sobol", "S1", 32)])
@pytest.mark.usefixtures("planted_engine")
@pytest.mark.slow
def test_sampled_designs_rank_the_keys(method: str, index: str, samples: int):
    pytest.importorskip("SALib")
    vary = ("win.min_huxi=10..25", "win.wang_limit.mode=none,by_fan", "fan.red=2..9", "fan.black=2..9")
    found = sensitivity(
        "four_wang", vary, 4_000, metrics=["draw_rate"], method=method, samples=samples, jobs=1
    )
    held = {row["key"]: row["value"] for row in found["indices"] if row["index"] == index}
    assert held["win.min_huxi"] > held["win.wang_limit.mode"] > 0.001
    assert abs(held["fan.red"]) < 1e-9 if method == "morris" else abs(held["fan.red"]) < 0.1


@pytest.mark.usefixtures("planted_engine")
def test_value_of_each_rule():
    found = value_of_rules("four_wang", 5_000, pattern="win.m*", metrics=["draw_rate"], jobs=1)
    effects = {row["change"]: row for row in found["effects"]}
    assert set(effects) == {"15 → 12", "15 → 18"}
    assert effects["15 → 18"]["low"] < 0.03 < effects["15 → 18"]["high"]
    assert effects["15 → 18"]["shown"]
    nothing = value_of_rules("four_wang", 1_000, pattern="fan.red", metrics=["draw_rate"], jobs=1)
    assert all((row["effect"], row["changed"], row["shown"]) == (0, 0, False) for row in nothing["effects"])
    assert "=" in effect_lines(nothing)[1]


def test_every_key_has_other_values():
    base = load_variant("four_wang")
    changed = {key for key, _, _ in switches(base)}
    assert {
        "win.wang_limit.mode",
        "deck.wangs",
        "cap",
        "xing.card",
        "wang.ti",
        "win.wang_limit.min_fan",
    } <= changed
    assert "stake" not in changed
    assert other_values("xing.card", "follow") == ["flip", "none"]
    assert other_values("wang.ti", True) == [False]


def test_bad_questions_are_refused():
    for text in ("win.min_huxi", "win.min_huxi=12", "=1,2"):
        with pytest.raises(SensitivityError, match="two values"):
            parse_axis(text)
    assert parse_axis("win.min_huxi=10..12") == ("win.min_huxi", ["10", "11", "12"])
    with pytest.raises(SensitivityError, match="quantile"):
        sensitivity("four_wang", VARY, metrics=["score_p50"])
    with pytest.raises(SensitivityError, match="no key"):
        switches(load_variant("four_wang"), "nonsense.*")


@pytest.mark.usefixtures("planted_engine")
def test_commands(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    common = ("--games", "1000", "--jobs", "1", "--metric", "draw_rate")
    main(["sensitivity", "four_wang", "--vary", "win.min_huxi=12,16", "--vary", "fan.red=2,3", *common,
          "--out", str(tmp_path), "--lang", "en"])  # fmt: skip
    out, _ = capsys.readouterr()
    assert "12 → 16" in out
    assert (tmp_path / "tornado-draw_rate.png").stat().st_size > 5_000
    assert (tmp_path / "interactions-draw_rate.png").is_file()
    main(["value", "four_wang", "--key", "fan.black", *common, "--json"])
    assert json.loads(capsys.readouterr()[0])["effects"][0]["key"] == "fan.black"
    with pytest.raises(SystemExit) as stop:
        main(["sensitivity", "four_wang", "--vary", "win.min_huxi=12", *common])
    assert stop.value.code == 2
    assert "two values" in capsys.readouterr()[1]
