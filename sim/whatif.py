"""What the options of a decision are worth, and how a game would have gone on after another one.

Options are valued as the search does: from the knowledge of the seat that decides, hidden cards dealt anew, every
option played to the end in the same imagined worlds. On the game's own deck an option is played on once, by the players
of the game.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sim import rng
from sim.bots import BotError
from sim.bots.brain import brain_tables
from sim.bots.decisions import D_NONE
from sim.engine import advance, apply
from sim.gamelog import Event, read_events
from sim.logcheck import follow, variant_of
from sim.own_bot import Option, OwnPlayer, SeatView, is_own_bot, options_of, seat_view
from sim.params import Params, compile_params
from sim.players import Players, player_name
from sim.rules.settle import score_of
from sim.search import NOBODY, OTHER, OWN, Knobs, Played, Search, choices_of
from sim.state import (
    BOT,
    DEALER,
    DECIDER,
    DECISIONS,
    N_SEATS,
    WINNER,
    WORD_A,
    WORD_B,
    Table,
    copy_table,
    next_seat,
)
from sim.valuation import own_values
from sim.variant import Variant

WORLDS = 200
LEVEL = 0.95
_Z = 1.959964  # of the level

Floats = npt.NDArray[np.float64]


class WhatIfError(ValueError):
    """A question about a decision that the game does not have; the message says what would be right."""


@dataclass(frozen=True)
class Estimate:
    """A mean over imagined worlds and the half-width of its 95 % interval."""

    mean: float
    half: float

    def as_dict(self) -> dict[str, float]:
        """Rounded, for JSON."""
        return {"mean": round(self.mean, 4), "half_width": round(self.half, 4)}


def estimate(values: npt.NDArray[Any]) -> Estimate:
    """Mean of independent values with the half-width of its interval (Student's t)."""
    number = len(values)
    # t from z: terms of the Cornish-Fisher expansion, exact to 0.1 % from 20 values on
    free = number - 1
    quantile = _Z + (_Z**3 + _Z) / (4 * free) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * free**2)
    return Estimate(float(values.mean()), float(quantile * values.std(ddof=1) / np.sqrt(number)))


@dataclass(frozen=True)
class Valued:
    """An option and what it is worth to the deciding seat.

    Attributes
    ----------
    option : Option
    score : Estimate
        The seat's score at the end of the game.
    gain : Estimate
        Its difference to the option that was chosen, in the same worlds.
    wins, losses, draws : Estimate
        Shares of worlds that the seat wins, another seat wins, nobody wins.
    own : float or None
        The player's own valuation, in its own unit, where it has one.
    """

    option: Option
    score: Estimate
    gain: Estimate
    wins: Estimate
    losses: Estimate
    draws: Estimate
    own: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        option = self.option
        told: dict[str, Any] = {"kind": option.kind, "card": option.card}
        if option.groups:
            told["groups"] = list(option.groups)
        told |= {"score": self.score.as_dict(), "gain": self.gain.as_dict()}
        for name in ("wins", "losses", "draws"):
            told[name] = getattr(self, name).as_dict()
        return told if self.own is None else {**told, "own_value": self.own}


@dataclass(frozen=True)
class Decision:
    """A decision of a game with its options valued.

    Attributes
    ----------
    event : int
        Index of the event that makes it.
    seat : int
    player : str
        Who decided.
    view : SeatView
        What the seat knew.
    options : tuple of Valued
    chosen, best : int
        Places in ``options``: what was done, and the greatest mean score.
    worlds : int
    by : str
        The player that played on.
    """

    event: int
    seat: int
    player: str
    view: SeatView
    options: tuple[Valued, ...]
    chosen: int
    best: int
    worlds: int
    by: str

    @property
    def ranked(self) -> list[int]:
        """Places of the options, the best first; the chosen one first among equals."""
        return sorted(
            range(len(self.options)),
            key=lambda place: (-self.options[place].score.mean, place != self.chosen, place),
        )

    def joint(self, gain: Estimate) -> Estimate:
        """A gain over the chosen option with an interval that holds for all options together (Bonferroni)."""
        claims = max(1, len(self.options) - 1)
        wider = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / claims) / _Z
        return Estimate(gain.mean, wider * gain.half)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "event": self.event,
            "seat": self.seat,
            "player": self.player,
            "decision": self.view.decision,
            "options": [valued.as_dict() for valued in self.options],
            "chosen": self.chosen,
            "best": self.best,
            "worlds": self.worlds,
            "played_on_by": self.by,
            "level": LEVEL,
        }


@dataclass(frozen=True)
class Outcome:
    """A game played on from a decision on its own deck.

    Attributes
    ----------
    place : int
        The option, as a place in the list.
    events : list of dict
        The whole log, as if the option had been chosen.
    winner : int or None
    scores : dict of int to int
        By seat.
    """

    place: int
    events: list[Event]
    winner: int | None
    scores: dict[int, int]


class _Stop(Exception):  # noqa: N818 - no error: what was wanted has been found
    """Ends the following of a log."""


class Game:
    """A log that can be asked about its decisions.

    Parameters
    ----------
    events : sequence of dict
        One game.
    worlds : int
        Imagined worlds a decision.
    knobs : Knobs, optional
        Whose ``player`` plays on in them.
    own_bots : bool
        Whether users' bots that the log names may be run. Only where the user himself has named them: a log must not
        be able to run code.
    """

    def __init__(
        self,
        events: Sequence[Event],
        worlds: int = WORLDS,
        knobs: Knobs | None = None,
        own_bots: bool = False,
    ) -> None:
        self._own_bots = own_bots
        self.events = list(events)
        self.worlds = worlds
        self.variant: Variant = variant_of(events[0])
        self.params: Params = compile_params(self.variant)
        self._rules = self.variant.flat()
        self._search = Search(self.params, knobs or Knobs())
        self.replaced: list[str] = []
        """Players of the log that are not known here; others play on for them."""
        self._names = [self._known(str(name)) for name in [*events[0]["bots"], "", "", ""][:3]]
        self._number = int(events[0]["game"] or 0)

    def _known(self, name: str) -> str:
        try:
            if is_own_bot(name) and not self._own_bots:
                raise BotError(f"{name} is not run from a log")
            return player_name(name)
        except BotError:
            if name and name not in self.replaced:
                self.replaced.append(name)
            return self._search.knobs.player

    def _luck(self) -> npt.NDArray[np.int64]:
        """Random words of the players, as they had them in the game."""
        seed, game = self.events[0]["seed"], self.events[0]["game"]
        if seed is None or game is None:
            return np.zeros(rng.BOT_WORDS, dtype=np.int64)
        words: npt.NDArray[np.int64] = rng.words(int(seed), rng.STREAM_BOTS, int(game), 1, rng.BOT_WORDS)[0]
        return words

    def _follow(self, see: Any) -> None:
        """Call ``see(event, table, choice, players)`` at every decision; players are as they were in the game."""
        players = Players(self.params, self._names, self._rules)
        seats: dict[int, Any] = {}
        begun = False

        def watch(event: int, t: Table, choice: int) -> None:
            nonlocal begun
            if not begun:
                begun = True
                luck, seat = self._luck(), int(t.game[DEALER])
                for role in range(3):
                    t.seat[seat, BOT] = players.numbers[role]
                    t.seat[seat, WORD_A], t.seat[seat, WORD_B] = luck[2 * role], luck[2 * role + 1]
                    seat = int(next_seat(t, seat))
                seats.update(players.by_seat(t))
                for chooser in seats.values():
                    chooser.begin(self._number)
            see(event, t, choice, players, seats)
            seat = int(t.game[DECIDER])
            if isinstance(seats.get(seat), OwnPlayer):
                seats[seat].choose(t)  # it may remember what it was asked
            t.seat[seat, DECISIONS] += 1

        follow(self.events, watch)

    # --- values --------------------------------------------------------------------------------------------

    def _valued(self, played: Played, options: Sequence[Option], chosen: int, own: Any) -> tuple[Valued, ...]:
        found = []
        for place, option in enumerate(options):
            scores = played.scores[:, place]
            wins, losses, draws = (estimate(played.winners[:, place] == who) for who in (OWN, OTHER, NOBODY))
            gain = estimate(scores - played.scores[:, chosen])
            told = None if own is None else own[place]
            found.append(Valued(option, estimate(scores), gain, wins, losses, draws, told))
        return tuple(found)

    def _decision(self, event: int, t: Table, choice: int, seats: Any) -> Decision:
        choices = choices_of(t)
        options = options_of(t)
        played = self._search.play_on(t, choices, 0, self.worlds)
        chosen = choices.index(choice)
        seat = int(t.game[DECIDER])
        chooser = seats.get(seat)
        own: Sequence[float | None] | None
        if isinstance(chooser, OwnPlayer):
            own = chooser.values(t)
        else:
            own = own_values(self.params, brain_tables(), t, self._player_of(t, seat))
        valued = self._valued(played, options, chosen, own)
        means = [each.score.mean for each in valued]
        best = chosen if means[chosen] == max(means) else int(np.argmax(means))
        return Decision(
            event,
            seat,
            self._player_of(t, seat),
            seat_view(self.params, self._rules, t),
            valued,
            chosen,
            best,
            self.worlds,
            self._search.knobs.player,
        )

    def _player_of(self, t: Table, seat: int) -> str:
        other = int(t.game[DEALER])
        for name in [*self.events[0]["bots"], "", "", ""][:3]:
            if other == seat:
                return str(name)
            other = int(next_seat(t, other))
        raise AssertionError("no active seat decided")

    def decisions(self) -> list[Decision]:
        """Every decision with more than one option, as far as the log keeps the rules."""
        found: list[Decision] = []

        def see(event: int, t: Table, choice: int, players: Players, seats: Any) -> None:
            if len(choices_of(t)) > 1:
                found.append(self._decision(event, t, choice, seats))

        self._follow(see)
        return found

    # --- another option ------------------------------------------------------------------------------------

    def at(self, event: int) -> Decision:
        """The decision that an event makes.

        Raises
        ------
        WhatIfError
            If it makes none; with the nearest that do.
        """
        seen: list[int] = []
        found: list[Decision] = []

        def see(number: int, t: Table, choice: int, players: Players, seats: Any) -> None:
            seen.append(number)
            if number == event:
                found.append(self._decision(number, t, choice, seats))
                raise _Stop

        self._stopping(see)
        if not found:
            raise self._no_decision(event, seen)
        return found[0]

    def _stopping(self, see: Any) -> None:
        with contextlib.suppress(_Stop):
            self._follow(see)

    def _no_decision(self, event: int, seen: Sequence[int]) -> WhatIfError:
        near = sorted(sorted(seen, key=lambda other: abs(other - event))[:4])
        named = ", ".join(f"{number} ({self.events[number]['type']})" for number in near)
        return WhatIfError(
            f"event {event} is no decision of this game; near ones are {named}"
            if near
            else "no decision in it"
        )

    def play_on(self, event: int, place: int) -> Outcome:
        """Choose option ``place`` at a decision and let the players of the game go on, on its own deck.

        Raises
        ------
        WhatIfError
            If there is no such decision or option.
        """
        seen: list[int] = []
        found: list[Outcome] = []

        def see(number: int, t: Table, choice: int, players: Players, seats: Any) -> None:
            seen.append(number)
            if number != event:
                return
            choices = choices_of(t)
            if not 0 <= place < len(choices):
                raise WhatIfError(
                    f"event {event} has options 0 to {len(choices) - 1}, there is no option {place}"
                )
            table = copy_table(t)
            seat = int(table.game[DECIDER])
            if isinstance(seats.get(seat), OwnPlayer):
                seats[seat].choose(table)
            table.seat[seat, DECISIONS] += 1
            apply(self.params, table, choices[place])
            while advance(self.params, table) != D_NONE:
                apply(self.params, table, players.choose(table, seats))
            found.append(self._outcome(place, table))
            raise _Stop

        self._stopping(see)
        if not found:
            raise self._no_decision(event, seen)
        return found[0]

    def _outcome(self, place: int, t: Table) -> Outcome:
        events = [self.events[0], *read_events(self.variant, self.params, t)]
        winner = int(t.game[WINNER])
        scores = {seat: int(score_of(t, seat)) for seat in range(int(t.game[N_SEATS]))}
        return Outcome(place, events, winner if winner >= 0 else None, scores)
