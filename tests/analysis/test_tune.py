"""``chehuzi tune``: finds what was planted, says what cannot be, can be killed, and refuses bad specs by line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import call
from planted_rules import dealer_advantage, deviation, draw_chance, plant, planted_engine  # noqa: F401

from analysis import tune as tuning
from analysis.tune import check, tune
from analysis.tune_search import TuneError, dominates, fronts
from analysis.tune_spec import SpecError, load_spec, parse_goal, read_spec
from sim.variant import load_variant

ROOT = Path(__file__).resolve().parents[2]

SPEC = """\
base: four_wang
keys:
  win.min_huxi: [12, 15, 18, 20]
  win.wang_limit.mode: [none]
  tun.base: [1, 2]
targets:
  draw_rate: 0.08 ± 0.012
  dealer_advantage: < 1.5
minimise: volatility
budget: 160000
shortlist: 2
"""


def write(folder: Path, text: str = SPEC, name: str = "spec.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def run(folder: Path, text: str = SPEC, **how: Any) -> dict[str, Any]:
    return tune(write(folder, text), folder / "out", jobs=1, quiet=True, **how)


def setting_of(one: dict[str, Any]) -> list[str]:
    return [f"{key}={value}" for key, value in one["setting"].items()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A tuning that went through, and its folder."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        return folder / "out", run(folder)


# --- planted effects -----------------------------------------------------------------------------------------


def test_a_known_optimum_is_found_and_certified(finished: tuple[Path, dict[str, Any]]):
    folder, document = finished
    assert document["verdict"] == "met"
    chosen = next(one for one in document["shortlist"] if one["number"] == document["chosen"])
    # two settings have a planted draw rate of 0.08; base tun 1 alone meets the other target
    rules = load_variant("four_wang", chosen["overrides"]).flat()
    assert draw_chance(rules) == pytest.approx(0.08)
    assert rules["tun.base"] == 1
    for one in [*document["shortlist"], document["base"]]:
        keys = load_variant("four_wang", one["overrides"]).flat()
        held = one["values"]
        assert held["draw_rate"]["low"] < draw_chance(keys) < held["draw_rate"]["high"]
        assert held["dealer_advantage"]["low"] < dealer_advantage(keys) < held["dealer_advantage"]["high"]
    fates = {one["number"]: one["fate"] for one in document["search"]["tried"]}
    assert len(fates) == 8
    assert sum(fate == "out" for fate in fates.values()) >= 5
    assert document["fresh"]["claims"] == 3 * len(document["shortlist"])
    seeds = [one["seed"] for one in document["search"]["rounds"]]
    assert document["fresh"]["seed"] not in seeds
    assert len(set(seeds)) == len(seeds)
    # the patch, on its own, is the certified variant
    assert load_variant(folder / "tuned.yaml").digest == chosen["digest"]


@pytest.mark.slow
@pytest.mark.usefixtures("planted_engine")
def test_what_is_worse_than_a_setting_shown_to_be_right_is_left_out(tmp_path: Path):
    text = SPEC.replace("draw_rate: 0.08 ± 0.012", "draw_rate: < 0.2").replace("shortlist: 2", "shortlist: 1")
    document = run(tmp_path, text)
    worse = [one for one in document["search"]["tried"] if one["fate"] == "worse"]
    assert worse
    planted = {
        one["number"]: deviation(load_variant("four_wang", setting_of(one)).flat())
        for one in document["search"]["tried"]
    }
    assert all(planted[one["number"]] > planted[one["reason"]["than"]] for one in worse)


@pytest.mark.usefixtures("planted_engine")
def test_an_impossible_target_is_said_to_be_so_with_the_nearest(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    text = SPEC.replace("0.08 ± 0.012", "0.30 ± 0.02")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHEHUZI_LANG", "zh")
        status, out, _ = call(
            capsys, "tune", write(tmp_path, text), "--out", tmp_path / "out", "--jobs", 1, "--quiet"
        )
    assert status == 1
    assert "不可能达到目标" in out
    document = json.loads((tmp_path / "out" / "certificate.json").read_text(encoding="utf-8"))
    assert document["verdict"] == "impossible"
    assert document["chosen"] is None
    nearest = next(one for one in document["shortlist"] if one["number"] == document["nearest"])
    assert nearest["setting"]["win.min_huxi"] == 20
    reach = document["search"]["reach"][0]
    assert (reach["within"], reach["of"]) == (0, 8)
    assert reach["highest"] == pytest.approx(0.10, abs=0.02)
    page = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert "Impossible with these values" in page
    assert "不可能达到目标" in (tmp_path / "out" / "certificate.zh.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("planted_engine")
def test_too_narrow_a_target_stays_open_and_says_how_many_games(tmp_path: Path):
    text = SPEC.replace("0.08 ± 0.012", "0.08 ± 0.001")
    document = run(tmp_path, text)
    assert document["verdict"] == "open"
    assert document["more_games"] is None or document["more_games"] > document["fresh"]["games"]


@pytest.mark.usefixtures("planted_engine")
def test_objectives_alone_are_met_by_a_shown_improvement_only(tmp_path: Path):
    text = "base: four_wang\nkeys: {tun.base: [1, 2]}\nminimise: volatility\nbudget: 40000\n"
    assert run(tmp_path, text)["verdict"] == "open"  # tun.base 1 is the base itself
    text = text.replace("minimise", "maximise")
    other = tmp_path / "other"
    other.mkdir()
    document = run(other, text)
    assert document["verdict"] == "met"
    assert document["shortlist"][0]["setting"] == {"tun.base": 2}


@pytest.mark.slow
@pytest.mark.usefixtures("planted_engine")
def test_other_bots_are_counted(tmp_path: Path):
    document = run(tmp_path, SPEC + "bots_also: [random, 'greedy,greedy,random']\n")
    assert [mix["bots"] for mix in document["robust"]] == ["random", "greedy,greedy,random"]
    assert all(mix["verdicts"]["draw_rate"] == "missed" for mix in document["robust"])
    page = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert "under 1 of 3 mixes of bots" in page


@pytest.mark.slow
@pytest.mark.usefixtures("planted_engine")
def test_many_settings_are_searched_with_optuna(tmp_path: Path):
    pytest.importorskip("optuna")
    text = (
        "base: four_wang\nkeys:\n  win.min_huxi: 10..40\n  tun.base: 1..10\n  win.wang_limit.mode: [none, by_fan]\n"
        "targets: {draw_rate: 0.10 ± 0.02}\nminimise: volatility\nbudget: 500000\ntrials: 64\n"
    )
    document = run(tmp_path, text)
    assert document["search"]["method"] == "optuna"
    assert document["verdict"] == "met"
    chosen = next(one for one in document["shortlist"] if one["number"] == document["chosen"])
    assert chosen["setting"]["tun.base"] == 1
    assert abs(draw_chance(load_variant("four_wang", chosen["overrides"]).flat()) - 0.10) <= 0.02
    again = tmp_path / "again"
    again.mkdir()
    assert run(again, text)["sha256"] == document["sha256"]


# --- kill and resume -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("planted_engine")
def test_a_killed_tuning_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: tuple[Path, dict[str, Any]]
):
    whole = finished[0]
    files = ("certificate.json", "certificate.md", "certificate.zh.md", "certificate.html", "tuned.yaml")
    wanted = {name: (whole / name).read_bytes() for name in files}
    import planted_rules

    real, calls = planted_rules.play, {"left": 0}

    def dies(*args: Any) -> Any:
        calls["left"] -= 1
        if calls["left"] < 0:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr("sim.run.play_rows", dies)
    deaths = 0
    for _ in range(30):
        calls["left"] = 40
        try:
            run(tmp_path, resume=True)
            break
        except KeyboardInterrupt:
            deaths += 1
    assert deaths >= 2
    assert {name: (tmp_path / "out" / name).read_bytes() for name in files} == wanted


@pytest.mark.usefixtures("planted_engine")
def test_a_folder_of_something_else_is_refused(tmp_path: Path, finished: tuple[Path, dict[str, Any]]):
    shutil.copytree(finished[0], tmp_path / "out")
    with pytest.raises(TuneError, match="not empty"):
        run(tmp_path)
    with pytest.raises(TuneError, match="another spec"):
        run(tmp_path, SPEC.replace("seed: 1", "").replace("0.08", "0.09"), resume=True)
    run(tmp_path, "# a remark changes nothing\n" + SPEC, resume=True)
    (tmp_path / "else" / "out").mkdir(parents=True)
    (tmp_path / "else" / "out" / "file").touch()
    with pytest.raises(TuneError, match="no folder of a tuning"):
        run(tmp_path / "else", resume=True)


# --- the certificate -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("planted_engine")
def test_other_bots_and_other_deals_are_checked_too(tmp_path: Path):
    run(tmp_path, SPEC + "bots_also: [random]\n")
    path = tmp_path / "out" / "certificate.json"
    assert check(path, jobs=1, quiet=True).ok
    assert check(path, seed=5, jobs=1, quiet=True).ok


@pytest.mark.usefixtures("planted_engine")
def test_a_certificate_is_checked_by_playing_again(tmp_path: Path, finished: tuple[Path, dict[str, Any]]):
    path = finished[0] / "certificate.json"
    found = check(path, jobs=1, quiet=True)
    assert (found.ok, found.findings) == (True, [])
    assert "every number is the same" in found.notes[0][0]

    def changed(change: Any, reseal: bool) -> Path:
        document = json.loads(path.read_text(encoding="utf-8"))
        change(document)
        if reseal:
            document["sha256"] = tuning.seal(document)
        other = tmp_path / "changed.json"
        other.write_text(json.dumps(document), encoding="utf-8")
        return other

    def value(document: Any) -> None:
        document["shortlist"][0]["values"]["draw_rate"]["value"] += 1e-6

    first, second = check(changed(value, False), jobs=1, quiet=True).findings
    assert "SHA-256" in first[0]
    assert "draw_rate" in second[0]

    def rules(document: Any) -> None:
        document["shortlist"][0]["overrides"]["stake"] = 2

    assert "hash" in check(changed(rules, True), jobs=1, quiet=True).findings[0][0]


def test_what_is_no_certificate_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "x.json"
    for text in ("", "[]", "{}", "nonsense"):
        path.write_text(text)
        status, out, err = call(capsys, "tune", "--check", path)
        assert (status, out) == (2, "")
        assert "no certificate" in err
    status, _, err = call(capsys, "tune", "--check", tmp_path / "none.json")
    assert status == 2
    assert "No such file" in err


def test_pages_carry_both_languages_and_load_nothing(finished: tuple[Path, dict[str, Any]]):
    folder, document = finished
    page = (folder / "certificate.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    for text in (
        "Proof on fresh deals",
        "新牌局上的验证",
        document["sha256"],
        "extends: four_wang",
        "庄家优势",
    ):
        assert text in page
    chosen = next(one for one in document["shortlist"] if one["number"] == document["chosen"])
    for lang, name in (("en", "certificate.md"), ("zh", "certificate.zh.md")):
        text = (folder / name).read_text(encoding="utf-8")
        assert chosen["words"][lang]
        assert all(sentence in text for sentence in chosen["words"][lang])


# --- the command ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("planted_engine")
def test_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, finished: tuple[Path, dict[str, Any]]
):
    spec, out = write(tmp_path), tmp_path / "out"
    shutil.copytree(finished[0], out)
    status, text, err = call(
        capsys, "tune", spec, "--out", out, "--resume", "--jobs", 1, "--quiet", "--lang", "en"
    )
    assert (status, err) == (0, f"certificate in {out}\n")
    assert text.startswith("Targets met (draw-game rate 6.8 % to 9.2 %; dealer advantage ≤ 1.5")
    status, text, _ = call(capsys, "tune", spec, "--out", out, "--resume", "--quiet", "--json")
    assert json.loads(text)["verdict"] == "met"
    status, text, err = call(capsys, "tune", "--check", out / "certificate.json", "--quiet", "--lang", "zh")
    assert status == 0
    assert "数字全部一致" in text
    status, _, err = call(capsys, "tune", spec, "--out", out)
    assert status == 2
    assert "--resume" in err
    status, _, err = call(capsys, "tune", spec, "--seed", 3)
    assert status == 2


# --- the spec ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("base: four_wang", "base: four_wan", 1, "did you mean four_wang?"),
        ("win.min_huxi: [12", "win.min_huxy: [12", 3, "did you mean win.min_huxi?"),
        ("[12, 15, 18, 20]", "[12, -1]", 3, "at least 0"),
        ("[12, 15, 18, 20]", "12", 3, "a list or a range"),
        ("[12, 15, 18, 20]", "20..12", 3, "upwards"),
        ("[12, 15, 18, 20]", "[12, 12]", 3, "given twice"),
        ("[none]", "[none, by_fam]", 4, "did you mean by_fan?"),
        ("draw_rate: 0.08", "draw_rat: 0.08", 7, "did you mean draw_rate"),
        ("0.08 ± 0.012", "0.08", 7, "is no target"),
        ("0.08 ± 0.012", "8 ± 1", 7, "between 0 and 1"),
        ("< 1.5", "> 1.5", 8, "write it in quotes"),
        ("< 1.5", "< 1.5 %", 8, "without %"),
        ("minimise: volatility", "minimise: score_p50", 9, "quantile"),
        ("minimise: volatility", "minimize: volatility", 9, "did you mean minimise?"),
        ("budget: 160000", "budget: 10", 10, "at least 10,000"),
        ("shortlist: 2", "shortlist: three", 11, "whole number"),
        ("shortlist: 2", "bots: greed", 11, "greed"),
        ("base: four_wang", "base: &x four_wang", 1, "anchors"),
        ("base: four_wang\n", "", None, "base is missing"),
    ],
)
def test_faults_of_a_spec_name_their_line(tmp_path: Path, old: str, new: str, line: int | None, message: str):
    assert old in SPEC
    path = write(tmp_path, SPEC.replace(old, new))
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    first = str(caught.value).splitlines()[0]
    assert first.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert message in first


def test_faults_reach_the_command_line_as_one_line_each(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = write(tmp_path, SPEC.replace("[1, 2]", "[0, x]").replace("tun.base", "tun.step"))
    status, out, err = call(capsys, "tune", path, "--out", tmp_path / "out")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 2
    assert all(f"{path}:5: tun.step" in line for line in err.splitlines())
    assert not (tmp_path / "out").exists()


def test_too_small_a_budget_is_refused(tmp_path: Path):
    with pytest.raises(TuneError, match="budget: 8 settings need"):
        run(tmp_path, SPEC.replace("160000", "40000"))


def test_specs_take_ranges_tables_and_files(tmp_path: Path):
    write(tmp_path, "extends: three_wang\nwin: {min_huxi: 12}\n", "room.yaml")
    text = (
        "base: room.yaml\nset: {stake: 2}\nkeys:\n  win: {min_huxi: 10..30 step 10}\n"
        "  win.wang_limit.min_fan: [{1: 2, 2: 4, 3: 8, 4: 16}, {1: 1, 2: 2, 3: 4, 4: 8}]\n"
        "targets: {draw_rate: 4% .. 6%, score_dealer: above -0.5}\nlevel: 0.99\n"
    )
    loaded = read_spec(text, "spec.yaml", tmp_path)
    assert loaded.base.flat()["stake"] == 2
    assert loaded.base.flat()["win.min_huxi"] == 12
    assert loaded.spec.keys["win.min_huxi"] == (10, 20, 30)
    assert loaded.spec.cells == 6
    table = loaded.variant(list(loaded.spec.settings())[1]).flat()["win.wang_limit.min_fan"]
    assert table == {1: 1, 2: 2, 3: 4, 4: 8}
    goals = loaded.spec.goals
    assert (goals[0].low, goals[0].high) == (0.04, 0.06)
    assert (goals[1].low, goals[1].high) == (-0.5, None)


def test_verdicts_of_intervals():
    band, bound = parse_goal("draw_rate", "0.05 ± 0.005"), parse_goal("dealer_advantage", "< 0.5")
    assert (band.low, band.high) == (0.045, 0.055)
    assert band.verdict(0.046, 0.054) == "met"
    assert band.verdict(0.044, 0.054) == "open"
    assert band.verdict(0.056, 0.06) == "missed"
    assert band.verdict(None, 0.044) == "missed"
    assert parse_goal("draw_rate", "< 0.1").verdict(None, 0.01) == "met"
    assert bound.verdict(-3.0, 0.4) == "met"
    assert bound.verdict(None, None) == "open"
    assert bound.distance(1.0) == pytest.approx(0.5)


def test_pareto_fronts():
    assert dominates((1, 2), (1, 3))
    assert not dominates((1, 2), (1, 2))
    assert fronts([(1, 4), (2, 2), (3, 3), (4, 1), (5, 5)]) == [0, 0, 1, 0, 2]


def test_the_worked_spec_of_the_documentation_holds():
    assert load_spec(ROOT / "docs" / "examples" / "tune_draw_rate.yaml").spec.goals
