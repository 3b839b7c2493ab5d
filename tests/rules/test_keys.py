"""Every key changes play or money: one case a key, its values worked out by hand from the rules."""

from __future__ import annotations

import numpy as np
import pytest
from kit import Script, judged, of_type, play, scores

from sim.engine import play_games
from sim.params import compile_params
from sim.rows import COLUMN, NULL
from sim.variant import KEYS, load_variant

COVERED: set[str] = set()


def covers(*keys: str):
    COVERED.update(keys)
    return lambda function: function


# --- huxi, tun: hands that hold exactly one group of each type ------------------------------------------

SMALL = (
    "陆陆陆四五捌捌八",
    ["吃:二七十", "吃:壹贰叁", "碰:伍伍伍", "偎:九九九"],
    "六",
    21,  # 3 + 6 + 3 + 3 + 6 + 0 + 0
)
LARGE = (
    "六六六肆伍八八捌",
    ["吃:贰柒拾", "吃:一二三", "碰:五五五", "偎:玖玖玖"],
    "陆",
    19,  # 6 + 3 + 1 + 6 + 3 + 0 + 0
)
QUADS = ("八八八陆陆柒捌", ["提:一一一一", "跑:伍伍伍伍", "吃:二七十", "吃:三四五"], "玖", 24)
QUADS_LARGE = ("捌捌捌六六七八", ["提:壹壹壹壹", "跑:五五五五", "吃:贰柒拾", "吃:叁肆伍"], "九", 30)

HUXI_CASES = [
    ("huxi.two_seven_ten.small", SMALL),
    ("huxi.one_two_three.large", SMALL),
    ("huxi.peng.large", SMALL),
    ("huxi.wei.small", SMALL),
    ("huxi.kan.large", SMALL),
    ("huxi.run.small", SMALL),
    ("huxi.jiao.large", SMALL),
    ("huxi.two_seven_ten.large", LARGE),
    ("huxi.one_two_three.small", LARGE),
    ("huxi.peng.small", LARGE),
    ("huxi.wei.large", LARGE),
    ("huxi.kan.small", LARGE),
    ("huxi.run.large", LARGE),
    ("huxi.jiao.small", LARGE),
    ("huxi.ti.small", QUADS),
    ("huxi.pao.large", QUADS),
    ("huxi.ti.large", QUADS_LARGE),
    ("huxi.pao.small", QUADS_LARGE),
]
covers(*(key for key, _ in HUXI_CASES))


@pytest.mark.parametrize(("key", "case"), HUXI_CASES)
def test_huxi_of_a_group(key: str, case: tuple[str, list[str], str, int]) -> None:
    hand, table, win, huxi = case
    assert judged(hand, table, win)["huxi"] == huxi
    value = int(str(load_variant("two_wang").flat()[key]))
    assert judged(hand, table, win, **{key.replace(".", "__"): value + 1})["huxi"] == huxi + 1


@covers("tun.base", "tun.step", "win.min_huxi")
def test_tun_and_least_huxi() -> None:
    hand, table, win, _ = SMALL  # 21 huxi, four red cards: zimo only
    assert judged(hand, table, win)["score"] == 3 * 2
    assert judged(hand, table, win, tun__base=2)["score"] == 4 * 2
    assert judged(hand, table, win, tun__step=2)["score"] == 4 * 2
    assert judged(hand, table, win, win__min_huxi=18)["score"] == 2 * 2
    assert judged(hand, table, win, win__min_huxi=22) == {
        "win": False,
        "reason": "too few huxi",
        "detail": "at most 21 huxi, 22 are needed",
    }


# --- fan ------------------------------------------------------------------------------------------------

RED = ("伍伍伍六八四四肆九九玖", ["吃:二七十", "吃:二七十", "吃:贰柒拾"], "七")  # ten red, 18 huxi: 2 tun
ONE_RED = ("伍伍伍陆陆陆四四肆八八捌五六", ["碰:一一一", "偎:九九九"], "七")  # 16 huxi: 1 tun
BLACK = ("伍伍伍陆陆陆三三叁八八捌五六", ["碰:一一一", "偎:九九九"], "四")
DIAO = ("三三叁肆肆四八八捌王", ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖"])  # 18 huxi: 2 tun
CHUANG = ("陆陆陆三三叁四四肆八八捌王王", ["碰:伍伍伍", "偎:玖玖玖"])
CHUANG_WANG = ("陆陆陆三三叁四四肆八八捌王王", ["碰:伍伍伍", "偎:玖玖玖"])
ZHA = ("陆陆陆三三叁八八捌四四王王王", ["碰:伍伍伍", "偎:玖玖玖"])

FAN_CASES = [
    # key, changed value, hand, table, win, variant, score before, score after
    ("fan.red", 3, *RED, "two_wang", 2 * 2 * 2, 2 * 3 * 2),
    ("fan.red_min", 11, *RED, "two_wang", 2 * 2 * 2, 2 * 2),
    ("fan.one_red", 5, *ONE_RED, "two_wang", 3 * 2, 5 * 2),
    ("fan.black", 5, *BLACK, "two_wang", 4 * 2, 5 * 2),
    ("fan.zimo", 3, *BLACK, "two_wang", 4 * 2, 4 * 3),
    ("fan.wang_diao", 5, *DIAO, "六", "two_wang", 2 * 4 * 4, 2 * 5 * 4),
    ("fan.special_includes_zimo", True, *DIAO, "六", "two_wang", 2 * 4 * 4, 2 * 4 * 4 * 2),
    ("fan.wang_diao_wang", 9, *DIAO, "王", "two_wang", 2 * 8 * 4, 2 * 9 * 4),
    ("fan.wang_chuang", 9, *CHUANG, "九", "two_wang", 2 * 8 * 4, 2 * 9 * 4),
    ("fan.wang_chuang_wang", 17, *CHUANG_WANG, "王", "three_wang", 3 * 16 * 4, 3 * 17 * 4),
    ("fan.wang_zha", 17, *ZHA, "一", "three_wang", 4 * 16 * 4, 4 * 17 * 4),
    ("fan.wang_zha_wang", 33, *ZHA, "王", "four_wang+none", 5 * 32 * 4, 5 * 33 * 4),
]
covers(*(case[0] for case in FAN_CASES))


@pytest.mark.parametrize(("key", "value", "hand", "table", "win", "variant", "before", "after"), FAN_CASES)
def test_fan_of_a_name(
    key: str, value: object, hand: str, table: list[str], win: str, variant: str, before: int, after: int
) -> None:
    assert judged(hand, table, win, variant=variant)["score"] == before
    assert judged(hand, table, win, variant=variant, **{key.replace(".", "__"): value})["score"] == after


# --- what wins --------------------------------------------------------------------------------------------


@covers("win.forced_first")
def test_forced_first() -> None:
    """The third 一 must be a wei, which leaves 二三壹; without the force it makes 一二三 and 一一壹."""
    hand, table = "陆陆陆捌捌捌一一二三壹四四肆", ["碰:伍伍伍", "偎:玖玖玖"]
    assert judged(hand, table, "一")["reason"] == "not seven groups"
    free = judged(hand, table, "一", win__forced_first=False)
    assert (free["huxi"], free["tun"], free["fan"]) == (24, 4, 3 * 2)  # one red card


@covers("win.declare_special")
def test_declare_special() -> None:
    """The fourth 陆 makes a ti; with 叁王王 and the pair 三三 that is 27 huxi. Declared, it is a wang chuang."""
    hand, table = CHUANG
    declared = judged(hand, table, "陆")
    assert (declared["score"], declared["names"]) == (3 * 8 * 4, ["black", "wang_chuang"])
    forced = judged(hand, table, "陆", win__declare_special=False)
    assert (forced["score"], forced["names"]) == (5 * 2 * 4, ["black", "zimo"])


TWO_WANGS = (
    "陆陆陆二七十三三王八八王四五",
    ["碰:伍伍伍", "偎:玖玖玖"],
    "六",
)  # 27 huxi with a lifted ti: 5 tun


@covers("win.wang_limit.mode", "win.wang_limit.min_fan", "win.wang_limit.special_only_from", "wang.ti")
def test_limits_and_wang_ti() -> None:
    hand, table, win = TWO_WANGS
    assert judged(hand, table, win, variant="four_wang+none")["score"] == 5 * 2
    assert judged(hand, table, win, variant="four_wang")["reason"] == "a limit"
    loose = {"win__wang_limit__min_fan": {1: 2, 2: 2, 3: 8, 4: 16}}
    assert judged(hand, table, win, variant="four_wang", **loose)["score"] == 5 * 2
    assert judged(hand, table, win, variant="four_wang+by_wang")["score"] == 5 * 2
    strict = {"win__wang_limit__special_only_from": 2}
    assert judged(hand, table, win, variant="four_wang+by_wang", **strict)["reason"] == "a limit"
    assert judged(hand, table, win, variant="four_wang+none", wang__ti=False)["score"] == 4 * 2


# --- money: a heavenly win of 18 huxi, black: 2 tun x 8 fan = 16; three 伍 held: single xing 3 x 8 = 24 --------

HEAVEN = {0: "伍伍伍陆陆陆玖玖玖三三叁四四肆八八捌一一壹"}
WIN_ALL = Script(takes={("win", 0), ("win", 1), ("win", 3)})


def heaven(**keys: object) -> list[int]:
    events, _ = play(HEAVEN, "四", Script(takes={("win", 0)}), **keys)
    return scores(events)


@covers("xing.singles", "xing.card", "stake", "cap", "table.seats", "deal.heavenly_win")
def test_money_of_a_heavenly_win() -> None:
    assert heaven() == [2 * (16 + 24), -(16 + 48), 48, -(16 + 48)]
    assert heaven(xing__singles=1) == [80, -40, 0, -40]
    assert heaven(xing__card="none") == [32, -16, 0, -16]
    # flip turns 四, of which the winner has two
    assert heaven(xing__card="flip") == [2 * (16 + 16), -48, 32, -48]
    assert heaven(stake=3) == [240, -192, 144, -192]
    # the cap takes 16 for the win, 4 are left for xing; the sitter's xing is another pair
    assert heaven(cap=20) == [40, -40, 40, -40]
    assert heaven(table__seats=3) == [2 * (16 + 48), -64, -64]
    events, _ = play(HEAVEN, "四", Script(takes={("win", 0)}), deal__heavenly_win=False)
    assert events[0]["type"] == "discard"


@covers("xing.payment")
def test_xing_payment() -> None:
    assert heaven(xing__payment="winner_only") == [2 * (16 + 48), -64, 0, -64]
    # another's win: seat 1 draws 一 for 一二三
    hands = {1: "伍伍伍捌捌捌玖玖玖二三四四肆六六陆壹壹壹"}
    script = Script(takes={("win", 1)})
    money = {
        payment: scores(play(hands, "一", script, xing__payment=payment)[0])
        for payment in ("dealer_side", "any_winner", "winner_only")
    }
    # 6 + 6 + 6 + 6 + 3 = 27 huxi: 5 tun x (3 x 2) fan = 30; single xing 1 x 6 = 6
    assert money["dealer_side"] == [-(30 + 6), 2 * 30 + 6 + 12 + 6, -6, -(30 + 12)]
    assert money["any_winner"] == [-(30 + 12), 2 * (30 + 6), 12, -(30 + 12)]
    assert money["winner_only"] == [-(30 + 12), 2 * (30 + 12), 0, -(30 + 12)]


@covers("deck.wangs")
def test_wangs_in_the_deck() -> None:
    for name, wall in (("two_wang", 21), ("three_wang", 22), ("four_wang", 23)):
        events, _ = play({}, "", variant=name)
        drawn = len(of_type(events, "draw"))
        assert drawn == wall  # nobody wins by script, so the wall is drawn to its end


def until(events: list[dict], draws: int) -> list[dict]:
    """Events before draw number ``draws`` + 1: the scripted part of the wall."""
    at = [place for place, event in enumerate(events) if event["type"] == "draw"]
    return events[: at[draws]]


# --- turns ------------------------------------------------------------------------------------------------


@covers("turn.extra_quad")
def test_extra_quad() -> None:
    hands = {0: "一一一一贰贰贰贰"}
    skipped, _ = play(hands, "")
    assert [event["type"] for event in skipped[:3]] == ["ti", "ti", "draw"]
    assert skipped[2]["seat"] == 1  # the dealer owns 21, his quota: no discard
    drawn, _ = play(hands, "九", turn__extra_quad="replacement_draw")
    assert [event["type"] for event in drawn[:4]] == ["ti", "ti", "draw", "discard"]
    assert (drawn[2]["seat"], drawn[2]["card"], drawn[2]["hidden"]) == (0, "九", True)


@covers("turn.peng_to_pao")
def test_peng_to_pao() -> None:
    """Seat 1 pengs 九 and draws the fourth himself."""
    hands = {0: "九", 1: "九九", 3: ""}
    wall = "三四九"  # drawn by 3, 0, 1
    script = Script(takes={("peng", 1)}, discards={0: "九"})
    lifted, _ = play(hands, wall, Script(**vars(script)))
    assert [e["base"] for e in of_type(lifted, "pao")] == ["peng"]
    stays, _ = play(
        hands, wall, Script(takes={("peng", 1)}, discards={0: "九"}), turn__peng_to_pao="others_draw"
    )
    assert not of_type(stays, "pao")


@covers("turn.chi_from_upstream_draw")
def test_chi_from_upstream_draw() -> None:
    """Seat 1 draws 一 and has no use for it; seat 3 holds 二三."""
    hands = {0: "拾", 1: "四五六七八九十肆伍陆柒捌玖", 3: "二三"}
    script = lambda: Script(takes={("chi", 3)}, discards={0: "拾"})  # noqa: E731
    events, _ = play(hands, "一", script())
    assert [(e["seat"], e["card"]) for e in of_type(events, "chi")][:1] == [(3, "一")]
    events, _ = play(hands, "一", script(), turn__chi_from_upstream_draw=False)
    assert not of_type(until(events, 1), "chi")


# --- passing ------------------------------------------------------------------------------------------------


def offers(events: list[dict], seat: int, option: str, card: str) -> int:
    """How often a seat was legally offered something, taken or passed."""
    passed = [
        e for e in of_type(events, "pass") if (e["seat"], e["option"], e["card"]) == (seat, option, card)
    ]
    taken = [e for e in of_type(events, option) if (e["seat"], e["card"]) == (seat, card)]
    return len(passed) + len(taken)


@covers("pass.blocks_chi")
def test_pass_blocks_chi() -> None:
    """Seat 1 lets 一 go by twice: discarded by the dealer, then drawn by himself."""
    hands = {0: "一", 1: "二三", 3: ""}
    events, _ = play(hands, "一", Script(discards={0: "一"}))
    assert offers(until(events, 1), 1, "chi", "一") == 1
    events, _ = play(hands, "一", Script(discards={0: "一"}), pass__blocks_chi=False)
    assert offers(until(events, 1), 1, "chi", "一") == 2


@covers("pass.blocks_peng")
def test_pass_blocks_peng() -> None:
    """Seat 3 passes the peng of 九 on a discard; the next 九 is drawn by seat 1."""
    hands = {0: "九", 3: "九九"}
    events, _ = play(hands, "九", Script(discards={0: "九"}))
    assert offers(events, 3, "peng", "九") == 1
    events, _ = play(hands, "九", Script(discards={0: "九"}), pass__blocks_peng=False)
    assert offers(events, 3, "peng", "九") == 2


@covers("pass.own_discard_blocks_chi")
def test_own_discard_blocks_chi() -> None:
    """The dealer discards 一, keeps 二三, and draws 一 in his next turn."""
    hands = {0: "一二三", 1: "", 3: ""}
    script = lambda: Script(discards={0: "一"})  # noqa: E731
    wall = "玖拾一"  # drawn by 1, 3, 0
    events, _ = play(hands, wall, script(), pass__blocks_chi=False)
    assert offers(until(events, 3), 0, "chi", "一") == 0
    events, _ = play(hands, wall, script(), pass__blocks_chi=False, pass__own_discard_blocks_chi=False)
    assert offers(until(events, 3), 0, "chi", "一") == 1


# --- who deals ----------------------------------------------------------------------------------------------


def session_rows(length: int = 6, games: int = 180, **keys: object) -> dict[str, np.ndarray]:
    rules = load_variant("two_wang", {name.replace("__", "."): value for name, value in keys.items()})
    rows = play_games(compile_params(rules), (0, 0, 0), 5, 0, games, length)
    return {name: rows[:, place].reshape(-1, length) for name, place in COLUMN.items()}


@covers("table.first_dealer")
def test_first_dealer() -> None:
    assert set(session_rows()["dealer"][:, 0]) == {0}
    first = session_rows(table__first_dealer="random")["dealer"][:, 0]
    assert set(first) == {0, 1, 2, 3}


@covers("table.dealer_after_win", "table.dealer_after_draw")
@pytest.mark.parametrize("after_win", ["winner", "stays", "next"])
@pytest.mark.parametrize("after_draw", ["next", "stays"])
def test_dealer_after(after_win: str, after_draw: str) -> None:
    rows = session_rows(table__dealer_after_win=after_win, table__dealer_after_draw=after_draw)
    dealer, winner = rows["dealer"][:, :-1], rows["winner"][:, :-1]
    following = (dealer + 1) % 4  # the next active seat; the sitter is two seats on
    rule = {"winner": winner, "stays": dealer, "next": following}
    expected = np.where(winner == NULL, rule[after_draw], rule[after_win])
    assert (rows["dealer"][:, 1:] == expected).all()
    assert (winner == NULL).any()


# --- draw games ---------------------------------------------------------------------------------------------


def wang_money(hands: dict[int, str], **keys: object) -> list[int]:
    events, _ = play(hands, "", **keys)
    assert of_type(events, "draw_game")
    return scores(events)


@covers("draw.wang_payout.enabled", "draw.wang_payout.unit", "draw.wang_payout.all_in_one")
def test_wang_payout() -> None:
    both = {1: "王王"}
    assert wang_money(both) == [10, -30, 10, 10]
    assert wang_money(both, draw__wang_payout__unit=7) == [14, -42, 14, 14]
    assert wang_money(both, draw__wang_payout__all_in_one=2) == [20, -50, 10, 20]
    assert wang_money(both, draw__wang_payout__enabled=False) == [0, 0, 0, 0]
    assert wang_money({0: "王王"}) == [-20, 10, 0, 10]  # the dealer pays the sitter nothing


def test_every_key_is_covered() -> None:
    assert set(KEYS) == COVERED
