"""Exact chances of the deal against the settled figures and against brute force on small cases."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from analysis import exact


@pytest.mark.parametrize(("wangs", "one_hand", "no_hand", "no_wall"), [
    (2, "0.177657", "0.06323", "0.5510"),
    (3, "0.039290", "0.01676", "0.3917"),
    (4, "0.008124", "0.00459", "0.2705"),
])  # fmt: skip
def test_1_13_settled_figures(wangs: int, one_hand: str, no_hand: str, no_wall: str) -> None:
    for found, wanted in (
        (exact.all_in_one_hand(wangs), one_hand),
        (exact.none_in_hands(wangs), no_hand),
        (exact.none_in_wall(wangs), no_wall),
    ):
        assert f"{float(found):.{len(wanted) - 2}f}" == wanted


@pytest.mark.parametrize(("wangs", "number"), [(0, 1), (1, 4), (2, 10), (3, 20), (4, 35)])
def test_strata_are_a_law(wangs: int, number: int) -> None:
    strata = exact.wang_strata(wangs)
    assert len(strata) == number
    assert sum(strata.values()) == 1
    assert all(sum(stratum) == wangs and chance > 0 for stratum, chance in strata.items())
    assert list(strata) == sorted(strata)


@pytest.mark.parametrize("wangs", [1, 2, 3, 4])
def test_strata_agree_with_the_law_of_one_hand(wangs: int) -> None:
    strata = exact.wang_strata(wangs)
    for seat, hand in enumerate(exact.HANDS):
        for count, chance in exact.hand_law(hand, wangs).items():
            assert sum(p for stratum, p in strata.items() if stratum[seat] == count) == chance
        mean = sum(p * stratum[seat] for stratum, p in strata.items())
        assert mean == Fraction(hand * wangs, 80 + wangs)


def test_deck_without_wangs() -> None:
    assert exact.wang_strata(0) == {(0, 0, 0, 0): 1}
    assert exact.all_in_one_hand(0) == 0
    assert exact.none_in_wall(0) == 1


@pytest.mark.parametrize("copies", [1, 2, 3, 4])
@pytest.mark.parametrize(("hand", "wangs"), [(21, 0), (21, 4), (20, 2), (4, 1), (3, 0)])
def test_alike_law_sums_to_one_with_the_known_mean(copies: int, hand: int, wangs: int) -> None:
    law = exact.alike_law(copies, hand, wangs)
    assert sum(law.values()) == 1
    assert sum(kinds * chance for kinds, chance in law.items()) == exact.expected_alike(copies, hand, wangs)


def test_alike_law_by_inclusion_and_exclusion() -> None:
    for hand, wangs in ((21, 2), (20, 4)):
        whole = comb(80 + wangs, hand)
        at_least_one = sum(
            (-1) ** (kinds + 1) * comb(20, kinds) * comb(80 + wangs - 4 * kinds, hand - 4 * kinds)
            for kinds in range(1, hand // 4 + 1)
        )
        assert exact.chance_of_ti(hand, wangs) == Fraction(at_least_one, whole)


def test_four_cards_are_a_ti_in_twenty_ways() -> None:
    assert exact.chance_of_ti(4, 0) == Fraction(20, comb(80, 4))
    assert exact.chance_of_kan(3, 0) == Fraction(20 * 4, comb(80, 3))
    assert exact.chance_of_ti(3, 0) == 0


def test_dealt_hands_by_simulation() -> None:
    rng = np.random.default_rng(20240501)
    deals = 40_000
    deck = np.repeat(np.arange(21), [4] * 20 + [3])
    hands = np.stack([rng.permutation(deck)[:21] for _ in range(deals)])
    counts = np.stack([(hands == kind).sum(axis=1) for kind in range(20)], axis=1)
    for copies, chance in ((4, exact.chance_of_ti(21, 3)), (3, exact.chance_of_kan(21, 3))):
        share = (counts == copies).any(axis=1).mean()
        error = (float(chance) * (1 - float(chance)) / deals) ** 0.5
        assert abs(share - float(chance)) < 4.5 * error


@pytest.mark.parametrize("call", [
    lambda: exact.wang_strata(5),
    lambda: exact.places(-1),
    lambda: exact.alike_law(5, 20, 2),
    lambda: exact.alike_law(3, 99, 2),
    lambda: exact.expected_alike(0, 20, 2),
    lambda: exact.hand_law(90, 4),
])  # fmt: skip
def test_impossible_arguments_are_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match="not"):
        call()
