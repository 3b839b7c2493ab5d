"""Who plays: compiled bots, the search, and users' own bots, in one list of names.

Games of compiled bots alone go through the engine at its speed; where one player is Python, the game is played step by
step here, by the same engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sim import rng
from sim.bots import BOTS, BotError, bot_id, parse_bots, split_seats
from sim.bots.brain import brain_tables
from sim.bots.dispatch import decide
from sim.engine import advance, apply, is_legal, play, play_games, start, write_row
from sim.own_bot import OwnPlayer, is_own_bot, load_bot
from sim.params import Params
from sim.rows import NULL, ROW_COLUMNS
from sim.rules.deal import first_dealer, following_dealer, shuffle
from sim.search import Search, is_search, parse_knobs
from sim.state import DEALER, DECIDER, DECISIONS, N_DECISIONS, Table, new_table, next_seat

Rows = npt.NDArray[np.int64]

STEP_BY_STEP = -1
"""In the place of a bot's number: the seat is asked in Python."""

ROLES = 3


class Chooser(Protocol):
    """A player that is asked in Python."""

    def begin(self, game: int) -> None:
        """A new game begins."""

    def choose(self, t: Table) -> int:
        """Choice of the seat that decides now."""


class _SearchPlayer:
    """A search needs no memory from decision to decision."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def begin(self, game: int) -> None:
        pass

    def choose(self, t: Table) -> int:
        return self._search.choose(t)


def player_name(name: str) -> str:
    """The full name of a player: a search with its knobs, an own bot with the digest of its file.

    Raises
    ------
    BotError
        If there is no such player.
    """
    if is_search(name):
        return parse_knobs(name).name()
    if is_own_bot(name):
        return load_bot(name)[0]
    try:
        bot_id(name)
    except BotError as error:
        raise BotError(f"{str(error)[:-1]}, search, or FILE.py:CLASS)") from None
    return name


def parse_players(text: str) -> tuple[str, str, str]:
    """``"a"`` for all seats or ``"a,b,c"`` for dealer, next and third, each a bot, a search or an own bot.

    Raises
    ------
    BotError
        If the number is neither one nor three, or a name is unknown.
    """
    names = split_seats(text)
    known = {name: player_name(name) for name in dict.fromkeys(names)}
    return known[names[0]], known[names[1]], known[names[2]]


def parse_compiled(text: str) -> tuple[str, str, str]:
    """:func:`parse_players` where only compiled bots can play.

    Raises
    ------
    BotError
        For a player that is asked in Python, too.
    """
    for name in split_seats(text):  # before any file is opened: the text may come from a file of data
        if is_search(name) or is_own_bot(name):
            raise BotError(
                f"--bots: {name} plays step by step, which this command cannot; bots are {', '.join(BOTS)}"
            )
    return parse_bots(text)


def is_compiled(names: Sequence[str]) -> bool:
    """Whether the engine alone can play for all these players."""
    return not any(is_search(name) or is_own_bot(name) for name in names)


class Players:
    """Three players of a variant, by role: dealer, next, third.

    Parameters
    ----------
    params : Params
    names : sequence of three str
        See :func:`parse_players`.
    rules : mapping
        Every dotted key of the variant, for own bots to read.

    Raises
    ------
    BotError
        If there is no such player.
    """

    def __init__(self, params: Params, names: Sequence[str], rules: Mapping[str, Any]) -> None:
        self._params = params
        self._brain = brain_tables()
        searches: dict[str, Chooser] = {}
        self.choosers: list[Chooser | None] = []
        for name in names:
            if is_search(name):
                if name not in searches:
                    searches[name] = _SearchPlayer(Search(params, parse_knobs(name)))
                self.choosers.append(searches[name])
            else:
                self.choosers.append(OwnPlayer(params, rules, name) if is_own_bot(name) else None)
        self.numbers = np.array(
            [
                STEP_BY_STEP if chooser else bot_id(name)
                for name, chooser in zip(names, self.choosers, strict=True)
            ],
            dtype=np.int64,
        )

    @property
    def compiled(self) -> bool:
        """Whether no seat is asked in Python."""
        return not any(self.choosers)

    def by_seat(self, t: Table) -> dict[int, Chooser]:
        """The players that are asked in Python, by their seats in the game on the table."""
        seats: dict[int, Chooser] = {}
        seat = int(t.game[DEALER])
        for chooser in self.choosers:
            if chooser is not None:
                seats[seat] = chooser
            seat = int(next_seat(t, seat))
        return seats

    def play(self, t: Table, game: int) -> None:
        """Play a started game to its end.

        Raises
        ------
        sim.own_bot.OwnBotError
            If an own bot fails.
        """
        if self.compiled:
            play(self._params, self._brain, t)
            return
        seats = self.by_seat(t)
        for chooser in seats.values():
            chooser.begin(game)
        while advance(self._params, t):
            apply(self._params, t, self.choose(t, seats))

    def choose(self, t: Table, seats: Mapping[int, Chooser]) -> int:
        """Choice of the seat that decides now; counted as its decision."""
        seat = int(t.game[DECIDER])
        chooser = seats.get(seat)
        if chooser is None:
            return int(decide(self._params, self._brain, t))
        choice = chooser.choose(t)
        if not is_legal(t, choice):
            raise AssertionError(f"choice {choice} is not legal")
        t.seat[seat, DECISIONS] += 1
        t.game[N_DECISIONS] += 1
        return choice

    def play_games(self, seed: int, first: int, count: int, session: int = 0) -> Rows:
        """Play games ``first`` to ``first + count - 1`` of a seed; see :func:`sim.engine.play_games`."""
        p = self._params
        if self.compiled:
            return play_games(p, [int(number) for number in self.numbers], seed, first, count, session)
        if session and first % session:
            raise ValueError("a chunk of games must begin with a session")
        rows = np.empty((count, len(ROW_COLUMNS)), dtype=np.int64)
        table = new_table()
        dealer = 0
        for row, game in zip(rows, range(first, first + count), strict=True):
            words = rng.words(seed, rng.STREAM_DEAL, game, 1, rng.DEAL_WORDS)[0]
            luck = rng.words(seed, rng.STREAM_BOTS, game, 1, rng.BOT_WORDS)[0]
            if session:
                begins = game % session == 0
                dealer = int(first_dealer(p, words) if begins else following_dealer(p, table))
            shuffle(words, p.wangs, table.deck)
            start(p, table, dealer, self.numbers, luck)
            self.play(table, game)
            write_row(p, table, game, game // session if session else NULL, row)
        return rows


def warm_up(params: Params, names: Sequence[str]) -> None:
    """Compile, or load from the cache, what the searches among these players need."""
    for name in dict.fromkeys(name for name in names if is_search(name)):
        Players(params, (name,) * ROLES, {}).play_games(seed=0, first=0, count=1)
