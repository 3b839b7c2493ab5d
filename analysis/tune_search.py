"""The search of a tuning: settings played on shared deals, and which of them are worth a second look.

A round plays every setting that is left on the same fresh deals. What an interval shows to miss a target is out, what
is shown to be worse than a setting that is shown to be right is out, and of the rest the better half goes on, with more
games each. All of it is screening: the numbers that count come from other deals (:mod:`analysis.tune`).
"""

from __future__ import annotations

import hashlib
import io
import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis import intervals as ci
from analysis.joint import Features
from analysis.metrics import Metric, metric
from analysis.tune_spec import Loaded, Setting, Value, shown
from sim.parts import write_atomic
from sim.variant import Variant, VariantError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ALPHA = 0.05
"""Chance that any setting is thrown out wrongly as missing a target, over all settings, targets and rounds."""
LEAST_GAMES = 1_000
"""Games of a setting in a round."""
LEAST_EVENTS = 20
"""Games with a numerator before an interval may throw a setting out."""
BATCH = 8
"""Settings that optuna is asked for at a time: it depends on nothing, so that the search is the same everywhere."""


class TuneError(ValueError):
    """A tuning that cannot be done; the message says what would be right."""


def derived_seed(seed: int, *what: object) -> int:
    """Seed for one use, made from the spec's: other uses, other deals."""
    text = ":".join(str(part) for part in (seed, *what))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


# --- playing -----------------------------------------------------------------------------------------------


class Play(Protocol):
    """Plays variants on the same deals."""

    def __call__(
        self, variants: Mapping[str, Variant], games: int, seed: int, folder: Path
    ) -> Mapping[str, pl.DataFrame]:
        """Label to game rows; an interrupted call may be repeated with the same ``folder``."""


@contextmanager
def calm_workers() -> Iterator[None]:
    """Keep joblib from remarking that workers of an earlier run have ended: several runs follow one another."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
        yield


def play_run(jobs: int | None, quiet: bool, bots: str, progress: Any = None) -> Play:
    """Play with :func:`sim.run.simulate`, whose run folder is kept until the rows have been used."""

    def play(
        variants: Mapping[str, Variant], games: int, seed: int, folder: Path
    ) -> Mapping[str, pl.DataFrame]:
        from sim.run import simulate

        named = [variant.model_copy(update={"name": label}) for label, variant in variants.items()]
        with calm_workers():
            run = simulate(
                named,
                games,
                bots=bots,
                seed=seed,
                jobs=jobs,
                out=folder,
                resume=True,
                quiet=quiet,
                progress=None if progress is None else progress(),
            )
        return {label: run.games(label).collect() for label in variants}

    return play


@dataclass
class Store:
    """Feature columns of every setting and round, as files: what is there is not played again.

    Attributes
    ----------
    folder : Path
    metrics : tuple of Metric
        Whose features are kept.
    play : Play
    """

    folder: Path
    metrics: tuple[Metric, ...]
    play: Play

    def get(self, name: str, variants: Mapping[str, Variant], games: int, seed: int) -> dict[str, Rows]:
        """Features of variants on the deals of ``seed``.

        Parameters
        ----------
        name : str
            Of the round, for the file.
        variants : mapping
            Label to variant.
        games, seed : int

        Returns
        -------
        dict
            Label to its features.
        """
        from sim._jit import source_digest
        from sim.store import remove_run

        asked = [f"{label}={variant.digest}" for label, variant in variants.items()]
        text = "\n".join(
            [source_digest(), str(games), str(seed), *asked, *(item.key for item in self.metrics)]
        )
        mark = hashlib.sha256(text.encode()).hexdigest()
        path = self.folder / f"{name}.parquet"
        table = _read_marked(path, mark)
        if table is None:
            scratch = self.folder / f"{name}.run"
            features = Features(self.metrics)
            rows = self.play(variants, games, seed, scratch)
            columns: dict[str, Any] = {"mark": [mark] + [None] * (games - 1)}
            for label in variants:
                frame = rows[label].with_columns(variant=pl.lit(label)).lazy()
                for key, column in features.columns(frame).items():
                    columns[f"{label}:{key}"] = column.values
            table = pl.DataFrame(columns)
            buffer = io.BytesIO()
            table.write_parquet(buffer, compression="zstd")
            write_atomic(path, buffer.getvalue())
            if scratch.exists():
                remove_run(scratch)
        features = Features(self.metrics)
        return {
            label: Rows({item.key: _features_of(table, label, features, item) for item in self.metrics})
            for label in variants
        }


def _read_marked(path: Path, mark: str) -> pl.DataFrame | None:
    """Read a file of the store; None where it is not there, damaged, or of something else."""
    if not path.is_file():
        return None
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError):
        return None
    if "mark" not in table.columns or table.is_empty() or table["mark"][0] != mark:
        return None
    return table


def _features_of(table: pl.DataFrame, label: str, features: Features, item: Metric) -> IntArray:
    names = features.names(item)
    return np.stack([table[f"{label}:{name}"].to_numpy() for name in names], axis=1)


@dataclass(frozen=True)
class Rows:
    """Features of one setting: metric key to an array, shape (games, m)."""

    features: Mapping[str, IntArray]

    def __add__(self, other: Rows) -> Rows:
        """Put the games of another round behind."""
        return Rows({key: np.concatenate([rows, other.features[key]]) for key, rows in self.features.items()})


# --- estimates ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Guess:
    """A quick estimate.

    Attributes
    ----------
    value : float or None
    error : float
        Standard error; 0 where it is not known.
    influence : float array or None
        Per game, sums to zero; None for quantiles.
    n : int
    """

    value: float | None
    error: float
    influence: FloatArray | None
    n: int


def guess(item: Metric, rows: IntArray) -> Guess:
    """Estimate a metric by the delta method.

    Parameters
    ----------
    item : Metric
    rows : int array, shape (games, m)
        Its features.
    """
    n = len(rows)
    if item.kind == "quantile":
        kept = np.sort(rows[rows[:, -1] != 0, 0])
        if not len(kept) or item.share is None:
            return Guess(None, 0.0, None, 0)
        rank = ci.quantile_rank(len(kept), item.share)
        return Guess(float(kept[rank - 1]), 0.0, None, len(kept))
    bottom = float(rows[:, -1].sum())
    if bottom == 0:
        return Guess(None, 0.0, None, 0)
    mean = rows[:, 0].sum() / bottom
    spread = (rows[:, 0] - mean * rows[:, -1]) / (bottom / n)
    if item.kind == "spread":
        second = rows[:, 1].sum() / bottom
        variance = max(0.0, float(second - mean * mean))
        value = math.sqrt(variance)
        bent = (rows[:, 1] - second * rows[:, -1]) / (bottom / n) - 2 * mean * spread
        influence = bent / (2 * value) if value > 0 else bent * 0.0
    else:
        value = float(mean) / item.scale
        influence = spread / item.scale
    error = float(np.sqrt((influence @ influence) / (n * max(1, n - 1))))
    return Guess(value, error, influence, n)


def bounds(item: Metric, rows: IntArray, found: Guess, level: float) -> tuple[float | None, float | None]:
    """Interval of a quick estimate; open where there are too few events to say anything."""
    if found.value is None:
        return None, None
    if item.kind == "quantile":
        assert item.share is not None
        values, counts = np.unique(rows[rows[:, -1] != 0, 0], return_counts=True)
        interval = ci.quantile_interval(values, counts, item.share, level)
        return interval.low, interval.high
    if item.kind == "rate":
        events, n = int(rows[:, 0].sum()), int(rows[:, -1].sum())
        return ci.wilson(events, n, ci.normal_point(level))
    if int((rows[:, 0] != 0).sum()) < LEAST_EVENTS:
        return None, None
    half = ci.normal_point(level) * found.error
    return found.value - half, found.value + half


@dataclass
class Candidate:
    """One setting on its way through the search.

    Attributes
    ----------
    number : int
        In the order in which settings were first tried, from 1.
    setting : dict
        Dotted key to value.
    variant : Variant
    changed : int
        Keys that differ from the base.
    fate : str
        ``in``, ``out`` (shown to miss a target), ``worse`` (shown to be worse than one shown to be right), ``rank``.
    reason : dict
        What the fate rests on.
    games : int
    values : dict
        Metric key to (value, low, high) of the last look.
    """

    number: int
    setting: Setting
    variant: Variant
    changed: int
    fate: str = "in"
    reason: dict[str, Any] = field(default_factory=dict)
    games: int = 0
    values: dict[str, tuple[float | None, float | None, float | None]] = field(default_factory=dict)
    rows: Rows | None = None
    guesses: dict[str, Guess] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name in run folders."""
        return f"s{self.number:04d}"


class Judge:
    """Looks at candidates: intervals, distances from targets, order.

    Parameters
    ----------
    loaded : Loaded
    """

    def __init__(self, loaded: Loaded) -> None:
        spec = loaded.spec
        self.goals = spec.goals
        self.objectives = spec.objectives
        self.metrics = tuple(metric(key) for key in spec.metrics)

    def look(self, candidate: Candidate, rows: Rows, level: float = 0.95) -> None:
        """Take the rows of a further round into account."""
        candidate.rows = rows if candidate.rows is None else candidate.rows + rows
        held = candidate.rows.features
        for item in self.metrics:
            found = guess(item, held[item.key])
            candidate.guesses[item.key] = found
            low, high = bounds(item, held[item.key], found, level)
            candidate.values[item.key] = (found.value, low, high)
        candidate.games = len(next(iter(held.values())))

    def distance(self, candidate: Candidate) -> float:
        """Sum over targets of how far the value lies outside, in the target's own size; one error is forgiven."""
        total = 0.0
        for goal in self.goals:
            found = candidate.guesses[goal.key]
            gap = goal.distance(found.value)
            total += math.inf if gap == math.inf else max(0.0, gap - found.error) / goal.scale
        return total

    def aims(self, candidate: Candidate) -> tuple[float, ...]:
        """Objectives, small is good."""
        values = [(candidate.guesses[key].value, sign) for key, sign in self.objectives]
        return tuple(math.inf if value is None else sign * value for value, sign in values)

    def off_centre(self, candidate: Candidate) -> float:
        """How near the targets' ends the values lie."""
        return sum(max(-1.0, goal.off_centre(candidate.guesses[goal.key].value)) for goal in self.goals)

    def order(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Best first: nearest to the targets; then by front and objectives, else by fewest changes."""
        layers = fronts([self.aims(one) for one in candidates])
        ranks = _rank_sums([self.aims(one) for one in candidates])

        def key(number: int) -> tuple[float, ...]:
            one = candidates[number]
            if self.objectives:
                return (self.distance(one), layers[number], ranks[number], one.changed, one.number)
            return (self.distance(one), self.off_centre(one), one.changed, one.number)

        return [candidates[number] for number in sorted(range(len(candidates)), key=key)]


def fronts(points: Sequence[tuple[float, ...]]) -> list[int]:
    """Number of the Pareto front of each point, 0 for those that none dominates; small is good."""
    found = [-1] * len(points)
    left = list(range(len(points)))
    layer = 0
    while left:
        best = [i for i in left if not any(dominates(points[j], points[i]) for j in left)]
        for i in best:
            found[i] = layer
        left = [i for i in left if found[i] < 0]
        layer += 1
    return found


def dominates(one: Sequence[float], two: Sequence[float]) -> bool:
    """Whether one is nowhere worse than two and somewhere better."""
    return all(a <= b for a, b in zip(one, two, strict=True)) and any(
        a < b for a, b in zip(one, two, strict=True)
    )


def _rank_sums(points: Sequence[tuple[float, ...]]) -> list[int]:
    sums = [0] * len(points)
    for axis in range(len(points[0]) if points else 0):
        for rank, number in enumerate(sorted(range(len(points)), key=lambda i: (points[i][axis], i))):
            sums[number] += rank
    return sums


# --- rounds ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Round:
    """One round: so many settings, so many games each, and the seed of the deals."""

    settings: int
    games: int
    seed: int


@dataclass
class Search:
    """What a search did.

    Attributes
    ----------
    method : str
    candidates : list of Candidate
        All that were tried, in order.
    rounds : list of Round
    left : list of Candidate
        The short list, best first.
    none_legal : int
        Settings whose values do not go together.
    spent : int
        Games.
    complete : bool
        Whether every setting of the grid was tried.
    """

    method: str
    candidates: list[Candidate] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    left: list[Candidate] = field(default_factory=list)
    none_legal: int = 0
    spent: int = 0
    complete: bool = False

    @property
    def all_out(self) -> bool:
        """Whether every setting of the grid was shown to miss a target."""
        return self.out_but(())

    def out_but(self, numbers: Collection[int]) -> bool:
        """Whether every setting of the grid but these was shown to miss a target."""
        return self.complete and all(
            "missed" in one.reason for one in self.candidates if one.number not in numbers
        )


def race(
    search: Search,
    candidates: Sequence[Candidate],
    judge: Judge,
    store: Store,
    games: int,
    seed: int,
    keep: int,
    told: Callable[[str, int, int], None] | None = None,
) -> list[Candidate]:
    """Successive elimination on shared deals.

    Parameters
    ----------
    search : Search
        Told of the rounds.
    candidates : sequence of Candidate
    judge, store
        What looks and what plays.
    games : int
        In all.
    seed : int
        Of the spec.
    keep : int
        Settings to be left.
    told : callable, optional
        Hears of each round: its name, settings, games.

    Returns
    -------
    list of Candidate
        Best first.

    Raises
    ------
    TuneError
        When the games are too few for so many settings.
    """
    left = list(candidates)
    rounds = max(1, math.ceil(math.log2(len(left) / keep)) + 1)
    if games // (rounds * len(left)) < LEAST_GAMES:
        least = 2 * rounds * len(left) * LEAST_GAMES
        raise TuneError(f"budget: {len(left)} settings need {least:,} games at least; raise it or try fewer")
    alpha = ALPHA / max(1, len(left) * max(1, len(judge.goals)) * rounds)
    for number in range(1, rounds + 1):
        each = games // (rounds * len(left)) // LEAST_GAMES * LEAST_GAMES
        name, deals = f"round-{number:02d}", derived_seed(seed, "round", number)
        if told is not None:
            told(name, len(left), each)
        found = store.get(name, {one.label: one.variant for one in left}, each, deals)
        search.rounds.append(Round(len(left), each, deals))
        search.spent += each * len(left)
        for one in left:
            judge.look(one, found[one.label])
        left = _throw_out(left, judge, alpha, number, keep)
        left = judge.order(left)
        wanted = max(keep, math.ceil(len(candidates) / 2**number)) if number < rounds else keep
        for one in left[wanted:]:
            one.fate, one.reason = "rank", {"round": number} | one.reason
            one.rows = None
        left = left[:wanted]
        if len(left) <= keep:
            break
    return left


def _throw_out(left: list[Candidate], judge: Judge, alpha: float, number: int, keep: int) -> list[Candidate]:
    """Leave out what is shown to miss a target, or shown to be worse than one that is shown to be right."""
    sure: list[Candidate] = []
    for one in left:
        verdicts = []
        for goal in judge.goals:
            item = metric(goal.key)
            assert one.rows is not None
            low, high = bounds(item, one.rows.features[goal.key], one.guesses[goal.key], 1 - alpha)
            verdicts.append(goal.verdict(low, high))
            if verdicts[-1] == "missed":
                one.reason = {
                    "missed": goal.key,
                    "value": one.guesses[goal.key].value,
                    "low": low,
                    "high": high,
                }
        if all(verdict == "met" for verdict in verdicts):
            sure.append(one)
    kept = [one for one in left if "missed" not in one.reason]
    if kept:
        for one in left:
            if "missed" in one.reason:
                one.fate, one.reason = "out", {"round": number} | one.reason
                one.rows = None
    else:  # none is right: the nearest go on, so that something can be said of them
        kept = left
    if sure and judge.objectives:
        best = judge.order(sure)[0]
        for one in list(kept):
            if one is not best and one.fate == "in" and _is_worse(one, best, judge, alpha):
                one.fate, one.reason = "worse", {"round": number, "than": best.number}
                one.rows = None
                kept.remove(one)
    return kept


def _is_worse(one: Candidate, best: Candidate, judge: Judge, alpha: float) -> bool:
    """Whether every objective is shown to be worse, on the shared deals."""
    for key, sign in judge.objectives:
        mine, other = one.guesses[key], best.guesses[key]
        if mine.value is None or other.value is None or mine.influence is None or other.influence is None:
            return False
        step = sign * (mine.influence - other.influence)
        error = float(np.sqrt(step @ step)) / len(step)
        if sign * (mine.value - other.value) <= ci.normal_point(1 - alpha) * error:
            return False
    return True


# --- which settings ----------------------------------------------------------------------------------------


class Makers:
    """Turns settings into candidates, each set of rules once."""

    def __init__(self, loaded: Loaded, search: Search) -> None:
        self.loaded = loaded
        self.search = search
        self.known: dict[str, Candidate] = {}

    def make(self, setting: Setting) -> Candidate | None:
        """Return the candidate of a setting, a known one for rules that were tried before; None where illegal."""
        try:
            variant = self.loaded.variant(setting)
        except VariantError:
            self.search.none_legal += 1
            return None
        if variant.digest not in self.known:
            before, after = self.loaded.base.flat(), variant.flat()
            changed = sum(before[key] != after[key] for key in before)
            found = Candidate(len(self.known) + 1, dict(setting), variant, changed)
            self.known[variant.digest] = found
            self.search.candidates.append(found)
        return self.known[variant.digest]


def search_grid(
    loaded: Loaded,
    judge: Judge,
    store: Store,
    games: int,
    told: Callable[[str, int, int], None] | None = None,
) -> Search:
    """Try every setting of the grid by successive elimination.

    Raises
    ------
    TuneError
        When the games are too few, or no setting is legal.
    """
    search = Search("grid", complete=True)
    makers = Makers(loaded, search)
    for setting in loaded.spec.settings():
        makers.make(setting)
    if not search.candidates:
        raise TuneError("keys: no setting is a legal variant")
    search.left = race(
        search, search.candidates, judge, store, games, loaded.spec.seed, loaded.spec.shortlist, told
    )
    return search


def search_optuna(
    loaded: Loaded,
    judge: Judge,
    store: Store,
    games: int,
    told: Callable[[str, int, int], None] | None = None,
) -> Search:
    """Let optuna's TPE sampler propose settings, all on the same deals; then race the best of them.

    Raises
    ------
    TuneError
        When optuna is not installed or the games are too few.
    """
    try:
        import optuna
    except ImportError:
        raise TuneError(
            f"{loaded.spec.cells:,} settings take optuna: pip install 'chehuzi[tune]', or give fewer values"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spec = loaded.spec
    trials = min(spec.trials, spec.cells)
    each = games // 2 // trials // LEAST_GAMES * LEAST_GAMES
    if each < LEAST_GAMES:
        raise TuneError(
            f"budget: {trials} trials need {4 * trials * LEAST_GAMES:,} games at least; raise it or lower trials"
        )
    search = Search("optuna")
    makers = Makers(loaded, search)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=derived_seed(spec.seed, "optuna"),
            n_startup_trials=max(BATCH, trials // 4),
            multivariate=True,
            constant_liar=True,
        )
    aims = max(1, len(judge.objectives))
    study = optuna.create_study(directions=["minimize"] * aims, sampler=sampler)
    deals = derived_seed(spec.seed, "trials")
    played: set[int] = set()
    stale = 0
    batch = 0
    while len(played) < trials and stale < 20:
        batch += 1
        asked = [study.ask() for _ in range(min(BATCH, trials - len(played)))]
        made = [makers.make(_suggest(trial, spec.keys)) for trial in asked]
        fresh = {one.number: one for one in made if one is not None and one.number not in played}
        stale = 0 if fresh else stale + 1
        if fresh:
            name = f"trials-{batch:03d}"
            if told is not None:
                told(name, len(fresh), each)
            found = store.get(name, {one.label: one.variant for one in fresh.values()}, each, deals)
            search.spent += each * len(fresh)
            for one in fresh.values():
                judge.look(one, found[one.label])
                one.rows = None
            played |= set(fresh)
        for trial, answer in zip(asked, made, strict=True):
            if answer is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, _score(answer, judge))
    if not search.candidates:
        raise TuneError("keys: no setting that was tried is a legal variant")
    search.rounds.append(Round(len(search.candidates), each, deals))
    ordered = judge.order(search.candidates)
    best = ordered[: max(spec.shortlist, 16)]
    for one in ordered[len(best) :]:
        one.fate, one.reason = "rank", {"round": 0}
    search.left = race(search, best, judge, store, games - search.spent, spec.seed, spec.shortlist, told)
    search.complete = len(search.candidates) + search.none_legal >= spec.cells
    return search


def _suggest(trial: Any, keys: Mapping[str, tuple[Value, ...]]) -> Setting:
    setting: Setting = {}
    for key, values in keys.items():
        ordered = all(type(value) is int for value in values) and list(values) == sorted(values)  # type: ignore[type-var]
        if ordered and len(values) > 1:
            setting[key] = values[trial.suggest_int(key, 0, len(values) - 1)]
        else:  # texts, since optuna wants plain choices
            number = trial.suggest_categorical(key, [shown(value) for value in values])
            setting[key] = next(value for value in values if shown(value) == number)
    return setting


def _score(one: Candidate, judge: Judge) -> list[float]:
    """What optuna makes small: the objectives, far worse the farther the targets are missed."""
    distance = min(judge.distance(one), 1e6)
    if not judge.objectives:
        centre = min(max(judge.off_centre(one), -10.0), 1e6)
        return [distance + 1e-3 * centre]
    return [min(aim, 1e9) + 1e3 * distance * (1 + abs(min(aim, 1e9))) for aim in judge.aims(one)]
