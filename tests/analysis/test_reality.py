"""Real games against simulated ones: planted biases are found, clean records are not accused, names stay unread."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

from analysis.cli import app
from analysis.reality import (
    Reality,
    compare_records,
    effect_w,
    g_statistic,
    noncentrality,
    pooled_cells,
    share_difference,
)
from analysis.reality_read import RecordError, read_mapping, read_records
from analysis.reality_synth import read_plants, synthesise
from sim.variant import load_variant

GREEDY = ("greedy",) * 3


def look(
    tmp_path: Path, variant: str, games: int, simulated: int, seed: int, kind: str = "csv", **plants: float
) -> Reality:
    loaded = load_variant(variant)
    path = tmp_path / f"games.{kind}"
    path.write_text(synthesise(loaded, games, kind, seed=seed, plants=plants), encoding="utf-8")
    return compare_records(read_records(path), loaded, [GREEDY], simulated, seed=77)


# --- statistics --------------------------------------------------------------------------------------------


def test_g_is_that_of_scipy() -> None:
    table = np.array([[10.0, 20, 30], [15, 15, 40]])
    expected = stats.contingency.expected_freq(table)
    scipy_g = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert g_statistic(table, expected) == pytest.approx(scipy_g)


def test_noncentrality_inverts_the_law() -> None:
    for freedom, extra in ((1, 5.0), (4, 12.0), (9, 40.0)):
        statistic = float(stats.ncx2.ppf(0.975, freedom, extra))
        assert noncentrality(statistic, freedom, 0.975) == pytest.approx(extra, rel=1e-4)
    assert noncentrality(0.5, 3, 0.975) == 0.0


def test_interval_of_w_covers() -> None:
    random = np.random.default_rng(5)
    law, true = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.45, 0.3, 0.15, 0.1])
    w = float(np.sqrt(((true - law) ** 2 / law).sum()))
    hits = 0
    for _ in range(400):
        counts = random.multinomial(800, true).astype(float)
        _, low, high = effect_w(g_statistic(counts, law * 800), 3, 800, 0.95)
        hits += low <= w <= high
    assert 0.90 < hits / 400 < 0.99


def test_newcombe_is_antisymmetric_and_holds_the_difference() -> None:
    low, high = share_difference(56, 70, 48, 80, 0.95)
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)  # Newcombe 1998, table II, method 10
    back = share_difference(48, 80, 56, 70, 0.95)
    assert back == pytest.approx((-high, -low))


def test_pooling_leaves_no_small_cell() -> None:
    groups = pooled_cells(np.array([9.0, 1, 1, 7, 0.1, 0.1]))
    sums = np.bincount(groups, weights=[9.0, 1, 1, 7, 0.1, 0.1])
    assert (sums >= 5).all() and len(sums) == 2


# --- planted and clean -------------------------------------------------------------------------------------


def test_a_planted_dealer_is_found(tmp_path: Path) -> None:
    found = look(tmp_path, "four_wang", 1_500, 0, 3, dealer_wangs=0.3)
    flagged = {check.key: check for check in found.dealing if check.flagged}
    assert "wangs_dealt_dealer" in flagged and found.dealing_flagged
    assert flagged["wangs_dealt_dealer"].low > 0
    assert "wangs_dealt_next" not in flagged or flagged["wangs_dealt_next"].value < 0


def test_a_planted_seat_is_found(tmp_path: Path) -> None:
    found = look(tmp_path, "three_wang", 2_500, 0, 4, seat_wangs=0.3)
    flagged = {check.key: check.value for check in found.dealing if check.flagged}
    assert flagged.get("wangs_seat_0", 0) > 0


def test_missing_draw_games_are_found(tmp_path: Path) -> None:
    found = look(tmp_path, "two_wang", 3_000, 4_000, 5, missing_draws=0.9)
    (result,) = [check for check in found.mixes[0].checks if check.key == "result"]
    assert result.flagged and result.low > 0
    assert result.cells[-1].high < 0  # fewer draw games
    assert not found.dealing_flagged or min(check.p for check in found.dealing) > 1e-4


def test_other_bots_are_found_and_told_apart(tmp_path: Path) -> None:
    loaded = load_variant("two_wang")
    path = tmp_path / "log.jsonl"
    path.write_text(synthesise(loaded, 150, "log", bots=("random",) * 3, seed=2), encoding="utf-8")
    records = read_records(path)
    assert records.kind == "log"
    found = compare_records(records, loaded, [GREEDY, ("random",) * 3], 2_000, seed=8)
    greedy, random = found.mixes
    assert greedy.distance > 3 * random.distance
    choices = {check.key: check for check in greedy.choices}
    assert choices["choice_peng"].flagged and choices["choice_peng"].high < 0
    assert not any(check.flagged for check in (*random.checks, *random.choices))
    assert {check.key for check in found.dealing} >= {"wangs_joint", "kans_dealer", "reds_next", "tis_third"}
    assert not found.dealing_flagged and found.repeated == 0


def test_clean_records_are_not_accused(tmp_path: Path) -> None:
    for seed in (1, 2):
        found = look(tmp_path, "four_wang", 1_200, 4_000, seed)
        assert not found.dealing_flagged and not found.flagged


@pytest.mark.slow
def test_calibration(tmp_path: Path) -> None:
    """At alpha = 0.01 a question is answered wrongly in about 1 of 100 clean files: 200 files, at most 9."""
    dealing = play = 0
    for seed in range(200):
        found = look(tmp_path, "four_wang", 800, 4_000, 1_000 + seed)
        dealing += found.dealing_flagged
        play += any(check.flagged for check in found.mixes[0].checks)
    assert dealing <= 9 and play <= 9


def test_a_repeated_deal_is_found(tmp_path: Path) -> None:
    loaded = load_variant("two_wang")
    path = tmp_path / "log.jsonl"
    text = synthesise(loaded, 40, "log")
    path.write_text(text + text, encoding="utf-8")
    found = compare_records(read_records(path), loaded, [], 0)
    assert found.repeated == 40 and found.dealing_flagged


# --- reading -----------------------------------------------------------------------------------------------


def test_three_formats_say_the_same(tmp_path: Path) -> None:
    loaded = load_variant("four_wang")
    frames = []
    for kind in ("csv", "jsonl"):
        path = tmp_path / f"games.{kind}"
        path.write_text(synthesise(loaded, 60, kind, seed=4), encoding="utf-8")
        frames.append(read_records(path).frame)
    assert frames[0].equals(frames[1])


def test_log_and_rows_agree(tmp_path: Path) -> None:
    from analysis.reality import _simulated
    from sim.engine import play_games
    from sim.params import compile_params
    from sim.parts import rows_to_frame

    loaded = load_variant("four_wang")
    path = tmp_path / "log.jsonl"
    path.write_text(synthesise(loaded, 60, "log", seed=4), encoding="utf-8")
    logged = read_records(path).frame
    rows = _simulated(rows_to_frame(play_games(compile_params(loaded), (1, 1, 1), 4, 0, 60)))
    for name in rows.columns:
        assert logged[name].to_list() == rows[name].to_list(), name


MAPPING = """
columns: {winner: 胡家, dealer: 庄, by: 胡法, names: 名堂, fan: 番, peng: 碰数, peng_passed: 忍碰}
values:
  winner: {荒庄: none}
  by: {自摸: own, 点: other, 天胡: deal}
separator: "/"
first_seat: 1
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_a_mapped_file(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "map.yaml").write_text(MAPPING, encoding="utf-8")
    file = tmp_path / "room.csv"
    file.write_text(
        "日期,张三丰,庄,胡家,胡法,名堂,番,碰数,忍碰\n"
        "x,1,1,2,自摸,红胡/王钓,8,1,0\n"
        "x,2,2,荒庄,,,,0,2\n"
        "x,3,4,3,点,,1,2,1\n",
        encoding=encoding,
    )
    records = read_records(file, read_mapping(tmp_path / "map.yaml"))
    assert records.frame.to_dict(as_series=False) == {
        "dealer": [0, 1, 3],
        "result": [1, 3, 2],
        "by": [0, None, 1],
        "names": [1 | 1 << 4, None, 0],
        "fan": [8, None, 1],
        "peng": [1, 0, 2],
        "peng_passed": [0, 2, 1],
    }


def with_names(text: str) -> str:
    """Records with columns of people, in the middle and as headings."""
    rows = list(csv.reader(io.StringIO(text)))
    rows[0][1:1] = ["player", "王小明的微信"]
    for row in rows[1:]:
        row[1:1] = ["Zhang Secret", "13800001111"]
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue()


SECRETS = ("Secret", "13800001111", "王小明")


@pytest.mark.parametrize("form", [[], ["--json"], ["--lang", "zh", "--full"]])
def test_names_are_never_shown_nor_kept(
    tmp_path: Path, form: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "games.csv"
    path.write_text(with_names(synthesise(load_variant("two_wang"), 200)), encoding="utf-8")
    args = ["logs", "compare", str(path), "--variant", "two_wang", "--games", "500", *form]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert not [secret for secret in SECRETS if secret in result.output]
    assert [item.name for item in tmp_path.iterdir()] == ["games.csv"]  # nothing is stored
    kept = read_records(path).frame
    assert all(kind == pl.Int64 for kind in kept.dtypes)
    assert not set(kept.columns) & {"player", "王小明的微信"}


@pytest.mark.parametrize(
    ("head", "row", "part"),
    [
        ("dealer,winner,by", "0,1,Secret", ":2: column 'by': must be own, other, deal"),
        ("dealer,winner", "0,Secret", ":2: column 'winner': must be a seat"),
        ("dealer,winner", "Secret,0", ":2: column 'dealer': must be a seat"),
        ("dealer,winner", "0,2", "sits out"),
        ("winner", "1", "dealer's seat is needed"),
        ("winner,names", "dealer,Secret", "no fan name"),
        ("winner,huxi", "dealer,Secret", "whole number from 0 to 1000"),
        ("winner,fan", "dealer,0", "whole number from 1"),
        ("dealer,wangs_dealt_2", "0,1", "sitter is dealt nothing"),
        ("王小明,13800001111", "1,2", "no known column"),
        ("winner,huxi", "dealer", "1 cells"),
    ],
)
def test_bad_records_are_told_without_their_words(tmp_path: Path, head: str, row: str, part: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"{head}\n{row}\n", encoding="utf-8")
    with pytest.raises(RecordError) as error:
        read_records(path)
    assert part in str(error.value) and "\n" not in str(error.value)
    told = str(error.value).replace(str(path), "bad")
    assert not [secret for secret in SECRETS if secret in told]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ('{"winner": "dealer"}\n{"winner": \n', ":2: is no JSON object"),
        ('{"who": "Secret"}\n', "no known field"),
        ('{"type": "start", "variant": "two_wang", "bots": ["Secret"]}\n', ":1: is no event of a game log"),
        ("winner\n", "no game in it"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "bad"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError) as error:
        read_records(path)
    told = str(error.value).replace(str(path), "bad")
    assert part in told and "Secret" not in told


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("columns: {winer: x}", "no field 'winer'"),
        ("colums: {winner: x}", "is no key of a mapping"),
        ("values: {by: {a: own}}", "names no column"),
        ("columns: {winner: x}\nfirst_seat: 2", ":2: first_seat: must be 0 or 1"),
        ("columns: {winner: x}\nseparator: ab", "one character"),
    ],
)
def test_bad_mappings(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=part):
        read_mapping(path)


def test_plants_are_read() -> None:
    assert read_plants(["dealer_wangs=0.3"]) == {"dealer_wangs": 0.3}
    for text in ("dealer=1", "dealer_wangs", "missing_draws=1.5", "seat_wangs=x"):
        with pytest.raises(RecordError, match="--plant"):
            read_plants([text])


# --- the command -------------------------------------------------------------------------------------------


def test_command_strict_and_json(tmp_path: Path) -> None:
    path = tmp_path / "games.csv"
    runner = CliRunner()
    plant = ["--plant", "dealer_wangs=0.5", "--games", "600", "--out", str(path)]
    assert runner.invoke(app, ["logs", "synthesise", "four_wang", *plant]).exit_code == 0
    args = ["logs", "compare", str(path), "--variant", "four_wang", "--games", "0"]
    assert runner.invoke(app, args).exit_code == 0
    assert runner.invoke(app, [*args, "--strict"]).exit_code == 1
    document = json.loads(runner.invoke(app, [*args, "--json"]).stdout)
    assert document["dealing"]["random"] is False and document["games"] == 600
    for check in document["dealing"]["checks"]:
        assert check["low"] <= check["value"] <= check["high"] or check["value"] == 0
        assert check["p"] <= check["p_adjusted"] <= 1
    for lang, words in (("en", "NOT random"), ("zh", "与随机发牌不符")):
        assert words in runner.invoke(app, [*args, "--lang", lang]).output


def test_wrong_deck_is_told(tmp_path: Path) -> None:
    path = tmp_path / "games.csv"
    path.write_text(synthesise(load_variant("four_wang"), 60), encoding="utf-8")
    result = CliRunner().invoke(app, ["logs", "compare", str(path), "--variant", "two_wang", "--games", "0"])
    assert isinstance(result.exception, RecordError) and "is --variant right?" in str(result.exception)
