"""``search``: plays every option of a decision to the end in worlds that the seat can imagine, and takes the best.

Idea: determinised Monte Carlo. The cards hidden from the seat are dealt anew (:mod:`sim.imagine`), every option is
played on from there by a compiled player in all seats, and the seat's own score at the end is what an option is worth
in that world. All options meet the same worlds, so their differences are much surer than their means. Looks at what
the seat knows and nothing else. It does as the player that plays on would do, unless another option is better by so
many standard errors.

Cost: some hundred games played on for a decision. Strength: above the player that it plays on with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.bots import BotError, bot_id
from sim.bots.brain import Brain, brain_tables
from sim.bots.decisions import D_CHI, D_DISCARD, D_NONE, PASS, TAKE
from sim.bots.dispatch import decide
from sim.cards import KINDS
from sim.engine import apply, play
from sim.imagine import POOL, imagine
from sim.params import Params
from sim.rules.settle import score_of
from sim.snapshot import SNAPSHOT, restore, save
from sim.state import (
    BOT,
    DECIDER,
    DECISION,
    DECISIONS,
    LOGGING,
    MAX_OPTIONS,
    N_OPTIONS,
    N_SEATS,
    OPTION_WIDTH,
    WIN_FIELDS,
    WINNER,
    WORD_A,
    WORD_B,
    Table,
    new_table,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NAME = "search"
MAX_WORLDS = 100_000

OWN, OTHER, NOBODY = range(3)
"""Who wins a game that was played on: the deciding seat, another one, nobody."""


PLAYER_KNOBS = ("player", "rollout")


@dataclass(frozen=True)
class Knobs:
    """How a search is done; in the name of the player as ``search:worlds=80:surer=1.5``.

    Attributes
    ----------
    worlds : int
        Imagined worlds a decision. The cost is in proportion.
    surer : float
        Standard errors by which an option must be better than the player's own choice to be taken instead.
    half : float
        Score that counts for half of an endless one: a score s is worth s / (|s| + half), so that one enormous
        win in a few worlds does not decide. 0 takes scores as they are.
    player : str
        Compiled bot whose choice stands unless another option is clearly better.
    rollout : str
        Compiled bot that plays on in every seat; a quick one allows more worlds.
    """

    worlds: int = 160
    surer: float = 2.0
    half: float = 10.0
    player: str = "expert"
    rollout: str = "tempo"

    def name(self) -> str:
        """The player's name with all knobs that are not as by default."""
        usual = Knobs()
        changed = [
            f"{field.name}={getattr(self, field.name):g}"
            if field.name not in PLAYER_KNOBS
            else f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(usual, field.name)
        ]
        return ":".join([NAME, *changed])


def is_search(name: str) -> bool:
    """Whether a name of ``--bots`` is that of a search."""
    return name == NAME or name.startswith(f"{NAME}:")


def parse_knobs(name: str) -> Knobs:
    """Read ``search`` or ``search:worlds=80:surer=1.5:half=10:player=expert``.

    Raises
    ------
    BotError
        Naming the knob that does not hold.
    """
    values: dict[str, object] = {}
    for part in name.split(":")[1:]:
        key, equals, text = part.partition("=")
        key, text = key.strip(), text.strip()
        names = [field.name for field in fields(Knobs)]
        if not equals or key not in names or key in values:
            raise BotError(f"--bots: {part!r} in {name!r} is no knob of search; knobs are {', '.join(names)}")
        if key in PLAYER_KNOBS:
            bot_id(text)
            values[key] = text
            continue
        least, most = {"worlds": (4, MAX_WORLDS), "surer": (0, 100), "half": (0, 1e9)}[key]
        try:
            number = int(text) if key == "worlds" else float(text)
            fits = least <= number <= most
        except ValueError:
            fits = False
        if not fits:
            kind = "a whole number" if key == "worlds" else "a number"
            raise BotError(f"--bots: {key}={text} of search must be {kind} from {least:g} to {most:g}")
        values[key] = number
    return Knobs(**values)  # type: ignore[arg-type]


# --- playing on ------------------------------------------------------------------------------------------


@kernel
def _bring_back(kept: Ints, t: Table, w: Table) -> None:
    """A state with the pending decision of ``t`` onto the table ``w``."""
    restore(kept, w)
    w.game[LOGGING] = 0
    for field in range(WIN_FIELDS):
        w.win[field] = t.win[field]
    for number in range(MAX_OPTIONS):
        for place in range(OPTION_WIDTH):
            w.options[number, place] = t.options[number, place]


@kernel
def play_options(
    p: Params,
    brain: Brain,
    t: Table,
    w: Table,
    base: Ints,
    world: Ints,
    pool: Ints,
    seat: int,
    player: int,
    rollout: int,
    word_a: int,
    word_b: int,
    first: int,
    choices: Ints,
    scores: Ints,
    winners: Ints,
) -> int:
    """Play choices of the pending decision to the end in imagined worlds ``first``, ``first + 1`` and so on.

    One kernel for all: each one that holds the whole engine takes seconds to compile.

    Parameters
    ----------
    t, w : Table
        The game, left as it is; and a table to play on.
    base, world : ndarray of int64, shape (SNAPSHOT,)
        Scratch.
    pool : ndarray of int64, shape (POOL,)
        Scratch.
    seat, player : int
        Who decides, and the number of the bot that plays on in all seats.
    choices : ndarray of int64, shape (n,)
    scores, winners : ndarray of int64, shape (worlds, n)
        Out: the seat's score, and ``OWN``, ``OTHER`` or ``NOBODY``.

    Returns
    -------
    int
        What the player itself would choose.
    """
    save(t, base)
    own = PASS
    for number in range(scores.shape[0]):
        _bring_back(base, t, w)
        imagine(p, w, seat, word_a, word_b, first + number, pool)
        for other in range(w.game[N_SEATS]):
            w.seat[other, BOT] = rollout
        save(w, world)
        if number == 0:
            w.seat[seat, BOT] = player
            own = decide(p, brain, w)
        for place in range(choices.shape[0]):
            _bring_back(world, t, w)
            apply(p, w, choices[place])
            play(p, brain, w)
            scores[number, place] = score_of(w, seat)
            winner = w.game[WINNER]
            winners[number, place] = NOBODY if winner < 0 else (OWN if winner == seat else OTHER)
    return own


# --- for Python ------------------------------------------------------------------------------------------


def choices_of(t: Table) -> list[int]:
    """All legal choices of the pending decision (:mod:`sim.bots.decisions`), passing first."""
    decision = int(t.game[DECISION])
    if decision == D_NONE:
        return []
    if decision == D_DISCARD:
        hand = t.hand[int(t.game[DECIDER])]
        return [kind for kind in range(KINDS) if 0 < hand[kind] <= 2]
    if decision == D_CHI:
        return list(range(int(t.game[N_OPTIONS]) + 1))
    return [PASS, TAKE]


@dataclass(frozen=True)
class Played:
    """What came of playing choices on in the same imagined worlds.

    Attributes
    ----------
    choices : tuple of int
    own : int
        The choice of the player that played on.
    scores : ndarray of int64, shape (worlds, choices)
        Score of the deciding seat.
    winners : ndarray of int64, shape (worlds, choices)
        ``OWN``, ``OTHER`` or ``NOBODY``.
    """

    choices: tuple[int, ...]
    own: int
    scores: Ints
    winners: Ints


class Search:
    """Chooses by playing on; one for any number of games of a variant.

    Parameters
    ----------
    params : Params
    knobs : Knobs
    """

    def __init__(self, params: Params, knobs: Knobs) -> None:
        self.knobs = knobs
        self._params = params
        self._player = bot_id(knobs.player)
        self._brain = brain_tables()
        self._table = new_table()
        self._base = np.zeros(SNAPSHOT, dtype=np.int64)
        self._world = np.zeros(SNAPSHOT, dtype=np.int64)
        self._pool = np.zeros(POOL, dtype=np.int64)

    def play_on(self, t: Table, choices: Sequence[int], first: int, worlds: int) -> Played:
        """Play choices of the pending decision on in worlds ``first`` to ``first + worlds - 1`` of that decision.

        The random words are those of the seat that decides and the number of its decision: the same table gives the
        same worlds, whatever was asked before.
        """
        seat = int(t.game[DECIDER])
        row = t.seat[seat]
        scores = np.zeros((worlds, len(choices)), dtype=np.int64)
        winners = np.zeros((worlds, len(choices)), dtype=np.int64)
        own = play_options(
            self._params,
            self._brain,
            t,
            self._table,
            self._base,
            self._world,
            self._pool,
            seat,
            self._player,
            bot_id(self.knobs.rollout),
            int(row[WORD_A]),
            int(row[WORD_B]) ^ (int(row[DECISIONS]) + 1) * 0x9E3779B & 0xFFFFFFFF,
            first,
            np.array(choices, dtype=np.int64),
            scores,
            winners,
        )
        return Played(tuple(choices), int(own), scores, winners)

    def worth(self, scores: Ints) -> Floats:
        """Scores as the knob ``half`` weighs them."""
        values: Floats = scores.astype(np.float64)
        return values / (np.abs(values) + self.knobs.half) if self.knobs.half else values

    def choose(self, t: Table) -> int:
        """Choice of the seat that decides now.

        A quarter of the worlds is for all options; those that fall behind the player's own choice there are left.
        """
        choices = choices_of(t)
        if len(choices) == 1:
            return choices[0]
        begun = max(4, self.knobs.worlds // 4)
        played = self.play_on(t, choices, 0, begun)
        own = choices.index(played.own)
        values = self.worth(played.scores)
        gains, errors = _gains(values, own)
        keep = np.flatnonzero(gains + errors >= 0)
        best = keep[np.argsort(-gains[keep], kind="stable")][:_KEPT]
        kept = sorted({own, *(int(place) for place in best)})
        if len(kept) == 1 or begun >= self.knobs.worlds:
            return self._pick([choices[place] for place in kept], values[:, kept], kept.index(own))
        names = [choices[place] for place in kept]
        more = self.play_on(t, names, begun, self.knobs.worlds - begun)
        together = np.concatenate([values[:, kept], self.worth(more.scores)])
        return self._pick(names, together, kept.index(own))

    def _pick(self, choices: Sequence[int], values: Floats, own: int) -> int:
        gains, errors = _gains(values, own)
        surely = np.where(gains > self.knobs.surer * errors, gains, -np.inf)
        surely[own] = 0.0
        return int(choices[int(np.argmax(surely))])


_KEPT = 4  # options besides the player's own that are looked at closely


def _gains(values: Floats, own: int) -> tuple[Floats, Floats]:
    """Mean gain over the own choice and its standard error, from the same worlds; shapes (choices,)."""
    differences = values - values[:, own : own + 1]
    errors = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    return differences.mean(axis=0), errors
