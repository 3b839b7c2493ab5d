"""Skill and luck: how much of the spread of scores comes from the deal, the seat, and who plays how.

A crossed design: every deal is played with every assignment of the bots to dealer, next and third. Formulas:
docs/tournament.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.compare import Student, holm
from analysis.seatings import (
    Cell,
    Plan,
    Seating,
    SeatingError,
    Sums,
    bot_list,
    collect,
    ladder,
    load_variants,
)

if TYPE_CHECKING:
    from sim.progress import Progress

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

GROUPS = 50
"""Groups of deals that the jackknife leaves out, one after the other."""
MOST_BOTS = 4
"""With so many bots a deal is played 64 times."""
LEAST_GAMES = 2 * GROUPS

PARTS = ("deal", "seat", "bots", "rest")
"""What the variance is split into; they add up to it."""
SHARES = (*PARTS, "own")
"""``own`` is the part of ``bots`` that a player's own bot alone explains."""


def default_bots() -> str:
    """``greedy`` and the best bot of the ladder; the two last where these are one."""
    rungs = ladder()
    return ",".join(("greedy", rungs[-1]) if "greedy" in rungs[:-1] else rungs[-2:])


class SkillSums:
    """Sums of one chunk and variant; see :class:`analysis.seatings.Collector`.

    Parameters
    ----------
    seatings : sequence of Seating
        All assignments of the bots.
    bots : int
    first, count : int
        Deals.
    """

    def __init__(self, seatings: Sequence[Seating], bots: int, first: int, count: int) -> None:
        self._seatings = seatings
        self._group = (first + np.arange(count)) % GROUPS
        self._first = np.zeros((GROUPS, 3, len(seatings)), dtype=np.int64)
        self._second = np.zeros((GROUPS, 3, len(seatings)), dtype=np.int64)
        self._own = np.zeros((count, 3, bots), dtype=np.int64)

    def take(self, seating: int, cell: Cell) -> None:
        """Add the games of a seating."""
        for role, bot in enumerate(self._seatings[seating]):
            score = cell.scores[:, role]
            np.add.at(self._first[:, role, seating], self._group, score)
            np.add.at(self._second[:, role, seating], self._group, score * score)
            self._own[:, role, bot] += score

    def sums(self) -> Sums:
        """Sums by group of deals."""

        def grouped(values: IntArray) -> IntArray:
            found = np.zeros((GROUPS, *values.shape[1:]), dtype=np.int64)
            np.add.at(found, self._group, values)
            return found

        by_role = self._own.sum(axis=2)
        return {
            "deals": np.bincount(self._group, minlength=GROUPS),
            "first": self._first,
            "second": self._second,
            "own": grouped(self._own**2),
            "role": grouped(by_role**2),
            "all": grouped(by_role.sum(axis=1) ** 2),
        }


@dataclass(frozen=True)
class Shares:
    """Variance of a score and its parts.

    Attributes
    ----------
    variance : float
        Of the score of a random role at a random deal and seating.
    parts : dict
        Each of ``SHARES`` as a part of the variance.
    """

    variance: float
    parts: dict[str, float]


def split(sums: Sums, seatings: Sequence[Seating], bots: int) -> Shares:
    """Split the variance of scores; every part without bias.

    Parameters
    ----------
    sums : dict
        As :meth:`SkillSums.sums`, with one group or several, which are added up.
    seatings : sequence of Seating
    bots : int

    Returns
    -------
    Shares
        With y(d, r, s) the score of role r at deal d and seating s of S, and Var_d sample variances over deals:
        rest = S/(S − 1) · mean over r, s of Var_d of y less its mean over s; deal = mean over r of Var_d of that mean,
        less rest/S; bots = mean over r of the variance over s of the means over d, and seat that over r of the
        means over d and s, both less what chance alone makes of them.
    """
    n = int(sums["deals"].sum())
    many = len(seatings)
    first = sums["first"].sum(axis=0).astype(np.float64)
    second = sums["second"].sum(axis=0).astype(np.float64)

    def spread(squares: NDArray[Any], totals: FloatArray, size: float) -> FloatArray:
        """Sample variance over deals of a mean over ``size`` scores, from Σ (sum)² and Σ sum."""
        found: FloatArray = (squares.astype(np.float64) - totals**2 / n) / (n - 1) / size**2
        return found

    by_role = first.sum(axis=1)
    own_totals = np.zeros((3, bots))
    for role, bot in itertools.product(range(3), range(bots)):
        chosen = [number for number, seating in enumerate(seatings) if seating[role] == bot]
        own_totals[role, bot] = first[role, chosen].sum()
    cells = spread(second, first, 1)
    roles = spread(sums["role"].sum(axis=0), by_role, many)
    whole = float(spread(np.array(sums["all"].sum()), np.array(by_role.sum()), 3 * many))
    owns = spread(sums["own"].sum(axis=0), own_totals, many / bots)
    within = float((cells.mean(axis=1) - roles).mean())
    rest = within * many / (many - 1)
    deal = float(roles.mean()) - rest / many
    means = first / n
    role_means = means.mean(axis=1)
    seat = float(role_means.var() - (roles.mean() - whole) / n)
    played = float(((means - role_means[:, None]) ** 2).mean() - within / n)
    own_means = own_totals / n / (many / bots)
    own = float(((own_means - role_means[:, None]) ** 2).mean() - (owns.mean(axis=1) - roles).mean() / n)
    variance = deal + seat + played + rest
    parts = {"deal": deal, "seat": seat, "bots": played, "rest": rest, "own": own}
    return Shares(
        variance, {name: value / variance if variance > 0 else 0.0 for name, value in parts.items()}
    )


def leave_out(sums: Sums, group: int) -> Sums:
    """Sums without one group of deals."""
    return {name: np.delete(value, group, axis=0) for name, value in sums.items()}


@dataclass(frozen=True)
class Jackknife:
    """A value with those that remain when each group of deals is left out."""

    value: float
    left: FloatArray

    def __sub__(self, other: Jackknife) -> Jackknife:
        """Difference on the same deals: it is jackknifed, not the two by themselves."""
        return Jackknife(self.value - other.value, self.left - other.left)

    def law(self) -> Student:
        """Student with the jackknife's error."""
        k = len(self.left)
        error = math.sqrt((k - 1) / k * float(((self.left - self.left.mean()) ** 2).sum()))
        return Student(self.value, error, k - 1)


_ENDS = ("", "_low", "_high")

SHARES_SCHEMA: dict[str, Any] = {
    "variant": pl.String,
    **{f"{name}{end}": pl.Float64 for name in (*SHARES, "sd") for end in _ENDS},
    "deals": pl.Int64,
    "seatings": pl.Int64,
    "level": pl.Float64,
    "seed": pl.UInt64,
    "digest": pl.String,
}
"""One row a variant: shares of variance with intervals, and the standard deviation of a score."""

PAIRS_SCHEMA: dict[str, Any] = {
    "variant": pl.String,
    "other": pl.String,
    "share": pl.String,
    **{f"difference{end}": pl.Float64 for end in _ENDS},
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "decision": pl.String,
    "deals": pl.Int64,
    "level": pl.Float64,
    "seed": pl.UInt64,
    "digest": pl.String,
    "other_digest": pl.String,
}
"""Share of ``other`` less that of ``variant``, paired by deal; ``decision`` (``more``, ``less``, ``undecided``) by
Holm."""


@dataclass(frozen=True)
class Skill:
    """Variance shares of some variants.

    Attributes
    ----------
    plan : Plan
    level : float
    shares, pairs : DataFrame
        See ``SHARES_SCHEMA`` and ``PAIRS_SCHEMA``.
    """

    plan: Plan
    level: float
    shares: pl.DataFrame
    pairs: pl.DataFrame


def evaluate(plan: Plan, found: dict[str, Sums], level: float = 0.95) -> Skill:
    """Turn sums into shares with intervals, and compare the variants.

    Parameters
    ----------
    plan : Plan
    found : dict
        Variant label to sums.
    level : float
        Of intervals; decisions are made at 1 − level.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, such as 0.95, not {level}")
    bots = len(plan.bots)
    held: dict[str, dict[str, Jackknife]] = {}
    for label in plan.labels:
        sums = found[label]
        whole = split(sums, plan.seatings, bots)
        left = [split(leave_out(sums, group), plan.seatings, bots) for group in range(GROUPS)]
        held[label] = {
            name: Jackknife(whole.parts[name], np.array([each.parts[name] for each in left]))
            for name in SHARES
        }
        held[label]["sd"] = Jackknife(
            math.sqrt(whole.variance), np.array([math.sqrt(each.variance) for each in left])
        )
    digests = {label: variant.digest for label, variant in zip(plan.labels, plan.variants, strict=True)}
    rows = []
    for label in plan.labels:
        row: dict[str, Any] = {
            "variant": label,
            "deals": plan.games,
            "seatings": len(plan.seatings),
            "level": level,
            "seed": plan.seed,
            "digest": digests[label],
        }
        for name, value in held[label].items():
            low, high = value.law().interval(level)
            row[name] = value.value
            row[f"{name}_low"] = max(0.0, low or 0.0)
            row[f"{name}_high"] = high if name == "sd" else min(1.0, high or 0.0)
        rows.append(row)
    pairs: list[dict[str, Any]] = []
    for one, two in itertools.combinations(plan.labels, 2):
        for name in ("bots", "own"):
            law = (held[two][name] - held[one][name]).law()
            low, high = law.interval(level)
            pairs.append(
                {
                    "variant": one,
                    "other": two,
                    "share": name,
                    "difference": law.centre,
                    "difference_low": low,
                    "difference_high": high,
                    "p": law.p_value(),
                    "deals": plan.games,
                    "level": level,
                    "seed": plan.seed,
                    "digest": digests[one],
                    "other_digest": digests[two],
                }
            )
    for name in ("bots", "own"):
        family = [row for row in pairs if row["share"] == name]
        for row, adjusted in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = adjusted
            more = "more" if row["difference"] > 0 else "less"
            row["decision"] = more if adjusted <= 1 - level and row["difference"] else "undecided"

    def frame(table: list[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
        return pl.DataFrame(
            [[row.get(name) for name in schema] for row in table], schema=schema, orient="row"
        )

    return Skill(plan, level, frame(rows, SHARES_SCHEMA), frame(pairs, PAIRS_SCHEMA))


def plan_skill(
    variants: Sequence[str | Path],
    bots: str | Sequence[str] | None = None,
    games: int = 5_000,
    *,
    seed: int = 1,
    overrides: Sequence[str] = (),
) -> Plan:
    """Check what is asked for; parameters as in :func:`skill`."""
    names = bot_list(default_bots() if bots is None else bots, 2, MOST_BOTS)
    if games < LEAST_GAMES:
        raise SeatingError(f"--games: {games} deals are too few, at least {LEAST_GAMES} are needed")
    loaded, labels = load_variants(variants, overrides)
    seatings = tuple((a, b, c) for a, b, c in itertools.product(range(len(names)), repeat=3))
    return Plan("skill", loaded, labels, names, seatings, games, seed)


def play_skill(
    plan: Plan,
    *,
    jobs: int | None = None,
    out: Path | None = None,
    level: float = 0.95,
    quiet: bool = False,
    progress: Progress | None = None,
) -> Skill:
    """Play what :func:`plan_skill` has planned; parameters as in :func:`skill`."""
    found = collect(
        plan,
        lambda first, count: SkillSums(plan.seatings, len(plan.bots), first, count),
        jobs=jobs,
        folder=out,
        quiet=quiet,
        progress=progress,
    )
    return evaluate(plan, found, level)


def skill(
    variants: Sequence[str | Path],
    bots: str | Sequence[str] | None = None,
    games: int = 5_000,
    *,
    seed: int = 1,
    jobs: int | None = None,
    out: Path | None = None,
    overrides: Sequence[str] = (),
    level: float = 0.95,
    quiet: bool = False,
    progress: Progress | None = None,
) -> Skill:
    """Split the variance of scores into deal, seat, bots and rest.

    Parameters
    ----------
    variants : sequence of str or Path
        Presets or files; the shares of several are compared on the same deals.
    bots : str or sequence of str, optional
        Two to four; shares are relative to how far these differ. See :func:`default_bots`.
    games : int
        Deals; each is played with every assignment of the bots (8, 27 or 64).
    seed : int
        0 to 2**64 - 1.
    jobs : int, optional
        Processes; they change no digit.
    out : Path, optional
        Folder for what is done, to go on from after an interruption.
    overrides : sequence of str
        ``key=value`` for every variant.
    level : float
        Of intervals.
    quiet, progress
        As in :func:`sim.run.simulate`.

    Returns
    -------
    Skill

    Raises
    ------
    SeatingError, sim.bots.BotError, sim.variant.VariantError
        For what cannot be played.

    Examples
    --------
    >>> skill(["two_wang", "four_wang"], "random,greedy", 2_000).shares  # doctest: +SKIP
    """
    plan = plan_skill(variants, bots, games, seed=seed, overrides=overrides)
    return play_skill(plan, jobs=jobs, out=out, level=level, quiet=quiet, progress=progress)
