"""Options offered and taken in games, counted from their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sim.variant import Variant

IntArray = NDArray[np.int64]

OPTIONS = (
    "win",
    "pass_win",
    "peng",
    "pass_peng",
    "chi",
    "pass_chi",
    "chi_two_seven_ten",
    "chi_one_two_three",
    "chi_run",
    "chi_jiao",
    "chi_bi",
)
"""Columns of :func:`count_options`: taken and passed wins, pengs and chis; chis with a group of each kind, and with
further groups."""


def count_options(
    variant: Variant, bots: tuple[str, str, str], seed: int, first: int, games: int
) -> IntArray:
    """Play games with a log and count what was offered and taken, by all players together.

    Parameters
    ----------
    variant : Variant
    bots : three str
        Dealer, next, third.
    seed, first, games : int
        Which games.

    Returns
    -------
    ndarray of int64, shape (games, len(OPTIONS))
    """
    from sim.gamelog import Player
    from sim.groups import GROUP_TYPE, JIAO, ONE_TWO_THREE, RUN, TWO_SEVEN_TEN
    from sim.rules.lay import EV_CHI, EV_PASS, EV_PENG, EV_WIN
    from sim.state import N_LOG

    at = {name: number for number, name in enumerate(OPTIONS)}
    kinds = {
        TWO_SEVEN_TEN: at["chi_two_seven_ten"],
        ONE_TWO_THREE: at["chi_one_two_three"],
        RUN: at["chi_run"],
        JIAO: at["chi_jiao"],
    }
    passed = {1: at["pass_win"], 2: at["pass_peng"], 3: at["pass_chi"]}
    taken = {EV_WIN: at["win"], EV_PENG: at["peng"], EV_CHI: at["chi"]}
    counts = np.zeros((games, len(OPTIONS)), dtype=np.int64)
    player = Player(variant, bots, seed)
    for number in range(games):
        table = player.finish(first + number)
        for row in table.log[: int(table.game[N_LOG])].tolist():
            if row[0] in taken:
                counts[number, taken[row[0]]] += 1
            elif row[0] == EV_PASS:
                counts[number, passed[row[3]]] += 1
            if row[0] == EV_CHI:
                groups = [group for group in row[3:6] if group >= 0]
                for kind in {int(GROUP_TYPE[group]) for group in groups}:
                    counts[number, kinds[kind]] += 1
                counts[number, at["chi_bi"]] += len(groups) > 1
    return counts
