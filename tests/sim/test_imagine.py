"""Imagined worlds: all cards are there, all that the seat knows stays, and nothing hidden shapes them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from secrets_of import deal_secrets_anew, decisions, params_of

from sim.bots.decisions import D_CHI, D_WIN
from sim.cards import KINDS, WANG
from sim.engine import PH_BEFORE
from sim.groups import GROUP_KINDS, PAO, PENG
from sim.imagine import POOL, imagine
from sim.state import (
    CARD,
    CHI_BLOCK,
    CODE,
    DECIDER,
    DECISION,
    END,
    FREE,
    HUXI,
    KANS,
    MELDS,
    N_OPTIONS,
    OPEN_WEIS,
    OWNED,
    P_ACTIVE,
    PAIRS,
    PENGS,
    PHASE,
    QUADS,
    REDS,
    TOP,
    WEIS,
    Table,
    copy_table,
)

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("two_wang", {}),
    ("four_wang", {}),
    ("three_wang", {"table.seats": 3, "xing.card": "flip"}),
    ("four_wang", {"turn.extra_quad": "replacement_draw", "win.forced_first": False}),
    ("two_wang", {"deck.wangs": 0, "pass.blocks_chi": False, "pass.own_discard_blocks_chi": False}),
]
DERIVED = (OWNED, QUADS, MELDS, HUXI, REDS, KANS, PAIRS, FREE, CODE, WEIS, OPEN_WEIS, PENGS)


def imagined(params: Any, table: Table, number: int, word: int = 12345) -> Table:
    world = copy_table(table)
    imagine(params, world, int(table.game[DECIDER]), word, 678, number, np.zeros(POOL, dtype=np.int64))
    return world


def cards_on(table: Table) -> Counter[int]:
    """Cards by kind in hands, groups and wall; what lies dead is not there."""
    found: Counter[int] = Counter()
    for seat in range(4):
        for kind in range(KINDS + 1):
            found[kind] += int(table.hand[seat, kind])
        for number in range(int(table.seat[seat, MELDS])):
            group_type, what = (int(value) for value in table.melds[seat, number, :2])
            if group_type <= PENG:
                found[what] += 4 if group_type <= PAO else 3
            else:
                found.update(int(kind) for kind in GROUP_KINDS[what])
    found.update(int(kind) for kind in table.deck[int(table.game[TOP]) : int(table.game[END])])
    return found


@pytest.mark.parametrize(("variant", "overrides"), VARIANTS)
def test_cards_are_conserved_and_the_seat_sees_no_difference(variant: str, overrides: dict[str, Any]) -> None:
    params = params_of(variant, overrides)
    moved = 0
    for table in decisions(variant, overrides, "greedy", range(15)):
        seat, decision = int(table.game[DECIDER]), int(table.game[DECISION])
        before = copy_table(table)
        for number in range(2):
            world = imagined(params, table, number)
            assert cards_on(world) == cards_on(before)
            for name in ("hand", "seat", "melds"):
                assert (getattr(world, name)[seat] == getattr(before, name)[seat]).all(), name
            for name in ("seen", "shown", "public", "game"):
                assert (getattr(world, name) == getattr(before, name)).all(), name
            if decision == D_WIN:
                assert (world.win == before.win).all()
            if decision == D_CHI:
                count = int(table.game[N_OPTIONS])
                assert (world.options[:count] == before.options[:count]).all()
            moved += int((world.hand != before.hand).any())
    assert moved > 300


@pytest.mark.parametrize(("variant", "overrides"), VARIANTS)
def test_what_others_have_noted_fits_their_imagined_cards(variant: str, overrides: dict[str, Any]) -> None:
    """With the true cards in place of imagined ones the notes are the true ones; so they are made rightly."""
    params = params_of(variant, overrides)
    for table in decisions(variant, overrides, "random", range(8)):
        decider = int(table.game[DECIDER])
        world = imagined(params, table, 1)
        for seat in range(4):
            if seat == decider or not table.public[seat, P_ACTIVE]:
                continue
            row, hand = world.seat[seat], world.hand[seat]
            assert hand.min() >= 0
            assert hand[:KINDS].max() <= 3
            assert hand.sum() == table.hand[seat].sum()
            assert row[KANS] == sum(1 << kind for kind in range(KINDS) if hand[kind] == 3)
            assert row[PAIRS] == sum(1 << kind for kind in range(KINDS) if hand[kind] == 2)
            assert row[FREE] == sum(int(hand[kind]) for kind in range(KINDS) if hand[kind] <= 2)
            assert row[CODE] == sum(int(hand[kind]) * 3**kind for kind in range(KINDS) if hand[kind] <= 2)
            for field in (OWNED, QUADS, MELDS, OPEN_WEIS, PENGS, CHI_BLOCK):
                assert row[field] == table.seat[seat, field], field
            kinds = table.melds[seat, : row[MELDS], 1] == world.melds[seat, : row[MELDS], 1]
            if kinds.all():
                for field in (HUXI, REDS, WEIS):
                    assert row[field] == table.seat[seat, field], field


def test_worlds_depend_on_what_the_seat_knows_only() -> None:
    params = params_of("four_wang")
    compared = 0
    for number, table in enumerate(decisions("four_wang", {}, "greedy", range(12))):
        other = copy_table(table)
        deal_secrets_anew(params, other, number)
        compared += int((other.hand != table.hand).any())
        one, two = imagined(params, table, 3), imagined(params, other, 3)
        for name in ("hand", "melds", "seen", "shown", "public"):
            assert (getattr(one, name) == getattr(two, name)).all(), name
        top, end = int(table.game[TOP]), int(table.game[END])
        assert (one.deck[top:end] == two.deck[top:end]).all()
        for field in DERIVED:
            assert (one.seat[:, field] == two.seat[:, field]).all()
    assert compared > 150


def test_every_hidden_card_is_equally_likely_in_every_place() -> None:
    """At the first decision a wang not in the own hand is with either opponent as often as it must be by chance."""
    params = params_of("two_wang")
    table = next(iter(decisions("two_wang", {}, "greedy", range(1, 2))))
    seat = int(table.game[DECIDER])
    others = [other for other in range(4) if other != seat and table.public[other, P_ACTIVE]]
    count = 4000
    wangs = dict.fromkeys(others, 0)
    for number in range(count):
        world = imagined(params, table, number)
        for other in others:
            wangs[other] += int(world.hand[other, WANG])
    hidden = sum(int(table.hand[other].sum()) for other in others) + int(table.game[END] - table.game[TOP])
    own = int(table.hand[seat, WANG])
    for other in others:
        share = int(table.hand[other].sum()) / hidden
        expected = (2 - own) * share * count
        assert abs(wangs[other] - expected) < 5 * np.sqrt(expected)


def test_nobody_holds_three_of_a_kind_that_went_by() -> None:
    """A pao is forced, so three alike of a kind that was shown and stayed would have been laid."""
    params = params_of("two_wang")
    seen = 0
    for table in decisions("two_wang", {}, "greedy", range(10)):
        seat = int(table.game[DECIDER])
        dropped = 0
        for other in range(4):
            dropped |= int(table.public[other, 6]) | int(table.public[other, 7])
        world = imagined(params, table, 0)
        for other in range(4):
            if other != seat and table.public[other, P_ACTIVE]:
                for kind in range(KINDS):
                    if dropped >> kind & 1:
                        seen += 1
                        assert world.hand[other, kind] <= 2
                        assert table.hand[other, kind] <= 2
    assert seen > 500


def test_the_own_hidden_draw_is_known() -> None:
    """Asked to win before a ti or wei is laid, the seat knows the card that nobody else has seen."""
    overrides = {"win.forced_first": False, "win.wang_limit.mode": "none", "win.min_huxi": 0}
    params = params_of("four_wang", overrides)
    found = 0
    for table in decisions("four_wang", overrides, "greedy", range(150)):
        if int(table.game[PHASE]) == PH_BEFORE:
            found += 1
            world = imagined(params, table, 0)
            assert cards_on(world) == cards_on(table)
            assert cards_on(world)[int(table.game[CARD])] <= 3
    assert found > 3
