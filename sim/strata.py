"""Forced deals, and games played on from where they have got to.

A *stratum* says how many wangs are dealt to the dealer, the next and the third player and left in the wall. A
forced deal puts them there and shuffles everything else, so within a stratum it has the law of a plain deal.

Splitting runs a game only until it first reaches a level (so many wangs in one hand, then a hand that a
drawn wang would complete to a special), keeps that state, and plays on from it many times. The order of the
wall is unknown to every player and to the level, so given the state each order is equally likely: a fresh
shuffle of the wall is a fresh continuation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim import rng
from sim._jit import kernel
from sim.bots.brain import Brain, brain_tables
from sim.bots.decisions import D_NONE
from sim.bots.dispatch import decide
from sim.cards import WANG
from sim.engine import BATCH, PH_OVER, advance, apply, start, write_row
from sim.params import Params
from sim.rows import NULL, ROW_COLUMNS
from sim.rules.arrange import ALL, evaluate
from sim.rules.deal import ORDINARY, shuffle
from sim.rules.fan import BY_OWN
from sim.snapshot import SNAPSHOT, restore, save
from sim.state import (
    DEAD,
    DECK,
    END,
    N_SEATS,
    OWNED,
    PHASE,
    SEATS,
    TOP,
    W_SPECIAL,
    WORD_A,
    WORD_B,
    Table,
    new_table,
)

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


BLOCKS = (21, 20, 20)
"""Cards dealt to the dealer, the next and the third player; the rest is the wall."""

STREAM_SPLIT = 3
"""Stream of the words with which games are played on; see also the streams of :mod:`sim.rng`."""

WALL_WORDS = 24
"""32-bit words to shuffle a wall of at most 23 cards, rounded up."""

_STREAM_SHIFT = 8  # the low bits of a stream say what it is for, the rest which stratum, stage or replicate

TO_THE_END = 8
"""A level that no game reaches: one that is run to it is played to its end."""


@kernel
def force_deck(words: Ints, stratum: Ints, wangs: int, ordinary: Ints, deck: Ints) -> None:
    """A shuffled deck with the wangs of a stratum in its blocks, each at a uniform place of its block.

    The ordinary cards are in the order that the same words give a plain deck.

    Parameters
    ----------
    words : ndarray of int64, shape (88,)
        32-bit random words.
    stratum : ndarray of int64, shape (4,)
        Wangs of the dealer, the next, the third, and the wall; their sum is ``wangs``.
    ordinary : ndarray of int64, shape (84,)
        Scratch.
    deck : ndarray of int64, shape (84,)
        Out.
    """
    shuffle(words, 0, ordinary)
    length = ORDINARY + wangs
    for place in range(length):
        deck[place] = -1
    begin = 0
    used = 0
    for block in range(4):
        size = BLOCKS[block] if block < 3 else length - begin
        for wang in range(stratum[block]):
            free = (words[ORDINARY + used] * (size - wang)) >> 32  # so many free places are passed over
            place = begin
            while deck[place] == WANG or free > 0:
                if deck[place] != WANG:
                    free -= 1
                place += 1
            deck[place] = WANG
            used += 1
        begin += size
    taken = 0
    for place in range(length):
        if deck[place] < 0:
            deck[place] = ordinary[taken]
            taken += 1


@kernel
def stratum_of(deck: Ints, wangs: int, stratum: Ints) -> None:
    """Count the wangs of a shuffled deck by block into ``stratum`` (4,)."""
    place = 0
    for block in range(4):
        stratum[block] = 0
        end = place + BLOCKS[block] if block < 3 else ORDINARY + wangs
        while place < end:
            if deck[place] == WANG:
                stratum[block] += 1
            place += 1


@kernel
def _strata_of_deals(p: Params, deal_words: Ints, deck: Ints, strata: Ints) -> None:
    for number in range(strata.shape[0]):
        shuffle(deal_words[number], p.wangs, deck)
        stratum_of(deck, p.wangs, strata[number])


@kernel
def reshuffle(t: Table, words: Ints) -> None:
    """Put what is left of the wall into a new random order (Fisher-Yates with the words, shape (24,))."""
    top = t.game[TOP]
    for left in range(t.game[END] - top - 1, 0, -1):
        other = top + ((words[left] * (left + 1)) >> 32)
        kept = t.deck[top + left]
        t.deck[top + left] = t.deck[other]
        t.deck[other] = kept


@kernel
def _new_bot_words(t: Table, words: Ints) -> None:
    """Give the bots new random words, two a seat."""
    for seat in range(SEATS):
        t.seat[seat, WORD_A] = words[2 * seat]
        t.seat[seat, WORD_B] = words[2 * seat + 1]


@kernel
def level_of(p: Params, t: Table, special: int, held: int) -> int:
    """Level of a game: most wangs in one hand, at most ``held``; one more if such a hand is ready.

    Ready is a hand that a wang drawn now would complete to wang special number ``special`` or a higher one.

    Parameters
    ----------
    special : int
        A wang special (:mod:`sim.params`); 0: there is no level beyond ``held`` wangs.
    held : int
        Wangs needed before the winning card.
    """
    level = 0
    for seat in range(t.game[N_SEATS]):
        wangs = t.hand[seat, WANG]
        # a hand with every wang of the deck cannot draw one
        if held <= wangs < p.wangs and special > 0 and not t.seat[seat, DEAD]:
            t.hand[seat, WANG] += 1
            t.seat[seat, OWNED] += 1
            wins = evaluate(p, t.hand[seat], t.seat[seat], WANG, BY_OWN, ALL, t)
            t.hand[seat, WANG] -= 1
            t.seat[seat, OWNED] -= 1
            if wins and t.win[W_SPECIAL] >= special:
                return held + 1
        level = max(level, min(wangs, held))
    return level


@kernel
def run_to(p: Params, brain: Brain, t: Table, target: int, special: int, held: int) -> int:
    """Play until the level is ``target`` or higher (1: the state can be kept) or the game is over (0).

    The level is looked at before play begins and after every choice.
    """
    while True:
        if t.game[PHASE] != PH_OVER and target < TO_THE_END and level_of(p, t, special, held) >= target:
            return 1
        if advance(p, t) == D_NONE:
            return 0
        apply(p, t, decide(p, brain, t))


@kernel
def _run_many(
    p: Params,
    brain: Brain,
    t: Table,
    strata: Ints,
    deal_words: Ints,
    bot_words: Ints,
    bots: Ints,
    entries: Ints,
    picks: Ints,
    goal: Ints,
    first: int,
    scratch: Ints,
    reached: Ints,
    states: Ints,
    rows: Rows,
) -> None:
    """Run games to a level: dealt by stratum where a pick is negative, else played on from the picked state.

    One kernel for all: each one that holds the whole engine takes seconds to compile. ``strata`` has one row for
    all games or one a game; ``deal_words`` are those of the deal or, playing on, of the wall.
    """
    for number in range(rows.shape[0]):
        if picks[number] < 0:
            stratum = strata[number] if strata.shape[0] > 1 else strata[0]
            force_deck(deal_words[number], stratum, p.wangs, scratch, t.deck)
            start(p, t, 0, bots, bot_words[number])
        else:
            restore(entries[picks[number]], t)
            reshuffle(t, deal_words[number])
            _new_bot_words(t, bot_words[number])
        reached[number] = run_to(p, brain, t, goal[0], goal[1], goal[2])
        if reached[number]:
            save(t, states[number])
        else:
            write_row(p, t, first + number, NULL, rows[number])


# --- for Python ------------------------------------------------------------------------------------


class _Runner:
    """A table, its bots and what else :func:`_run_many` wants."""

    def __init__(self, params: Params, bots: Sequence[int]) -> None:
        self._params = params
        self._bots = np.array(bots, dtype=np.int64)
        self._table = new_table()
        self._brain = brain_tables()
        self._scratch = np.zeros(DECK, dtype=np.int64)

    def run(
        self,
        strata: Ints,
        deal_words: Ints,
        bot_words: Ints,
        entries: Ints,
        picks: Ints,
        goal: tuple[int, int, int],
        first: int,
        states: Ints,
        rows: Rows,
    ) -> Ints:
        reached = np.zeros(len(rows), dtype=np.int64)
        _run_many(
            self._params,
            self._brain,
            self._table,
            strata,
            deal_words,
            bot_words,
            self._bots,
            entries,
            picks,
            np.array(goal, dtype=np.int64),
            first,
            self._scratch,
            reached,
            states,
            rows,
        )
        return reached


def _no_states() -> Ints:
    return np.zeros((1, SNAPSHOT), dtype=np.int64)


def play_stratum(
    params: Params,
    bots: Sequence[int],
    seed: int,
    stratum: Sequence[int],
    first: int,
    count: int,
) -> Rows:
    """Play games ``first`` to ``first + count - 1`` of a stratum; each stands alone, the dealer at seat 0.

    Parameters
    ----------
    params : Params
    bots : sequence of three int
        Bot numbers of dealer, next and third.
    seed : int
        0 to 2**64 - 1.
    stratum : sequence of four int
        Wangs of the dealer, the next, the third, and the wall. Every stratum has random numbers of its own.
    first, count : int
        The games.

    Returns
    -------
    ndarray of int64, shape (count, len(ROW_COLUMNS))
        ``NULL`` where a field is empty.

    Raises
    ------
    ValueError
        If the stratum has another number of wangs than the deck.
    """
    wanted = np.array([stratum], dtype=np.int64)
    if wanted.shape != (1, 4) or (wanted < 0).any() or int(wanted.sum()) != params.wangs:
        raise ValueError(
            f"a stratum has four numbers that add up to the {params.wangs} wangs of the deck, "
            f"not {tuple(stratum)}"
        )
    stream = _stream_of(stratum)
    rows = np.empty((count, len(ROW_COLUMNS)), dtype=np.int64)
    runner = _Runner(params, bots)
    for begin in range(0, count, BATCH):
        batch = rows[begin : begin + BATCH]
        runner.run(
            wanted,
            rng.words(seed, stream | rng.STREAM_STRATA, first + begin, len(batch), rng.DEAL_WORDS),
            rng.words(seed, stream | rng.STREAM_BOTS, first + begin, len(batch), rng.BOT_WORDS),
            _no_states(),
            np.full(len(batch), -1, dtype=np.int64),
            (TO_THE_END, 0, 0),
            first + begin,
            _no_states(),
            batch,
        )
    return rows


def _stream_of(stratum: Sequence[int]) -> int:
    """Streams of a stratum; the low bits are left for the purpose."""
    number = 0
    for wangs in stratum:
        number = number * 8 + int(wangs)
    return (number + 1) << _STREAM_SHIFT


def deal_strata(params: Params, seed: int, first: int, count: int) -> Ints:
    """Strata of plain games, from their deals: exact under ``replacement_draw`` too.

    Returns
    -------
    ndarray of int64, shape (count, 4)
        Wangs dealt to the dealer, the next, the third, and left in the wall by the deal proper.
    """
    strata = np.empty((count, 4), dtype=np.int64)
    deck = np.zeros(DECK, dtype=np.int64)
    for begin in range(0, count, BATCH):
        batch = strata[begin : begin + BATCH]
        deal_words = rng.words(seed, rng.STREAM_DEAL, first + begin, len(batch), rng.DEAL_WORDS)
        _strata_of_deals(params, deal_words, deck, batch)
    return strata


class Split:
    """One replicate of a splitting run, stage by stage: :meth:`begin`, then :meth:`go_on` as often as wanted.

    Parameters
    ----------
    params : Params
    bots : sequence of three int
        Bot numbers of dealer, next and third.
    seed : int
        0 to 2**64 - 1.
    replicate : int
        Which of the independent replicates, 0 to 2**40 - 1.
    special : int
        Wang special (:mod:`sim.params`) that the last level is ready for; 0: no such level.
    held : int
        Wangs that the special needs before the winning card; with ``special`` 0 the greatest level.
    """

    def __init__(
        self, params: Params, bots: Sequence[int], seed: int, replicate: int, special: int, held: int
    ) -> None:
        self._runner = _Runner(params, bots)
        self._seed = seed
        self._replicate = replicate
        self._special = special
        self._held = held
        self._stage = 0

    def _words(self, purpose: int, count: int, width: int) -> Ints:
        stream = ((self._replicate << 4 | self._stage) << 4 | purpose) << _STREAM_SHIFT | STREAM_SPLIT
        return rng.words(self._seed, stream, 0, count, width)

    def _run(self, strata: Ints, entries: Ints, picks: Ints, target: int, width: int) -> Reached:
        rows = np.zeros((len(picks), len(ROW_COLUMNS)), dtype=np.int64)
        states = np.zeros((len(picks) if target < TO_THE_END else 1, SNAPSHOT), dtype=np.int64)
        reached = self._runner.run(
            strata,
            self._words(0, len(picks), width),
            self._words(1, len(picks), rng.BOT_WORDS),
            entries,
            picks,
            (target, self._special, self._held),
            0,
            states,
            rows,
        )
        self._stage += 1
        hit = reached == 1
        return Reached(
            np.flatnonzero(hit), states[: len(hit)][hit[: len(states)]], np.flatnonzero(~hit), rows[~hit]
        )

    def begin(self, strata: Ints, target: int) -> Reached:
        """Deal a game for each row of ``strata`` (n, 4) and run it to a level, or ``TO_THE_END``."""
        picks = np.full(len(strata), -1, dtype=np.int64)
        return self._run(np.ascontiguousarray(strata), _no_states(), picks, target, rng.DEAL_WORDS)

    def pick(self, weights: npt.NDArray[np.float64], count: int) -> Ints:
        """Choose ``count`` states, each on average in proportion to its weight (systematic sampling)."""
        word = int(self._words(2, 1, 8)[0, 0])
        steps = np.cumsum(weights) / weights.sum()
        points = (np.arange(count) + word / 2.0**32) / count
        chosen = np.searchsorted(steps, points, side="right")
        return np.minimum(chosen, len(weights) - 1).astype(np.int64)

    def go_on(self, entries: Ints, picks: Ints, target: int) -> Reached:
        """Play on from picked states, each with a fresh wall and fresh luck, to the next level."""
        strata = np.zeros((1, 4), dtype=np.int64)
        return self._run(strata, entries, picks, target, WALL_WORDS)


class Reached(NamedTuple):
    """What came of the games of a stage.

    Attributes
    ----------
    hits : ndarray of int64, shape (h,)
        Positions of the games that reached the level.
    states : ndarray of int64, shape (h, SNAPSHOT)
        Their states.
    ends : ndarray of int64, shape (e,)
        Positions of those that ended without.
    rows : ndarray of int64, shape (e, len(ROW_COLUMNS))
        How they ended.
    """

    hits: Ints
    states: Ints
    ends: Ints
    rows: Rows


def play_task(
    keys: Mapping[str, object], bots: Sequence[str], seed: int, stratum: Sequence[int], first: int, count: int
) -> Rows:
    """:func:`play_stratum` for a worker process: the variant by its dotted keys, bots by name."""
    from sim.bots import bot_id
    from sim.parts import compile_keys

    return play_stratum(compile_keys(keys), [bot_id(name) for name in bots], seed, stratum, first, count)
