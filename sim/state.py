"""The table of one game: a bundle of int64 arrays, and the named positions in them.

Everything secret is in ``hand``, ``seat``, ``melds`` and ``deck``; what every seat may know is in ``seen``,
``shown``, ``public`` and ``game``. A bot gets its own rows of the first and all of the second
(:class:`sim.bots.view.View`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim._jit import kernel, record
from sim.cards import KINDS, NO_CARD, WANG, is_red
from sim.rows import NULL

Ints = npt.NDArray[np.int64]

SEATS = 4
DECK = 84
MAX_MELDS = 8
MAX_OPTIONS = 64
OPTION_WIDTH = 4  # groups in it, then up to three group numbers
LOG_WIDTH = 8
LOG_EVENTS = 1024

# --- positions in Table.seat[seat] -----------------------------------------------------------------
(
    OWNED,  # cards owned: concealed and exposed
    QUADS,  # ti and pao laid down
    MELDS,  # groups laid down
    HUXI,  # their huxi
    REDS,  # their red cards
    KANS,  # mask of kinds held three alike, concealed
    PAIRS,  # mask of kinds of which exactly two are concealed
    FREE,  # number of free cards
    CODE,  # free cards as a base-3 number, kind 0 the lowest digit
    WEIS,  # mask of kinds with an own wei laid down
    PENGS,  # mask of kinds with an own peng laid down
    OPEN_WEIS,  # of the weis, those laid open
    PENG_BLOCK,  # mask of kinds that may not be peng'd any more (2.10)
    CHI_BLOCK,
    PENG_PASSED,  # mask of kinds whose peng was passed: a wei of it is a chou wei (2.2)
    DEAD,
    BOT,
    WORD_A,  # the seat's random words of this game
    WORD_B,
    DECISIONS,  # decisions made so far
    DEALT_WANGS,
    SHOWN_WANGS,  # wangs drawn in sight of all
) = range(22)
SEAT_FIELDS = 24

# --- positions in Table.public[seat] ---------------------------------------------------------------
(
    P_ACTIVE,
    P_CONCEALED,  # number of concealed cards
    P_MELDS,
    P_QUADS,
    P_WANGS,  # wangs drawn openly
    P_DEAD,
    P_DISCARDS,  # mask of kinds the seat has discarded
    P_PASSED,  # mask of kinds drawn or discarded in front of it that it let go by as chi
) = range(8)
PUBLIC_FIELDS = 8

# --- positions in Table.game -----------------------------------------------------------------------
(
    PHASE,
    TURN,  # the seat that draws or acts
    CARD,  # the card on the table or just drawn
    SOURCE,  # the seat that drew or discarded it
    ON_DRAW,  # 1 if it came from the wall, 0 if discarded
    TOP,  # position of the next wall card
    END,  # length of the deck
    DEALER,
    SITTER,
    N_SEATS,
    ASKED,  # how many seats have been asked in this step
    DECISION,  # pending decision, see engine
    DECIDER,
    N_OPTIONS,
    WINNER,
    BY,
    WIN_CARD,
    XING_KIND,
    XING_CARD,
    XING_COUNT,
    HELD_WANGS,  # of the winner
    N_LOG,
    N_DRAWS,
    N_DISCARDS,
    N_TI,
    N_WEI,
    N_CHOU_WEI,
    N_PAO,
    N_PENG,
    N_CHI,
    N_DEAD,
    N_PASSES,
    N_DECISIONS,
    DECLARED,  # 1 while the win asked is a declared special
    WIN_CARD_HELD,  # 1 if the winning card lies in a forced group already
    LOGGING,  # 1 where events are written to the log
) = range(36)
GAME_FIELDS = 40

# --- positions in Table.win: the arrangement found by the last evaluation ----------------------------
(
    W_FOUND,
    W_SCORE,
    W_HUXI,
    W_TUN,
    W_FAN,
    W_SPECIAL,
    W_REDS,
    W_COVERED,  # 1 if any arrangement of seven groups was found, whatever its huxi
    W_ENOUGH,  # 1 if one of them has enough huxi
    W_MOST_HUXI,  # greatest huxi of an arrangement with too few
    W_MOST_FAN,  # greatest fan of an arrangement under the limit
    # the rest is the context of a running evaluation
    C_BASE,  # huxi of the groups that stay as they are
    C_REDS,  # natural red cards
    C_QUADS,  # quads laid down
    C_WANGS,  # wangs held, for the limits
    C_LIFT_BLACK,  # best gain of lifting a black kan or wei by a wang, -1 if there is none
    C_LIFT_RED,
    C_FAN,  # fan of a plain own draw (zimo), or 1
    C_ONLY_SPECIAL,  # by_wang with too many wangs
    C_TRIES,  # ways noted to use the winning card
) = range(20)
WIN_FIELDS = 24

# --- positions in Table.notes: what a bot works out for the decision at hand -----------------------------
NOTE_UNSEEN = 0  # cards of a kind that the seat cannot see, 20 kinds
NOTE_BIAS = 20  # what letting a kind go is worth apart from the groups of the hand, 20 kinds
NOTE_RANK = 40  # the discards in the order of a first look, at most 20
NOTE_WIN = 60  # the win offered, kept while other hands are evaluated
NOTES = NOTE_WIN + WIN_FIELDS

COVER_DEPTH = 12
MAX_TRIES = 512
POW3: Ints = np.array([3**kind for kind in range(KINDS)], dtype=np.int64)


class Table(Protocol):
    """One game in progress; made by :func:`new_table`."""

    hand: Ints
    """(4, 21) concealed cards by seat and kind; position 20 counts wangs."""
    seat: Ints
    """(4, SEAT_FIELDS)"""
    melds: Ints
    """(4, 8, 3): group type, kind or group number of a chi, open flag."""
    deck: Ints
    """(84,) the shuffled cards; the wall starts at ``game[TOP]``."""
    seen: Ints
    """(21,) cards of each kind that lie face up: dead, discarded or in open groups."""
    shown: Ints
    """(4, 8, 2): the melds as the others see them; a face-down group shows its type and kind -1."""
    public: Ints
    """(4, PUBLIC_FIELDS)"""
    game: Ints
    """(GAME_FIELDS,)"""
    options: Ints
    """(64, 4): chi options of the pending decision."""
    money: Ints
    """(3, 4, 4): transfers by reason (win, xing, wang), payer and payee."""
    win: Ints
    """(WIN_FIELDS,): the arrangement found by the last evaluation of a hand."""
    tries: Ints
    """(512, 12) scratch: ways to use the winning card."""
    stack: Ints
    """(12, 8) scratch of the cover search."""
    cover: Ints
    """(8,) result of the cover search: greatest huxi by red wangs."""
    notes: Ints
    """(NOTES,) scratch of the bot that decides."""
    spare_hand: Ints
    """(21,) scratch: a hand that a bot thinks of."""
    spare_seat: Ints
    """(SEAT_FIELDS,) scratch: the masks and counts that belong to ``spare_hand``."""
    log: Ints
    """(LOG_EVENTS, 8)"""


_SHAPES: dict[str, tuple[int, ...]] = {
    "hand": (SEATS, KINDS + 1),
    "seat": (SEATS, SEAT_FIELDS),
    "melds": (SEATS, MAX_MELDS, 3),
    "deck": (DECK,),
    "seen": (KINDS + 1,),
    "shown": (SEATS, MAX_MELDS, 2),
    "public": (SEATS, PUBLIC_FIELDS),
    "game": (GAME_FIELDS,),
    "options": (MAX_OPTIONS, OPTION_WIDTH),
    "money": (3, SEATS, SEATS),
    "win": (WIN_FIELDS,),
    "tries": (MAX_TRIES, 12),
    "stack": (COVER_DEPTH, 8),
    "cover": (8,),
    "notes": (NOTES,),
    "spare_hand": (KINDS + 1,),
    "spare_seat": (SEAT_FIELDS,),
    "log": (LOG_EVENTS, LOG_WIDTH),
}


def new_table(log: bool = False) -> Table:
    """A fresh table for one game at a time; reused from game to game.

    With ``log`` every event is written to ``table.log``.
    """
    fields: dict[str, int | Ints] = {name: np.zeros(shape, dtype=np.int64) for name, shape in _SHAPES.items()}
    table: Table = record(fields)
    table.game[LOGGING] = int(log)
    return table


def copy_table(table: Table) -> Table:
    """An independent copy, to play on from."""
    copied: Table = record({name: getattr(table, name) for name in _SHAPES})
    return copied


@kernel
def clear(table: Table) -> None:
    """Empty everything but the deck."""
    table.hand[:] = 0
    table.seat[:] = 0
    table.seen[:] = 0
    table.public[:] = 0
    logging = table.game[LOGGING]
    table.game[:] = 0
    table.game[LOGGING] = logging
    table.money[:] = 0
    table.game[WINNER] = -1
    table.game[SITTER] = -1
    table.game[BY] = NULL
    table.game[WIN_CARD] = NO_CARD
    table.game[XING_KIND] = NULL
    table.game[XING_CARD] = NULL
    table.game[XING_COUNT] = NULL


@kernel
def _free_value(count: int) -> int:
    return count if count <= 2 else 0


@kernel
def change(hand: Ints, seat: Ints, kind: int, number: int) -> None:
    """Rule 1.6 kan: three alike leave the free cards, so that no chi, discard or cover of free cards breaks them.

    Add ``number`` cards of ``kind`` (negative: take away) to the concealed cards; masks and code follow.
    """
    if kind == WANG:
        hand[WANG] += number
        return
    before = hand[kind]
    after = before + number
    hand[kind] = after
    bit = 1 << kind
    seat[KANS] = seat[KANS] & ~bit
    seat[PAIRS] = seat[PAIRS] & ~bit
    if after == 3:
        seat[KANS] = seat[KANS] | bit
    elif after == 2:
        seat[PAIRS] = seat[PAIRS] | bit
    difference = _free_value(after) - _free_value(before)
    seat[FREE] += difference
    seat[CODE] += difference * POW3[kind]


@kernel
def quota(seat: Ints) -> int:
    """Rule 2.8 count rule: cards a player may own without having to discard, 20 + max(0, quads - 1)."""
    return 20 + max(0, seat[QUADS] - 1)


@kernel
def must_discard(seat: Ints) -> int:
    """1 if the player owns more than his quota (2.8)."""
    return 1 if seat[OWNED] > quota(seat) else 0


@kernel
def next_seat(table: Table, seat: int) -> int:
    """Rule 1.12 seats: the seat after ``seat``, skipping the sitter."""
    following = (seat + 1) % table.game[N_SEATS]
    if following == table.game[SITTER]:
        following = (following + 1) % table.game[N_SEATS]
    return following


@kernel
def natural_reds(hand: Ints) -> int:
    """Red cards among the concealed cards."""
    reds = 0
    for kind in range(KINDS):
        if is_red(kind):
            reds += hand[kind]
    return reds
