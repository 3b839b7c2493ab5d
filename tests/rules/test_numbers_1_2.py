"""Chapters 1 and 2, number by number; expected values by hand from docs/rules.md."""

from __future__ import annotations

import numpy as np
import pytest
from kit import Script, fill, judged, of_type, option_groups, play, playing_order, scores

from sim import rng
from sim.cards import FACES, KINDS, RED_MASK, WANG, parse_cards
from sim.engine import play_games
from sim.params import compile_params
from sim.rows import COLUMN, NULL
from sim.rules.claims import chi_options
from sim.rules.deal import shuffle
from sim.state import CHI_BLOCK, OWNED, QUADS, SITTER, change, clear, new_table, next_seat, quota
from sim.variant import load_variant


def rows_of(
    variant: str, games: int = 300, bots: tuple[int, int, int] = (0, 0, 0), session: int = 0, **keys: object
):
    rules = load_variant(variant, {name.replace("__", "."): value for name, value in keys.items()})
    rows = play_games(compile_params(rules), bots, 11, 0, games, session)
    return {name: rows[:, place] for name, place in COLUMN.items()}


# --- 1 The table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wangs", [0, 1, 2, 3, 4])
def test_1_1_deck(wangs: int) -> None:
    words = rng.words(3, rng.STREAM_DEAL, 0, 1, rng.DEAL_WORDS)[0]
    deck = np.zeros(84, dtype=np.int64)
    shuffle(words, wangs, deck)
    counts = np.bincount(deck[: 80 + wangs], minlength=21)
    assert list(counts[:KINDS]) == [4] * KINDS
    assert counts[WANG] == wangs


def test_1_1_deck_red_kinds() -> None:
    reds = {FACES[kind] for kind in range(KINDS) if RED_MASK >> kind & 1}
    assert reds == set("二七十贰柒拾")


def test_1_1_deck_more_wangs_leave_the_order_of_the_rest() -> None:
    words = rng.words(3, rng.STREAM_DEAL, 7, 1, rng.DEAL_WORDS)[0]
    orders = []
    for wangs in range(5):
        deck = np.zeros(84, dtype=np.int64)
        shuffle(words, wangs, deck)
        orders.append([int(kind) for kind in deck[: 80 + wangs] if kind != WANG])
    assert all(order == orders[0] for order in orders)


def test_1_2_dealer_after_a_win_the_winner_after_a_draw_the_next() -> None:
    rows = rows_of("two_wang", 240, session=6)
    dealer, winner = rows["dealer"].reshape(-1, 6), rows["winner"].reshape(-1, 6)
    assert set(dealer[:, 0]) == {0}
    expected = np.where(winner[:, :-1] == NULL, (dealer[:, :-1] + 1) % 4, winner[:, :-1])
    assert (dealer[:, 1:] == expected).all()


def test_1_3_draw_game_holders_pay_those_without() -> None:
    # seat 1 and seat 3 hold one each: they pay the dealer and the sitter 5, each other nothing
    events, _ = play({1: "王", 3: "王"}, "")
    assert of_type(events, "draw_game")[0]["wangs"] == {"0": 0, "1": 1, "3": 1}
    assert scores(events) == [10, -10, 10, -10]
    assert events[-1]["transfers"] == [
        [1, 0, 5, "wang"],
        [1, 2, 5, "wang"],
        [3, 0, 5, "wang"],
        [3, 2, 5, "wang"],
    ]


def test_1_3_draw_game_dealer_pays_the_sitter_nothing() -> None:
    events, _ = play({0: "王", 1: "王"}, "")
    assert scores(events) == [-5, -10, 5, 10]


def test_1_3_draw_game_all_in_one_doubles_for_the_opponents_only() -> None:
    # three wangs, all with seat 3: 15 doubled to the dealer and seat 1, 15 to the sitter
    events, _ = play({3: "王王王"}, "", variant="three_wang")
    assert scores(events) == [30, 30, 15, -75]
    # two wangs: ten times, not doubled again
    events, _ = play({3: "王王"}, "")
    assert scores(events) == [10, 10, 10, -30]


def test_1_4_wang_holder_wins_only_on_an_own_draw() -> None:
    hand, table = "三三叁肆肆四八八捌王", ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖"]
    assert judged(hand, table, "六", "own")["win"]
    assert judged(hand, table, "六", "other") == {
        "win": False,
        "reason": "a wang holder on another's draw",
        "detail": "whoever holds a wang wins only on an own draw",
    }


def test_1_4_wang_drawn_is_shown_and_kept() -> None:
    events, table = play({}, "王王")
    drawn = [event for event in of_type(events, "draw") if event["card"] == "王"]
    assert len(drawn) == 2
    assert all("hidden" not in event for event in drawn)
    assert not [event for event in of_type(events, "discard") if event["card"] == "王"]
    assert sum(int(table.hand[seat, WANG]) for seat in range(4)) == 2


def test_1_4_wang_is_no_card_for_chi() -> None:
    rows = rows_of("four_wang", 200)
    held = sum(np.where(rows[f"wangs_final_{s}"] == NULL, 0, rows[f"wangs_final_{s}"]) for s in range(4))
    drawn = rows["winner"] == NULL
    assert (held[drawn] == 4).all()  # at the end of a draw game every wang is in a hand


def test_1_5_pair() -> None:
    # a quad needs a pair: 五五 serves; 五六 does not
    table = ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖", "吃:三四五"]
    assert judged("六六陆五五七八", table, "九")["win"]
    assert judged("六六陆五六七八", table, "玖")["reason"] == "not seven groups"


def test_1_6_kan_is_never_broken() -> None:
    # 六六六 with 四五: the run 四五六 would need one of the kan
    hand, table = "六六六四五八八捌玖玖九", ["碰:伍伍伍", "偎:壹壹壹", "偎:拾拾拾"]
    answer = judged(hand, table, "四")
    assert answer["reason"] == "not seven groups"
    events, _ = play({0: "六六六"}, "", Script())
    assert not [event for event in of_type(events, "discard") if event["seat"] == 0 and event["card"] == "六"]


def test_1_7_ti_dealt_is_laid_at_once_in_turn_order() -> None:
    events, _ = play({0: "五五五五", 1: "八八八八", 3: "玖玖玖玖"}, "")
    assert [(e["seat"], e["card"], e["from"], e["base"]) for e in events[:3]] == [
        (0, "五", "deal", "deal"),
        (1, "八", "deal", "deal"),
        (3, "玖", "deal", "deal"),
    ]


def test_1_8_run() -> None:
    table = ["碰:伍伍伍", "偎:玖玖玖", "偎:壹壹壹", "碰:叁叁叁"]
    for run, card, wins in (
        ("四五", "六", True),
        ("八九", "十", True),
        ("二七", "十", True),
        ("九十", "一", False),
    ):
        answer = judged(f"捌捌捌三三叁{run}", table, card)
        assert answer["win"] is wins, run


def test_1_9_jiao() -> None:
    table = ["碰:伍伍伍", "偎:玖玖玖", "偎:壹壹壹", "碰:叁叁叁"]
    assert judged("捌捌捌四五六陆六", table, "六", "other")["win"]  # 六六陆
    assert judged("捌捌捌四五六陆陆", table, "六", "other")["win"]  # 六陆陆
    assert judged("捌捌捌四五六陆柒", table, "六", "other")["reason"] == "not seven groups"


def test_1_10_fan_limit_counts_the_wang_just_drawn() -> None:
    # one wang held, one drawn: two wangs need 4 fan; a plain own draw has 2
    hand, table = "陆陆陆二七十三三八八王四五六", ["碰:伍伍伍", "偎:玖玖玖"]
    assert judged(hand, table, "王", variant="four_wang+none")["fan"] == 2
    assert judged(hand, table, "王", variant="four_wang")["reason"] == "a limit"


def test_1_11_wang_limit() -> None:
    # three wangs in ordinary groups: by_wang forbids it; as wang zha it wins
    hand, table = "陆陆陆三三叁八八捌四四王王王", ["碰:伍伍伍", "偎:玖玖玖"]
    assert judged(hand, table, "一", variant="four_wang+by_wang")["names"] == ["black", "wang_zha"]
    loose = "陆陆陆三三八八四四七二王王王"
    assert judged(loose, table, "十", variant="four_wang+none")["win"]
    assert judged(loose, table, "十", variant="four_wang+by_wang")["reason"] == "a limit"


def test_1_12_seats() -> None:
    t = new_table()
    p = compile_params(load_variant("two_wang"))
    from sim.rules.deal import seat_players

    for dealer in range(4):
        seat_players(p, t, dealer)
        assert t.game[SITTER] == (dealer + 2) % 4
        order = [dealer, int(next_seat(t, dealer)), int(next_seat(t, int(next_seat(t, dealer))))]
        assert order == playing_order(4, dealer)
        assert int(next_seat(t, order[2])) == dealer
    rows = rows_of("two_wang", 60, table__seats=3)
    assert set(rows["sitter"]) == {NULL}
    assert set(rows["score_3"]) == {NULL}


@pytest.mark.parametrize(("variant", "wall"), [("two_wang", 21), ("three_wang", 22), ("four_wang", 23)])
def test_1_13_deal(variant: str, wall: int) -> None:
    rows = rows_of(variant, 50)
    assert (rows["draws"] + rows["wall_left"] == wall).all()


def test_1_13_deal_heavenly_win() -> None:
    """18 huxi, black, own draw: 2 tun x 8; no wang special though the pair could be 一王."""
    answer = judged("伍伍伍陆陆陆玖玖玖三三叁四四肆八八捌一一壹", draw="deal")
    assert (answer["huxi"], answer["score"], answer["names"]) == (18, 16, ["black", "zimo"])
    special = judged("一王三三叁四四肆八八捌六六陆伍伍伍", ["提:玖玖玖玖"], draw="deal")
    assert "wang_diao" not in special["names"]


# --- 2 Play -----------------------------------------------------------------------------------------------


def test_2_1_wei_is_compulsory_and_hidden() -> None:
    events, _ = play({1: "九九"}, "九")
    draw = of_type(events, "draw")[0]
    assert draw == {"type": "draw", "seat": 1, "card": "九", "hidden": True}
    assert of_type(events, "wei")[0] == {"type": "wei", "seat": 1, "card": "九", "open": False}


def test_2_2_chou_wei_is_open_after_a_passed_peng() -> None:
    # the dealer discards 九, seat 1 passes the peng and draws 九 himself
    events, _ = play({0: "九", 1: "九九"}, "九", Script(discards={0: "九"}))
    assert {"type": "pass", "seat": 1, "option": "peng", "card": "九"} in events
    assert of_type(events, "wei")[0]["open"] is True
    assert "hidden" not in of_type(events, "draw")[0]


def test_2_3_draw_ti_from_a_kan_and_from_a_wei() -> None:
    events, _ = play({1: "九九九"}, "九")
    assert of_type(events, "ti")[0] == {"type": "ti", "seat": 1, "card": "九", "from": "draw", "base": "kan"}
    # wei of 九, then the fourth when seat 1 draws again (draws: 1, 3, 0, 1)
    events, _ = play({1: "九九"}, "九一三九", Script())
    assert [e["seat"] for e in of_type(events, "draw")[:4]] == [1, 3, 0, 1]
    assert of_type(events, "ti")[0]["base"] == "wei"


def test_2_4_peng_needs_exactly_two() -> None:
    events, _ = play({0: "九", 1: "九九"}, "", Script(takes={("peng", 1)}, discards={0: "九"}))
    assert events[1] == {"type": "peng", "seat": 1, "card": "九"}
    events, _ = play({0: "九", 1: "九"}, "", Script(takes={("peng", 1)}, discards={0: "九"}))
    assert events[1]["type"] != "peng"


def test_2_5_pao_is_compulsory_and_before_peng_and_chi() -> None:
    events, _ = play({0: "九", 3: "九九九"}, "", Script(discards={0: "九"}))
    assert events[1] == {"type": "pao", "seat": 3, "card": "九", "base": "kan"}


def test_2_5_pao_a_discard_lifts_no_peng() -> None:
    # seat 1 pengs 九; the fourth is discarded by seat 3 later
    hands = {0: "九", 1: "九九", 3: "九"}
    events, _ = play(hands, "", Script(takes={("peng", 1)}, discards={0: "九", 3: "九"}))
    assert not [event for event in of_type(events, "pao") if event["card"] == "九"]


def test_2_6_draw_peng_before_chi() -> None:
    """Seat 1 draws 九 and could chi it (七八); seat 3 holds 九九."""
    hands = {1: "七八", 3: "九九"}
    script = Script(takes={("peng", 3), ("chi", 1)})
    events, _ = play(hands, "九", script)
    after = events[events.index(of_type(events, "draw")[0]) + 1]
    assert after == {"type": "peng", "seat": 3, "card": "九"}


def test_2_6_draw_last_card_ends_the_game() -> None:
    events, _table = play({}, "")
    assert [event["type"] for event in events[-2:]] == ["draw_game", "end"]
    assert events[-3]["type"] in ("draw", "wei", "ti")  # nothing is claimed or discarded after the last card


def test_2_7_ren_peng_blocks_the_peng() -> None:
    hands = {0: "九", 3: "九九"}
    events, _ = play(hands, "九", Script(discards={0: "九"}))
    offered = [event for event in events if event.get("option") == "peng" and event["card"] == "九"]
    assert len(offered) == 1


def test_2_8_count_rule_quota() -> None:
    t = new_table()
    for quads, right in ((0, 20), (1, 20), (2, 21), (3, 22)):
        t.seat[0, QUADS] = quads
        assert int(quota(t.seat[0])) == right


def test_2_8_count_rule_two_dealt_ti() -> None:
    # the dealer owns 21, his quota: no discard. A player owes one skip: his first gain is not followed by a discard
    events, _ = play({0: "一一一一贰贰贰贰"}, "")
    assert [event["type"] for event in events[:3]] == ["ti", "ti", "draw"]
    hands = {0: "九", 1: "三三三三伍伍伍伍九九"}
    events, _ = play(hands, "", Script(takes={("peng", 1)}, discards={0: "九"}))
    at = events.index({"type": "peng", "seat": 1, "card": "九"})
    assert (events[at + 1]["type"], events[at + 1]["seat"]) == ("draw", 3)


def test_2_8_count_rule_dead_hand() -> None:
    """A dealer of seven kans must discard and has no free card."""
    hands = {0: "一一一三三三五五五八八八肆肆肆陆陆陆捌捌捌"}
    events, _table = play(hands, "", deal__heavenly_win=False)
    assert events[0] == {"type": "dead", "seat": 0}
    assert not [event for event in of_type(events, "discard", "win", "chi", "peng") if event["seat"] == 0]


def test_2_9_chi_options_of_a_kind() -> None:
    assert options("三", "一二叁叁") == sorted([as_set("一二三"), as_set("三叁叁")])
    assert options("三", "一二四五三叁") == sorted(
        [as_set("三三叁"), as_set("一二三", "三四五"), as_set("二三四", "一二三")][:2]
    )


def options(card: str, free: str) -> list[list[str]]:
    """Chi options for a card with these cards in hand (and some to discard)."""
    t = new_table()
    clear(t)
    for kind in parse_cards(free + "陆捌"):
        change(t.hand[0], t.seat[0], kind, 1)
    t.seat[0, OWNED] = 20
    count = int(chi_options(t, 0, parse_cards(card)[0]))
    return sorted(sorted("".join(sorted(group)) for group in option_groups(t, n)) for n in range(count))


def as_set(*groups: str) -> list[str]:
    return sorted("".join(sorted(group)) for group in groups)


def test_2_9_chi_illegal_without_a_discard() -> None:
    t = new_table()
    clear(t)
    for kind in parse_cards("一二"):
        change(t.hand[0], t.seat[0], kind, 1)
    t.seat[0, OWNED] = 20
    assert int(chi_options(t, 0, parse_cards("三")[0])) == 0
    t.seat[0, QUADS] = 2  # quota 21: no discard is due
    assert int(chi_options(t, 0, parse_cards("三")[0])) == 1


def test_2_10_passing_blocks_by_position() -> None:
    hands = {0: "一", 1: "二三"}
    events, _ = play(hands, "一", Script(discards={0: "一"}))
    asked = [event for event in events if event.get("option") == "chi" and event["card"] == "一"]
    assert [event["seat"] for event in asked][:1] == [1]
    assert len([event for event in asked if event["seat"] == 1]) == 1


def test_2_10_passing_does_not_block_when_the_card_was_pengd() -> None:
    # seat 1 could chi 九, but seat 3 pengs it: nobody was asked for a chi
    hands = {0: "九", 1: "七八", 3: "九九"}
    _, table = play(hands, "", Script(takes={("peng", 3)}, discards={0: "九"}))
    assert not int(table.seat[1, CHI_BLOCK]) >> 8 & 1
    _, table = play(hands, "", Script(discards={0: "九"}))
    assert int(table.seat[1, CHI_BLOCK]) >> 8 & 1


def test_2_11_bi_takes_every_free_card_of_the_kind() -> None:
    found = options("二", "二二贰贰一三七十")
    assert found == sorted(
        [as_set("二二贰", "一二三"), as_set("二二贰", "二七十"), as_set("二贰贰", "一二三", "二七十")]
    )


def test_2_11_bi_none_with_a_kan_of_the_kind() -> None:
    assert options("二", "二二二一三") == []


def test_2_12_group_with_a_quad_the_pair_counts() -> None:
    table = ["提:一一一一", "碰:伍伍伍", "偎:玖玖玖", "吃:三四五"]
    answer = judged("六六陆捌捌七八", table, "九")
    assert len(answer["groups"]) == 7
    assert sorted(group["type"] for group in answer["groups"]).count("pair") == 1


def test_2_13_xing_most_held_kind_when_the_card_is_a_wang() -> None:
    # heavenly win: no winning card; three kinds are held three times, the first of them (九 < 伍 in order) counts
    hands = {0: "九九九伍伍伍陆陆陆三三叁四四肆八八捌一一壹"}
    events, _ = play(hands, "", Script(takes={("win", 0)}))
    win = of_type(events, "win")[0]
    assert (win["xing"]["kind"], win["xing"]["count"]) == ("九", 3)


@pytest.mark.parametrize(
    ("payment", "singles", "seats", "money"),
    [
        # the dealer wins 16 (2 tun x 8), single xing 3 x 8 = 24
        ("dealer_side", 2, 4, [80, -64, 48, -64]),
        ("dealer_side", 1, 4, [80, -40, 0, -40]),
        ("any_winner", 2, 4, [80, -64, 48, -64]),
        ("any_winner", 1, 4, [80, -40, 0, -40]),
        ("winner_only", 2, 4, [128, -64, 0, -64]),
        ("winner_only", 1, 4, [80, -40, 0, -40]),
        ("dealer_side", 2, 3, [128, -64, -64]),
        ("dealer_side", 1, 3, [80, -40, -40]),
    ],
)
def test_2_13_xing_payment(payment: str, singles: int, seats: int, money: list[int]) -> None:
    hands = {0: "伍伍伍陆陆陆玖玖玖三三叁四四肆八八捌一一壹"}
    keys = {"xing__payment": payment, "xing__singles": singles, "table__seats": seats}
    events, _ = play(hands, "", Script(takes={("win", 0)}), **keys)
    assert scores(events) == money


def test_2_13_xing_of_another_than_the_dealer() -> None:
    # 27 huxi: 5 tun x 6 fan = 30; single xing 6. The other loser 30 + 12, the dealer 30 + 6, the sitter 6
    hands = {1: "伍伍伍捌捌捌玖玖玖二三四四肆六六陆壹壹壹"}
    events, _ = play(hands, "一", Script(takes={("win", 1)}))
    assert scores(events) == [-36, 84, -6, -42]
    events, _ = play(hands, "一", Script(takes={("win", 1)}), xing__singles=1)
    assert scores(events) == [-36, 72, 0, -36]


def test_fill_keeps_what_is_given() -> None:
    deck = fill({0: "一一", 1: "王"}, "九", 2, [0, 1, 3])
    assert len(deck) == 82
    assert deck[:2] == [0, 0]
    assert deck[61] == 8
