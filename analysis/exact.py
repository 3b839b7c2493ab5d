"""Exact chances of the deal: where the wangs go, and how many ti and kan are dealt.

The dealer gets 21 cards, the two other active players 20 each, and the rest is the wall. All results are
fractions; nothing is rounded.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, prod

KINDS = 20
COPIES = 4
ORDINARY = KINDS * COPIES
HANDS = (21, 20, 20)
"""Cards dealt to the dealer, the next and the third player."""

Stratum = tuple[int, int, int, int]
"""Wangs dealt to the dealer, the next and the third player, and left in the wall."""


def _check_wangs(wangs: int) -> None:
    if not 0 <= wangs <= COPIES:
        raise ValueError(f"a deck has 0 to 4 wangs, not {wangs}")


def places(wangs: int) -> tuple[int, int, int, int]:
    """Cards in the hand of the dealer, the next and the third player and in the wall."""
    _check_wangs(wangs)
    return (*HANDS, ORDINARY + wangs - sum(HANDS))


@cache
def wang_strata(wangs: int) -> dict[Stratum, Fraction]:
    """Every way the wangs can fall, with its chance (multivariate hypergeometric).

    Parameters
    ----------
    wangs : int
        Wangs in the deck, 0 to 4.

    Returns
    -------
    dict
        Stratum to chance, in ascending order; 10, 20, 35 strata for 2, 3, 4 wangs. The chances sum to 1.

    Raises
    ------
    ValueError
        For another number of wangs.
    """
    sizes = places(wangs)
    whole = comb(sum(sizes), wangs)
    strata = {}
    for dealer, following, third in product(range(wangs + 1), repeat=3):
        rest = wangs - dealer - following - third
        if rest >= 0:
            stratum = (dealer, following, third, rest)
            ways = prod(comb(size, count) for size, count in zip(sizes, stratum, strict=True))
            strata[stratum] = Fraction(ways, whole)
    return strata


def all_in_one_hand(wangs: int) -> Fraction:
    """Chance that one starting hand holds every wang of the deck (0 for a deck without wangs)."""
    if wangs == 0:
        return Fraction(0)
    strata = wang_strata(wangs)
    return sum((chance for stratum, chance in strata.items() if wangs in stratum[:3]), Fraction(0))


def none_in_hands(wangs: int) -> Fraction:
    """Chance that no starting hand holds a wang: all are in the wall."""
    return wang_strata(wangs)[0, 0, 0, wangs]


def none_in_wall(wangs: int) -> Fraction:
    """Chance that every wang is dealt and the wall has none."""
    strata = wang_strata(wangs)
    return sum((chance for stratum, chance in strata.items() if stratum[3] == 0), Fraction(0))


def hand_law(hand: int, wangs: int) -> dict[int, Fraction]:
    """Chance of each number of wangs in a starting hand of ``hand`` cards (hypergeometric)."""
    _check_wangs(wangs)
    _check_hand(hand, wangs)
    whole = comb(ORDINARY + wangs, hand)
    return {
        count: Fraction(comb(wangs, count) * comb(ORDINARY, hand - count), whole)
        for count in range(wangs + 1)
        if count <= hand
    }


def _check_hand(hand: int, wangs: int) -> None:
    if not 0 <= hand <= ORDINARY + wangs:
        raise ValueError(f"a hand has 0 to {ORDINARY + wangs} cards, not {hand}")


@cache
def alike_law(copies: int, hand: int, wangs: int) -> dict[int, Fraction]:
    """Law of the number of kinds of which a dealt hand holds exactly ``copies`` cards.

    Parameters
    ----------
    copies : int
        3 for a kan, 4 for a ti (1 and 2 work as well).
    hand : int
        Cards in the hand: 21 for the dealer, 20 for the others.
    wangs : int
        Wangs in the deck, which are no part of a dealt kan or ti.

    Returns
    -------
    dict
        Number of such kinds to its chance, for all numbers that are possible.

    Notes
    -----
    With j kinds fixed at ``copies`` and every other kind elsewhere, the hands are counted by the
    coefficient of x^hand in C(20, j) (c x^copies)^j ((1 + x)^4 − c x^copies)^(20 − j) (1 + x)^wangs with
    c = C(4, copies).
    """
    _check_wangs(wangs)
    _check_hand(hand, wangs)
    if not 1 <= copies <= COPIES:
        raise ValueError(f"a kind is held 1 to 4 times, not {copies}")
    others = [comb(COPIES, count) if count != copies else 0 for count in range(COPIES + 1)]
    whole = comb(ORDINARY + wangs, hand)
    powers = [[comb(wangs, count) for count in range(wangs + 1)]]  # powers[i] = (1 + x)^wangs · others^i
    for _ in range(KINDS):
        powers.append(_multiply(powers[-1], others)[: hand + 1])
    law = {}
    for kinds in range(KINDS + 1):
        left = hand - kinds * copies
        series = powers[KINDS - kinds]
        if 0 <= left < len(series) and series[left]:
            ways = comb(KINDS, kinds) * comb(COPIES, copies) ** kinds * series[left]
            law[kinds] = Fraction(ways, whole)
    return law


def _multiply(first: list[int], second: list[int]) -> list[int]:
    result = [0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            result[i + j] += a * b
    return result


def chance_of_ti(hand: int, wangs: int) -> Fraction:
    """Chance that a dealt hand of ``hand`` cards has at least one ti (four alike)."""
    return 1 - alike_law(4, hand, wangs).get(0, Fraction(0))


def chance_of_kan(hand: int, wangs: int) -> Fraction:
    """Chance that a dealt hand of ``hand`` cards has at least one kan (three alike, not four)."""
    return 1 - alike_law(3, hand, wangs).get(0, Fraction(0))


def expected_alike(copies: int, hand: int, wangs: int) -> Fraction:
    """Return the expected number of kinds of which a hand holds exactly ``copies`` cards (ti 4, kan 3)."""
    _check_wangs(wangs)
    _check_hand(hand, wangs)
    rest = ORDINARY + wangs - COPIES
    if not 1 <= copies <= COPIES:
        raise ValueError(f"a kind is held 1 to 4 times, not {copies}")
    if copies > hand:
        return Fraction(0)
    return Fraction(KINDS * comb(COPIES, copies) * comb(rest, hand - copies), comb(ORDINARY + wangs, hand))
