"""The state of a game in progress as one row of numbers: kept, and brought back to be played on from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.cards import WANG
from sim.state import DECK, GAME_FIELDS, MAX_MELDS, PUBLIC_FIELDS, SEAT_FIELDS, SEATS, Table

Ints = npt.NDArray[np.int64]

_HAND = WANG + 1  # kinds and the wang
SNAPSHOT = SEATS * (_HAND + SEAT_FIELDS + PUBLIC_FIELDS + MAX_MELDS * 5) + DECK + _HAND + GAME_FIELDS
"""Length of a state kept by :func:`save`."""


@kernel
def save(t: Table, kept: Ints) -> None:
    """Keep the state of a game in progress in ``kept`` (SNAPSHOT,).

    The win and the chi options of a pending decision are not part of it.

    Plain loops: slices take numba ten times as long to compile.
    """
    at = 0
    for seat in range(SEATS):
        for kind in range(_HAND):
            kept[at] = t.hand[seat, kind]
            at += 1
        for field in range(SEAT_FIELDS):
            kept[at] = t.seat[seat, field]
            at += 1
        for field in range(PUBLIC_FIELDS):
            kept[at] = t.public[seat, field]
            at += 1
        for meld in range(MAX_MELDS):
            for field in range(3):
                kept[at] = t.melds[seat, meld, field]
                at += 1
            for field in range(2):
                kept[at] = t.shown[seat, meld, field]
                at += 1
    for place in range(DECK):
        kept[at] = t.deck[place]
        at += 1
    for kind in range(_HAND):
        kept[at] = t.seen[kind]
        at += 1
    for field in range(GAME_FIELDS):
        kept[at] = t.game[field]
        at += 1


@kernel
def restore(kept: Ints, t: Table) -> None:
    """Bring a state kept by :func:`save` back onto the table."""
    at = 0
    for seat in range(SEATS):
        for kind in range(_HAND):
            t.hand[seat, kind] = kept[at]
            at += 1
        for field in range(SEAT_FIELDS):
            t.seat[seat, field] = kept[at]
            at += 1
        for field in range(PUBLIC_FIELDS):
            t.public[seat, field] = kept[at]
            at += 1
        for meld in range(MAX_MELDS):
            for field in range(3):
                t.melds[seat, meld, field] = kept[at]
                at += 1
            for field in range(2):
                t.shown[seat, meld, field] = kept[at]
                at += 1
    for place in range(DECK):
        t.deck[place] = kept[at]
        at += 1
    for kind in range(_HAND):
        t.seen[kind] = kept[at]
        at += 1
    for field in range(GAME_FIELDS):
        t.game[field] = kept[at]
        at += 1
    t.money[:] = 0  # nothing is paid before a game ends
