"""Estimates by wang strata: forced deals with exact weights, and plain runs weighted afterwards.

With k wangs there are 10, 20 or 35 ways (k = 2, 3, 4) for them to fall over the three hands and the wall, and
the chance W of each is known. So Σ W · (mean within the stratum) is unbiased, whatever the number of games in
each, and its variance Σ W² s² / n leaves out all that differs *between* strata.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from analysis import intervals as ci
from analysis.exact import Stratum, wang_strata
from analysis.load import as_source, open_intact
from analysis.metrics import METRICS, SECTIONS, Metric, Text, metric
from analysis.sufficient import SufficientStats, collect_stats
from analysis.summary import SCHEMA

if TYPE_CHECKING:
    from sim.variant import Variant

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TARGETS = ("draw_rate", "score_dealer", "win_money", "wang_payout")
"""Metrics for which the games are spread best when none are named."""

PILOT_SHARE = 0.05
FLOOR = 0.3
"""Part of the games that is spread in proportion to the weights, so that no metric can lose much."""
PAYS = 1.1
"""Games are spread unevenly only if that makes the variance smaller by this factor."""
LEAST_GAMES = 2_000
LEAST_A_STRATUM = 20
CHUNK = 8_192
_ROUNDING = 1e-12
SUPPORTED = ("rate", "mean", "payout", "ratio")

STRATA_SCHEMA: dict[str, Any] = {**SCHEMA, "gain": pl.Float64}
"""Columns of an estimate by strata: those of a summary, and ``gain``: the variance of a plain run of as many
games divided by this one's."""


class StrataError(ValueError):
    """What cannot be done by strata, and why."""


@dataclass(frozen=True)
class Part:
    """Games of one stratum, or of some strata taken together.

    Attributes
    ----------
    weight : float
        Its exact chance.
    stats : SufficientStats
        Its games.
    """

    weight: float
    stats: SufficientStats


@dataclass(frozen=True)
class StrataEstimate:
    """A metric estimated by strata.

    Attributes
    ----------
    value : float or None
        None where the metric does not apply.
    interval : Interval
        Its ends may be None.
    n : int
        Games.
    gain : float or None
        Variance of a plain estimate from as many games, divided by this one's.
    """

    value: float | None
    interval: ci.Interval
    n: int
    gain: float | None


# --- estimating -------------------------------------------------------------------------------------------


def zero_bound(weights: FloatArray, games: FloatArray, level: float) -> float:
    """Upper bound of Σ W p when no stratum has shown the event.

    Parameters
    ----------
    weights, games : float arrays, shape (h,)
        Weight and number of games of each stratum.
    level : float
        Confidence of the one-sided bound.

    Returns
    -------
    float
        The greatest Σ W p of all p under which nothing at all would be seen with chance 1 − level or more:
        Π (1 − p)ⁿ ≥ 1 − level. By Lagrange p = max(0, 1 − λ n / W), with λ from the constraint. With one
        stratum, 1 − (1 − level)^(1/n).
    """
    slack = -math.log1p(-level)
    used = games > 0
    unseen = float(weights[~used].sum())
    weights, games = weights[used], games[used]
    if not len(weights):
        return unseen
    ratio = weights / games

    def spent(logarithm: float) -> float:
        return float((games * np.maximum(np.log(ratio) - logarithm, 0.0)).sum())

    high = float(np.log(ratio).max())
    low = high - slack / float(games[np.argmax(ratio)]) - 1.0
    while spent(low) < slack:
        low -= 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) > slack else (low, middle)
    chances = -np.expm1(np.minimum(low - np.log(ratio), 0.0))
    return unseen + float((weights * chances).sum())


@dataclass(frozen=True)
class _Moments:
    """Per stratum the mean and the variance of the influence, and what a plain run would have."""

    value: float
    variances: FloatArray  # s² of the influence within each stratum
    plain: float  # variance of the influence over all games


def _moments(parts: Sequence[Part], item: Metric) -> _Moments | None:
    weights = np.array([part.weight for part in parts])
    tables = [part.stats.features(item) for part in parts]
    names = [f"f{i}" for i in range(len(item.features))]
    features = [table.select(names).to_numpy().astype(np.float64) for table in tables]
    counts = [table["count"].to_numpy().astype(np.float64) for table in tables]
    games = np.array([part.stats.games for part in parts], dtype=np.float64)
    means = np.stack([count @ feature / n for count, feature, n in zip(counts, features, games, strict=True)])
    mean = weights @ means
    if mean[-1] <= 0:
        return None
    value = float(mean[0] / mean[1])
    gradient = np.array([1.0, -value]) / mean[1]
    centre = float(gradient @ mean)
    variances, plain = np.zeros(len(parts)), 0.0
    for number, (count, feature, n) in enumerate(zip(counts, features, games, strict=True)):
        influence = feature @ gradient - centre
        rest = n - count.sum()  # games without denominator: features 0
        first = (count @ influence - rest * centre) / n
        second = (count @ influence**2 + rest * centre**2) / n
        variances[number] = max(0.0, second - first**2) * n / max(1.0, n - 1)
        plain += weights[number] * second
    return _Moments(value, variances, plain)


def estimate_strata(
    parts: Sequence[Part],
    item: Metric,
    level: float = 0.95,
    wangs: int | None = None,
    games: int | None = None,
) -> StrataEstimate:
    """Estimate a metric from games by stratum.

    Parameters
    ----------
    parts : sequence of Part
        Every stratum; weights sum to 1, each with two games at least.
    item : Metric
        A rate, mean, payout or ratio.
    level : float
        Confidence level.
    wangs : int or None
        Wangs in the deck.
    games : int or None
        Games of the plain run that the gain is measured against; by default those of ``parts``.

    Returns
    -------
    StrataEstimate
        For a rate a Wilson interval with the effective number of games p (1 − p) / variance; for the others
        Student with Satterthwaite's degrees of freedom.

    Raises
    ------
    StrataError
        For a quantile or a spread.
    """
    _check_kind(item)
    weights = np.array([part.weight for part in parts])
    numbers = np.array([part.stats.games for part in parts], dtype=np.float64)
    n = int(numbers.sum())
    nothing = StrataEstimate(None, ci.NO_INTERVAL, n, None)
    if item.needs_wangs and wangs == 0:
        return nothing
    found = _moments(parts, item)
    if found is None:
        return nothing
    scale = float(item.scale)
    smoothed = found.variances
    if item.kind == "rate":
        if found.value <= 0:
            bound = zero_bound(weights, numbers, level)
            return StrataEstimate(0.0, ci.Interval(0.0, min(1.0, bound), "upper"), n, None)
        if found.value >= 1:
            bound = 1 - zero_bound(weights, numbers, level)
            return StrataEstimate(1.0, ci.Interval(max(0.0, bound), 1.0, "lower"), n, None)
        # A stratum that has shown nothing varies too: as if one more game of it had the overall rate.
        added = found.value / (numbers + 1)
        smoothed = np.where(found.variances > 0, found.variances, added * (1 - added))
    terms = weights**2 * smoothed / numbers
    variance = float(terms.sum())
    if variance * n <= _ROUNDING * found.plain:  # the strata fix it: nothing is left to chance
        value = found.value / scale
        return StrataEstimate(value, ci.Interval(value, value, "fixed"), n, None)
    freedom = max(1.0, variance**2 / float((terms**2 / np.maximum(numbers - 1, 1)).sum()))
    point = float(special.stdtrit(freedom, 0.5 + level / 2))
    gain = (
        found.plain / (n if games is None else games) / float((weights**2 * found.variances / numbers).sum())
    )
    if item.kind == "rate":
        size = found.value * (1 - found.value) / variance
        low, high = ci.wilson(found.value * size, size, point)
        value = found.value
    else:
        half = point * math.sqrt(variance)
        low, high, value = found.value - half, found.value + half, found.value
        low, high, value = low / scale, high / scale, value / scale
    interval = ci.Interval(low, high, "strata").clip(item.lowest, item.highest)
    return StrataEstimate(value, interval, n, gain)


def _check_kind(item: Metric) -> None:
    if item.kind not in SUPPORTED:
        raise StrataError(
            f"{item.key}: a {item.kind} is no mean or ratio of means over games, so strata do not estimate it; "
            "play a plain run (chehuzi simulate)"
        )


def _chosen(keys: Sequence[str] | None) -> list[Metric]:
    if keys is None:
        return [item for item in METRICS.values() if item.kind in SUPPORTED]
    chosen = [metric(key) for key in keys]
    for item in chosen:
        _check_kind(item)
    return chosen


# --- spreading the games ----------------------------------------------------------------------------------


def whole_shares(shares: FloatArray, total: int, least: int) -> IntArray:
    """Split ``total`` in proportion to ``shares``, each at least ``least``; largest remainders first."""
    number = len(shares)
    if total < least * number:
        raise StrataError(
            f"{total} games are too few for {number} strata; at least {least * number} are needed"
        )
    spare = total - least * number
    exact = shares / shares.sum() * total - least
    exact = np.maximum(exact, 0.0)
    exact = exact / exact.sum() * spare if exact.sum() > 0 else np.full(number, spare / number)
    whole = np.floor(exact).astype(np.int64)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: spare - int(whole.sum())]] += 1
    found: IntArray = whole + least
    return found


def neyman(parts: Sequence[Part], targets: Sequence[Metric]) -> FloatArray:
    """Shares of the games that make the variance least: W s, with a floor in proportion to W.

    With several targets s² is the mean of their variances, each as a part of its plain variance. In proportion
    to W alone where that is nearly as good: the pilot's variances are estimates.
    """
    weights = np.array([part.weight for part in parts])
    games = np.array([part.stats.games for part in parts])
    total = np.zeros(len(parts))
    for item in targets:
        found = _moments(parts, item)
        if found is not None and found.plain > 0:
            # shrunk, as if 50 games more had varied as all do: a small pilot's variances are rough
            total += (games * found.variances / found.plain + 50) / (games + 50)
    flat: FloatArray = weights / weights.sum()
    best = weights * np.sqrt(total)
    if best.sum() <= 0:
        return flat
    shares: FloatArray = FLOOR * flat + (1 - FLOOR) * best / best.sum()
    return shares if (best**2 / flat).sum() > PAYS * (best**2 / shares).sum() else flat


# --- playing ----------------------------------------------------------------------------------------------

Task = tuple[Stratum, int, int]
"""Stratum, first game, number of games."""


def make_tasks(strata: Sequence[Stratum], first: Sequence[int], games: Sequence[int]) -> list[Task]:
    """Cut the games of each stratum into chunks."""
    return [
        (stratum, begin, min(CHUNK, start + number - begin))
        for stratum, start, number in zip(strata, first, games, strict=True)
        for begin in range(start, start + number, CHUNK)
    ]


class _EnoughError(Exception):
    """Thrown into joblib's generator: unlike ``close`` it ends the workers without a warning."""


def in_order(function: Any, arguments: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Results of calls in the order of their arguments, by ``jobs`` processes (1: in this one)."""
    if jobs == 1:
        for each in arguments:
            yield function(*each)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator", pre_dispatch=2 * jobs)
    results = parallel(delayed(function)(*each) for each in arguments)
    try:
        for each in results:  # "yield from" would close it, with that warning
            yield each
    finally:
        with suppress(_EnoughError, StopIteration):
            results.throw(_EnoughError())


def default_jobs(games: int, jobs: int | None) -> int:
    """Processes worth starting for so many games."""
    if jobs is not None:
        return jobs
    if games < 100_000:
        return 1
    import joblib

    return int(joblib.cpu_count())


def label_of(stratum: Stratum) -> str:
    """``3-0-0-1``: wangs of the dealer, the next, the third, and the wall."""
    return "-".join(str(int(wangs)) for wangs in stratum)


_AT_ONCE = 250_000


def play_tasks(
    keys: Mapping[str, object], bots: Sequence[str], seed: int, tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[Stratum, Any]]:
    """Play chunks, in order; (stratum, rows)."""
    from sim.strata import play_task

    calls = ((keys, tuple(bots), seed, stratum, first, count) for stratum, first, count in tasks)
    for (stratum, _, _), rows in zip(tasks, in_order(play_task, calls, jobs), strict=True):
        yield stratum, rows


def _collect(played: Iterable[tuple[Stratum, Any]], metrics: Sequence[Metric]) -> dict[str, SufficientStats]:
    """Count the games of every stratum."""
    from sim.parts import rows_to_frame

    found: dict[str, SufficientStats] = {}
    frames: list[pl.DataFrame] = []

    def count() -> None:
        if frames:
            for label, stats in collect_stats(pl.concat(frames).lazy(), metrics).items():
                found[label] = found[label] + stats if label in found else stats
            frames.clear()

    for stratum, rows in played:
        frames.append(rows_to_frame(rows).with_columns(variant=pl.lit(label_of(stratum))))
        if sum(frame.height for frame in frames) >= _AT_ONCE:
            count()
    count()
    return found


@dataclass(frozen=True)
class StrataRun:
    """Games by stratum, with what belongs beside every number.

    Attributes
    ----------
    label, digest : str
        The variant and its hash.
    seed : int
    bots : tuple of str
    wangs : int
    parts : dict
        Stratum (several, joined by ``+``, where plain games were too few) to its games.
    pilot : int
        Games of the pilot, which are in no estimate; 0 for a plain run.
    forced : bool
        Whether the deals were forced, or a plain run was weighted.
    metrics : tuple of str
        Metrics that were counted.
    """

    label: str
    digest: str | None
    seed: int | None
    bots: tuple[str, ...]
    wangs: int
    parts: dict[str, Part]
    pilot: int
    forced: bool
    metrics: tuple[str, ...] = field(default=())

    @property
    def games(self) -> int:
        """Games behind the estimates."""
        return sum(part.stats.games for part in self.parts.values())

    def estimate(self, key: str, level: float = 0.95) -> StrataEstimate:
        """Estimate one metric."""
        return estimate_strata(
            list(self.parts.values()), metric(key), level, self.wangs, self.games + self.pilot
        )

    def summary(self, level: float = 0.95) -> pl.DataFrame:
        """Estimate every metric: the columns of a summary and ``gain``, see ``STRATA_SCHEMA``."""
        rows = []
        for key in self.metrics:
            item, found = METRICS[key], self.estimate(key, level)
            rows.append(
                {
                    "variant": self.label,
                    "metric": key,
                    "value": found.value,
                    "low": found.interval.low,
                    "high": found.interval.high,
                    "n": found.n,
                    "events": None,
                    "one_in": 1 / found.value if item.kind == "rate" and found.value else None,
                    "unit": item.unit,
                    "kind": item.kind,
                    "method": found.interval.method,
                    "units": found.n,
                    "level": level,
                    "seed": self.seed,
                    "digest": self.digest,
                    "gain": found.gain,
                }
            )
        return pl.DataFrame(rows, schema=STRATA_SCHEMA, orient="row")


def check_games(games: int) -> None:
    """Refuse what is too little to spread over strata."""
    if games < LEAST_GAMES:
        raise StrataError(f"games: {games} are too few for strata, at least {LEAST_GAMES} are needed")


def simulate_strata(
    variant: str | Path | Variant,
    games: int = 100_000,
    *,
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
) -> StrataRun:
    """Play forced deals, spread over the wang strata so that the variance of some metrics is least.

    A twentieth of the games is a pilot that only decides how the others are spread (Neyman: in proportion to
    weight × standard deviation, with a floor); they are no part of any estimate, so that it is unbiased.

    Parameters
    ----------
    variant : str, Path or Variant
        Preset, file or variant; at least one wang in the deck.
    games : int
        Games in all, the pilot's included.
    bots : str
        One bot, or dealer,next,third.
    seed : int
        0 to 2**64 - 1.
    jobs : int, optional
        Processes; they change no digit.
    overrides : sequence of str
        ``key=value``.
    metrics : sequence of str, optional
        Metrics to count; by default all rates, means and ratios.
    targets : sequence of str, optional
        Metrics to spread the games for; by default ``metrics`` if given, else ``TARGETS``.

    Returns
    -------
    StrataRun

    Raises
    ------
    StrataError
        For a quantile or spread, too few games, or a deck without wangs.

    Examples
    --------
    >>> run = simulate_strata("four_wang", 20_000, metrics=["wang_payout"])  # doctest: +SKIP
    >>> run.estimate("wang_payout").interval  # doctest: +SKIP
    """
    from sim.players import parse_compiled
    from sim.variant import load_variant

    chosen = _chosen(metrics)
    aims = _chosen(targets if targets is not None else metrics if metrics is not None else TARGETS)
    check_games(games)
    loaded = load_variant(variant, overrides) if isinstance(variant, str | Path) else variant
    keys = loaded.flat()
    wangs = int(str(keys["deck.wangs"]))
    if wangs == 0:
        raise StrataError(f"{loaded.name}: a deck without wangs has no wang strata")
    names = parse_compiled(bots)
    law = wang_strata(wangs)
    strata = list(law)
    weights = np.array([float(chance) for chance in law.values()])
    least = LEAST_A_STRATUM
    pilot = max(round(games * PILOT_SHARE), least * len(strata))
    first = whole_shares(weights, pilot, least)
    workers = default_jobs(games, jobs)
    seen = _collect(
        play_tasks(keys, names, seed, make_tasks(strata, [0] * len(strata), first.tolist()), workers), aims
    )
    parts = [Part(weight, seen[label_of(stratum)]) for stratum, weight in zip(strata, weights, strict=True)]
    spread = whole_shares(neyman(parts, aims), games - pilot, least)
    played = _collect(
        play_tasks(keys, names, seed, make_tasks(strata, first.tolist(), spread.tolist()), workers), chosen
    )
    return StrataRun(
        label=loaded.name,
        digest=loaded.digest,
        seed=seed,
        bots=names,
        wangs=wangs,
        parts={
            label_of(stratum): Part(weight, played[label_of(stratum)])
            for stratum, weight in zip(strata, weights, strict=True)
        },
        pilot=pilot,
        forced=True,
        metrics=tuple(item.key for item in chosen),
    )


# --- plain runs -------------------------------------------------------------------------------------------

_EXPECTED = 20.0  # games that a stratum of a plain run should have; rarer ones join a neighbour


def joined_strata(wangs: int, games: int) -> dict[Stratum, Stratum]:
    """Join strata of which a plain run has too few games to the nearest common one.

    Depends on the weights and the number of games only, never on what was seen.

    Returns
    -------
    dict
        Stratum to the one that it is counted with.
    """
    law = wang_strata(wangs)
    common = [stratum for stratum, chance in law.items() if float(chance) * games >= _EXPECTED]
    if not common:
        raise StrataError(f"{games} games are too few to weight by strata")

    def nearest(stratum: Stratum) -> Stratum:
        return min(
            common,
            key=lambda other: (
                sum(abs(a - b) for a, b in zip(stratum, other, strict=True)),
                -law[other],
                other,
            ),
        )

    return {stratum: stratum if stratum in common else nearest(stratum) for stratum in law}


def poststratify(
    source: object, variant: str | None = None, metrics: Sequence[str] | None = None
) -> StrataRun:
    """Weight a plain run by the exact chances of the wang strata: a control variate for nothing.

    Parameters
    ----------
    source : run, path or Source
        A run of games that stand alone.
    variant : str, optional
        Label of the variant, where the run has several.
    metrics : sequence of str, optional
        Metrics to count; by default all rates, means and ratios.

    Returns
    -------
    StrataRun
        ``forced`` is False. Σ W m with the exact chance W and the sample mean m of each stratum; strata with
        fewer than 20 games expected are joined to a neighbour.

    Raises
    ------
    StrataError
        For games in sessions, a deck without wangs, too few games, or an unknown label.

    Notes
    -----
    Under ``turn.extra_quad: replacement_draw`` the wangs of a row may come from the wall, so the strata are
    taken from the deals, which are shuffled again.
    """
    from sim.params import compile_params
    from sim.store import Run, open_run

    run = open_run(source) if isinstance(source, str | Path) else source
    opened = as_source(run)
    labels = list(opened.labels or ())
    if variant is None and len(labels) == 1:
        variant = labels[0]
    if variant not in labels:
        raise StrataError(f"which variant? the run has {', '.join(labels) or 'no variants'}")
    if not isinstance(run, Run):
        raise StrataError("a run is wanted, for its seed and its variant")
    chosen = _chosen(metrics)
    wangs = opened.wangs[variant]
    if wangs == 0:
        raise StrataError(f"{variant}: a deck without wangs has no wang strata")
    if run.manifest.session:
        raise StrataError("games in sessions depend on each other; strata are for games that stand alone")
    frame = opened.frame.filter(pl.col("variant") == variant)
    games = int(frame.select(pl.len()).collect().item())
    if games < LEAST_GAMES:
        raise StrataError(f"{games} games are too few for strata, at least {LEAST_GAMES} are needed")
    keys = run.variants[variant].flat()
    if keys["turn.extra_quad"] == "replacement_draw":
        from sim.strata import deal_strata

        dealt = deal_strata(compile_params(run.variants[variant]), run.manifest.seed, 0, games)
        table = pl.DataFrame({"game": np.arange(games), **{f"_w{i}": dealt[:, i] for i in range(4)}})
        rows = frame.join(table.lazy(), on="game", how="inner")
        columns = [pl.col(f"_w{i}") for i in range(3)]
    else:
        rows = frame.with_columns(_role_wangs())
        columns = [pl.col(f"_w{i}") for i in range(3)]
    joined = joined_strata(wangs, games)
    law = wang_strata(wangs)
    code = sum((column.cast(pl.Int64) * 8**i for i, column in enumerate(columns)), start=pl.lit(0))
    names = {sum(s[i] * 8**i for i in range(3)): label_of(joined[s]) for s in law}
    rows = rows.with_columns(
        variant=code.replace_strict(list(names), list(names.values()), return_dtype=pl.String)
    )
    stats = collect_stats(rows, chosen)
    weights: dict[str, float] = {}
    for stratum, chance in law.items():
        label = label_of(joined[stratum])
        weights[label] = weights.get(label, 0.0) + float(chance)
    missing = [label for label in weights if label not in stats or stats[label].games < 2]
    if missing:
        raise StrataError(f"the run has no game of stratum {missing[0]}: are these plain deals?")
    return StrataRun(
        label=variant,
        digest=opened.digests.get(variant),
        seed=opened.seed,
        bots=tuple(run.manifest.bots),
        wangs=wangs,
        parts={label: Part(weight, stats[label]) for label, weight in weights.items()},
        pilot=0,
        forced=False,
        metrics=tuple(item.key for item in chosen),
    )


def _role_wangs() -> list[pl.Expr]:
    """Wangs dealt to the dealer, the next and the third player, from the columns by seat."""
    seats = pl.when(pl.col("sitter").is_null()).then(3).otherwise(4)
    dealer = pl.col("dealer").cast(pl.Int64)
    places = (dealer, (dealer + 1) % seats, (dealer + seats - 1) % seats)
    return [
        pl.coalesce(
            pl.when(place == seat).then(pl.col(f"wangs_dealt_{seat}")).otherwise(None) for seat in range(4)
        ).alias(f"_w{number}")
        for number, place in enumerate(places)
    ]


# --- words ------------------------------------------------------------------------------------------------

_WORDS: dict[str, Text] = {
    "metric": Text("metric", "指标"),
    "estimate": Text("estimate", "估计"),
    "gain": Text("variance gained", "方差缩减"),
    "fixed": Text("fixed by the strata", "由分层确定"),
    "forced": Text(
        "{games:,} forced deals over {strata} wang strata with exact weights, after a pilot of {pilot:,} that is in "
        "no estimate. Gain: variance of {all:,} plain games divided by this one's.",
        "按王霸分布强制发牌 {games:,} 局，共 {strata} 层，权重精确；另有试算 {pilot:,} 局，只用于分配，不计入估计。"
        "方差缩减：{all:,} 局普通模拟的方差与本法方差之比。",
    ),
    "plain": Text(
        "A plain run of {games:,} games, weighted by the exact chances of {strata} wang strata. Gain: variance "
        "without the weights divided by that with them.",
        "普通模拟 {games:,} 局，按王霸分布 {strata} 层的精确概率加权。方差缩减：不加权与加权的方差之比。",
    ),
    "tail": Text(
        "{level:g} % intervals. {variant} #{digest}, bots {bots}, seed {seed}.",
        "置信水平 {level:g}%。{variant} #{digest}，机器人 {bots}，种子 {seed}。",
    ),
}


def print_strata(run: StrataRun, level: float = 0.95, lang: str = "en", file: IO[str] | None = None) -> None:
    """Print the estimates with what the strata have gained."""
    from rich.table import Table

    from analysis.tables import format_cell, make_console

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, head in enumerate(("metric", "estimate", "gain")):
        table.add_column(_WORDS[head][lang], justify="left" if place == 0 else "right", no_wrap=True)
    section = ""
    for row in run.summary(level).iter_rows(named=True):
        item = METRICS[row["metric"]]
        if item.section != section:
            section = item.section
            table.add_row(f"[bold]{SECTIONS[section][lang]}[/bold]", "", "")
        gain = "–" if row["gain"] is None else f"× {row['gain']:.2f}"
        if row["method"] == "fixed":
            gain = _WORDS["fixed"][lang]
        table.add_row(f"  {item.name[lang]}", format_cell(row, item, lang), gain)
    console = make_console(file)
    console.print(table)
    words = _WORDS["forced" if run.forced else "plain"][lang].format(
        games=run.games, strata=len(run.parts), pilot=run.pilot, all=run.games + run.pilot
    )
    tail = _WORDS["tail"][lang].format(
        level=level * 100,
        variant=run.label,
        digest=(run.digest or "")[:8],
        bots=",".join(run.bots) if len(set(run.bots)) > 1 else run.bots[0],
        seed=run.seed,
    )
    console.print(f"{words} {tail}" if lang == "en" else words + tail)


def strata_document(run: StrataRun, level: float = 0.95) -> dict[str, Any]:
    """Everything as one JSON document."""
    metrics = {}
    for row in run.summary(level).iter_rows(named=True):
        key = row["metric"]
        metrics[key] = {
            name: row[name] for name in ("value", "low", "high", "n", "unit", "kind", "method", "gain")
        }
    return {
        "variant": run.label,
        "digest": run.digest,
        "seed": run.seed,
        "bots": list(run.bots),
        "level": level,
        "forced": run.forced,
        "games": run.games,
        "pilot": run.pilot,
        "strata": {
            label: {"weight": part.weight, "games": part.stats.games} for label, part in run.parts.items()
        },
        "metrics": metrics,
    }


def announce_compiling(lang: str) -> None:
    """Say on stderr that the first command takes longer, if it does."""
    from sim._jit import is_warm

    if not is_warm():
        print({"en": "compiling once, about a minute", "zh": "首次编译，约一分钟"}[lang], file=sys.stderr)


def strata_command(
    what: str,
    games: int,
    *,
    metrics: Sequence[str] = (),
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    level: float = 0.95,
    as_json: bool = False,
    lang: str = "en",
) -> int:
    """``chehuzi strata``: forced deals of a variant, or a stored plain run weighted afterwards; exit status."""
    import json

    keys = list(metrics) or None
    announce_compiling(lang)
    if (Path(what) / "manifest.json").is_file():
        run = open_intact(what)
        found = [poststratify(run, label, keys) for label in run.variants]
    else:
        found = [
            simulate_strata(what, games, bots=bots, seed=seed, jobs=jobs, overrides=overrides, metrics=keys)
        ]
    if as_json:
        documents = [strata_document(item, level) for item in found]
        print(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False, indent=1))
        return 0
    for item in found:
        print_strata(item, level, lang)
    return 0
