"""Fair play: whatever is hidden from a seat changes, its choice does not, for every player there is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from secrets_of import deal_secrets_anew, decisions, params_of

from sim.bots import BOTS
from sim.bots.brain import brain_tables
from sim.bots.decisions import D_CHI, D_WIN
from sim.bots.dispatch import decide
from sim.imagine import POOL, imagine
from sim.own_bot import OwnPlayer, options_of, seat_view
from sim.search import Knobs, Search, choices_of
from sim.state import BOT, DECIDER, DECISION, DECISIONS, N_OPTIONS, Table, copy_table
from sim.variant import load_variant

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my_bot.py"

PLAYED: list[tuple[str, dict[str, Any]]] = [
    ("two_wang", {}),
    ("three_wang", {"table.seats": 3, "turn.extra_quad": "replacement_draw"}),
    ("four_wang", {}),
    ("four_wang", {"win.wang_limit.mode": "by_wang", "win.forced_first": False}),
]


def dealt_anew(params: Any, table: Table, number: int) -> Table:
    """Another game that looks the same to the seat that decides; made quickly, and once in ten card by card."""
    other = copy_table(table)
    if number % 10 == 0:
        deal_secrets_anew(params, other, number)
        return other
    imagine(params, other, int(table.game[DECIDER]), number, 5, 0, np.zeros(POOL, dtype=np.int64))
    luck = random.Random(number)
    if table.game[DECISION] != D_WIN:  # left behind by questions to others
        other.win[:] = luck.randrange(100)
    if table.game[DECISION] != D_CHI:
        other.game[N_OPTIONS] = luck.randrange(5)
        other.options[:] = luck.randrange(30)
    for seat in range(4):
        if seat != table.game[DECIDER]:
            other.seat[seat, BOT] = luck.randrange(2)
            other.seat[seat, DECISIONS] = luck.randrange(40)
    return other


def looking_alike(bot: str, games: range) -> Iterator[tuple[Any, Table, Table]]:
    """Decisions of games that a bot plays in all seats, each with another game that must look the same."""
    number = 0
    for variant, overrides in PLAYED:
        params = params_of(variant, overrides)
        for table in decisions(variant, overrides, bot, games):
            number += 1
            yield params, table, dealt_anew(params, table, number)


def compare_bot(bot: str, games: range) -> tuple[int, int]:
    """Compare choices of a compiled bot; (decisions, those where hidden cards really were others)."""
    brain, compared, changed = brain_tables(), 0, 0
    for params, table, other in looking_alike(bot, games):
        changed += int((other.hand != table.hand).any())
        compared += 1
        assert decide(params, brain, copy_table(table)) == decide(params, brain, other), compared
    return compared, changed


@pytest.mark.parametrize("bot", sorted(BOTS))
def test_no_bot_sees_hidden_cards(bot: str) -> None:
    compared, changed = compare_bot(bot, range(20))
    assert changed > 0.9 * compared > 1000


@pytest.mark.slow
@pytest.mark.parametrize("bot", sorted(BOTS))
def test_no_bot_sees_hidden_cards_in_many_games(bot: str) -> None:
    compared, changed = compare_bot(bot, range(100, 400))
    assert changed > 0.9 * compared > 20_000


def compare_search(games: range, knobs: Knobs) -> int:
    searches: dict[int, Search] = {}
    compared = 0
    for params, table, other in looking_alike("greedy", games):
        if len(choices_of(table)) > 1:
            search = searches.setdefault(id(params), Search(params, knobs))
            compared += 1
            assert search.choose(table) == search.choose(other)
    return compared


def test_the_search_sees_no_hidden_cards() -> None:
    assert compare_search(range(12), Knobs(worlds=8, surer=0.5)) > 1000


@pytest.mark.slow
def test_the_search_sees_no_hidden_cards_in_many_games() -> None:
    assert compare_search(range(100, 180), Knobs(worlds=24, surer=1.0)) > 5000


def test_an_own_bot_is_shown_no_hidden_cards() -> None:
    compared = 0
    rules = load_variant("two_wang").flat()
    players: dict[int, OwnPlayer] = {}
    for params, table, other in looking_alike("random", range(10)):
        compared += 1
        one, two = seat_view(params, rules, table), seat_view(params, rules, other)
        assert one == two
        assert one.random.random() == two.random.random()
        assert options_of(table) == options_of(other)
        player = players.setdefault(id(params), OwnPlayer(params, rules, f"{EXAMPLE}:MyBot"))
        player.begin(0)
        assert player.choose(table) == player.choose(other)
    assert compared > 1000


def test_a_cheat_is_found() -> None:
    """The test itself must be able to fail: a player that looks into another hand is caught."""
    caught = 0
    for _, table, other in looking_alike("greedy", range(3)):
        seat = int(table.game[DECIDER])
        peeked = [int(board.hand[(seat + 1) % 4, :20].argmax()) for board in (table, other)]
        caught += peeked[0] != peeked[1]
    assert caught > 50
