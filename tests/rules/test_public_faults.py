"""Faults that public engines of this game had, each on hands and positions where that fault changes the answer.

Expected values are worked out by hand from docs/rules.md; what a faulty engine would have answered stands beside them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from kit import Script, judged, of_type, play
from oracle import Judge, judge, rules_of

from sim.cards import FACES, KINDS, parse_cards
from sim.engine import advance, apply, start
from sim.explain import lay_out, waits
from sim.gamelog import read_events
from sim.params import compile_params
from sim.state import HUXI, MELDS, OWNED, new_table
from sim.variant import load_variant

Event = dict[str, Any]

# Seats of the scripted games: 0 deals and discards first, 1 draws first, 2 sits out, 3 follows.


def groups_by_faces(answer: dict[str, Any]) -> dict[str, tuple[str, int]]:
    return {group["faces"]: (group["type"], group["huxi"]) for group in answer["groups"]}


# --- a kan split for a better score ---------------------------------------------------------------------------

KAN_HANDS = [
    # hand, card, right (huxi, score), with kans split (huxi, score)
    ("二二七七八八九九十十十壹贰叁柒捌玖拾拾拾", "贰", (15, 4), (18, 8)),
    ("一一一二二三三七八壹壹壹贰贰叁叁肆伍柒拾", "九", (15, 2), (18, 4)),
    ("二五五七七七九九九十贰贰伍柒柒柒玖玖玖拾", "拾", (18, 8), (24, 16)),
]


class SplittingJudge(Judge):
    """The literal judge with the fault: three alike are free cards."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.pool |= dict.fromkeys(self.kans, 3)
        self.kans = []


@pytest.mark.parametrize(("hand", "win", "right", "split"), KAN_HANDS)
def test_a_kan_is_not_split_for_a_better_score(
    hand: str, win: str, right: tuple[int, int], split: tuple[int, int]
) -> None:
    answer = judged(hand, win=win)
    assert (answer["huxi"], answer["score"]) == right
    kinds = {group["faces"] for group in answer["groups"]}
    assert {face * 3 for face in set(hand) if hand.count(face) == 3} <= kinds
    faulty = SplittingJudge(rules_of("two_wang"), parse_cards(hand), [], parse_cards(win)[0], "own").verdict()
    assert (faulty["huxi"], faulty["score"]) == split


def test_a_kan_is_not_split_for_a_chi_or_a_discard() -> None:
    """六六六 with 四五 and 七八: 六 alone must not go into 四五六 or 六七八, nor be discarded."""
    hands = {0: "九", 1: "六六六七八四五"}
    events, _ = play(hands, "九", Script(takes={("chi", 1)}, discards={0: "九"}))
    assert events[1] == {"type": "chi", "seat": 1, "card": "九", "groups": ["九七八"]}
    kept, _ = play({0: "五", 1: "六六六七", 3: "五"}, "", Script(takes={("chi", 1)}, discards={0: "五"}))
    for game in (events, kept):
        mine = [event for event in game if event.get("seat") == 1]
        assert not [event for event in of_type(mine, "discard") if event["card"] == "六"]
        assert not [event for event in of_type(mine, "chi") if "六" in "".join(event["groups"])]


# --- the result depends on card order -------------------------------------------------------------------------

ORDER_HANDS = [
    ("七七七十十十壹壹伍柒柒柒王", ["跑:一一一一", "提:贰贰贰贰"], "壹", "four_wang"),
    ("陆陆陆三三叁四四肆八八捌王王", ["碰:伍伍伍", "偎:玖玖玖"], "九", "four_wang+none"),
    ("二二七七八八九九十十十壹贰叁柒捌玖拾拾拾", [], "贰", "two_wang"),
    ("陆陆陆二七十三三王八八王四五", ["碰:伍伍伍", "偎:玖玖玖"], "六", "four_wang+none"),
]


@pytest.mark.parametrize(("hand", "table", "win", "variant"), ORDER_HANDS)
def test_the_answer_does_not_depend_on_card_order(
    hand: str, table: list[str], win: str, variant: str
) -> None:
    chance = random.Random(hand)
    right = judged(hand, table, win, variant=variant)
    assert right["win"]
    for _ in range(40):
        cards = "".join(chance.sample(hand, len(hand)))
        groups = chance.sample(table, len(table))
        again = judged(cards, groups, win, variant=variant)
        for answer in (right, again):
            answer["groups"] = sorted(answer["groups"], key=str)
        assert again == right


def test_the_game_does_not_depend_on_the_order_within_a_hand() -> None:
    rules = load_variant("four_wang")
    p = compile_params(rules)
    chance = np.random.default_rng(4)
    deck = chance.permutation([kind for kind in range(KINDS) for _ in range(4)] + [20] * 4)
    logs = []
    for _ in range(4):
        t = new_table(log=True)
        t.deck[:84] = deck
        start(p, t, 0, np.zeros(3, dtype=np.int64), np.zeros(8, dtype=np.int64))
        script = Script(takes={("win", 0), ("win", 1), ("peng", 3), ("chi", 0), ("chi", 1)})
        while decision := int(advance(p, t)):
            apply(p, t, script.choose(decision, t))
        logs.append(read_events(rules, p, t))
        for first, last in ((0, 21), (21, 41), (41, 61)):
            deck[first:last] = chance.permutation(deck[first:last])
    assert len(logs[0]) > 20
    assert all(log == logs[0] for log in logs)


# --- 2-7-10 with a wang as the 10 -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("three", "value"),
    [("二七王", 3), ("二王十", 3), ("王七十", 3), ("贰柒王", 6), ("贰王拾", 6), ("王柒拾", 6)],
)
def test_two_seven_ten_with_a_wang_counts_in_full(three: str, value: int) -> None:
    """伍 peng 3, 玖 wei 6, 陆 kan 6 and the 2-7-10; no other group takes two of its cards with a wang."""
    answer = judged(f"陆陆陆三三叁八八捌{three}四四", ["碰:伍伍伍", "偎:玖玖玖"], "肆")
    assert (answer["win"], answer["huxi"]) == (True, 15 + value)
    faces = three.replace("王", "") + "王"
    assert groups_by_faces(answer)[faces] == ("two_seven_ten", value)


# --- a wang and a kan as a ti ---------------------------------------------------------------------------------


def test_a_wang_lifts_a_kan_to_a_ti() -> None:
    """陆陆陆王 and the pair 一一; without the ti 一一王 is a kan and 13 huxi are too few."""
    hand, table = "陆陆陆三三叁八八捌一一四四王", ["碰:五五五", "碰:玖玖玖"]
    answer = judged(hand, table, "肆")
    assert (answer["win"], answer["huxi"]) == (True, 12 + 1 + 3)
    assert groups_by_faces(answer)["陆陆陆王"] == ("ti", 12)
    assert judged(hand, table, "肆", wang__ti=False)["reason"] == "too few huxi"


# --- waits with three wangs -----------------------------------------------------------------------------------

EVERY = "".join(FACES)
WAIT_HANDS = [
    # variant, concealed cards beside 王王王, all waits on an own draw
    ("three_wang", "一二三四七八十十肆柒拾", "二四六七八九十贰肆伍柒玖拾"),
    ("three_wang", "一二六九九十壹贰陆柒拾", "一六七九壹伍陆玖"),
    ("four_wang", "二四五六七八九贰柒捌玖", "壹贰叁肆伍陆柒捌拾王"),
    ("four_wang", "陆陆陆三三叁八八捌四四", EVERY),
    ("four_wang+by_wang", "陆陆陆三三叁八八捌四四", EVERY),
    ("four_wang+by_wang", "陆陆陆三三叁八八一四拾", ""),
]


@pytest.mark.parametrize(("variant", "hand", "right"), WAIT_HANDS)
def test_waits_with_three_wangs_are_complete(variant: str, hand: str, right: str) -> None:
    """The list by hand or by the literal judge; each value by the literal judge, the cards that win no less."""
    hand += "王王王"
    found = {
        row["card"]: row["own"]
        for row in waits(lay_out(load_variant(variant), hand, ["碰:伍伍伍", "偎:玖玖玖"]))
    }
    assert "".join(found) == right
    rules, melds = rules_of(variant), [("peng", [14] * 3), ("wei", [18] * 3)]
    for kind in range(KINDS):
        verdict = judge(rules, parse_cards(hand), melds, kind, "own")
        own = found.get(FACES[kind])
        if own is None:
            seen = hand.count(FACES[kind]) + 3 * (kind in (14, 18))
            assert not verdict["win"] or seen == 4
        else:
            assert (own["score"], own["huxi"]) == (verdict["score"], verdict["huxi"])


# --- huxi after a pao from a wei or a kan on a discard --------------------------------------------------------


@pytest.mark.parametrize(("card", "value"), [("九", 6), ("玖", 9)])
@pytest.mark.parametrize("base", ["kan", "wei"])
def test_a_pao_on_a_discard_counts_as_a_pao(card: str, value: int, base: str) -> None:
    """Not as the ti of an own draw (9, 12), nor with the kan or wei (3, 6) still counted."""
    if base == "kan":
        hands, wall = {0: card, 1: card * 3}, ""
        script = Script(discards={0: card})
    else:  # seat 1 draws the third, the fourth is discarded by seat 3 as soon as it must
        hands, wall = {0: "一一壹", 1: card * 2, 3: card + "二二"}, f"{card}二"
        script = Script(discards={0: "壹", 3: card})
    events, table = play(hands, wall, script)
    assert {"type": "pao", "seat": 1, "card": card, "base": base} in events
    paos = [event for event in of_type(events, "pao", "wei", "ti") if event["seat"] == 1]
    assert [event["type"] for event in paos if event["card"] == card] == ["wei"] * (base == "wei") + ["pao"]
    assert int(table.seat[1, MELDS]) == len(paos) - (base == "wei")
    others = sum(WORTH[event["type"]][event["card"] in LARGE] for event in paos if event["card"] != card)
    assert int(table.seat[1, HUXI]) == value + others


WORTH = {"ti": (9, 12), "pao": (6, 9), "wei": (3, 6)}
LARGE = set("壹贰叁肆伍陆柒捌玖拾")


# --- the fourth card of an own peng or wei --------------------------------------------------------------------

FOURTH = ("伍伍伍三三叁四四肆壹壹一六六", ["碰:捌捌捌", "偎:玖玖玖"])  # kan 6; 六六 is the pair of a quad


@pytest.mark.parametrize(
    ("win", "draw", "group", "huxi"),
    [
        ("捌", "own", "pao", 6 + 6 + 9),
        ("捌", "other", "pao", 6 + 6 + 9),
        ("玖", "own", "ti", 6 + 3 + 12),
        ("玖", "other", "pao", 6 + 3 + 9),
        ("伍", "own", "ti", 12 + 3 + 6),
        ("伍", "other", "pao", 9 + 3 + 6),
    ],
)
def test_the_fourth_card_of_an_own_group_wins(win: str, draw: str, group: str, huxi: int) -> None:
    answer = judged(*FOURTH, win, draw)
    assert (answer["win"], answer.get("huxi")) == (True, huxi)
    assert groups_by_faces(answer)[win * 4][0] == group


# --- a pao before another's win -------------------------------------------------------------------------------

# 伍 玖 壹 kan 18; 三三叁 四四肆 八八捌, 六七 waits for 五 and 八; 拾 goes
READY = "伍伍伍玖玖玖壹壹壹三三叁四四肆八八捌六七拾"


@pytest.mark.parametrize("winner", [0, 1])
def test_a_win_comes_before_a_pao(winner: int) -> None:
    """Seat 1 (or 3) draws 五; seat 3 has 五五五; the other one may win on it."""
    hands = {0: READY, 3: "五五五"} if winner == 0 else {1: READY[:-1], 0: "拾", 3: "五五五"}
    script = Script(takes={("win", winner)}, discards={0: "拾"})
    events, _ = play(hands, "五", script)
    at = events.index({"type": "draw", "seat": 1, "card": "五"})
    won = events[at + 1]
    assert (won["type"], won["seat"], won["by"]) == ("win", winner, "other" if winner == 0 else "own")
    assert not of_type(events, "pao")


def test_a_win_passed_leaves_the_pao() -> None:
    events, _ = play({0: READY, 3: "五五五"}, "五", Script(discards={0: "拾"}))
    at = events.index({"type": "draw", "seat": 1, "card": "五"})
    assert events[at + 1] == {"type": "pass", "seat": 0, "option": "win", "card": "五"}
    assert events[at + 2] == {"type": "pao", "seat": 3, "card": "五", "base": "kan"}


# --- no win asked after an own ti or wei ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "laid", "huxi"),
    [
        ("伍伍伍玖玖玖壹壹壹四四肆八八捌六六陆三三", "wei", 6 + 6 + 6 + 3),
        ("伍伍伍玖玖玖三三三四四肆八八捌六六陆七七", "ti", 6 + 6 + 9),
    ],
)
def test_a_win_is_asked_after_an_own_ti_or_wei(hand: str, laid: str, huxi: int) -> None:
    hands = {0: "拾", 1: hand}
    script = Script(discards={0: "拾"})
    taken, _ = play(hands, "三", Script(takes={("win", 1)}, discards={0: "拾"}))
    at = taken.index({"type": "draw", "seat": 1, "card": "三", "hidden": True})
    assert (taken[at + 1]["type"], taken[at + 1]["seat"]) == (laid, 1)
    won = taken[at + 2]
    assert (won["type"], won["seat"], won["by"], won["huxi"]) == ("win", 1, "own", huxi)
    passed, _ = play(hands, "三", script)
    assert passed[at + 2] == {"type": "pass", "seat": 1, "option": "win", "card": "三"}


# --- the red count with two or more wangs ---------------------------------------------------------------------

RED_TABLE = ["吃:二七十", "吃:贰柒拾"]
RED_HANDS = [
    # hand, table, card, variant, red cards, names, fan
    ("伍伍伍玖玖玖二王王六八四四肆", RED_TABLE, "七", "two_wang", 10, ["red", "zimo"], 4),
    ("伍伍伍玖玖玖二王王四六三三叁", RED_TABLE, "五", "two_wang", None, ["zimo"], 2),
    (
        "三三叁肆肆四八八捌王",
        ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖"],
        "王",
        "two_wang",
        0,
        ["black", "wang_diao_wang"],
        32,
    ),
    (
        "三三叁肆肆四五六七王",
        ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖"],
        "王",
        "two_wang",
        1,
        ["one_red", "wang_diao_wang"],
        24,
    ),
    (
        "二七十贰柒拾四四肆王",
        ["提:一一一一", "碰:十十十", "偎:玖玖玖"],
        "王",
        "two_wang",
        11,
        ["red", "wang_diao_wang"],
        16,
    ),
]


@pytest.mark.parametrize(("hand", "table", "win", "variant", "reds", "names", "fan"), RED_HANDS)
def test_red_cards_with_several_wangs(
    hand: str, table: Sequence[str], win: str, variant: str, reds: int | None, names: list[str], fan: int
) -> None:
    answer = judged(hand, table, win, variant=variant)
    assert (answer["names"], answer["fan"]) == (names, fan)
    assert answer["red_cards"] == reds if reds is not None else answer["red_cards"] < 10  # 二二二 or 二七十


# --- a win on a pao of a discard ------------------------------------------------------------------------------


def test_a_discard_is_never_won_on() -> None:
    """三 would make seat 1's kan a pao and the hand complete; from the wall it wins, as a discard it is a pao only."""
    hand = "伍伍伍玖玖玖三三三四四肆八八捌六六陆七七"
    script = Script(takes={("win", 1)}, discards={0: "三", 1: "捌"})
    events, _ = play({0: "三", 1: hand}, "", script)
    assert [event["type"] for event in events[:3]] == ["discard", "pao", "discard"]
    assert events[1] == {"type": "pao", "seat": 1, "card": "三", "base": "kan"}
    assert judged(hand, (), "三", "other")["win"]
    # nor on a discard that no group claims
    events, _ = play({0: "五", 1: READY[:-1], 3: "五"}, "", Script(takes={("win", 1)}, discards={0: "五"}))
    assert (events[1]["type"], events[1].get("option")) == ("pass", "chi")


# --- a wang holder on another's draw --------------------------------------------------------------------------


def test_a_wang_holder_does_not_win_on_another_s_draw() -> None:
    script = Script(takes={("win", 0)}, discards={0: "拾"})
    drawn = {"type": "draw", "seat": 1, "card": "五"}
    with_wang = READY.replace("六七", "六王")
    events, _ = play({0: with_wang}, "五", script)
    after = events[events.index(drawn) + 1]
    assert after["type"] != "win" and after.get("option") != "win"
    assert judged(with_wang[:-1], (), "五", "own")["win"]
    control, _ = play({0: READY}, "五", script)
    assert control[control.index(drawn) + 1]["type"] == "win"


# --- a second quad that leaves the hand a card short ----------------------------------------------------------

SHORT = "三三三伍伍伍四四肆玖玖玖六六七七"  # beside the ti: the fourth 三 makes two ti, three threes and two pairs


def test_a_second_quad_leaves_the_hand_a_card_short() -> None:
    answer = judged(SHORT, ["提:一一一一"], "三", "own")
    assert (answer["win"], answer["reason"]) == (False, "not seven groups")
    events, table = play(
        {0: "拾", 1: "一一一一" + SHORT}, "三", Script(takes={("win", 1)}, discards={0: "拾"})
    )
    at = events.index({"type": "draw", "seat": 1, "card": "三", "hidden": True})
    assert (events[at + 1]["type"], events[at + 1]["seat"]) == ("ti", 1)
    assert (events[at + 2]["type"], events[at + 2]["seat"]) == (
        "draw",
        3,
    )  # 21 owned, quota 21: no discard, no win
    assert int(table.seat[1, OWNED]) >= 21
    # the same cards and one more make it: 六六 is now the pair, 七七 and 柒 a jiao
    assert judged(SHORT.replace("三三三", ""), ["提:一一一一", "提:三三三三"], "柒", "own")["win"]
