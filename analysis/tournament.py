"""Tournaments: which bot plays better, by how much, and is each step of a ladder real?

Every bot meets the others in every seating of the same deals, so the luck of the cards falls on all alike. The deal is
the unit of all intervals. Design and formulas: docs/tournament.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis import intervals as ci
from analysis.compare import Student, holm
from analysis.seatings import STYLE, Cell, Plan, Seating, SeatingError, Sums, bot_list, collect, load_variants

if TYPE_CHECKING:
    from sim.progress import Progress

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Wish = Literal["auto", "triples", "pairs", "steps"]

GROUPS = 50
"""Groups of deals that the jackknife of ratings leaves out, one after the other."""
MOST_TRIPLES = 120
"""Seatings up to which all triples are played when no design is asked for: six bots."""
STYLE_GAMES = 1_000
"""Games of a seating, at most, that are played again with a log."""

MEASURES = ("score", "wins", "draws", "fan")
"""What is added up by deal and bot: money, games won, seats in draw games, fan of games won."""
MIX = ("strong", "weak", "wins_strong", "wins_weak", "draws")
"""What is added up by deal for each of the two mixes of a pair: money and wins of either, draw games."""

# --- designs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """Which seatings are played, and what each is for.

    Attributes
    ----------
    name : str
        ``pairs`` or ``triples``: what the table of bots stands on; ``steps`` when there is no such table.
    seatings : tuple of Seating
    main : tuple of int
        Seatings that the table of bots stands on; every bot sits in each role equally often there.
    mixes : dict
        (weaker, stronger) to the seatings with one of the stronger, and those with two of them.
    """

    name: str
    seatings: tuple[Seating, ...]
    main: tuple[int, ...]
    mixes: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]]

    def seats(self, bots: int) -> IntArray:
        """Seats of each bot over the main seatings, shape (bots,)."""
        return np.bincount([bot for number in self.main for bot in self.seatings[number]], minlength=bots)


def _mixes(one: int, two: int) -> tuple[list[Seating], list[Seating]]:
    """Seatings with one ``two`` among two ``one``, and with one ``one`` among two ``two``."""

    def single(lone: int, rest: int) -> list[Seating]:
        return [(lone, rest, rest), (rest, lone, rest), (rest, rest, lone)]

    return single(two, one), single(one, two)


def make_design(bots: int, wish: Wish = "auto") -> Design:
    """Choose the seatings for a number of bots.

    Parameters
    ----------
    bots : int
        Two or more, in the order of the ladder.
    wish : {"auto", "triples", "pairs", "steps"}
        ``pairs``: for each pair A and B the six seatings with one A and two B, or two A and one B. ``triples``: all
        six seatings of every three bots, and for each step of the ladder the six of its pair. ``steps``: those of
        the steps alone. ``auto``: ``triples`` for three to six bots, else ``pairs``. All are balanced: each bot
        sits in each role equally often, and meets each other bot equally often (``steps``: its neighbours).

    Returns
    -------
    Design

    Raises
    ------
    SeatingError
        For triples of two bots, or fewer than two.
    """
    if bots < 2:
        raise SeatingError("a tournament takes two bots or more")
    if wish == "triples" and bots < 3:
        raise SeatingError("--design triples takes three bots or more")
    triples = math.comb(bots, 3) * 6
    name = wish
    if wish == "auto":
        name = "triples" if bots > 2 and triples <= MOST_TRIPLES else "pairs"
    steps = [(number, number + 1) for number in range(bots - 1)]
    wanted = list(itertools.combinations(range(bots), 2)) if name == "pairs" else steps
    seatings: list[Seating] = []
    if name == "triples":
        for three in itertools.combinations(range(bots), 3):
            seatings += [(a, b, c) for a, b, c in itertools.permutations(three)]
    main = list(range(len(seatings)))
    mixes = {}
    for pair in wanted:
        one, two = _mixes(*pair)
        begin = len(seatings)
        seatings += one + two
        mixes[pair] = (tuple(range(begin, begin + 3)), tuple(range(begin + 3, begin + 6)))
    if name == "pairs":
        main = list(range(len(seatings)))
    return Design(name, tuple(seatings), tuple(main), mixes)


# --- sums --------------------------------------------------------------------------------------------------


class TournamentSums:
    """Sums of one chunk and variant; see :class:`analysis.seatings.Collector`.

    Parameters
    ----------
    design : Design
    bots : int
    first, count : int
        Deals.
    """

    def __init__(self, design: Design, bots: int, first: int, count: int) -> None:
        self._design = design
        self._bots = bots
        self._count = count
        self._main = set(design.main)
        self._found = np.zeros((len(MEASURES), count, bots), dtype=np.int64)
        self._mixes = np.zeros((len(design.mixes), 2, len(MIX), count), dtype=np.int64)
        self._mix_of = {
            seating: (number, which, pair)
            for number, (pair, sides) in enumerate(design.mixes.items())
            for which, side in enumerate(sides)
            for seating in side
        }
        self._over = np.zeros((GROUPS, bots, bots), dtype=np.int64)
        self._style = np.zeros((0, bots, len(STYLE)), dtype=np.int64)
        self._group = (first + np.arange(count)) % GROUPS

    def take(self, seating: int, cell: Cell) -> None:
        """Add the games of a seating."""
        seats = self._design.seatings[seating]
        drawn = cell.winner < 0
        if len(self._style) < len(cell.style):
            self._style = np.zeros((len(cell.style), self._bots, len(STYLE)), dtype=np.int64)
        for role, bot in enumerate(seats):
            won = cell.winner == role
            if seating in self._main:
                self._found[0, :, bot] += cell.scores[:, role]
                self._found[1, :, bot] += won
                self._found[2, :, bot] += drawn
                self._found[3, :, bot] += np.where(won, cell.fan, 0)
                self._style[:, bot] += cell.style[:, role]
            wins = np.bincount(self._group[won], minlength=GROUPS)
            for other in seats:
                if other != bot:
                    self._over[:, bot, other] += wins
        if seating in self._mix_of:
            number, which, (_, strong) = self._mix_of[seating]
            part = self._mixes[number, which]
            for role, bot in enumerate(seats):
                side = 0 if bot == strong else 1
                part[side] += cell.scores[:, role]
                part[2 + side] += cell.winner == role
            part[4] += drawn

    def sums(self) -> Sums:
        """Sums and sums of products over the deals."""
        main = np.moveaxis(self._found, 1, 0).reshape(self._count, -1)
        mixes = self._mixes.reshape(len(self._design.mixes), 2 * len(MIX), self._count)
        return {
            "deals": np.array([self._count]),
            "main": main.sum(axis=0),
            "main_products": main.T @ main,
            "mixes": mixes.sum(axis=2),
            "mix_products": mixes @ mixes.transpose(0, 2, 1),
            "over": self._over,
            "style_deals": np.array([len(self._style)]),
            "style": self._style.sum(axis=0),
            "style_squares": (self._style**2).sum(axis=0),
            "style_by_wins": (self._style * self._style[:, :, [STYLE.index("wins")]]).sum(axis=0),
        }


# --- laws --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """Sums of features over deals, in whole numbers.

    Attributes
    ----------
    deals : int
    sums : object array, shape (m,)
    products : object array, shape (m, m)
    """

    deals: int
    sums: NDArray[Any]
    products: NDArray[Any]

    def contrast(self, weights: Sequence[int], scale: float) -> Student:
        """Law of the mean of Σ weight · feature, divided by ``scale``."""
        used = [number for number, weight in enumerate(weights) if weight]
        total = sum(weights[i] * int(self.sums[i]) for i in used)
        square = sum(weights[i] * weights[j] * int(self.products[i, j]) for i in used for j in used)
        n = self.deals
        spread = n * square - total * total  # n² × variance, exact
        error = math.sqrt(spread / (n * n * (n - 1))) if n > 1 else math.inf
        return Student(total / n / scale, error / scale, max(1, n - 1))

    def batch(self, top: int, bottom: int | None, seats: int = 1) -> ci.Batch:
        """Feature ``top`` over feature ``bottom``, or over ``seats`` a deal."""
        n = self.deals
        first, square = int(self.sums[top]), int(self.products[top, top])
        if bottom is None:
            return ci.Batch(n, (first, n * seats), (square, seats * first, n * seats * seats))
        other = int(self.sums[bottom])
        return ci.Batch(
            n, (first, other), (square, int(self.products[top, bottom]), int(self.products[bottom, bottom]))
        )

    def ratio(self, top: Sequence[int], bottom: Sequence[int], level: float) -> ci.Interval:
        """Interval of Σ top / Σ bottom, by the delta method for its logarithm; none without events."""
        n = self.deals
        above, below = (sum(int(self.sums[i]) for i in part) for part in (top, bottom))
        if not above or not below or n < 2:
            return ci.NO_INTERVAL
        weights = dict.fromkeys(top, below) | dict.fromkeys(bottom, -above)
        square = sum(a * b * int(self.products[i, j]) for i, a in weights.items() for j, b in weights.items())
        error = math.sqrt(square * n / (n - 1)) / (above * below)
        half = ci.t_point(level, n - 1) * error
        value = above / below
        return ci.Interval(value * math.exp(-half), value * math.exp(half), "delta")


def plackett_luce(over: NDArray[Any], level: float = 0.95) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ratings of Luce's model, in which a seat wins in proportion to exp(rating) of its player.

    Parameters
    ----------
    over : array, shape (groups, bots, bots)
        By group of deals, how often a seat of the first bot has won over a seat of the second. Under Luce's choice
        axiom these pairwise counts, taken from the winner of each game, give consistent estimates.
    level : float
        Of the intervals, by jackknife over the groups: games of one deal are dependent, so that the Hessian
        would make them too short.

    Returns
    -------
    value, low, high : float arrays, shape (bots,)
        Ratings with mean 0; NaN where some bot has never won or never lost, since then there is no estimate.
    """
    import choix

    counts = over.astype(np.float64)
    bots = counts.shape[1]
    nothing = np.full(bots, np.nan)
    whole = counts.sum(axis=0)

    def fit(table: FloatArray) -> FloatArray:
        found: FloatArray = choix.ilsr_pairwise_dense(table, alpha=0.0, max_iter=1000)
        centred: FloatArray = found - found.mean()
        return centred

    if not (_connected(whole > 0)):
        return nothing, nothing, nothing
    value = fit(whole)
    groups = [number for number in range(len(counts)) if counts[number].any()]
    rest = [whole - counts[number] for number in groups]
    if len(groups) < 2 or not all(_connected(table > 0) for table in rest):
        return value, nothing, nothing
    left = np.stack([fit(table) for table in rest])
    k = len(groups)
    error = np.sqrt((k - 1) / k * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    half = ci.t_point(level, k - 1) * error
    return value, value - half, value + half


def _connected(over: NDArray[np.bool_]) -> bool:
    """Whether a chain of wins leads from each bot to each other one."""
    reach = over | np.eye(len(over), dtype=bool)
    for _ in range(len(over)):
        reach = reach | ((reach.astype(int) @ reach.astype(int)) > 0)
    return bool(reach.all())


# --- results -----------------------------------------------------------------------------------------------

_ENDS = ("", "_low", "_high")


def _floats(*names: str) -> dict[str, Any]:
    return {f"{name}{end}": pl.Float64 for name in names for end in _ENDS}


_FOOT: dict[str, Any] = {"deals": pl.Int64, "level": pl.Float64, "seed": pl.UInt64, "digest": pl.String}

BOTS_SCHEMA: dict[str, Any] = {
    "variant": pl.String,
    "bot": pl.String,
    **_floats("score", "win_rate", "relative_wins", "draw_rate", "fan", "rating"),
    "seats": pl.Int64,
    **_FOOT,
}
"""One row a variant and bot. ``score``: mean money a game; ``win_rate``: games won by seat; ``relative_wins``: that
over the mean of all bots, less 1; ``draw_rate``: of the games it sat in; ``fan``: mean of its wins; ``seats``: seats
a deal."""

PAIRS_SCHEMA: dict[str, Any] = {
    "variant": pl.String,
    "bot": pl.String,
    "other": pl.String,
    **_floats("difference"),
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "decision": pl.String,
    **_FOOT,
}
"""Mean score of ``other`` less that of ``bot``; ``decision`` (``better``, ``worse``, ``undecided``) by Holm over all
pairs."""

STEPS_SCHEMA: dict[str, Any] = {
    "variant": pl.String,
    "weaker": pl.String,
    "stronger": pl.String,
    **_floats("difference", "relative_wins", "one", "one_wins", "two", "two_wins"),
    "draws_one": pl.Float64,
    "draws_two": pl.Float64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "decision": pl.String,
    "significant": pl.Boolean,
    **_FOOT,
}
"""Each bot against the one before it, in the mixes of the two. ``difference``: score by seat of the stronger less
that of the weaker; ``relative_wins``: wins by seat of the stronger over those of the weaker, less 1; ``one`` and
``two``: the same with one, and with two, of the stronger at the table. ``decision`` by Holm over all steps;
``significant``: it is ``better``."""

STYLE_SCHEMA: dict[str, Any] = {
    "variant": pl.String,
    "bot": pl.String,
    **_floats("chi", "peng", "passes", "win_passes", "own_share", "to_next", "to_before"),
    **_FOOT,
}
"""What a bot does, a game: chis, pengs, passes of a legal claim, passes of a win; the share of its wins on an own (or
dealt) card; and how often the next player, and the one before, wins on a card that it drew."""


@dataclass(frozen=True)
class Tournament:
    """A tournament that has been played.

    Attributes
    ----------
    plan : Plan
    design : Design
    level : float
    bots, pairs, steps, style : DataFrame
        See ``BOTS_SCHEMA``, ``PAIRS_SCHEMA``, ``STEPS_SCHEMA`` and ``STYLE_SCHEMA``.
    """

    plan: Plan
    design: Design
    level: float
    bots: pl.DataFrame
    pairs: pl.DataFrame
    steps: pl.DataFrame
    style: pl.DataFrame


def _put(
    row: dict[str, Any], name: str, value: float | None, interval: ci.Interval, shift: float = 0
) -> None:
    row[name] = None if value is None else value + shift
    for end, found in (("_low", interval.low), ("_high", interval.high)):
        row[name + end] = None if found is None else found + shift


def _law(row: dict[str, Any], name: str, law: Student, level: float) -> None:
    row[name] = law.centre
    row[f"{name}_low"], row[f"{name}_high"] = law.interval(level) if _varies(law) else (None, None)


def _varies(law: Student) -> bool:
    """Whether the deals differ: where all agree they say nothing of how far others would."""
    return 0 < law.error < math.inf


def _p(law: Student) -> float:
    return law.p_value() if _varies(law) else 1.0


def _bot_rows(sums: Sums, design: Design, names: Sequence[str], level: float) -> list[dict[str, Any]]:
    bots = len(names)
    seats = design.seats(bots)
    found = Moments(int(sums["deals"][0]), sums["main"], sums["main_products"])
    # All wins as a feature of their own, for shares of them.
    wins = [bots + bot for bot in range(bots)]
    total = np.append(found.sums, found.sums[wins].sum())
    edge = found.products[:, wins].sum(axis=1)
    products = np.block([[found.products, edge[:, None]], [edge[None, :], np.array([[edge[wins].sum()]])]])
    whole = Moments(found.deals, total, products)
    ratings = plackett_luce(sums["over"], level)
    rows = []
    for bot, name in enumerate(names):
        row: dict[str, Any] = {"bot": name, "seats": int(seats[bot])}
        mine = int(seats[bot])
        each = [number * bots + bot for number in range(len(MEASURES))]
        score, rate, draws = (whole.batch(number, None, mine) for number in each[:3])
        _put(row, "score", score.sums[0] / score.sums[1], ci.batch_interval(score, level))
        for key, batch in (("win_rate", rate), ("draw_rate", draws)):
            _put(row, key, batch.sums[0] / batch.sums[1], ci.batch_rate_interval(batch, level))
        fan = whole.batch(each[3], each[1])
        if fan.sums[1]:
            _put(row, "fan", fan.sums[0] / fan.sums[1], ci.batch_interval(fan, level))
        share = whole.batch(each[1], len(total) - 1)
        if share.sums[1]:
            interval = ci.batch_share_interval(share, level)
            stretched = [None if end is None else end * bots for end in (interval.low, interval.high)]
            value = bots * share.sums[0] / share.sums[1]
            _put(row, "relative_wins", value, ci.Interval(stretched[0], stretched[1], interval.method), -1)
        for end, values in zip(_ENDS, ratings, strict=True):
            row[f"rating{end}"] = None if math.isnan(values[bot]) else float(values[bot])
        rows.append(row)
    return rows


def _style_rows(sums: Sums, design: Design, names: Sequence[str], level: float) -> list[dict[str, Any]]:
    deals = int(sums["style_deals"][0])
    seats = design.seats(len(names))
    wins = STYLE.index("wins")
    rows = []
    for bot, name in enumerate(names):
        row: dict[str, Any] = {"bot": name, "deals": deals}
        k = int(seats[bot])

        def counts(key: str, bot: int = bot) -> tuple[int, int, int]:
            at = STYLE.index(key)
            first, square, cross = (
                sums[table][bot][at] for table in ("style", "style_squares", "style_by_wins")
            )
            return int(first), int(square), int(cross)

        for key in ("chi", "peng", "passes", "win_passes", "to_next", "to_before"):
            first, square, _ = counts(key)
            batch = ci.Batch(deals, (first, deals * k), (square, k * first, deals * k * k))
            make = ci.batch_rate_interval if key.startswith("to_") else ci.batch_interval
            _put(row, key, first / (deals * k), make(batch, level))
        first, square, cross = counts("own")
        won, won_square = (int(sums[table][bot][wins]) for table in ("style", "style_squares"))
        if won:
            batch = ci.Batch(deals, (first, won), (square, cross, won_square))
            _put(row, "own_share", first / won, ci.batch_share_interval(batch, level))
        rows.append(row)
    return rows


def _pair_rows(sums: Sums, design: Design, names: Sequence[str], level: float) -> list[dict[str, Any]]:
    found = Moments(int(sums["deals"][0]), sums["main"], sums["main_products"])
    seats = design.seats(len(names))
    rows = []
    for one, two in itertools.combinations(range(len(names)), 2):
        weights = [0] * len(found.sums)
        weights[one], weights[two] = -1, 1
        law = found.contrast(weights, float(seats[one]))
        row: dict[str, Any] = {"bot": names[one], "other": names[two], "p": _p(law)}
        _law(row, "difference", law, level)
        rows.append(row)
    return rows


def _step_rows(sums: Sums, design: Design, names: Sequence[str], level: float) -> list[dict[str, Any]]:
    deals = int(sums["deals"][0])
    width = len(MIX)
    rows = []
    for number, (weak, strong) in enumerate(design.mixes):
        if strong != weak + 1:
            continue
        found = Moments(deals, sums["mixes"][number], sums["mix_products"][number])
        # One of the stronger: 3 seats of it a deal and 6 of the weaker; two of them: 6 and 3. Weights put all on
        # seats of equal number: 6ths of a seat's score.
        one, two = [2, -1, 0, 0, 0], [1, -2, 0, 0, 0]
        law = found.contrast([1, -1, 0, 0, 0, 1, -1, 0, 0, 0], 9)
        row: dict[str, Any] = {"weaker": names[weak], "stronger": names[strong], "p": _p(law)}
        _law(row, "difference", law, level)
        _law(row, "one", found.contrast([*one, *[0] * width], 6), level)
        _law(row, "two", found.contrast([*[0] * width, *two], 6), level)
        for key, top, bottom, factor in (
            ("relative_wins", [2, 7], [3, 8], 1.0),
            ("one_wins", [2], [3], 2.0),
            ("two_wins", [7], [8], 0.5),
        ):
            above, below = (sum(int(found.sums[i]) for i in part) for part in (top, bottom))
            interval = found.ratio(top, bottom, level)
            ends = [None if end is None else factor * end for end in (interval.low, interval.high)]
            value = factor * above / below if below else None
            _put(row, key, value, ci.Interval(ends[0], ends[1], interval.method), -1)
        row["draws_one"], row["draws_two"] = (int(found.sums[i]) / (3 * deals) for i in (4, 9))
        rows.append(row)
    return rows


def _frame(rows: list[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([[row.get(name) for name in schema] for row in rows], schema=schema, orient="row")


def evaluate(plan: Plan, design: Design, found: dict[str, Sums], level: float = 0.95) -> Tournament:
    """Turn sums into tables.

    Parameters
    ----------
    plan : Plan
    design : Design
    found : dict
        Variant label to sums, from :func:`analysis.seatings.collect`.
    level : float
        Of intervals; decisions are made at 1 − level.

    Returns
    -------
    Tournament
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, such as 0.95, not {level}")
    tables: dict[str, list[dict[str, Any]]] = {"bots": [], "pairs": [], "steps": [], "style": []}
    for variant, label in zip(plan.variants, plan.labels, strict=True):
        sums = found[label]
        foot = {
            "variant": label,
            "deals": int(sums["deals"][0]),
            "level": level,
            "seed": plan.seed,
            "digest": variant.digest,
        }
        new: dict[str, list[dict[str, Any]]] = {"steps": _step_rows(sums, design, plan.bots, level)}
        if design.main:
            new["bots"] = _bot_rows(sums, design, plan.bots, level)
            new["pairs"] = _pair_rows(sums, design, plan.bots, level)
            if plan.style:
                new["style"] = _style_rows(sums, design, plan.bots, level)
        for name, rows in new.items():
            tables[name] += [foot | row for row in rows]
    for name in ("pairs", "steps"):
        rows = tables[name]
        for row, adjusted in zip(rows, holm([row["p"] for row in rows]), strict=True):
            row["p_holm"] = adjusted
            decided = adjusted <= 1 - level
            row["significant"] = decided and row["difference"] > 0
            better = "better" if row["difference"] > 0 else "worse"
            row["decision"] = better if decided and row["difference"] else "undecided"
    return Tournament(
        plan,
        design,
        level,
        _frame(tables["bots"], BOTS_SCHEMA),
        _frame(tables["pairs"], PAIRS_SCHEMA),
        _frame(tables["steps"], STEPS_SCHEMA),
        _frame(tables["style"], STYLE_SCHEMA),
    )


def plan_tournament(
    variants: Sequence[str | Path],
    bots: str | Sequence[str],
    games: int = 10_000,
    *,
    design: Wish = "auto",
    seed: int = 1,
    overrides: Sequence[str] = (),
    style: int | None = None,
) -> tuple[Plan, Design]:
    """Check what is asked for, and choose the seatings; parameters as in :func:`tournament`."""
    names = bot_list(bots)
    chosen = make_design(len(names), design)
    if games < 2:
        raise SeatingError(f"--games: {games} deals tell nothing; at least 2 are needed")
    loaded, labels = load_variants(variants, overrides)
    if style is None:
        style = min(games, STYLE_GAMES, max(100, games // 10))
    style = style if chosen.main else 0
    return Plan("tournament", loaded, labels, names, chosen.seatings, games, seed, style), chosen


def play_tournament(
    plan: Plan,
    design: Design,
    *,
    jobs: int | None = None,
    out: Path | None = None,
    level: float = 0.95,
    quiet: bool = False,
    progress: Progress | None = None,
) -> Tournament:
    """Play what :func:`plan_tournament` has planned; parameters as in :func:`tournament`."""
    found = collect(
        plan,
        lambda first, count: TournamentSums(design, len(plan.bots), first, count),
        jobs=jobs,
        folder=out,
        quiet=quiet,
        progress=progress,
    )
    return evaluate(plan, design, found, level)


def tournament(
    variants: Sequence[str | Path],
    bots: str | Sequence[str],
    games: int = 10_000,
    *,
    design: Wish = "auto",
    seed: int = 1,
    jobs: int | None = None,
    out: Path | None = None,
    overrides: Sequence[str] = (),
    style: int | None = None,
    level: float = 0.95,
    quiet: bool = False,
    progress: Progress | None = None,
) -> Tournament:
    """Let bots meet in every seating of the same deals.

    Parameters
    ----------
    variants : sequence of str or Path
        Presets or files.
    bots : str or sequence of str
        ``"a,b,c"``, from the weakest to the strongest: neighbours are the steps of the ladder.
    games : int
        Deals; each is played in every seating.
    design : {"auto", "triples", "pairs", "steps"}
        See :func:`make_design`.
    seed : int
        0 to 2**64 - 1.
    jobs : int, optional
        Processes; by default as many as pay. They change no digit.
    out : Path, optional
        Folder for what is done, to go on from after an interruption; see :func:`write_tournament` for results.
    overrides : sequence of str
        ``key=value`` for every variant.
    style : int, optional
        Games of each seating that are played again to count what players do; by default a tenth, 100 to 1000.
    level : float
        Of intervals.
    quiet, progress
        As in :func:`sim.run.simulate`.

    Returns
    -------
    Tournament

    Raises
    ------
    SeatingError
        For a design that cannot be, too few bots or games, or a folder in use by another tournament.
    sim.bots.BotError, sim.variant.VariantError
        For an unknown bot, or a variant that does not hold.

    Examples
    --------
    >>> found = tournament(["four_wang"], "random,greedy", 2_000)  # doctest: +SKIP
    >>> found.steps  # doctest: +SKIP
    """
    plan, chosen = plan_tournament(
        variants, bots, games, design=design, seed=seed, overrides=overrides, style=style
    )
    return play_tournament(plan, chosen, jobs=jobs, out=out, level=level, quiet=quiet, progress=progress)
