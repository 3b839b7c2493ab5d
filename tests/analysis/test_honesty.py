"""Checks of runs find planted faults, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from paired import fake_engine, one_odd_chunk, run, same_games_everywhere  # noqa: F401
from scipy import stats as st

from analysis import honesty
from analysis.honesty import (
    check_run,
    chunk_test,
    duplicate_deals,
    pool,
    seed_decks,
    spread_blocks,
    unsourced,
)
from analysis.summary import summarise
from sim.rng import DEAL_WORDS, STREAM_DEAL, words
from sim.store import open_run

pytestmark = pytest.mark.usefixtures("fake_engine")


def kinds(found: honesty.Honesty) -> set[str]:
    """Checks that found something."""
    return {finding.check for finding in found.findings}


def test_a_sound_run_passes(tmp_path: Path):
    played = run(tmp_path / "run", 12, 15, games=8000)
    found = check_run(played.path, wanted_deals=500)
    assert found.ok, found.findings
    assert "16,000 of 16,000 games in 16 chunks" in found.checked[0].en
    assert "500 deals made again, all different" in found.checked[0].en
    assert "全部不同" in found.checked[0].zh
    assert check_run(run(tmp_path / "sessions", 12, games=4000, session=10), wanted_deals=200).ok


def test_a_chunk_under_other_rules_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("sim.run.play_rows", one_odd_chunk)
    found = check_run(run(tmp_path / "run", 12, games=8000), wanted_deals=200)
    assert kinds(found) == {"chunk"}
    assert found.findings[0].text.en.startswith("huxi12: games 3000–3999 differ from the others by who wins")
    assert "第 3000–3999 局" in found.findings[0].text.zh


def test_the_seed_bug_is_found_three_ways(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("sim.run.play_rows", same_games_everywhere)
    found = check_run(run(tmp_path / "run", 12, games=8000), wanted_deals=500)
    assert kinds(found) >= {"repeat", "alike", "dealt"}
    texts = [finding.text.en for finding in found.findings]
    assert "huxi12: games from 1000 on repeat those from 0 on" in texts


def test_one_game_again_and_again_is_found(tmp_path: Path):
    played = run(tmp_path / "run", 12, games=2000)
    path = played.path / played.parts[1].file
    rows = pl.read_parquet(path)
    numbers = rows["game"]
    pl.concat([rows.head(1)] * 1000).with_columns(game=numbers).write_parquet(path)
    texts = [finding.text.en for finding in honesty.repeats(played)]
    assert texts == ["huxi12: 1,000 of the 1,000 games from 1000 on are one and the same"]
    assert kinds(check_run(played)) == {"damage"}  # and the altered file is known by its hash


def test_a_run_below_its_target_is_told(tmp_path: Path):
    played = run(tmp_path / "run", 12, 15, games=4000)
    lacking = played.manifest.model_copy(update={"parts": played.manifest.parts[:-1], "status": "failed"})
    played.manifest = lacking
    found = check_run(played, wanted_deals=100)
    assert kinds(found) == {"target"}
    assert found.findings[0].variant == "huxi15"
    assert found.findings[0].text.en == "huxi15: 3,000 of 4,000 games are there; the run is failed"
    again = run(tmp_path / "other", 12, games=2000)
    (again.path / again.parts[0].file).unlink()
    assert kinds(check_run(open_run(again.path))) == {"damage"}


def test_chunk_test_agrees_with_scipy():
    table = np.array([[210, 300, 490], [190, 320, 490], [240, 280, 480]])
    found = chunk_test(table)
    assert found is not None
    whole = st.chi2_contingency(table)
    assert found.p_all == pytest.approx(whole.pvalue)
    rest = np.array([table[0], table[1:].sum(axis=0)])
    assert found.squares[0] == pytest.approx(st.chi2_contingency(rest, correction=False).statistic)
    assert found.p[0] == pytest.approx(st.chi2_contingency(rest, correction=False).pvalue)
    assert found.freedom == 2
    assert chunk_test(table[:1]) is None
    assert chunk_test(np.array([[5, 0], [4, 1]])) is None  # too few of the second kind to say anything


def test_rare_categories_are_pooled():
    assert pool(np.array([5, 5, 500, 3, 300, 2]), 1.0).tolist() == [0, 0, 0, 1, 1, 1]
    assert pool(np.array([100, 100, 100]), 0.5).tolist() == [0, 1, 2]
    assert pool(np.array([100, 3]), 0.5).tolist() == [0, 0]


def test_chunk_p_values_are_uniform_where_nothing_is_wrong():
    rng = np.random.default_rng(5)
    values = []
    for _ in range(60):
        found = chunk_test(rng.multinomial(1000, (0.02, 0.28, 0.3, 0.4), size=10))
        assert found is not None
        values += found.p.tolist()
    assert st.kstest(values, "uniform").pvalue > 1e-5
    assert min(values) > 1e-6


def test_decks_are_the_seed_s_and_repeats_among_them_are_found():
    decks = seed_decks(4, 4)
    assert sorted(decks(7, 1)[0].tolist()).count(20) == 4
    assert (decks(7, 2)[1] == decks(8, 1)[0]).all()
    assert duplicate_deals(decks, [(0, 300), (10**9, 300)]) == []
    assert duplicate_deals(lambda first, count: decks(first % 250, count), [(0, 250), (250, 50)])[0] == (
        250,
        0,
    )
    other = words(4, STREAM_DEAL, 0, 5, DEAL_WORDS), words(5, STREAM_DEAL, 0, 5, DEAL_WORDS)
    assert (other[0] != other[1]).any(axis=1).all()


def test_blocks_cover_both_ends():
    assert spread_blocks(2500, 10_000) == [(0, 1000), (1000, 1000), (2000, 500)]
    blocks = spread_blocks(10**6, 5000)
    assert blocks[0] == (0, 1000)
    assert blocks[-1] == (999_000, 1000)
    assert sum(count for _, count in blocks) == 5000
    assert sum(count for _, count in spread_blocks(10**6, 100)) == 100


def test_every_number_of_a_summary_has_seed_and_hash(tmp_path: Path):
    played = run(tmp_path / "run", 12, games=1000)
    assert unsourced(summarise(played)).is_empty()
    assert not unsourced(summarise(played.games())).is_empty()  # a bare frame has neither
    assert len(unsourced(summarise(played).drop("seed"))) > 0
    shutil.rmtree(played.path)
