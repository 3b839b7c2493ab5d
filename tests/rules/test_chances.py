"""Exact chances of the deal, derived here once more, and the engine's own deals against them.

The bound is an exact binomial test: with a fixed seed it says once whether the deals fit, and a wrong shuffle, deck or
number of cards in a hand moves the count by far more than it allows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

import pytest
from scipy.stats import binomtest

from analysis import exact
from sim._jit import PURE
from sim.bots import BOTS
from sim.cards import WANG
from sim.gamelog import Player
from sim.groups import TI
from sim.state import DEALT_WANGS, KANS, MELDS
from sim.variant import PRESETS, load_variant

DEALS = 3_000 if PURE else 30_000
LEAST_P = 1e-5  # 27 tests: a right engine fails once in some thousands of seeds
SIZES = (21, 20, 20)
WANGS = {"two_wang": 2, "three_wang": 3, "four_wang": 4}


def all_wangs_in_one_hand(wangs: int) -> Fraction:
    """One of the three hands takes all; the other cards are any."""
    return sum((Fraction(comb(80, size - wangs), comb(80 + wangs, size)) for size in SIZES), Fraction(0))


def no_wang_in_a_hand(wangs: int) -> Fraction:
    """The 61 dealt cards are all ordinary."""
    return Fraction(comb(80, 61), comb(80 + wangs, 61))


def no_wang_in_the_wall(wangs: int) -> Fraction:
    return Fraction(comb(80, 61 - wangs), comb(80 + wangs, 61))


def some_kind(number: int, size: int, wangs: int) -> Fraction:
    """Exactly ``number`` of at least one kind, by inclusion and exclusion over the kinds that are so held."""
    total = 0
    for kinds in range(1, size // number + 1):
        ways = comb(20, kinds) * comb(4, number) ** kinds
        total -= (-1) ** kinds * ways * comb(80 + wangs - 4 * kinds, size - number * kinds)
    return Fraction(total, comb(80 + wangs, size))


def chances(wangs: int) -> dict[str, Fraction]:
    found = {
        "all wangs in one hand": all_wangs_in_one_hand(wangs),
        "no wang in a hand": no_wang_in_a_hand(wangs),
        "no wang in the wall": no_wang_in_the_wall(wangs),
    }
    for place, size in enumerate(SIZES):
        found[f"ti of hand {place}"] = some_kind(4, size, wangs)
        found[f"kan of hand {place}"] = some_kind(3, size, wangs)
    return found


@pytest.mark.parametrize(
    ("wangs", "one_hand", "no_hand", "no_wall"),
    [
        (2, "0.177657", "0.06323", "0.5510"),
        (3, "0.039290", "0.01676", "0.3917"),
        (4, "0.008124", "0.00459", "0.2705"),
    ],
)
def test_chances_of_the_rules_document(wangs: int, one_hand: str, no_hand: str, no_wall: str) -> None:
    found = list(chances(wangs).values())[:3]
    for chance, text in zip(found, (one_hand, no_hand, no_wall), strict=True):
        assert f"{float(chance):.{len(text) - 2}f}" == text


@pytest.mark.parametrize("wangs", [2, 3, 4])
def test_both_derivations_agree(wangs: int) -> None:
    assert all_wangs_in_one_hand(wangs) == exact.all_in_one_hand(wangs)
    assert no_wang_in_a_hand(wangs) == exact.none_in_hands(wangs)
    assert no_wang_in_the_wall(wangs) == exact.none_in_wall(wangs)
    for size in (20, 21):
        assert some_kind(4, size, wangs) == exact.chance_of_ti(size, wangs)
        assert some_kind(3, size, wangs) == exact.chance_of_kan(size, wangs)


@cache
def dealt(variant: str) -> dict[str, int]:
    """How often each event came up in the engine's deals; the dealer's hand is hand 0."""
    player = Player(load_variant(variant, {"table.first_dealer": "owner"}), (sorted(BOTS)[0],) * 3, 2026)
    wangs, counts = WANGS[variant], dict.fromkeys(chances(2), 0)
    t = player.table
    for game in range(DEALS):
        player.deal(game)
        seats = (0, 1, 3)
        held = [int(t.seat[seat, DEALT_WANGS]) for seat in seats]
        assert held == [int(t.hand[seat, WANG]) for seat in seats]
        counts["all wangs in one hand"] += wangs in held
        counts["no wang in a hand"] += sum(held) == 0
        counts["no wang in the wall"] += sum(held) == wangs
        for place, seat in enumerate(seats):
            counts[f"ti of hand {place}"] += int(t.seat[seat, MELDS]) > 0  # nothing but ti is laid yet
            counts[f"kan of hand {place}"] += int(t.seat[seat, KANS]) > 0
    return counts


@pytest.mark.parametrize("event", list(chances(2)))
@pytest.mark.parametrize("variant", list(PRESETS))
def test_dealt_hands_fit_the_exact_chances(variant: str, event: str) -> None:
    chance = float(chances(WANGS[variant])[event])
    assert binomtest(dealt(variant)[event], DEALS, chance).pvalue > LEAST_P


def test_the_bound_tells_decks_apart() -> None:
    """The deals of three wangs do not fit the chances of two or four."""
    for wangs in (2, 4):
        for event in ("all wangs in one hand", "no wang in a hand", "no wang in the wall"):
            found = binomtest(dealt("three_wang")[event], DEALS, float(chances(wangs)[event]))
            assert found.pvalue < LEAST_P


def test_dealt_groups_are_all_ti() -> None:
    player = Player(load_variant("two_wang"), (sorted(BOTS)[0],) * 3, 5)
    seen = 0
    for game in range(200):
        player.deal(game)
        t = player.table
        for seat in range(4):
            for number in range(int(t.seat[seat, MELDS])):
                seen += 1
                assert int(t.melds[seat, number, 0]) == TI
    assert seen > 10
