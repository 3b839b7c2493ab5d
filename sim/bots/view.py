"""What a bot may see: its own seat's cards and everything that lies open, nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.state import DECIDER, Table

Ints = npt.NDArray[np.int64]


class View(NamedTuple):
    """The knowledge of the seat that decides; arrays are rows of the table, not copies, and never written to."""

    hand: Ints
    """(21,) own concealed cards by kind; position 20 counts wangs."""
    seat: Ints
    """(SEAT_FIELDS,) own masks, blocks, counts and random words."""
    melds: Ints
    """(8, 3) own groups: type, kind or group number of a chi, open flag."""
    seen: Ints
    """(21,) cards of each kind that lie face up."""
    shown: Ints
    """(4, 8, 2) everybody's groups as all see them: type, kind (-1 face down) or group number of a chi."""
    public: Ints
    """(4, PUBLIC_FIELDS) of every seat: numbers of cards, groups, quads, open wangs, dead, discards, passes."""
    game: Ints
    """(GAME_FIELDS,) card on the table, who showed it, wall, dealer, sitter, the decision asked."""
    options: Ints
    """(64, 4) chi options: number of groups, group numbers; valid up to ``game[N_OPTIONS]``."""
    win: Ints
    """(WIN_FIELDS,) the win offered (``W_SCORE``, ``W_FAN``, …) when the decision is a win."""
    notes: Ints
    """(NOTES,) scratch; the bot may write here, and what it wrote is gone at the next decision."""


@kernel
def view_of(t: Table) -> View:
    """The view of the seat that decides now."""
    seat = t.game[DECIDER]
    return View(
        t.hand[seat],
        t.seat[seat],
        t.melds[seat],
        t.seen,
        t.shown,
        t.public,
        t.game,
        t.options,
        t.win,
        t.notes,
    )
