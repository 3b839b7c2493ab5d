"""Laying groups down: what every ti, wei, pao, peng and chi does to the table, and the log of it."""

from __future__ import annotations

from sim._jit import kernel
from sim.cards import WANG, is_red, size_of
from sim.groups import GROUP_KINDS, GROUP_TYPE, KAN, PAO, PENG, TI, WEI
from sim.params import Params
from sim.state import (
    HUXI,
    KANS,
    LOGGING,
    MELDS,
    N_LOG,
    OPEN_WEIS,
    OWNED,
    P_CONCEALED,
    P_MELDS,
    P_QUADS,
    PENGS,
    QUADS,
    REDS,
    WEIS,
    Table,
    change,
)

# event types of the log; the names of formats.md are in sim.replay
(
    EV_TI,
    EV_DRAW,
    EV_WEI,
    EV_PAO,
    EV_PENG,
    EV_CHI,
    EV_PASS,
    EV_DISCARD,
    EV_DEAD,
    EV_WIN,
    EV_DRAW_GAME,
) = range(1, 12)

FROM_DEAL, FROM_DRAW = range(2)


@kernel
def log_event(t: Table, event: int, seat: int, card: int, a: int, b: int, c: int) -> None:
    """Write an event to the log, where one is wanted."""
    if not t.game[LOGGING]:
        return
    row = t.log[t.game[N_LOG]]
    row[0] = event
    row[1] = seat
    row[2] = card
    row[3] = a
    row[4] = b
    row[5] = c
    t.game[N_LOG] += 1


@kernel
def show_draw(t: Table) -> None:
    """Mark the draw just logged as shown: a win declared before the ti or wei puts the card on the table."""
    if t.game[LOGGING]:
        t.log[t.game[N_LOG] - 1, 3] = 0


@kernel
def move_cards(t: Table, seat: int, kind: int, number: int) -> None:
    """Add concealed cards (negative: take away), without changing what the seat owns."""
    change(t.hand[seat], t.seat[seat], kind, number)
    t.public[seat, P_CONCEALED] += number


@kernel
def _lay(p: Params, t: Table, seat: int, group_type: int, kind: int, is_open: int) -> None:
    """Put a group of equal cards on the table (its cards have left the hand)."""
    row = t.seat[seat]
    number = row[MELDS]
    t.melds[seat, number, 0] = group_type
    t.melds[seat, number, 1] = kind
    t.melds[seat, number, 2] = is_open
    t.shown[seat, number, 0] = group_type
    t.shown[seat, number, 1] = kind if is_open else -1
    row[MELDS] += 1
    row[HUXI] += p.huxi[group_type, size_of(kind)]
    row[REDS] += is_red(kind) * (4 if group_type <= PAO else 3)
    t.public[seat, P_MELDS] = row[MELDS]
    if group_type <= PAO:
        row[QUADS] += 1
        t.public[seat, P_QUADS] = row[QUADS]


@kernel
def _lift(p: Params, t: Table, seat: int, old_type: int, new_type: int, kind: int, is_open: int) -> None:
    """Turn an own wei or peng into a quad."""
    row = t.seat[seat]
    for number in range(row[MELDS]):
        if t.melds[seat, number, 0] == old_type and t.melds[seat, number, 1] == kind:
            t.melds[seat, number, 0] = new_type
            t.melds[seat, number, 2] = is_open
            t.shown[seat, number, 0] = new_type
            t.shown[seat, number, 1] = kind if is_open else -1
    row[HUXI] += p.huxi[new_type, size_of(kind)] - p.huxi[old_type, size_of(kind)]
    row[REDS] += is_red(kind)
    row[QUADS] += 1
    t.public[seat, P_QUADS] = row[QUADS]
    mask = ~(1 << kind)
    row[WEIS] &= mask
    row[PENGS] &= mask
    row[OPEN_WEIS] &= mask


@kernel
def lay_dealt_ti(p: Params, t: Table, seat: int, kind: int) -> None:
    """Rule 1.7 ti: four alike in the dealt hand are laid down at once, face down."""
    move_cards(t, seat, kind, -4)
    _lay(p, t, seat, TI, kind, 0)


@kernel
def lay_ti(p: Params, t: Table, seat: int, kind: int) -> int:
    """Rule 2.3 draw ti: the own draw joins a concealed kan or an own wei; compulsory, face down.

    Returns
    -------
    int
        The base, ``KAN`` or ``WEI``.
    """
    row = t.seat[seat]
    row[OWNED] += 1
    if (row[KANS] >> kind) & 1:
        move_cards(t, seat, kind, -3)
        _lay(p, t, seat, TI, kind, 0)
        return KAN
    is_open = (row[OPEN_WEIS] >> kind) & 1
    _lift(p, t, seat, WEI, TI, kind, is_open)
    t.seen[kind] += is_open
    return WEI


@kernel
def lay_wei(p: Params, t: Table, seat: int, kind: int, is_open: int) -> None:
    """Rule 2.1 wei: the own draw joins the concealed pair; compulsory, face down unless a chou wei (2.2)."""
    row = t.seat[seat]
    row[OWNED] += 1
    move_cards(t, seat, kind, -2)
    _lay(p, t, seat, WEI, kind, is_open)
    row[WEIS] |= 1 << kind
    if is_open:
        row[OPEN_WEIS] |= 1 << kind
        t.seen[kind] += 3


@kernel
def lay_pao(p: Params, t: Table, seat: int, kind: int) -> int:
    """A shown card joins a concealed kan, an own wei or an own peng; compulsory (2.5).

    Returns
    -------
    int
        The base, ``KAN``, ``WEI`` or ``PENG``.
    """
    row = t.seat[seat]
    row[OWNED] += 1
    t.seen[kind] = 4
    if (row[KANS] >> kind) & 1:
        move_cards(t, seat, kind, -3)
        _lay(p, t, seat, PAO, kind, 1)
        return KAN
    base = WEI if (row[WEIS] >> kind) & 1 else PENG
    _lift(p, t, seat, base, PAO, kind, 1)
    return base


@kernel
def lay_peng(p: Params, t: Table, seat: int, kind: int) -> None:
    """Another's card joins the own pair, open (2.4)."""
    row = t.seat[seat]
    row[OWNED] += 1
    move_cards(t, seat, kind, -2)
    _lay(p, t, seat, PENG, kind, 1)
    row[PENGS] |= 1 << kind
    t.seen[kind] += 2


@kernel
def lay_chi(p: Params, t: Table, seat: int, kind: int, number: int) -> None:
    """Lay the groups of option ``number``; all but the claimed card leave the hand (2.9, 2.11)."""
    row = t.seat[seat]
    row[OWNED] += 1
    claimed = 1
    for place in range(t.options[number, 0]):
        group = t.options[number, 1 + place]
        meld = row[MELDS]
        t.melds[seat, meld, 0] = GROUP_TYPE[group]
        t.melds[seat, meld, 1] = group
        t.melds[seat, meld, 2] = 1
        t.shown[seat, meld, 0] = GROUP_TYPE[group]
        t.shown[seat, meld, 1] = group
        row[MELDS] += 1
        row[HUXI] += p.group_huxi[group]
        for position in range(3):
            card = GROUP_KINDS[group, position]
            row[REDS] += is_red(card)
            if card == kind and claimed:
                claimed = 0
            else:
                move_cards(t, seat, card, -1)
                t.seen[card] += 1
    t.public[seat, P_MELDS] = row[MELDS]


@kernel
def take_wang(t: Table, seat: int) -> None:
    """Rule 1.4 wang: a drawn wang is shown and taken into the hand."""
    t.seat[seat, OWNED] += 1
    move_cards(t, seat, WANG, 1)
