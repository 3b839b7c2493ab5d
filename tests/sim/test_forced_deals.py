"""Forced deals and games played on: the law of the deals, and that keeping a state loses nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from analysis.exact import wang_strata
from sim import rng, strata
from sim._jit import PURE
from sim.bots.brain import brain_tables
from sim.bots.dispatch import decide
from sim.engine import advance, apply, play, play_games, start, write_row
from sim.params import compile_params
from sim.rows import COLUMN, NULL, ROW_COLUMNS
from sim.rules.deal import shuffle
from sim.state import END, TOP, copy_table, new_table
from sim.variant import load_variant

GREEDY = (1, 1, 1)
GAMES = 20 if PURE else 300


def params_of(name: str, *overrides: str):
    return compile_params(load_variant(name, overrides))


def forced(stratum, count: int, wangs: int = 4):
    deck, scratch = np.zeros(84, np.int64), np.zeros(84, np.int64)
    for words in rng.words(3, rng.STREAM_STRATA, 0, count, rng.DEAL_WORDS):
        strata.force_deck(words, np.array(stratum), wangs, scratch, deck)
        yield deck[: 80 + wangs].copy(), words


@pytest.mark.parametrize("wangs", [1, 2, 3, 4])
def test_forced_decks_are_whole_and_of_their_stratum(wangs: int):
    whole = sorted([*range(20)] * 4 + [20] * wangs)
    found = np.zeros(4, np.int64)
    for stratum in wang_strata(wangs):
        for deck, _ in forced(stratum, 3, wangs):
            assert sorted(deck) == whole
            strata.stratum_of(deck, wangs, found)
            assert tuple(found) == stratum


@pytest.mark.parametrize(
    ("stratum", "begin", "end"), [((4, 0, 0, 0), 0, 21), ((0, 2, 0, 2), 21, 41), ((0, 0, 1, 3), 61, 84)]
)
def test_wangs_lie_anywhere_in_their_block_and_ordinary_cards_as_in_a_plain_deck(stratum, begin, end):
    places: Counter[int] = Counter()
    plain = np.zeros(84, np.int64)
    number = 400 if PURE else 4000
    for deck, words in forced(stratum, number):
        places.update(place for place in np.flatnonzero(deck == 20).tolist() if begin <= place < end)
        shuffle(words, 0, plain)
        assert (deck[deck != 20] == plain[:80]).all()
    counts = [places[place] for place in range(begin, end)]
    assert stats.chisquare(counts).pvalue > 1e-5


def test_all_sets_of_places_are_equally_likely():
    pairs: Counter[tuple[int, ...]] = Counter()
    number = 1000 if PURE else 20_000
    for deck, _ in forced((0, 0, 2, 2), number):
        pairs[tuple(np.flatnonzero(deck[41:61] == 20).tolist())] += 1
    assert stats.chisquare([pairs[i, j] for i in range(20) for j in range(i + 1, 20)]).pvalue > 1e-5


@pytest.mark.parametrize(
    ("variant", "overrides"),
    [("two_wang", ()), ("three_wang", ("table.seats=3",)), ("four_wang", ("win.wang_limit.mode=by_wang",))],
)
def test_rows_of_a_stratum_hold_its_wangs(variant, overrides):
    params = params_of(variant, *overrides)
    third = 2 if params.seats == 3 else 3
    for stratum in list(wang_strata(int(params.wangs)))[::4]:
        rows = strata.play_stratum(params, GREEDY, 1, stratum, 0, 4)
        dealt = [rows[:, COLUMN[f"wangs_dealt_{seat}"]] for seat in (0, 1, third)]
        assert (np.stack(dealt, axis=1) == stratum[:3]).all()
        money = np.where(rows == NULL, 0, rows)[:, [COLUMN[f"score_{seat}"] for seat in range(4)]]
        assert (money.sum(axis=1) == 0).all()
        assert (rows[:, COLUMN["game"]] == range(4)).all()


def test_games_of_a_stratum_depend_on_seed_and_number_alone():
    params = params_of("four_wang")
    whole = strata.play_stratum(params, GREEDY, 7, (1, 0, 1, 2), 0, 6)
    assert (strata.play_stratum(params, GREEDY, 7, (1, 0, 1, 2), 4, 2) == whole[4:]).all()
    assert not (strata.play_stratum(params, GREEDY, 8, (1, 0, 1, 2), 0, 6) == whole).all()
    mirrored = strata.play_stratum(params, GREEDY, 7, (1, 1, 0, 2), 0, 6)
    assert not (mirrored[:, COLUMN["draws"] :] == whole[:, COLUMN["draws"] :]).all()


def test_a_stratum_must_fit_the_deck():
    with pytest.raises(ValueError, match="add up to the 2 wangs"):
        strata.play_stratum(params_of("two_wang"), GREEDY, 1, (1, 1, 1, 0), 0, 1)


def test_strata_of_plain_deals():
    params = params_of("four_wang")
    rows = play_games(params, GREEDY, 5, 10, GAMES)
    dealt = rows[:, [COLUMN[f"wangs_dealt_{seat}"] for seat in (0, 1, 3)]]
    found = strata.deal_strata(params, 5, 10, GAMES)
    assert (found[:, :3] == dealt).all()
    assert (found.sum(axis=1) == 4).all()


def begun(params, table, number: int) -> None:
    words = rng.words(11, rng.STREAM_DEAL, number, 1, rng.DEAL_WORDS)[0]
    shuffle(words, params.wangs, table.deck)
    luck = rng.words(11, rng.STREAM_BOTS, number, 1, rng.BOT_WORDS)[0]
    start(params, table, 0, np.array([0, 1, 0]), luck)


def test_a_restored_state_plays_on_as_if_nothing_had_happened():
    params, brain, table, other = params_of("four_wang"), brain_tables(), new_table(), new_table()
    kept = np.zeros(strata.SNAPSHOT, np.int64)
    rows = np.zeros((2, len(ROW_COLUMNS)), np.int64)
    compared = 0
    for number in range(GAMES):
        begun(params, other, number + 1000)
        play(params, brain, other)  # leaves marks on the table that must not matter
        begun(params, table, number)
        if strata.run_to(params, brain, table, 2, 4, 2):
            strata.save(table, kept)
            strata.restore(kept, other)
            compared += 1
            for place, each in enumerate((table, other)):
                assert strata.run_to(params, brain, each, strata.TO_THE_END, 0, 0) == 0
                write_row(params, each, number, NULL, rows[place])
            assert (rows[0] == rows[1]).all()
    assert compared >= GAMES // 4


def test_looking_at_the_level_changes_nothing():
    params, brain, table = params_of("four_wang"), brain_tables(), new_table()
    levels = set()
    for number in range(GAMES // 4):
        begun(params, table, number)
        while True:
            before = copy_table(table)
            level = strata.level_of(params, table, 6, 3)
            levels.add(level)
            for name in ("hand", "seat", "melds", "deck", "seen", "shown", "public", "game"):
                assert (getattr(before, name) == getattr(table, name)).all()
            most = max(table.hand[seat, 20] for seat in range(4))
            assert level == min(most, 3) or (level == 4 and most >= 3)
            if not advance(params, table):
                break
            apply(params, table, decide(params, brain, table))
    assert {1, 2, 3} <= levels <= {0, 1, 2, 3, 4}


def test_a_fresh_wall_holds_the_same_cards_in_every_order():
    params, table = params_of("two_wang"), new_table()
    begun(params, table, 0)
    table.game[TOP] = table.game[END] - 4
    table.deck[table.game[TOP] : table.game[END]] = [1, 2, 3, 4]
    before = table.deck[: table.game[TOP]].copy()
    orders: Counter[tuple[int, ...]] = Counter()
    for words in rng.words(1, strata.STREAM_SPLIT, 0, 2400, strata.WALL_WORDS):
        strata.reshuffle(table, words)
        orders[tuple(table.deck[table.game[TOP] : table.game[END]].tolist())] += 1
    assert len(orders) == 24
    assert stats.chisquare(list(orders.values())).pvalue > 1e-5
    assert (table.deck[: table.game[TOP]] == before).all()


def test_a_ready_hand_wins_with_the_special_on_a_wang():
    """From the last level the special comes often: all that it lacks is that the holder draws the last wang."""
    params = params_of("four_wang")
    split = strata.Split(params, GREEDY, 1, 0, 6, 3)
    reached = split.begin(np.array([(0, 3, 0, 1)] * 100), 4)
    assert 0 < len(reached.hits) < 50
    assert len(reached.hits) + len(reached.ends) == 100
    picks = np.repeat(np.arange(len(reached.hits)), 25)
    ended = split.go_on(reached.states, picks, strata.TO_THE_END)
    assert len(ended.ends) == len(picks)
    share = (ended.rows[:, COLUMN["wang_zha_wang"]] == 1).mean()
    assert share > 0.02  # one in a hundred games of the stratum, one in a thousand of all


def test_picks_are_in_proportion_to_weight():
    split = strata.Split(params_of("two_wang"), GREEDY, 1, 0, 0, 2)
    weights = np.array([0.5, 0.0, 0.25, 0.125, 0.125])
    counts = np.bincount(split.pick(weights, 800), minlength=5)
    assert (abs(counts - 800 * weights) <= 1).all()
    assert counts[1] == 0
