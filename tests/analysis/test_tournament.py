"""Tournaments: balanced seatings, planted strengths found again, exact sums, resumed folders."""

from __future__ import annotations

import io
import itertools
import json
from collections import Counter
from pathlib import Path

import choix
import numpy as np
import polars as pl
import pytest
from command import call
from planted import STRENGTH, planted, play  # noqa: F401
from scipy import stats

from analysis import seatings
from analysis.seatings import Plan, SeatingError, bot_list, count_style
from analysis.tournament import GROUPS, Tournament, make_design, plackett_luce, tournament
from analysis.tournament_words import document, print_tournament, write_tournament
from sim import bots
from sim.gamelog import Player
from sim.variant import load_variant

NAMES = "p_weak,p_same,p_good,p_best"


# --- designs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bots", range(2, 9))
def test_every_bot_sits_in_each_role_and_meets_each_other_equally_often(bots: int):
    design = make_design(bots)
    main_seatings = [design.seatings[number] for number in design.main]
    roles = Counter((role, bot) for seating in main_seatings for role, bot in enumerate(seating))
    assert len(set(roles.values())) == 1
    assert len(roles) == 3 * bots
    meetings = Counter(
        frozenset((one, two)) for seating in main_seatings for one, two in itertools.permutations(seating, 2)
    )
    assert len({number for pair, number in meetings.items() if len(pair) == 2}) == 1
    assert design.seats(bots).tolist() == [3 * roles[0, 0]] * bots
    for step in range(bots - 1):
        one, two = design.mixes[step, step + 1]
        assert len(one) == len(two) == 3
        assert all(Counter(design.seatings[i])[step + 1] == 1 for i in one)
        assert all(Counter(design.seatings[i])[step + 1] == 2 for i in two)
        assert len({design.seatings[i] for i in one + two}) == 6


def test_design_by_wish():
    assert make_design(2).name == "pairs"
    assert make_design(2).seatings == (
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 0),
    )
    assert make_design(3).name == "triples"
    assert {make_design(3).seatings[i] for i in make_design(3).main} == set(itertools.permutations(range(3)))
    assert make_design(7).name == "pairs"
    assert make_design(6, "pairs").main == tuple(range(90))
    assert make_design(5, "steps").main == ()
    assert len(make_design(5, "steps").seatings) == 24
    with pytest.raises(SeatingError, match="three bots"):
        make_design(2, "triples")


# --- numbers -----------------------------------------------------------------------------------------------


@pytest.fixture
def four(request: pytest.FixtureRequest) -> Tournament:
    request.getfixturevalue("planted")
    return tournament(["two_wang"], NAMES, 3_000, seed=5, jobs=1, style=0, quiet=True)


def test_planted_strengths_come_back(four: Tournament):
    truth = np.array(list(STRENGTH.values()))
    truth -= truth.mean()
    for row, wanted in zip(four.bots.iter_rows(named=True), truth, strict=True):
        half = (row["rating_high"] - row["rating_low"]) / 2
        assert 0 < half < 0.05
        assert abs(row["rating"] - wanted) < 2.3 * half  # 4.5 standard errors
    same, good, best = four.steps.iter_rows(named=True)
    assert (same["significant"], good["significant"], best["significant"]) == (False, True, True)
    assert same["difference_low"] < 0 < same["difference_high"]
    # One of strength 0.4 against two of 0 wins exp(0.4) times as often by seat, and so do two against one.
    e = np.exp(0.4)
    pooled = (e / (e + 2) + 2 * e / (2 * e + 1)) / (2 / (e + 2) + 1 / (2 * e + 1))
    for name, ratio in (("relative_wins", pooled), ("one_wins", e), ("two_wins", e)):
        half = (good[f"{name}_high"] - good[f"{name}_low"]) / 2
        assert abs(good[name] + 1 - ratio) < 2.3 * half < 0.4
    assert good["draws_one"] == pytest.approx(0.1, abs=0.03)


def test_numbers_are_those_of_plain_arithmetic(four: Tournament):
    design = make_design(4)
    games, scores, wins = 3_000, np.zeros((4, 3_000)), np.zeros((4, 3_000))
    for number in design.main:
        seating = design.seatings[number]
        rows = play({}, tuple(four.plan.bots[bot] for bot in seating), 5, 0, games, 0)
        for role, bot in enumerate(seating):
            column = seatings_column(role)
            scores[bot] += rows[:, column] / 18
            wins[bot] += (rows[:, 4] == (0, 1, 3)[role]) / 18
    for bot, row in enumerate(four.bots.iter_rows(named=True)):
        assert row["seats"] == 18
        assert row["score"] == pytest.approx(scores[bot].mean())
        half = stats.t.ppf(0.975, games - 1) * stats.sem(scores[bot])
        assert row["score_high"] - row["score"] == pytest.approx(half)
        assert row["win_rate"] == pytest.approx(wins[bot].mean())
    for row, (one, two) in zip(
        four.pairs.iter_rows(named=True), itertools.combinations(range(4), 2), strict=True
    ):
        assert (row["bot"], row["other"]) == (four.plan.bots[one], four.plan.bots[two])
        assert row["difference"] == pytest.approx(scores[two].mean() - scores[one].mean())
        assert row["p"] == pytest.approx(stats.ttest_rel(scores[two], scores[one]).pvalue, rel=1e-6)


def seatings_column(role: int) -> int:
    from sim.rows import COLUMN

    return COLUMN[f"score_{(0, 1, 3)[role]}"]


def test_ratings_agree_with_the_likelihood_of_whole_games():
    rng = np.random.default_rng(3)
    strength = np.array([0.0, 0.5, 1.2])
    over = np.zeros((GROUPS, 3, 3))
    data = []
    for game in range(4_000):
        seats = (
            rng.permutation(3)
            if game % 2
            else rng.choice([[0, 1, 1], [1, 2, 2], [0, 0, 2]][game % 3], 3, False)
        )
        winner = int((strength[seats] + rng.gumbel(size=3)).argmax())
        for place in range(3):
            over[game % GROUPS, seats[winner], seats[place]] += seats[winner] != seats[place]
        data.append((int(seats[winner]), [int(bot) for place, bot in enumerate(seats) if place != winner]))
    value, low, high = plackett_luce(over)
    whole = choix.ilsr_top1(3, data, alpha=0.0)
    assert value == pytest.approx(whole - whole.mean(), abs=0.03)
    assert (low < strength - strength.mean()).all()
    assert (strength - strength.mean() < high).all()


def test_no_rating_for_a_bot_that_never_wins():
    over = np.ones((GROUPS, 3, 3))
    over[:, 2, :] = 0
    assert all(np.isnan(part).all() for part in plackett_luce(over))


def test_players_that_never_differ_have_no_interval(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("planted._STREAMS", False)
    monkeypatch.setitem(bots.BOTS, "p_weak", 900)
    monkeypatch.setitem(bots.BOTS, "p_same", 901)
    monkeypatch.setattr("sim.parts.play_rows", play)
    found = tournament(["two_wang"], "p_weak,p_same", 50, jobs=1, style=0, quiet=True)
    row = found.steps.row(0, named=True)
    assert (row["difference"], row["difference_low"], row["difference_high"]) == (0, None, None)
    assert (row["p"], row["significant"]) == (1, False)


def test_own_bots_go_by_a_short_name():
    assert seatings.short_name("/some/where/my_bot.py:MyBot@0123456789ab") == "my_bot.py:MyBot"
    assert seatings.short_name("search:worlds=80") == "search:worlds=80"


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
def test_intervals_cover_and_the_null_step_stays_quiet():
    covered, wrong, rated = 0, 0, 0
    for seed in range(200):
        found = tournament(["two_wang"], "p_weak,p_same,p_good", 200, seed=seed, jobs=1, style=0, quiet=True)
        step = found.steps.row(0, named=True)
        covered += step["difference_low"] < 0 < step["difference_high"]
        wrong += step["significant"]
        row = found.bots.row(2, named=True)
        rated += row["rating_low"] < 0.4 * 2 / 3 < row["rating_high"]
    assert covered >= stats.binom.ppf(1e-5, 200, 0.95)
    assert rated >= stats.binom.ppf(1e-5, 200, 0.94)
    assert wrong <= stats.binom.ppf(1 - 1e-5, 200, 0.025)


# --- playing -----------------------------------------------------------------------------------------------


def test_jobs_and_chunks_change_nothing():
    one = tournament(["four_wang"], "random,greedy", 120, jobs=1, quiet=True, style=40)
    plan = one.plan
    two = tournament(["four_wang"], "random,greedy", 120, jobs=2, quiet=True, style=40)
    assert document(one) == document(two)
    small = Plan(**{**plan.__dict__, "chunk": 50})
    design = one.design
    from analysis.tournament import play_tournament

    assert document(play_tournament(small, design, jobs=1, quiet=True)) == document(one)
    assert one.steps["significant"].to_list() == [True]


@pytest.mark.usefixtures("planted")
def test_a_begun_folder_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    played = []
    original = seatings.play_cell

    def counted(*args: object) -> seatings.Cell:
        played.append(args[3:5])
        return original(*args)

    monkeypatch.setattr(seatings, "play_cell", counted)
    how = {"seed": 3, "jobs": 1, "style": 0, "quiet": True}
    first = tournament(["two_wang"], "p_weak,p_good", 3_000, out=tmp_path, **how)
    assert set(played) == {(0, 2048), (2048, 952)}
    played.clear()
    again = tournament(["two_wang"], "p_weak,p_good", 3_000, out=tmp_path, **how)
    assert not played
    assert document(again) == document(first)
    more = tournament(["two_wang"], "p_weak,p_good", 4_096, out=tmp_path, **how)
    assert set(played) == {(2048, 2048)}
    assert document(more) == document(tournament(["two_wang"], "p_weak,p_good", 4_096, **how))
    next((tmp_path / "chunks").iterdir()).write_text("{broken", encoding="utf-8")
    played.clear()
    assert document(tournament(["two_wang"], "p_weak,p_good", 4_096, out=tmp_path, **how)) == document(more)
    assert len(set(played)) <= 1
    with pytest.raises(SeatingError, match="other variants, bots, seed"):
        tournament(["two_wang"], "p_weak,p_best", 3_000, out=tmp_path, **how)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "thing").touch()
    with pytest.raises(SeatingError, match="not empty"):
        tournament(["two_wang"], "p_weak,p_good", 3_000, out=tmp_path / "else", **how)


def test_style_is_what_the_log_says():
    variant = load_variant("three_wang")
    names = ("greedy", "random", "greedy")
    counted = count_style(variant, names, 8, 0, 25)
    at = {name: number for number, name in enumerate(seatings.STYLE)}
    player = Player(variant, names, 8)
    fed = 0
    for game in range(25):
        events = player.events(game)
        order = [int(seat) for seat in events[0]["hands"]]
        for role, seat in enumerate(order):
            mine = Counter(event["type"] for event in events[1:] if event.get("seat") == seat)
            row = counted[game, role]
            assert [row[at[name]] for name in ("games", "chi", "peng", "passes")] == [
                1,
                mine["chi"],
                mine["peng"],
                mine["pass"],
            ]
        wins = [event for event in events if event["type"] == "win"]
        assert counted[game, :, at["wins"]].sum() == len(wins)
        if wins and wins[0]["by"] == "other":
            drawer = [event["seat"] for event in events if event["type"] == "draw"][-1]
            step = (order.index(wins[0]["seat"]) - order.index(drawer)) % 3
            name = "to_next" if step == 1 else "to_before"
            assert counted[game, order.index(drawer), at[name]] == 1
            fed += 1
        assert counted[game, :, [at["to_next"], at["to_before"]]].sum() == sum(
            w["by"] == "other" for w in wins
        )
    assert fed


# --- words and files ---------------------------------------------------------------------------------------


def test_tables_and_files(four: Tournament, tmp_path: Path):
    write_tournament(four, tmp_path / "out")
    stored = json.loads((tmp_path / "out" / "tournament.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(document(four)))
    steps = stored["variants"]["two_wang"]["steps"]
    assert [step["verdict"]["zh"] for step in steps] == ["不显著", "显著", "显著"]
    assert pl.read_parquet(tmp_path / "out" / "bots.parquet").equals(four.bots)
    assert (tmp_path / "out" / "steps.csv").read_text(encoding="utf-8").count("\n") == 4
    assert (tmp_path / "out" / "tournament.png").read_bytes()[:4] == b"\x89PNG"
    for lang, word in (("en", "p_weak → p_same"), ("zh", "逐级比较")):
        stream = io.StringIO()
        print_tournament(four, lang, stream)
        assert word in stream.getvalue()
        assert max(map(len, stream.getvalue().splitlines())) <= 120


def test_cli(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    common = ("tournament", "two_wang", "--bots", "random,greedy", "--games", 40, "--jobs", 1, "--quiet")
    status, out, err = call(capsys, *common, "--out", tmp_path / "a", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)["variants"]["two_wang"]
    assert found["bots"][0]["score"] == pytest.approx(
        json.loads((tmp_path / "a" / "tournament.json").read_text(encoding="utf-8"))["variants"]["two_wang"][
            "bots"
        ][0]["score"]
    )
    assert found["steps"][0]["verdict"]["en"] == "significant"
    assert found["style"][1]["chi"] > 0
    status, out, err = call(capsys, *common, "--out", tmp_path / "a", "--lang", "zh")
    assert status == 0
    assert "打法（每局）" in out
    assert "已存入" in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("two_wang", "--bots", "greedy"), "2 to 30 bots"),
        (("two_wang", "--bots", "greedy,greedy"), "greedy is named twice"),
        (("two_wang", "--bots", "greedy,gredy"), "'gredy' is no bot, did you mean 'greedy'?"),
        (("two_wang", "two_wang", "--bots", "random,greedy"), "are the same rules"),
        (("two_wong", "--bots", "random,greedy"), "two_wong"),
        (("two_wang", "--bots", "random,greedy", "--design", "triples"), "three bots"),
        (("two_wang", "--bots", "random,greedy", "--games", "1"), "--games"),
    ],
)
def test_cli_refuses(
    args: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    status, out, err = call(capsys, "tournament", *args)
    assert (status, out) == (2, "")
    assert message in err
    assert not list(tmp_path.iterdir())


def test_bot_list_takes_a_sequence():
    assert bot_list(["random", " greedy"]) == ("random", "greedy")
