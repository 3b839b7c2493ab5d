"""Variance shares: known ones are found again, with their intervals, and the paired difference of two variants."""

from __future__ import annotations

import io
import itertools
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from command import call
from scipy import special, stats

from analysis.seatings import SeatingError
from analysis.skill import PARTS, SHARES, Skill, plan_skill, play_skill, skill
from analysis.skill_words import document, print_skill, verdicts, write_skill
from sim import bots
from sim.rng import words
from sim.rows import COLUMN, NULL, ROW_COLUMNS

LEVELS = {"s_low": -40.0, "s_mid": 0.0, "s_high": 70.0}
"""What a bot is worth to its own score; half of it is lost by each of the others."""
SEATS = (60.0, -10.0, -50.0)
DEAL, NOISE = 300.0, 400.0


def _normal(seed: int, stream: int, first: int, count: int) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = special.ndtri(
        (words(seed, stream, first, count, 8)[:, :3] + 0.5) / 2**32
    )
    return found


def play(
    keys: Mapping[str, Any], names: tuple[str, str, str], seed: int, first: int, count: int, session: int
) -> npt.NDArray[np.int64]:
    """Scores that are a sum of seat, bots, deal and noise; with ``win.min_huxi`` 10 bots matter half as much."""
    del session
    factor = 0.5 if keys["win.min_huxi"] == 10 else 1.0
    worth = factor * np.array([LEVELS[name] for name in names])
    fixed = np.array(SEATS) + 1.5 * worth - worth.sum() / 2
    noise = _normal(seed, 100 + zlib.crc32(",".join(names).encode()), first, count)
    scores = fixed + DEAL * _normal(seed, 50, first, count) + NOISE * noise
    rows = np.full((count, len(ROW_COLUMNS)), NULL, dtype=np.int64)
    rows[:, COLUMN["dealer"]] = 0
    for role in range(3):
        rows[:, COLUMN[f"score_{role}"]] = np.rint(scores[:, role])
    return rows


def truth(names: tuple[str, ...], factor: float = 1.0) -> dict[str, float]:
    means = np.zeros((3, len(names) ** 3))
    own = np.zeros((3, len(names)))
    for number, seating in enumerate(itertools.product(range(len(names)), repeat=3)):
        worth = factor * np.array([LEVELS[names[bot]] for bot in seating])
        means[:, number] = np.array(SEATS) + 1.5 * worth - worth.sum() / 2
        for role in range(3):
            own[role, seating[role]] += means[role, number] / len(names) ** 2
    parts = {
        "deal": DEAL**2,
        "seat": means.mean(axis=1).var(),
        "bots": means.var(axis=1).mean(),
        "rest": NOISE**2,
        "own": own.var(axis=1).mean(),
    }
    whole = sum(parts[name] for name in PARTS)
    return {name: float(value / whole) for name, value in parts.items()} | {"sd": float(np.sqrt(whole))}


@pytest.fixture
def additive(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(LEVELS):
        monkeypatch.setitem(bots.BOTS, name, 900 + number)
    monkeypatch.setattr("sim.parts.play_rows", play)


def _weak(tmp_path: Path) -> Path:
    file = tmp_path / "weak.yaml"
    file.write_text("extends: two_wang\nwin: {min_huxi: 10}\n", encoding="utf-8")
    return file


@pytest.mark.usefixtures("additive")
@pytest.mark.parametrize("names", [("s_low", "s_high"), ("s_low", "s_mid", "s_high")])
def test_known_shares_come_back(names: tuple[str, ...]):
    found = skill(["two_wang"], names, 4_000, seed=11, jobs=1, quiet=True)
    row = found.shares.row(0, named=True)
    known = truth(names)
    for name in (*SHARES, "sd"):
        half = (row[f"{name}_high"] - row[f"{name}_low"]) / 2
        assert 0 < half < 0.2 * max(known[name], 0.01)
        assert abs(row[name] - known[name]) < 2.3 * half, name  # 4.5 standard errors
    assert sum(row[name] for name in PARTS) == pytest.approx(1)
    assert row["own"] <= row["bots"]


@pytest.mark.usefixtures("additive")
def test_the_variant_that_rewards_skill_more_is_named(tmp_path: Path):
    found = skill(["two_wang", _weak(tmp_path)], ("s_low", "s_high"), 2_000, seed=2, jobs=1, quiet=True)
    row = found.pairs.row(0, named=True)
    names = ("s_low", "s_high")
    wanted = truth(names, 0.5)["bots"] - truth(names)["bots"]
    half = (row["difference_high"] - row["difference_low"]) / 2
    assert abs(row["difference"] - wanted) < 2.3 * half
    assert row["decision"] == "less"
    assert verdicts(found)[0].startswith("two_wang rewards skill more than weak")
    assert verdicts(found, "zh")[0].startswith("two_wang 比 weak 更看打法")
    # The same deals: the difference is known better than two separate shares would tell.
    shares = found.shares.select((found.shares["bots_high"] - found.shares["bots_low"]) / 2).to_series()
    assert half < 0.95 * float(np.hypot(*shares))


@pytest.mark.usefixtures("additive")
def test_no_difference_is_shown_between_equals():
    found = skill(["two_wang", "three_wang"], ("s_low", "s_high"), 500, seed=2, jobs=1, quiet=True)
    assert found.pairs["decision"].to_list() == ["undecided", "undecided"]
    assert found.pairs["difference"].to_list() == [0, 0]
    assert "no difference shown" in verdicts(found)[0]


@pytest.mark.slow
@pytest.mark.usefixtures("additive")
def test_intervals_cover_and_are_centred():
    known = truth(("s_low", "s_high"))
    covered = dict.fromkeys(SHARES, 0)
    values: dict[str, list[float]] = {name: [] for name in SHARES}
    for seed in range(200):
        row = skill(["two_wang"], "s_low,s_high", 400, seed=seed, jobs=1, quiet=True).shares.row(
            0, named=True
        )
        for name in SHARES:
            covered[name] += row[f"{name}_low"] <= known[name] <= row[f"{name}_high"]
            values[name].append(row[name])
    for name in SHARES:
        assert covered[name] >= stats.binom.ppf(1e-5, 200, 0.94), name
        error = np.std(values[name]) / np.sqrt(200)
        assert abs(np.mean(values[name]) - known[name]) < 4.5 * error, name


def test_jobs_and_chunks_change_nothing():
    plan = plan_skill(["two_wang", "four_wang"], "random,greedy", 100)
    one = play_skill(plan, jobs=1, quiet=True)
    other = type(plan)(**{**plan.__dict__, "chunk": 60})
    assert document(play_skill(other, jobs=2, quiet=True)) == document(one)
    assert 0 < one.shares["bots"][0] < 0.5


@pytest.mark.usefixtures("additive")
def test_words_and_files(tmp_path: Path):
    found: Skill = skill(["two_wang", _weak(tmp_path)], ("s_low", "s_high"), 300, jobs=1, quiet=True)
    write_skill(found, tmp_path / "out")
    stored = json.loads((tmp_path / "out" / "skill.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(document(found)))
    assert set(stored["variants"]) == {"two_wang", "weak"}
    assert (tmp_path / "out" / "shares.csv").read_text(encoding="utf-8").count("\n") == 3
    assert (tmp_path / "out" / "skill.png").read_bytes()[:4] == b"\x89PNG"
    for lang, word in (("en", "bots %"), ("zh", "打法 %")):
        stream = io.StringIO()
        print_skill(found, lang, stream)
        assert word in stream.getvalue()


def test_cli(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    common = ("skill", "two_wang", "--bots", "random,greedy", "--games", 100, "--jobs", 1, "--quiet")
    status, out, err = call(capsys, *common, "--out", tmp_path / "s", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["seatings"] == 8
    row = found["variants"]["two_wang"]
    assert row["bots_low"] < row["bots"] < row["bots_high"]
    status, out, _ = call(capsys, *common, "--out", tmp_path / "s", "--lang", "zh")
    assert status == 0
    assert "得分的差异从何而来" in out
    status, _, err = call(capsys, *common, "--out", tmp_path / "s", "--seed", 2)
    assert status == 2
    assert "choose another --out" in err


def test_refusals(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SeatingError, match="at least 100"):
        skill(["two_wang"], "random,greedy", 99)
    with pytest.raises(SeatingError, match="2 to 4 bots"):
        skill(["two_wang"], "greedy")
    status, out, err = call(capsys, "skill", "two_wang", "--bots", "greedy,gredy")
    assert (status, out) == (2, "")
    assert "'gredy' is no bot" in err
