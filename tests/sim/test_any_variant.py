"""Every variant plays: any legal values of all keys together make games that end, conserve and sum to zero."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referee import check_game
from strategies import key_values, variant_overrides

from sim._jit import PURE
from sim.bots import LADDER
from sim.engine import play_games
from sim.gamelog import Player
from sim.params import compile_params
from sim.parts import rows_to_frame
from sim.rows import COLUMN, NULL
from sim.variant import KEYS, load_variant

GAMES = 2 if PURE else 12


def all_keys() -> st.SearchStrategy[dict[str, object]]:
    """Overrides of a random set of keys, or of every key at once."""
    return st.one_of(variant_overrides(), variant_overrides(least=len(key_values())))


def plays(overrides: dict[str, object], seed: int, bot: str) -> None:
    """Check, play, count, and let the referee judge one game."""
    variant = load_variant("two_wang", overrides)
    assert {key: variant.flat()[key] for key in overrides} == overrides
    wangs = variant.flat()["deck.wangs"]
    rows = play_games(compile_params(variant), [LADDER.index(bot)] * 3, seed, 0, GAMES)
    rows_to_frame(rows)  # every value fits its column
    held = {
        name: rows[:, [COLUMN[f"{name}_{seat}"] for seat in range(4)]] for name in ("score", "wangs_final")
    }
    scores = held["score"]
    assert (scores * (scores != NULL)).sum(axis=1).tolist() == [0] * GAMES
    final = held["wangs_final"]
    final = (final * (final != NULL)).sum(axis=1)
    drawn = rows[:, COLUMN["winner"]] == NULL
    assert (final <= wangs).all()
    assert (final[drawn] == wangs).all()
    assert (rows[drawn, COLUMN["wall_left"]] == 0).all()
    for events in (Player(variant, (bot,) * 3, seed).events(0),):
        assert events[-1]["type"] == "end"
        assert check_game(events) == []


def test_the_generator_knows_every_key() -> None:
    assert set(key_values()) == set(KEYS)


@settings(max_examples=4 if PURE else 40, deadline=None)
@given(all_keys(), st.integers(0, 10**6), st.sampled_from(LADDER))
def test_random_variants_play(overrides: dict[str, object], seed: int, bot: str) -> None:
    plays(overrides, seed, bot)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_thousands_of_random_variants_play(block: int) -> None:
    @settings(max_examples=300, deadline=None, derandomize=False)
    @given(all_keys(), st.integers(0, 10**6), st.sampled_from(LADDER))
    def many(overrides: dict[str, object], seed: int, bot: str) -> None:
        plays(overrides, seed, bot)

    many()
