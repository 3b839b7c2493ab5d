"""Whole games before the referee: all that the engine plays must pass, and planted faults must not."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referee import check_game, split_games
from strategies import variant_overrides

from sim.gamelog import Player, dump_line
from sim.variant import load_variant

CASES: list[tuple[str, dict[str, Any]]] = [
    ("two_wang", {}),
    ("three_wang", {}),
    ("four_wang", {}),
    ("four_wang", {"win.wang_limit.mode": "none"}),
    ("four_wang", {"win.wang_limit.mode": "by_wang"}),
    ("two_wang", {"deck.wangs": 0}),
    ("three_wang", {"table.seats": 3, "xing.card": "flip"}),
    ("four_wang", {"turn.extra_quad": "replacement_draw", "xing.payment": "any_winner"}),
    ("four_wang", {"win.forced_first": False, "win.wang_limit.mode": "none", "xing.payment": "winner_only"}),
    (
        "two_wang",
        {"turn.peng_to_pao": "others_draw", "turn.chi_from_upstream_draw": False, "xing.singles": 1},
    ),
    ("two_wang", {"pass.blocks_chi": False, "pass.blocks_peng": False, "pass.own_discard_blocks_chi": False}),
    ("three_wang", {"cap": 30, "stake": 3, "xing.card": "none", "deal.heavenly_win": False}),
    ("four_wang", {"wang.ti": False, "draw.wang_payout.unit": 7, "win.declare_special": False}),
]


def games_of(variant: str, overrides: dict[str, Any], bot: str, numbers: range, seed: int = 3):
    player = Player(load_variant(variant, overrides), (bot,) * 3, seed)
    for game in numbers:
        yield player.events(game)


@pytest.mark.parametrize("bot", ["random", "greedy"])
@pytest.mark.parametrize(("variant", "overrides"), CASES)
def test_games_keep_the_rules(variant: str, overrides: dict[str, Any], bot: str) -> None:
    for events in games_of(variant, overrides, bot, range(8)):
        assert check_game(events) == [], f"game {events[0]['game']}"


@settings(max_examples=25)
@given(variant_overrides(), st.integers(0, 10**6))
def test_games_of_any_variant_keep_the_rules(overrides: dict[str, Any], game: int) -> None:
    overrides = {key: value for key, value in overrides.items() if not key.startswith("huxi.")}
    for bot in ("random", "greedy"):
        for events in games_of("two_wang", overrides, bot, range(game, game + 1)):
            assert check_game(events) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
@pytest.mark.parametrize("variant", ["two_wang", "three_wang", "four_wang"])
def test_a_thousand_games_of_each_preset(variant: str, block: int) -> None:
    for bot in ("random", "greedy"):
        for events in games_of(variant, {}, bot, range(50 * block, 50 * block + 50)):
            assert check_game(events) == [], f"game {events[0]['game']}"


# --- planted faults -----------------------------------------------------------------------------------------


def sample() -> list[list[dict[str, Any]]]:
    found = []
    for variant in ("two_wang", "four_wang"):
        found += list(games_of(variant, {}, "random", range(25)))
    return found


GAMES = sample()


def with_event(wanted: Any) -> tuple[list[dict[str, Any]], int]:
    """A copy of the first game with such an event, and its place."""
    for events in GAMES:
        for place, event in enumerate(events):
            if wanted(event, events, place):
                return copy.deepcopy(events), place
    raise AssertionError("no such event in the sample")


@pytest.mark.parametrize(
    "kind", ["draw", "wei", "ti", "pao", "peng", "chi", "pass", "discard", "win", "draw_game", "end"]
)
def test_a_removed_event_is_found(kind: str) -> None:
    events, place = with_event(lambda event, *_: event["type"] == kind)
    del events[place]
    assert check_game(events)


def test_a_doubled_event_is_found() -> None:
    events, place = with_event(lambda event, *_: event["type"] == "discard")
    events.insert(place, events[place])
    assert check_game(events)


def test_a_pass_in_the_wrong_order_is_found() -> None:
    events, place = with_event(
        lambda event, events, place: event["type"] == "pass" and events[place + 1]["type"] == "pass"
    )
    events[place], events[place + 1] = events[place + 1], events[place]
    assert check_game(events)


@pytest.mark.parametrize("field", ["score", "huxi", "tun", "fan"])
def test_a_wrong_value_is_found(field: str) -> None:
    events, place = with_event(lambda event, *_: event["type"] == "win")
    events[place][field] += 1
    assert check_game(events)


def test_a_wrong_name_transfer_or_score_is_found() -> None:
    events, place = with_event(lambda event, *_: event["type"] == "win")
    events[place]["names"] = [*events[place]["names"], "wang_zha_wang"]
    assert check_game(events)
    events, place = with_event(lambda event, *_: event["type"] == "end" and event["transfers"])
    events[place]["transfers"][0][2] += 1
    assert check_game(events)
    events, place = with_event(lambda event, *_: event["type"] == "end")
    events[place]["scores"]["0"] += 1
    assert check_game(events)


def test_a_broken_kan_is_found() -> None:
    def wanted(event: dict[str, Any], events: list[dict[str, Any]], place: int) -> bool:
        if event["type"] != "discard" or place > 1:
            return False
        hand = events[0]["hands"][str(event["seat"])]
        return any(hand.count(card) == 3 for card in set(hand) - {"王"})

    events, place = with_event(wanted)
    hand = events[0]["hands"][str(events[place]["seat"])]
    events[place]["card"] = next(card for card in hand if card != "王" and hand.count(card) == 3)
    assert any("free card" in complaint for complaint in check_game(events))


def test_a_discarded_wang_is_found() -> None:
    events, place = with_event(lambda event, *_: event["type"] == "discard")
    events[place]["card"] = "王"
    assert check_game(events)


def test_a_chi_of_a_blocked_kind_is_found() -> None:
    """A pass of a chi taken as a chi of no option, and an option that is not laid in full."""
    events, place = with_event(lambda event, *_: event["type"] == "chi")
    events[place]["groups"] = [events[place]["groups"][0][:2] + "王"]
    assert check_game(events)


def test_a_wei_said_to_be_open_is_found() -> None:
    events, place = with_event(lambda event, *_: event["type"] == "wei" and not event["open"])
    events[place]["open"] = True
    assert check_game(events)


def test_a_wrong_wall_or_dealer_is_found() -> None:
    events = copy.deepcopy(GAMES[0])
    events[0]["wall"] = events[0]["wall"][::-1]
    assert check_game(events)
    events = copy.deepcopy(GAMES[0])
    events[0]["sitter"] = 1
    assert check_game(events)


def test_logs_survive_a_file_of_several_games() -> None:
    lines = [dump_line(event) for events in GAMES[:3] for event in events]
    assert all(not check_game(events) for events in split_games(lines))
    assert json.loads(lines[0])["type"] == "start"
