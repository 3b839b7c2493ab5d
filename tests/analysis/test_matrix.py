"""Claims under many bot mixes: planted reversals are found and named."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import paired
import pytest
from command import call
from paired import fake_engine  # noqa: F401

from analysis.compare import CompareError
from analysis.matrix import Matrix, claims_of, compare_matrix, default_mixes, parse_mixes, ranks_of
from analysis.matrix_words import claim_sentence, document, print_matrix, write_matrix
from sim.bots import BotError, parse_bots
from sim.store import Run, open_run

MIXES = ("greedy", "random", "random,greedy,greedy")


def fickle(keys: Mapping[str, Any], bots: tuple[str, str, str], *rest: int) -> paired.Rows:
    """More huxi needed means more draw games; with random players fewer, and with a random dealer it is all one."""
    least = int(keys["win.min_huxi"])
    if bots == ("random",) * 3:
        least = {12: 15, 15: 12}.get(least, least)
    elif bots[0] == "random":
        least = 12
    return paired.play({**keys, "win.min_huxi": least}, bots, *rest)


@pytest.fixture
def matrix(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Matrix:
    request.getfixturevalue("fake_engine")
    monkeypatch.setattr("sim.run.play_rows", fickle)
    return compare_matrix(
        paired.variants(12, 15),
        MIXES,
        6_000,
        metrics=["draw_rate", "tun_mean", "wang_win_share"],
        quiet=True,
        jobs=1,
        chunk=2_000,
    )


def test_what_breaks_a_claim_is_named(matrix: Matrix):
    (claim,) = matrix.claims.iter_rows(named=True)
    assert claim["metric"] == "draw_rate"
    assert (claim["direction"], claim["reference"]) == ("higher", "higher")
    assert (claim["holds"], claim["mixes"]) == (1, 3)
    assert claim["reversed_in"] == ["random"]
    assert claim["undecided_in"] == ["random,greedy,greedy"]
    assert claim["least"] < -0.03 < 0.03 < claim["greatest"]
    assert claim_sentence(claim) == (
        "draw-game rate: higher under huxi15 than under huxi12; holds in 1 of 3 mixes; reversed with random; "
        "undecided with random,greedy,greedy"
    )
    assert "3 种组合中 1 种成立；random 下相反" in claim_sentence(claim, "zh")
    assert claim_sentence({**claim, "holds": 3}).endswith("holds in all 3 mixes")


def test_ranks(matrix: Matrix):
    ranks = ranks_of(matrix.long, MIXES, "draw_rate")
    assert ranks["greedy"] == {"huxi12": 1, "huxi15": 2}
    assert ranks["random"] == {"huxi12": 2, "huxi15": 1}
    assert ranks["random,greedy,greedy"] == {"huxi12": 1.5, "huxi15": 1.5}


def test_where_the_reference_is_undecided_most_mixes_count(matrix: Matrix):
    turned = claims_of(matrix.long, MIXES[::-1]).row(0, named=True)
    assert (turned["reference"], turned["holds"]) == ("undecided", 1)
    assert turned["undecided_in"] == ["random,greedy,greedy"]


def test_files_and_words(matrix: Matrix, tmp_path: Path):
    write_matrix(matrix, tmp_path / "m")
    stored = json.loads((tmp_path / "m" / "matrix.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(document(matrix)))
    assert (stored["made"], stored["robust"]) == (1, 0)
    by_mix = stored["claims"][0]["by_mix"]
    assert [by_mix[mix]["decision"] for mix in MIXES] == ["higher", "lower", "undecided"]
    assert len(stored["digests"]) == 2
    rows = list(csv.DictReader(io.StringIO((tmp_path / "m" / "claims.csv").read_text(encoding="utf-8"))))
    assert rows[0]["reversed_in"] == "random"
    assert (tmp_path / "m" / "ranks.png").read_bytes()[:4] == b"\x89PNG"
    for lang, words in (("en", "1 of 3"), ("zh", "1/3")):
        stream = io.StringIO()
        print_matrix(matrix, lang, file=stream)
        assert words in stream.getvalue()
        assert "▲   ▼   ·" in stream.getvalue()


def test_mixes():
    assert parse_mixes("random greedy,random,random") == ("greedy", "random", "greedy,random,random")
    assert parse_mixes("greedy; random,random,random", "random") == ("random", "greedy")
    everything = parse_mixes("all")
    assert everything[0] == "greedy"
    assert set(everything) == set(default_mixes())
    for mix in everything:
        parse_bots(mix)
    with pytest.raises(CompareError, match="greedy alone"):
        parse_mixes("greedy")
    with pytest.raises(BotError, match="--bots-matrix: 'gredy' is no bot"):
        parse_mixes("gredy")


def test_cli(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    common = (
        "compare",
        "four_wang",
        "two_wang",
        "--games",
        400,
        "--jobs",
        1,
        "--metric",
        "fan_mean",
        "--quiet",
    )
    status, out, err = call(capsys, *common, "--bots-matrix", "random", "--json", "--out", tmp_path / "m")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["mixes"] == ["greedy", "random"]
    (claim,) = found["claims"]
    assert (claim["metric"], claim["direction"], claim["holds"]) == ("fan_mean", "lower", 2)
    assert "2 种组合全部成立" in claim["verdict"]["zh"]
    run: Run = open_run(tmp_path / "m" / "random")
    assert run.manifest.bots == ("random",) * 3
    status, out, _ = call(capsys, *common, "--bots-matrix", "random", "--resume", "--out", tmp_path / "m")
    assert status == 0
    assert "2 of 2" in out or "2/2" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("four_wang", "two_wang", "--bots-matrix", "gredy"), "'gredy' is no bot"),
        (("four_wang", "--bots-matrix"), "two variants or more"),
        (("four_wang", "two_wang", "--bots-matrix", "--margin", "draw_rate=0.01"), "without --margin"),
        (("four_wang", "two_wang", "--bots-matrix", "greedy"), "greedy alone"),
    ],
)
def test_cli_refuses(args: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]):
    status, out, err = call(capsys, "compare", *args)
    assert (status, out) == (2, "")
    assert message in err
