"""The fast judge against the literal one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import THREES, judge, rules_of
from strategies import key_values

from sim.cards import WANG, parse_cards, show_cards
from sim.explain import HOLDS_WANG, QueryError, lay_out
from sim.explain import judge as fast_judge
from sim.variant import load_variant

KINDS = {"吃": "chi", "碰": "peng", "偎": "wei", "提": "ti", "跑": "pao"}
QUERIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "hands.jsonl").read_text(encoding="utf-8").splitlines()
]


def read_table(texts: list[str]) -> list[tuple[str, list[int]]]:
    return [(KINDS[text[0]], parse_cards(text[2:])) for text in texts]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query["id"])
def test_the_oracle_gives_the_worked_answers(query: dict[str, Any]) -> None:
    win = parse_cards(query["win"])[0] if query["win"] else None
    rules = rules_of(query["variant"])
    found = judge(rules, parse_cards(query["hand"]), read_table(query["table"]), win, query["draw"])
    right = query["expect"]
    assert found["win"] is (right is not None)
    if right:
        assert (found["score"], found["huxi"], found["tun"]) == (right["score"], right["huxi"], right["tun"])
        assert set(right["names"]) in found["names"]


def compare(
    variant: str,
    overrides: dict[str, Any],
    hand: list[int],
    table: list[tuple[str, list[int]]],
    win: int | None,
    draw: str,
) -> bool:
    """Whether the hand wins; both judges must agree on everything."""
    texts = [f"{name}:{show_cards(cards)}" for name, cards in table]
    rules = load_variant(variant, overrides)
    try:
        laid = lay_out(rules, hand, texts, win, draw)
    except QueryError:
        return False
    fast = fast_judge(laid)
    slow = judge(rules_of(variant, overrides), hand, table, win, draw)
    shown = (variant, overrides, show_cards(hand), texts, None if win is None else show_cards([win]), draw)
    if slow.get("reason") == HOLDS_WANG or fast.get("reason") == HOLDS_WANG:
        assert not fast["win"] and not slow["win"], shown
        return False
    assert fast["win"] == slow["win"], (shown, fast, slow)
    if not fast["win"]:
        assert fast["reason"] == slow["reason"], (shown, fast, slow)
        return False
    assert (fast["score"], fast["huxi"], fast["tun"]) == (slow["score"], slow["huxi"], slow["tun"]), (
        shown,
        fast,
        slow,
    )
    assert set(fast["names"]) in slow["names"] or fast["score"] == 0, (shown, fast, slow)
    assert sum(group["huxi"] for group in fast["groups"]) == fast["huxi"], shown
    return True


def random_hand(
    chance: random.Random, wangs: int
) -> tuple[list[int], list[tuple[str, list[int]]], int | None, str]:
    """A hand near a win: seven groups, some exposed, some cards turned to wangs, sometimes one card changed."""
    left = dict.fromkeys(range(20), 4)

    def take(cards: list[int]) -> bool:
        if any(left[kind] < cards.count(kind) for kind in cards):
            return False
        for kind in cards:
            left[kind] -= 1
        return True

    quads = chance.choice([0, 0, 0, 1, 1, 2])
    plan = ["four"] * quads + (["pair"] if quads else [])
    groups: list[list[int]] = []
    while len(groups) < 7:
        shape = (
            plan[len(groups)] if len(groups) < len(plan) else chance.choice(["alike", "run", "run", "jiao"])
        )
        kind = chance.randrange(20)
        cards = {"four": [kind] * 4, "pair": [kind] * 2, "alike": [kind] * 3}.get(shape)
        if cards is None:
            cards = list(chance.choice([c for n, c in THREES if (n == "jiao") == (shape == "jiao")]))
        if take(cards):
            groups.append(cards)
    table, concealed = [], []
    for cards in groups:
        if len(cards) == 4:
            table.append((chance.choice(["ti", "pao"]), cards))
        elif len(cards) == 3 and chance.random() < 0.45:
            table.append((chance.choice(["peng", "wei"]) if len(set(cards)) == 1 else "chi", cards))
        else:
            concealed += cards
    chance.shuffle(concealed)
    for _ in range(chance.randint(0, min(wangs, len(concealed)))):
        concealed[chance.randrange(len(concealed))] = WANG
    if chance.random() < 0.35 and concealed:
        concealed[chance.randrange(len(concealed))] = chance.randrange(20)
    draw = chance.choice(["own"] * 6 + ["other"] * 3 + ["deal"])
    if draw == "deal" or not concealed:
        return concealed, table, None, "deal"
    place = chance.randrange(len(concealed))
    wanted = chance.random()
    if wanted < 0.3:  # a card of which the hand holds more, to force a wei or ti
        counted = [i for i, kind in enumerate(concealed) if kind != WANG and concealed.count(kind) > 1]
        place = chance.choice(counted) if counted else place
    win = concealed.pop(place)
    if wanted > 0.93:
        win = chance.randrange(20)
    return concealed, table, win, draw


SETTINGS = [
    ("two_wang", {}),
    ("three_wang", {}),
    ("four_wang", {}),
    ("four_wang", {"win.wang_limit.mode": "none"}),
    ("four_wang", {"win.wang_limit.mode": "by_wang"}),
    ("four_wang", {"win.wang_limit.mode": "none", "win.forced_first": False}),
    ("four_wang", {"win.wang_limit.mode": "none", "wang.ti": False}),
    ("three_wang", {"turn.peng_to_pao": "others_draw", "win.declare_special": False}),
    ("four_wang", {"win.wang_limit.mode": "none", "fan.special_includes_zimo": True, "win.min_huxi": 10}),
    (
        "four_wang",
        {"win.wang_limit.mode": "none", "huxi.kan.small": 5, "huxi.kan.large": 2, "huxi.jiao.small": 4},
    ),
    (
        "four_wang",
        {"win.wang_limit.mode": "none", "huxi.wei.small": 7, "huxi.run.large": 9, "win.min_huxi": 12},
    ),
    (
        "four_wang",
        {"win.wang_limit.mode": "none", "fan.wang_diao_wang": 1, "fan.wang_chuang_wang": 1, "fan.zimo": 9},
    ),
]


@pytest.mark.parametrize(("variant", "overrides"), SETTINGS)
def test_fast_and_literal_judge_agree(variant: str, overrides: dict[str, Any]) -> None:
    chance = random.Random(f"{variant}{overrides}")
    wangs = rules_of(variant)["deck.wangs"]
    wins = sum(compare(variant, overrides, *random_hand(chance, wangs)) for _ in range(250))
    assert wins > 40


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.data())
def test_they_agree_under_changed_tables(seed: int, data: st.DataObject) -> None:
    keys = key_values()
    wanted = [
        key
        for key in keys
        if key.split(".")[0] in ("win", "wang", "huxi", "tun", "fan") or key == "turn.peng_to_pao"
    ]
    names = data.draw(st.lists(st.sampled_from(sorted(wanted)), unique=True, max_size=8))
    overrides = {name: data.draw(keys[name]) for name in names}
    chance = random.Random(seed)
    for _ in range(4):
        compare("four_wang", overrides, *random_hand(chance, 4))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_they_agree_on_many_hands(block: int) -> None:
    chance = random.Random(block)
    for _ in range(1500):
        variant, overrides = chance.choice(SETTINGS)
        compare(variant, overrides, *random_hand(chance, rules_of(variant)["deck.wangs"]))
