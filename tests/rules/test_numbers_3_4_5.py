"""Chapters 3, 4 and 5, number by number; expected values by hand from docs/rules.md."""

from __future__ import annotations

import re

import pytest
from kit import Script, judged, of_type, play, scores
from test_keys import BLACK, CHUANG, DIAO, LARGE, ONE_RED, QUADS, QUADS_LARGE, RED, SMALL, ZHA


def huxi_of(case: tuple[str, list[str], str, int], group: str) -> list[int]:
    hand, table, win, total = case
    answer = judged(hand, table, win)
    assert answer["huxi"] == total
    return [found["huxi"] for found in answer["groups"] if found["type"] == group]


def test_3_1_ti() -> None:
    assert huxi_of(QUADS, "ti") == [9]
    assert huxi_of(QUADS_LARGE, "ti") == [12]


def test_3_2_wei() -> None:
    assert huxi_of(SMALL, "wei") == [3]
    assert huxi_of(LARGE, "wei") == [6]


def test_3_3_pao() -> None:
    assert huxi_of(QUADS_LARGE, "pao") == [6]
    assert huxi_of(QUADS, "pao") == [9]


def test_3_4_peng() -> None:
    assert huxi_of(LARGE, "peng") == [1]
    assert huxi_of(SMALL, "peng") == [3]


def test_3_5_two_seven_ten() -> None:
    assert huxi_of(SMALL, "two_seven_ten") == [3]
    assert huxi_of(LARGE, "two_seven_ten") == [6]


def test_3_6_one_two_three() -> None:
    assert huxi_of(LARGE, "one_two_three") == [3]
    assert huxi_of(SMALL, "one_two_three") == [6]


def test_3_7_kan() -> None:
    assert huxi_of(LARGE, "kan") == [3]
    assert huxi_of(SMALL, "kan") == [6]


def test_3_7_kan_finished_by_the_winning_card() -> None:
    """A pair and an own draw are a wei, a pair and another's draw a peng; a kan and another's draw a pao."""
    table = ["碰:伍伍伍", "偎:玖玖玖", "偎:壹壹壹", "吃:四五六"]
    own = judged("捌捌捌六六陆三三", table, "三", "own")
    other = judged("捌捌捌六六陆三三", table, "三", "other")
    assert own["huxi"] - other["huxi"] == 3 - 1
    kinds = {group["cards"]: group["type"] for group in other["groups"]}
    assert kinds["三三三"] == "peng"


@pytest.mark.parametrize(("least", "tun"), [(15, 3), (16, 2), (18, 2), (19, 1), (21, 1)])
def test_3_8_tun(least: int, tun: int) -> None:
    hand, table, win, _ = SMALL  # 21 huxi
    assert judged(hand, table, win, win__min_huxi=least)["tun"] == tun


HEAVEN = {0: "伍伍伍陆陆陆玖玖玖三三叁四四肆八八捌一一壹"}  # 16 for the win, single xing 24


def test_3_9_payment_stake_and_cap() -> None:
    take = Script(takes={("win", 0)})
    assert scores(play(HEAVEN, "", take)[0]) == [80, -64, 48, -64]
    assert scores(play(HEAVEN, "", take, stake=5)[0]) == [400, -320, 240, -320]
    # cap 20: 16 of the win and 4 of xing to the dealer, 20 of xing to the sitter
    events, _ = play(HEAVEN, "", take, cap=20)
    assert scores(events) == [40, -40, 40, -40]
    assert [1, 0, 16, "win"] in events[-1]["transfers"]
    assert [1, 0, 4, "xing"] in events[-1]["transfers"]
    # the cap comes after the stake and takes the win first
    assert scores(play(HEAVEN, "", take, cap=20, stake=2)[0]) == [40, -40, 40, -40]


def test_3_9_payment_wangs_are_not_capped() -> None:
    events, _ = play({1: "王王"}, "", cap=3, stake=2)
    assert scores(events) == [20, -60, 20, 20]


def test_4_1_red() -> None:
    hand, table, win = RED
    answer = judged(hand, table, win)
    assert (answer["red_cards"], answer["names"], answer["fan"]) == (10, ["red", "zimo"], 4)


def test_4_1_red_counts_a_wang_as_what_it_stands_for() -> None:
    hand, table = "伍伍伍六八四四肆九九王", ["吃:二七十", "吃:二七十", "吃:贰柒拾"]
    answer = judged(hand, table, "七")
    assert answer["red_cards"] == 10


def test_4_2_one_red() -> None:
    hand, table, win = ONE_RED
    answer = judged(hand, table, win)
    assert (answer["red_cards"], answer["names"], answer["fan"]) == (1, ["one_red", "zimo"], 6)


def test_4_3_black() -> None:
    hand, table, win = BLACK
    answer = judged(hand, table, win)
    assert (answer["red_cards"], answer["names"], answer["fan"]) == (0, ["black", "zimo"], 8)


def test_4_4_zimo_only_on_an_own_draw() -> None:
    hand, table, win = BLACK
    assert judged(hand, table, win, "own")["fan"] == 8
    assert judged(hand, table, win, "other")["fan"] == 4


PAY_TABLE = (
    "“红胡”自摸乘4倍，“红胡”单王吊乘8倍，“红胡”双王吊乘16倍；“点朱胡”自摸乘6倍，“点朱胡”单王吊乘12倍，"
    "“点朱胡”双王吊乘24倍；“黑胡”自摸乘8倍，“黑胡”单王吊乘16倍，“黑胡”双王吊乘32倍"
)  # the words of the text on two and three wangs
COLOURS = {"红胡": "red", "点朱胡": "one_red", "黑胡": "black"}
WAYS = {"自摸": "zimo", "单王吊": "wang_diao", "双王吊": "wang_diao_wang"}
PAIR_WANTED = {
    # six groups and a wang, and a card that pairs with it leaving the colour as it is
    "red": ("二七十贰柒拾贰柒拾王", ["提:一一一一", "碰:十十十", "偎:玖玖玖"], "六"),
    "one_red": ("三三叁肆肆四五六七王", ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖"], "八"),
    "black": ("三三叁肆肆四八八捌王", ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖"], "六"),
}
PAYS = re.findall(r"“(..?胡)”(自摸|单王吊|双王吊)乘(\d+)倍", PAY_TABLE)


@pytest.mark.parametrize("variant", ["two_wang", "three_wang", "four_wang"])
@pytest.mark.parametrize(("colour", "way", "times"), PAYS)
def test_4_4_zimo_pay_table_of_the_text(variant: str, colour: str, way: str, times: str) -> None:
    """红 4/8/16, 点 6/12/24, 黑 8/16/32 for own draw, single and double wang: a special stands in place of 自摸."""
    name = COLOURS[colour]
    if way == "自摸":
        case = {"red": RED, "one_red": ONE_RED, "black": BLACK}[name]
    else:
        hand, table, card = PAIR_WANTED[name]
        case = (hand, table, card if way == "单王吊" else "王")
    answer = judged(*case, variant=variant)
    assert (answer["names"], answer["fan"]) == ([name, WAYS[way]], int(times))
    assert answer["score"] == answer["tun"] * int(times)


def test_4_4_zimo_pay_table_is_whole() -> None:
    assert [int(times) for _, _, times in PAYS] == [4, 8, 16, 6, 12, 24, 8, 16, 32]


def test_4_5_wang_diao() -> None:
    hand, table = DIAO
    answer = judged(hand, table, "六")
    assert (answer["names"], answer["score"]) == (["black", "wang_diao"], 2 * 4 * 4)


def test_4_5_wang_diao_is_not_the_drawn_wang_with_a_card() -> None:
    # 六 in hand, 王 drawn: the pair 六王 is no special
    hand, table = "三三叁肆肆四八八捌六", ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖"]
    assert judged(hand, table, "王")["names"] == ["black", "zimo"]


def test_4_6_wang_diao_wang() -> None:
    hand, table = DIAO
    answer = judged(hand, table, "王")
    assert (answer["names"], answer["score"]) == (["black", "wang_diao_wang"], 2 * 8 * 4)


def test_4_7_wang_chuang() -> None:
    hand, table = CHUANG
    answer = judged(hand, table, "九")
    assert (answer["names"], answer["score"]) == (["black", "wang_chuang"], 2 * 8 * 4)


def test_4_8_wang_chuang_wang() -> None:
    hand, table = CHUANG
    answer = judged(hand, table, "王", variant="three_wang")
    assert (answer["names"], answer["score"]) == (["black", "wang_chuang_wang"], 3 * 16 * 4)


def test_4_9_wang_zha() -> None:
    hand, table = ZHA
    answer = judged(hand, table, "一", variant="three_wang")
    assert (answer["names"], answer["score"]) == (["black", "wang_zha"], 4 * 16 * 4)


def test_4_10_wang_zha_wang() -> None:
    hand, table = ZHA
    answer = judged(hand, table, "王", variant="four_wang+none")
    assert (answer["names"], answer["score"]) == (["black", "wang_zha_wang"], 5 * 32 * 4)


def test_5_1_least_huxi() -> None:
    hand, table, win, _ = SMALL
    assert judged(hand, table, win, win__min_huxi=21)["win"]
    assert judged(hand, table, win, win__min_huxi=22)["reason"] == "too few huxi"


def test_5_2_seven_groups_a_second_quad_leaves_the_hand_a_card_short() -> None:
    """One quad and 20 cards; the winning card makes a second quad: 21 cards where 22 are needed."""
    table = ["提:一一一一", "碰:伍伍伍"]
    hand = "捌捌捌六六陆三三叁玖玖玖四"
    assert judged(hand, table, "捌", "own")["reason"] == "not seven groups"
    assert judged(hand, table, "四", "own")["win"]


def test_5_2_seven_groups_counts_cards() -> None:
    hand, table, win, _ = QUADS  # two quads: 22 cards with the winning one
    assert len(hand) + sum(len(text) - 2 for text in table) + 1 == 22
    assert judged(hand, table, win)["win"]


def test_5_3_what_wins_forced_wei() -> None:
    hand, table = "陆陆陆捌捌捌一一二三壹四四肆", ["碰:伍伍伍", "偎:玖玖玖"]
    assert judged(hand, table, "一", "own")["reason"] == "not seven groups"
    # another's draw forces nothing: 一二三 and 一一壹
    assert judged(hand, table, "一", "other")["win"]


def test_5_3_what_wins_declared_special_must_be_sure() -> None:
    """陆 drawn to a kan of 陆: the ti is forced; the wang chuang may be declared only if 三 huxi for 陆王王 suffice."""
    hand, table = CHUANG
    assert judged(hand, table, "陆")["names"] == ["black", "wang_chuang"]  # 15 + 3 are enough beforehand
    few = judged(hand, table, "陆", win__min_huxi=19)  # 15 + 3 are not: the ti it is
    assert few["names"] == ["black", "zimo"]


def test_5_3_what_wins_another_s_draw_may_lift_or_leave() -> None:
    """A fourth 捌 from another: as pao of the kan the hand lacks a pair; the kan stays and 七八 take nothing."""
    table = ["碰:伍伍伍", "偎:玖玖玖", "偎:壹壹壹", "吃:四五六"]
    hand = "捌捌捌六六陆柒玖"
    answer = judged(hand, table, "捌", "other")
    assert answer["win"]
    kinds = sorted(group["cards"] for group in answer["groups"])
    assert "捌捌捌" in kinds
    assert "柒捌玖" in kinds


def test_5_3_what_wins_wang_lifts_an_own_wei_and_a_kan() -> None:
    table = ["碰:伍伍伍", "偎:玖玖玖", "吃:四五六", "吃:叁肆伍"]
    hand = "三三七八六六陆王"
    answer = judged(hand, table, "九")
    ti = [group for group in answer["groups"] if group["type"] == "ti"]
    assert [group["faces"] for group in ti] == ["玖玖玖王"]
    assert answer["huxi"] == 3 + 12


@pytest.mark.parametrize("kan", [3, 5])
@pytest.mark.parametrize(
    ("hand", "table", "lifted"),
    [
        ("一一三三叁四四肆八八捌五六七", ["碰:伍伍伍", "偎:玖玖玖"], "玖玖玖王"),
        ("一一三三叁四四肆八八捌玖玖玖", ["碰:伍伍伍", "吃:六七八"], "玖玖玖王"),
    ],
)
def test_5_3_what_wins_a_drawn_wang_lifts_an_own_wei_and_a_kan(
    hand: str, table: list[str], lifted: str, kan: int
) -> None:
    """Ti 12 and peng 3; with 一一王 as a wei of 3 it is 12. Where kan and wei differ the drawn wang's group matters."""
    answer = judged(hand, table, "王", huxi__kan__small=kan)
    assert (answer["win"], answer.get("huxi")) == (True, 15)
    assert [group["faces"] for group in answer["groups"] if group["type"] == "ti"] == [lifted]


def test_5_3_what_wins_the_draw_game_and_the_pass_are_logged() -> None:
    events, _ = play(HEAVEN, "")
    assert events[0] == {"type": "pass", "seat": 0, "option": "win", "card": None}
    assert of_type(events, "end")
