"""Logs of the engine pass; a fault put into one is found where it is, with its reason."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import load_variant
from sim.bots.decisions import D_DISCARD, D_NONE, D_WIN, PASS
from sim.cards import FACES, parse_cards, show_cards
from sim.engine import advance, apply, start
from sim.gamelog import Event, Player, dump_line, read_events, start_event
from sim.logcheck import check_log, follow
from sim.logread import MAX_EVENTS, MAX_LINE, LogError, read_log
from sim.params import compile_params
from sim.state import DECIDER, new_table

PRESETS = ("two_wang", "three_wang", "four_wang")
CHANGED = {
    "by_wang": ("four_wang", {"win.wang_limit.mode": "by_wang"}),
    "three seats": ("three_wang", {"table.seats": 3}),
    "replacement": ("two_wang", {"turn.extra_quad": "replacement_draw"}),
    "others_draw": ("two_wang", {"turn.peng_to_pao": "others_draw"}),
    "not forced": ("four_wang", {"win.forced_first": False}),
    "no blocks": (
        "three_wang",
        {"pass.blocks_chi": False, "pass.blocks_peng": False, "pass.own_discard_blocks_chi": False},
    ),
    "flip": ("four_wang", {"xing.card": "flip", "xing.payment": "any_winner", "stake": 7, "cap": 100}),
    "no xing": ("two_wang", {"xing.card": "none", "draw.wang_payout.enabled": False}),
    "cheap": ("four_wang", {"win.min_huxi": 0, "win.wang_limit.mode": "none", "wang.ti": False}),
}


@cache
def games(variant: str, bots: str, count: int, overrides: str = "{}") -> list[list[Event]]:
    player = Player(load_variant(variant, json.loads(overrides)), (bots,) * 3, 11)
    return [player.events(game) for game in range(count)]


def some_game(
    wanted: Callable[[Event], bool], variant: str = "two_wang", bots: str = "greedy"
) -> tuple[list[Event], int]:
    """A copy of a game with an event of that sort, and its index."""
    for events in games(variant, bots, 60):
        for index, event in enumerate(events):
            if index and wanted(event):
                return copy.deepcopy(events), index
    raise AssertionError("no such event in the games")


@cache
def declined_wins() -> list[list[Event]]:
    """Games in which every win, peng and chi is declined: their logs are full of passes."""
    variant = load_variant("four_wang", {"win.min_huxi": 3, "win.wang_limit.mode": "none"})
    player = Player(variant, ("greedy",) * 3, 5)
    p, t = player.params, player.table
    logs = []
    for game in range(40):
        head = player.events(game)[0]
        player.deal(game)
        while (decision := advance(p, t)) != D_NONE:
            hand = t.hand[int(t.game[DECIDER])]
            discard = next((kind for kind in range(20) if 1 <= hand[kind] <= 2), 0)
            apply(p, t, discard if decision == D_DISCARD else PASS)
        logs.append([head, *read_events(variant, p, t)])
    return logs


def log_of_deal(dealt: dict[int, str], overrides: dict[str, object], take_wins: bool = True) -> list[Event]:
    """Log of a game in which the seats 0, 1 and 3 are dealt these cards among others."""
    variant = load_variant("two_wang", overrides)
    p, t = compile_params(variant), new_table(log=True)
    rest = [kind for kind in range(20) for _ in range(4)] + [20] * p.wangs
    for cards in dealt.values():
        for kind in parse_cards(cards):
            rest.remove(kind)
    random.Random(4).shuffle(rest)
    deck: list[int] = []
    for seat, number in ((0, 21), (1, 20), (3, 20)):
        hand = parse_cards(dealt.get(seat, ""))
        while len(hand) < number:
            hand.append(rest.pop())
        deck += hand
    t.deck[: len(deck) + len(rest)] = deck + rest
    start(p, t, 0, np.zeros(3, dtype=np.int64), np.zeros(8, dtype=np.int64))
    while (decision := advance(p, t)) != D_NONE:
        hand = list(t.hand[int(t.game[DECIDER]), :20])
        discard = next((kind for kind in range(20) if 1 <= hand[kind] <= 2), 0)
        apply(p, t, discard if decision == D_DISCARD else int(decision == D_WIN and take_wins))
    return [start_event(variant, p, t, None, None, ["random"] * 3), *read_events(variant, p, t)]


def of_type(name: str) -> Callable[[Event], bool]:
    return lambda event: event["type"] == name


# --- logs that keep the rules --------------------------------------------------------------------


@pytest.mark.parametrize("bots", ["greedy", "random"])
@pytest.mark.parametrize("variant", PRESETS)
def test_engine_logs_pass(variant: str, bots: str) -> None:
    for events in games(variant, bots, 25):
        assert check_log(events) == []


@pytest.mark.parametrize("name", CHANGED)
def test_engine_logs_of_changed_rules_pass(name: str) -> None:
    variant, overrides = CHANGED[name]
    for events in games(variant, "greedy", 12, json.dumps(overrides)):
        assert events[0]["overrides"] == overrides
        assert check_log(events) == []


def test_replacement_draws_after_two_dealt_ti() -> None:
    dealt = {0: "一一一一二二二二", 1: "三三三三四四四四伍伍伍伍", 3: "陆陆陆陆柒柒柒柒"}
    events = log_of_deal(dealt, {"turn.extra_quad": "replacement_draw"})
    kinds = [event["type"] for event in events]
    assert kinds[1:8] == ["ti"] * 7
    assert kinds[8:12] == ["draw"] * 4
    assert all(event["hidden"] for event in events[8:12])
    assert check_log(events) == []
    without = [{**events[0], "overrides": {}}, *events[1:]]
    assert check_log(without)[0].event == 8


def test_heavenly_win_taken_and_passed() -> None:
    dealt = {0: "一一一二二二三三三四四四五五五六六六七七七"}
    taken = log_of_deal(dealt, {})
    assert [event["type"] for event in taken] == ["start", "win", "end"]
    assert check_log(taken) == []
    passed = log_of_deal(dealt, {}, take_wins=False)
    assert passed[1] == {"type": "pass", "seat": 0, "option": "win", "card": None}
    assert check_log(passed) == []
    assert check_log([passed[0], *passed[2:]])[0].event == 1
    [game] = read_log(dump_line(event) for event in passed)
    assert game.events == passed


def test_log_survives_reading_and_writing() -> None:
    together = [event for game in games("four_wang", "greedy", 3) for event in game]
    read = read_log(dump_line(event) + "\n" for event in together)
    assert [event for game in read for event in game.events] == together
    assert read[0].lines[0] == 1
    assert read[1].lines[0] == len(read[0].events) + 1


def test_ascii_cards_and_remarks_and_order_of_fields_are_no_matter() -> None:
    events = copy.deepcopy(games("four_wang", "greedy", 2)[1])
    for event in events[1:]:
        if event.get("card"):
            event["card"] = show_cards(parse_cards(event["card"]), ascii=True)
        event["meta"] = {"thought": [1, {"deep": None}]}
    events[0]["wall"] = show_cards(parse_cards(events[0]["wall"]), ascii=True)
    lines = [json.dumps(dict(reversed(event.items()))) for event in events]
    [game] = read_log(lines)
    assert check_log(game.events) == []


def test_choices_are_noted() -> None:
    events, index = some_game(of_type("chi"))
    options = follow(events).options
    assert "+".join(events[index]["groups"]) in options[index] or len(options[index]) >= 1
    discard = next(i for i, event in enumerate(events) if event["type"] == "discard")
    assert events[discard]["card"] in options[discard]
    assert "王" not in options[discard]


# --- planted faults ------------------------------------------------------------------------------


def complaint_of(events: list[Event], index: int, rule: str | None, text: str) -> None:
    complaints = check_log(events)
    assert complaints, "the fault is not found"
    first = complaints[0]
    assert (first.event, first.rule) == (index, rule), str(first)
    assert text in str(first)
    assert first.text("zh") != first.text("en")


@pytest.mark.parametrize("name", ["ti", "wei", "pao"])
def test_left_out_forced_move(name: str) -> None:
    events, index = some_game(lambda e: e["type"] == name and e.get("from") != "deal")
    forced = events.pop(index)
    complaint_of(events, index, {"ti": "2.3", "wei": "2.1", "pao": "2.5"}[name], "forced")
    assert check_log(events)[0].expected == forced


def test_left_out_dealt_ti() -> None:
    events, index = some_game(lambda e: e["type"] == "ti" and e["from"] == "deal")
    del events[index]
    complaint_of(events, index, "1.13", "dealt ti")


def test_declined_wins_pass_and_each_must_be_told() -> None:
    left_out = {"deal": 0, "own": 0, "other": 0, "after a group": 0}
    for events in declined_wins():
        assert check_log(events) == []
        for index, event in enumerate(events):
            if event["type"] != "pass" or event["option"] != "win":
                continue
            before = next(e for e in reversed(events[:index]) if e["type"] in ("draw", "start"))
            how = "deal" if event["card"] is None else "own" if before["seat"] == event["seat"] else "other"
            how = "after a group" if events[index - 1]["type"] in ("wei", "ti") and how == "own" else how
            if left_out[how] < 3:
                left_out[how] += 1
                [complaint] = check_log(events[:index] + events[index + 1 :])
                assert (complaint.event, complaint.rule) == (index, "2.6")
                assert f"seat {event['seat']} could win here" in str(complaint)
    assert min(left_out["own"], left_out["other"], left_out["after a group"]) > 0


@pytest.mark.parametrize("option", ["peng", "chi"])
def test_left_out_pass(option: str) -> None:
    events, index = some_game(lambda e: e["type"] == "pass" and e["option"] == option)
    del events[index]
    complaints = check_log(events)
    assert complaints
    assert complaints[0].event == index


def test_pass_of_what_was_not_possible() -> None:
    events, index = some_game(of_type("discard"))
    card = events[index]["card"]
    events.insert(index + 1, {"type": "pass", "seat": events[index]["seat"], "option": "peng", "card": card})
    complaint_of(events, index + 1, "2.4", "nothing to pass")


def test_peng_without_a_pair() -> None:
    for events in games("two_wang", "greedy", 40):
        played = copy.deepcopy(events)
        for index, event in enumerate(played[:-1]):
            following = played[index + 1]
            if event["type"] == "discard" and following["type"] == "draw":
                seat = following["seat"]
                held = played[0]["hands"][str(seat)].count(event["card"])
                if held == 0:
                    played.insert(index + 1, {"type": "peng", "seat": seat, "card": event["card"]})
                    complaint_of(played, index + 1, "2.4", "not exactly two")
                    return
    raise AssertionError("no place for it")


def test_peng_after_passing_it() -> None:
    """Rule 2.10: the same log under the preset, where it was played with the block switched off."""
    free = json.dumps({"pass.blocks_peng": False})
    for events in games("two_wang", "random", 60, free):
        blocked = [{**events[0], "overrides": {}}, *events[1:]]
        complaints = check_log(blocked)
        if complaints and "passed a peng" in str(complaints[0]):
            assert complaints[0].rule == "2.10"
            return
    raise AssertionError("no blocked peng in the games")


def test_chi_after_own_discard() -> None:
    free = json.dumps({"pass.own_discard_blocks_chi": False})
    for events in games("two_wang", "random", 60, free):
        complaints = check_log([{**events[0], "overrides": {}}, *events[1:]])
        if complaints and "discarded that kind itself" in str(complaints[0]):
            assert complaints[0].rule == "2.10"
            return
    raise AssertionError("no blocked chi in the games")


def test_chi_by_the_wrong_seat() -> None:
    events, index = some_game(of_type("chi"))
    third = next(
        s
        for s in range(4)
        if s not in (events[index]["seat"], events[index - 1]["seat"], events[0]["sitter"])
    )
    events[index]["seat"] = third
    complaints = check_log(events)
    assert complaints
    assert complaints[0].event == index


def test_chi_of_impossible_groups() -> None:
    events, index = some_game(lambda e: e["type"] == "chi" and e["card"] not in "贰柒拾")
    events[index]["groups"] = [events[index]["card"] + "贰柒"]
    complaint_of(events, index, "2.11", "possible is")


def test_chi_with_the_claimed_card_last() -> None:
    events, index = some_game(lambda e: e["type"] == "chi" and len(e["groups"]) == 2)
    events[index]["groups"] = [
        events[index]["groups"][0].replace(events[index]["card"], "九", 1),
        events[index]["groups"][1],
    ]
    assert check_log(events)


def test_discard_of_a_wang_a_kan_and_a_strange_card() -> None:
    faults = {"王": ("1.4", "never discarded"), "kan": ("1.6", "kan"), "none": ("2.8", "holds no")}
    seen = set()
    for events in games("four_wang", "greedy", 60):
        if events[1]["type"] != "discard":
            continue
        dealer = events[0]["dealer"]
        hand = events[0]["hands"][str(dealer)]
        cards = {"王": "王" if "王" in hand else None}
        cards["kan"] = next((face for face in FACES[:20] if hand.count(face) == 3), None)
        cards["none"] = next(face for face in FACES[:20] if face not in hand)
        for name, card in cards.items():
            if card and name not in seen:
                played = copy.deepcopy(events)
                played[1]["card"] = card
                complaint_of(played, 1, *faults[name])
                seen.add(name)
    assert seen == set(faults)


def test_discard_left_out_and_discard_not_owed() -> None:
    events, index = some_game(of_type("discard"))
    played = copy.deepcopy(events)
    del played[index]
    complaint_of(played, index, "2.8", "must discard")
    events, index = some_game(lambda e: e["type"] == "draw" and not e.get("hidden") and e["card"] != "王")
    seat = events[index]["seat"]
    card = next(face for face in FACES[:20] if events[0]["hands"][str(seat)].count(face) == 1)
    events.insert(index + 1, {"type": "discard", "seat": seat, "card": card})
    complaints = check_log(events)
    assert complaints[0].event == index + 1


def test_draw_of_another_card_or_by_another_seat() -> None:
    events, index = some_game(of_type("draw"))
    played = copy.deepcopy(events)
    played[index]["card"] = next(face for face in FACES[:20] if face != played[index]["card"])
    complaint_of(played, index, "1.13", "top card")
    events[index]["seat"] = next(s for s in range(4) if s not in (events[index]["seat"], events[0]["sitter"]))
    complaint_of(events, index, "1.12", "another seat")


def test_sitter_does_not_play() -> None:
    events, index = some_game(of_type("draw"))
    events[index]["seat"] = events[0]["sitter"]
    complaint_of(events, index, "1.12", "sits out")


def test_win_on_a_discard() -> None:
    events, index = some_game(of_type("discard"))
    seat = next(s for s in range(4) if s not in (events[index]["seat"], events[0]["sitter"]))
    win = {"type": "win", "seat": seat, "by": "other", "card": events[index]["card"], "huxi": 15, "tun": 1}
    win |= {"fan": 1, "score": 1, "names": [], "groups": [], "xing": None}
    events.insert(index + 1, win)
    complaint_of(events, index + 1, "5.3", "on a discard")


def test_win_with_a_hand_that_does_not_win() -> None:
    events, index = some_game(lambda e: e["type"] == "draw" and not e.get("hidden") and e["card"] != "王")
    win = {
        "type": "win",
        "seat": events[index]["seat"],
        "by": "own",
        "card": events[index]["card"],
        "huxi": 15,
        "tun": 1,
    }
    win |= {"fan": 2, "score": 2, "names": ["zimo"], "groups": [], "xing": None}
    events.insert(index + 1, win)
    complaints = check_log(events)
    assert complaints[0].event == index + 1
    assert "does not win" in str(complaints[0])


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        ("huxi", "3"),
        ("tun", "3.8"),
        ("fan", "4"),
        ("score", "3.9"),
        ("names", "4"),
        ("groups", "5.2"),
        ("xing", "2.13"),
    ],
)
def test_wrong_value_of_a_win(field: str, rule: str) -> None:
    events, index = some_game(lambda e: e["type"] == "win" and e["xing"] is not None)
    win = events[index]
    if field == "names":
        win["names"] = [*win["names"], "wang_zha_wang"]
    elif field == "groups":
        win["groups"] = win["groups"][:-1]
    elif field == "xing":
        win["xing"]["count"] += 1
    else:
        win[field] += 1
    complaints = check_log(events)
    assert [(c.event, c.rule) for c in complaints] == [(index, rule)]


def test_worse_groups_of_a_win() -> None:
    """Groups that the hand does make, but that are worth less."""
    from sim.explain import all_arrangements
    from sim.gamelog import winning_hand

    for variant in ("four_wang", "three_wang"):
        player = Player(load_variant(variant), ("greedy",) * 3, 11)
        for game in range(60):
            events = player.events(game)
            index = len(events) - 2
            if events[index]["type"] != "win":
                continue
            player.deal(game)
            player.players.play(player.table, game)
            ways = all_arrangements(winning_hand(player.variant, player.params, player.table))
            worse = [way for way in ways if way.score != events[index]["score"]]
            same = [
                way for way in ways if (way.score, way.huxi) == (ways[0].score, ways[0].huxi) and way.wins
            ]
            for way in same:
                events[index]["groups"] = [group.as_dict() for group in way.groups]
                assert check_log(events) == []
            if worse:
                events[index]["groups"] = [group.as_dict() for group in worse[-1].groups]
                [complaint] = check_log(events)
                assert (complaint.event, complaint.rule) == (index, "5.3")
                return
    raise AssertionError("no win with a worse arrangement")


def test_wrong_transfers_and_scores() -> None:
    events, _ = some_game(of_type("win"))
    played = copy.deepcopy(events)
    played[-1]["transfers"][0][2] += 1
    [complaint] = check_log(played)
    assert (complaint.event, complaint.rule) == (len(events) - 1, "3.9")
    played = copy.deepcopy(events)
    played[-1]["scores"]["0"] += 1
    assert len(check_log(played)) == 1
    played = copy.deepcopy(events)
    played[-1]["transfers"].reverse()
    assert check_log(played) == [], "the order of transfers is free"


def test_wrong_wangs_of_a_draw_game() -> None:
    events, index = some_game(of_type("draw_game"), bots="random")
    seat = next(iter(events[index]["wangs"]))
    events[index]["wangs"][seat] += 1
    complaint_of(events, index, "1.3", "wangs")


@pytest.mark.parametrize(("name", "field", "rule"), [("wei", "open", "2.2"), ("draw", "hidden", "2.6")])
def test_wrong_flag(name: str, field: str, rule: str) -> None:
    events, index = some_game(of_type(name))
    events[index][field] = not events[index].get(field, False)
    complaint_of(events, index, rule, field)


@pytest.mark.parametrize("name", ["ti", "pao"])
def test_wrong_base(name: str) -> None:
    events, index = some_game(lambda e: e["type"] == name and e["base"] == "kan")
    events[index]["base"] = "wei"
    complaint_of(events, index, {"ti": "2.3", "pao": "2.5"}[name], "base")


def test_log_cut_short_and_log_too_long() -> None:
    events = copy.deepcopy(games("two_wang", "greedy", 1)[0])
    for length in (1, 5, len(events) - 1):
        assert check_log(events[:length])[0].event == length
        assert "ends before" in str(check_log(events[:length])[0])
    events.append({"type": "dead", "seat": 0})
    complaint_of(events, len(events) - 1, None, "goes on")


def test_faults_of_the_deal() -> None:
    start = copy.deepcopy(games("two_wang", "greedy", 1)[0])[0]
    seats = {**start, "sitter": 1}
    assert check_log([seats])[0].rule == "1.12"
    hands = {**start["hands"], "0": start["hands"]["0"][:-1]}
    assert {c.rule for c in check_log([{**start, "hands": hands}])} == {"1.13", "1.1"}
    assert check_log([{**start, "wall": start["wall"] + "王"}])[0].rule == "1.1"
    assert "no such variant" in str(check_log([{**start, "variant": "nonsense"}])[0])
    assert "no such variant" in str(check_log([{**start, "overrides": {"win.min_huxi": -5}}])[0])
    assert check_log([{**start, "overrides": {"table.seats": 3}}])[0].rule == "1.12"
    assert check_log([])
    assert check_log([{"type": "dead", "seat": 0}])


def test_other_rules_than_played() -> None:
    """A log that leaves its overrides out is judged by the preset, and does not keep it."""
    changed = games("two_wang", "greedy", 12, json.dumps({"win.min_huxi": 0, "tun.base": 2}))
    assert any(check_log([{**events[0], "overrides": {}}, *events[1:]]) for events in changed)


@given(st.integers(0, 11), st.randoms(use_true_random=False))
def test_any_event_left_out_or_doubled_or_moved_is_found(game: int, chance: random.Random) -> None:
    events = list(games("two_wang", "greedy", 12)[game])
    index = chance.randrange(1, len(events))
    what = chance.choice(["out", "double", "swap"])
    if what == "out":
        del events[index]
    elif what == "double":
        events.insert(index, events[index])
    else:
        other = chance.randrange(1, len(events))
        if events[index] == events[other]:
            return
        events[index], events[other] = events[other], events[index]
    complaints = check_log(events)
    assert complaints, (what, index)
    assert complaints[0].event <= max(index, len(events))
    assert all(complaint.text(lang) for complaint in complaints for lang in ("zh", "en"))


# --- reading hostile input -------------------------------------------------------------------------


def line_of(**changes: object) -> str:
    start = {**games("two_wang", "greedy", 1)[0][0], **changes}
    return json.dumps({key: value for key, value in start.items() if value != "left out"}, ensure_ascii=False)


BAD_STARTS = {
    "": "no game",
    "[]": "object",
    "{": "no JSON",
    "nonsense": "no JSON",
    "[" * 50_000: "nested too deeply",
    '{"type": "start", "a": ' + "[" * 40_000 + "]" * 40_000 + "}": "nested too deeply",
    '{"type": NaN}': "NaN",
    '{"type": "start", "seed": -Infinity}': "Infinity",
    '{"type": "start", "seed": ' + "9" * 5000 + "}": "too long",
    '{"type": "start", "type": "end"}': "twice",
    '{"type": 5}': "type 5",
    '{"type": "nonsense"}': "before the start",
    '{"type": "draw", "seat": 0, "card": "一"}': "before the start",
    "x" * (MAX_LINE + 1): "characters",
}


@pytest.mark.parametrize("text", BAD_STARTS)
def test_text_that_is_no_log(text: str) -> None:
    with pytest.raises(LogError, match=r"^line 1: ") as caught:
        read_log([text])
    assert BAD_STARTS[text] in str(caught.value)
    assert len(str(caught.value)) < 300


BAD_FIELDS = {
    "variant": ["../etc/passwd", "four_wang.yaml", 3, None, "x" * 1000, "", "left out"],
    "overrides": [[], {"a b": 1}, {"win.min_huxi": [1]}, {"x": "y" * 1000}, {"x": 10**40}, "left out"],
    "seed": ["1", 1.5, -1, 2**64, True, "left out"],
    "game": ["0", False, -1],
    "dealer": [4, -1, "0", None, 0.0],
    "sitter": [7, "2", True],
    "seats": [2, 5, "4", None],
    "bots": ["greedy", [1], ["a"] * 9, ["\x1b[31m"]],
    "hands": [{}, [], {"0": "一"}, {"9": "一", "1": "一", "2": "一"}, {"0": 1, "1": "一", "3": "一"}, None],
    "wall": ["ABC", 5, None, "一" * 5000, "\ud800"],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD_FIELDS.items() for v in values])
def test_start_with_a_bad_field(name: str, value: object) -> None:
    with pytest.raises(LogError, match=r"^line 2: "):
        read_log(["", line_of(**{name: value})])


BAD_EVENTS = [
    {"type": "draw", "seat": 9, "card": "一"},
    {"type": "draw", "seat": True, "card": "一"},
    {"type": "draw", "seat": 0},
    {"type": "draw", "seat": 0, "card": "一二"},
    {"type": "draw", "seat": 0, "card": ""},
    {"type": "draw", "seat": 0, "card": "一", "hidden": 1},
    {"type": "ti", "seat": 0, "card": "一", "from": "sky", "base": "kan"},
    {"type": "ti", "seat": 0, "card": "一", "from": ["deal"], "base": "kan"},
    {"type": "wei", "seat": 0, "card": "一"},
    {"type": "pao", "seat": 0, "card": "一", "base": "ti"},
    {"type": "chi", "seat": 0, "card": "一", "groups": []},
    {"type": "chi", "seat": 0, "card": "一", "groups": ["一二"]},
    {"type": "chi", "seat": 0, "card": "一", "groups": "一二三"},
    {"type": "pass", "seat": 0, "card": "一", "option": "sleep"},
    {"type": "pass", "seat": 0, "card": None, "option": "peng"},
    {"type": "discard", "seat": None, "card": "一"},
    {"type": "dead"},
    {"type": "sleep", "seat": 0},
    {"type": "draw_game", "wangs": [1]},
    {"type": "draw_game", "wangs": {"0": 5}},
    {"type": "end", "transfers": [[0, 1, 2]], "scores": {}},
    {"type": "end", "transfers": [[0, 1, 1.5, "win"]], "scores": {}},
    {"type": "end", "transfers": [[0, 1, 2, "gift"]], "scores": {}},
    {"type": "end", "transfers": [], "scores": {"00": 1}},
    {"type": "end", "transfers": [], "scores": {"0": 10**30}},
    {"type": "win", "seat": 0, "by": "luck"},
    {
        "type": "win",
        "seat": 0,
        "by": "own",
        "card": "一",
        "huxi": 15,
        "tun": 1,
        "fan": 1,
        "score": 1,
        "names": [],
        "groups": [5],
        "xing": None,
    },
]


@pytest.mark.parametrize("event", BAD_EVENTS, ids=lambda event: json.dumps(event, ensure_ascii=False)[:50])
def test_bad_event(event: Event) -> None:
    with pytest.raises(LogError, match=r"^line 2: "):
        read_log([line_of(), json.dumps(event)])


def test_events_after_the_end_and_too_many() -> None:
    lines = [dump_line(event) for event in games("two_wang", "greedy", 1)[0]]
    with pytest.raises(LogError, match=f"^line {len(lines) + 1}: .*after the end"):
        read_log([*lines, lines[1]])
    with pytest.raises(LogError, match=f"^line {MAX_EVENTS + 1}: more than"):
        read_log([lines[0], *['{"type": "dead", "seat": 0}'] * MAX_EVENTS])


@given(
    st.lists(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text(max_size=8)
            | st.sampled_from(FACES),
            lambda inner: (
                st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
            ),
            max_leaves=8,
        ),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_any_json_is_an_error_or_a_log(values: list[object], data: st.DataObject) -> None:
    """Whatever stands in a field: a LogError, or a log that can be judged."""
    events = copy.deepcopy(games("four_wang", "greedy", 3)[1])
    for value in values:
        event = data.draw(st.sampled_from(events))
        event[data.draw(st.sampled_from([*event, "meta"]))] = value
    try:
        read = read_log(json.dumps(event) for event in events)
    except LogError:
        return
    for game in read:
        for complaint in check_log(game.events):
            assert str(complaint)
