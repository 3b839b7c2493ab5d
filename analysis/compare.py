"""The same deals for different variants: differences of every metric, with intervals that pairing makes short.

``compare(["four_wang", "four_wang+by_wang"], games=100_000)`` plays every variant with the same deals and gives one
row a metric and pair. Methods and formulas: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import polars as pl
from scipy import special

from analysis import intervals as ci
from analysis.joint import EMPTY, Cross, JointSums, Own, collect_joint
from analysis.load import LoadError, as_source, open_intact
from analysis.metrics import METRICS, Metric, metric
from analysis.sufficient import SufficientStats, collect_stats
from analysis.summary import Estimate, estimate
from analysis.targets import Target, parse_targets
from sim.store import Run, open_run

if TYPE_CHECKING:
    from sim.progress import Progress
    from sim.run import VariantRef
    from sim.variant import Variant

Against = Literal["first", "all"]

PAYS = 1.05
"""Below this variance-reduction factor pairing counts as not paying."""

SKEWED = 300
"""Fewer differing units than this, and a heavy-tailed mean per win takes its interval from those of both."""

SCHEMA: dict[str, type[pl.DataType]] = {
    "base": pl.String,
    "variant": pl.String,
    "metric": pl.String,
    "base_value": pl.Float64,
    "value": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "joint_low": pl.Float64,
    "joint_high": pl.Float64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "decision": pl.String,
    "correlation": pl.Float64,
    "reduction": pl.Float64,
    "units": pl.Int64,
    "differing": pl.Int64,
    "method": pl.String,
    "margin": pl.Float64,
    "p_equivalence": pl.Float64,
    "p_equivalence_holm": pl.Float64,
    "equivalent": pl.Boolean,
    "claims": pl.Int64,
    "level": pl.Float64,
    "unit": pl.String,
    "seed": pl.UInt64,
    "base_digest": pl.String,
    "digest": pl.String,
}
"""Columns of a comparison. ``difference`` is ``value`` − ``base_value``; ``low``, ``high`` its interval at
``level``; ``joint_low``, ``joint_high`` the interval that holds for all ``claims`` together. ``decision``:
``higher``, ``lower`` or ``undecided`` by Holm. ``reduction``: variance of unpaired differences over that of
paired ones, which is how many times fewer games are needed. ``differing``: units (deals, or sessions) in which
the two variants differ at all. ``method``: ``paired``, ``unpaired`` (pairing does not pay), ``counts`` (a rate: deals
that changed), ``few``, ``separate`` (from the two intervals), ``order`` (quantiles), ``same`` or ``none``."""


class CompareError(LoadError):
    """A comparison that cannot be made; the message says why."""


# --- laws of a difference ----------------------------------------------------------------------------------


class Law(Protocol):
    """What is known of a difference: an interval for every level."""

    @property
    def method(self) -> str:
        """How it was made, see ``SCHEMA``."""

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Two-sided interval."""


def smallest_alpha(holds: Callable[[float], bool], most: float = 1.0) -> float:
    """Smallest α, by bisection, from which ``holds(α)``; 1 when it does not hold even at ``most``.

    ``holds`` must not turn false again as α grows. Values below 1e-15 are given as 0.
    """
    low, high = -15 * math.log(10), math.log(most * (1 - 1e-9))
    if holds(math.exp(low)):
        return 0.0
    if not holds(math.exp(high)):
        return 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(math.exp(middle)) else (middle, high)
    return math.exp(high)


def p_value(law: Law) -> float:
    """Two-sided p-value of "no difference": the α at which the interval begins to leave 0 out."""
    if isinstance(law, Student):
        return law.p_value()

    def leaves_out(alpha: float) -> bool:
        low, high = law.interval(1 - alpha)
        return (low is not None and low > 0) or (high is not None and high < 0)

    return smallest_alpha(leaves_out)


def p_equivalence(law: Law, margin: float) -> float:
    """p-value of "differs by ``margin`` or more" (two one-sided tests): the α whose 1 − 2α interval lies within.

    Parameters
    ----------
    law : Law
    margin : float
        Positive.
    """

    def within(alpha: float) -> bool:
        low, high = law.interval(1 - 2 * alpha)
        return low is not None and high is not None and -margin < low and high < margin

    return smallest_alpha(within, 0.5)


@dataclass(frozen=True)
class Student:
    """Difference ± Student point × standard error."""

    centre: float
    error: float
    freedom: int
    method: str = "paired"

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Two-sided interval."""
        half = ci.t_point(level, self.freedom) * self.error
        return self.centre - half, self.centre + half

    def p_value(self) -> float:
        """Two-sided p-value of no difference, also where it is tiny."""
        if self.error == 0.0:
            return 1.0 if self.centre == 0.0 else 0.0
        return float(2 * special.stdtr(self.freedom, -abs(self.centre) / self.error))


@dataclass(frozen=True)
class Sides:
    """Difference with two unlike sides, from one interval of each and their correlation (Zou and Donner 2008).

    The intervals at ``level`` carry the skewness; other levels stretch the sides as the normal points stretch.

    Attributes
    ----------
    centre : float
    below, above : float
        Sides of the interval at ``level``.
    level : float
    """

    centre: float
    below: float
    above: float
    level: float
    method: str = "paired"

    @classmethod
    def of(cls, base: Estimate, variant: Estimate, correlation: float, level: float) -> Sides | None:
        """Combine two estimates; None where one of them has no interval."""
        ends = (base.interval.low, base.interval.high, variant.interval.low, variant.interval.high)
        if base.value is None or variant.value is None or None in ends:
            return None
        low_one, high_one, low_two, high_two = (float(end or 0.0) for end in ends)
        below = _square_and_add(variant.value - low_two, high_one - base.value, correlation)
        above = _square_and_add(high_two - variant.value, base.value - low_one, correlation)
        return cls(variant.value - base.value, below, above, level)

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Two-sided interval."""
        stretch = ci.normal_point(level) / ci.normal_point(self.level)
        return self.centre - stretch * self.below, self.centre + stretch * self.above


@dataclass(frozen=True)
class Counts:
    """Difference of two rates over the same units, from those that changed (Bonett and Price 2012).

    Attributes
    ----------
    gained, lost : int
        Units with the event in the second variant only, and in the first only.
    units : int
    """

    gained: int
    lost: int
    units: int
    method: str = "counts"

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Two-sided interval."""
        n = self.units + 2
        up, down = (self.gained + 1) / n, (self.lost + 1) / n
        half = ci.normal_point(level) * math.sqrt((up + down - (up - down) ** 2) / n)
        return max(-1.0, up - down - half), min(1.0, up - down + half)


@dataclass(frozen=True)
class Few:
    """Mean difference when few units differ: their number is binomial, each within the extremes seen."""

    differing: int
    units: int
    least: float
    most: float
    method: str = "few"

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Two-sided interval."""
        low, high = ci.clopper_pearson(self.differing, self.units, level)
        return (
            (low if self.least > 0 else high) * self.least,
            (high if self.most > 0 else low) * self.most,
        )


@dataclass(frozen=True)
class Separate:
    """Difference from an interval of each (square-and-add, Zou and Donner 2008), as if they were not paired."""

    base: Callable[[float], Estimate]
    variant: Callable[[float], Estimate]
    method: str = "separate"

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Two-sided interval."""
        one, two = self.base(level), self.variant(level)
        found = Sides.of(one, two, 0.0, level)
        return (None, None) if found is None else found.interval(level)


def _square_and_add(left: float, right: float, correlation: float = 0.0) -> float:
    return math.sqrt(max(0.0, left * left + right * right - 2 * correlation * left * right))


@dataclass(frozen=True)
class Order:
    """Difference of two quantiles: both lie within their own intervals at level 1 − α/2, however dependent."""

    base: Callable[[float], Estimate]
    variant: Callable[[float], Estimate]
    method: str = "order"

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Two-sided interval."""
        each = (1 + level) / 2
        one, two = self.base(each).interval, self.variant(each).interval
        low = None if two.low is None or one.high is None else two.low - one.high
        high = None if two.high is None or one.low is None else two.high - one.low
        return low, high


@dataclass(frozen=True)
class Same:
    """No unit differs: nothing can be said of how far others would."""

    method: str = "same"

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """No interval."""
        return None, None


# --- from sums to laws -------------------------------------------------------------------------------------


def _influence(item: Metric, own: Own) -> tuple[list[Fraction], float]:
    """Gradient of the metric at its feature totals, as (exact weights, common factor)."""
    sums = own.sums
    if item.kind == "spread":
        first, second, number = sums
        variance = Fraction(second, number) - Fraction(first, number) ** 2
        weights = [
            Fraction(-2 * first, number * number),
            Fraction(1, number),
            Fraction(first * first, number**3) - variance / number,
        ]
        return weights, 0.0 if variance <= 0 else 1 / (2 * math.sqrt(variance))
    top, bottom = sums
    scale = item.scale
    return [Fraction(1, bottom * scale), Fraction(-top, bottom * bottom * scale)], 1.0


def _bilinear(
    left: Sequence[Fraction], matrix: Sequence[Sequence[int]], right: Sequence[Fraction]
) -> Fraction:
    return sum(
        (
            a * value * b
            for a, row in zip(left, matrix, strict=True)
            for value, b in zip(row, right, strict=True)
        ),
        Fraction(0),
    )


@dataclass(frozen=True)
class Spread:
    """Variances of the two estimates and their covariance, by the delta method."""

    base: float
    variant: float
    covariance: float
    paired: float

    @property
    def unpaired(self) -> float:
        """Variance of the difference if the deals were not shared."""
        return self.base + self.variant

    @property
    def correlation(self) -> float | None:
        """Correlation of the two estimates; None where one does not vary."""
        if self.base <= 0 or self.variant <= 0:
            return None
        return max(-1.0, min(1.0, self.covariance / math.sqrt(self.base * self.variant)))

    @property
    def reduction(self) -> float | None:
        """How many times the variance falls by pairing; None where nothing varies."""
        if self.unpaired <= 0:
            return None
        return self.unpaired / self.paired if self.paired > 0 else math.inf


def linearise(item: Metric, units: int, base: Own, variant: Own, cross: Cross) -> Spread:
    """Variances of a metric's two estimates and of their difference.

    With influence values u_i = ∇f · x_i, which sum to zero over units, Var = n/(n−1) Σ u_i², and likewise for
    products; all in fractions, so that no digit is lost where the two variants nearly agree.
    """
    one, factor_one = _influence(item, base)
    two, factor_two = _influence(item, variant)
    scale = units / (units - 1)
    exact_one = _bilinear(one, base.products, one)
    exact_two = _bilinear(two, variant.products, two)
    exact_cross = _bilinear(one, cross.products, two)
    var_one = float(exact_one) * factor_one**2 * scale
    var_two = float(exact_two) * factor_two**2 * scale
    covariance = float(exact_cross) * factor_one * factor_two * scale
    if factor_one == factor_two:
        paired = float(exact_one + exact_two - 2 * exact_cross) * factor_one**2 * scale
    else:
        paired = var_one + var_two - 2 * covariance
    return Spread(var_one, var_two, covariance, 0.0 if cross.differing == 0 else max(0.0, paired))


class _Held(SufficientStats):
    """Statistics that count the features of a metric once, however many levels are asked for."""

    def features(self, metric: Metric) -> pl.DataFrame:
        held: dict[str, pl.DataFrame] = self.__dict__.setdefault("_held", {})
        if metric.key not in held:
            held[metric.key] = super().features(metric)
        return held[metric.key]


class Side:
    """One variant of a comparison.

    Parameters
    ----------
    label : str
    stats : SufficientStats
    wangs : int or None
        In the deck.
    """

    def __init__(self, label: str, stats: SufficientStats, wangs: int | None) -> None:
        self.label = label
        self.wangs = wangs
        self.stats = _Held(stats.games, stats.blocks, stats.sessions)
        self._found: dict[tuple[str, float], Estimate] = {}

    def estimate(self, item: Metric, level: float) -> Estimate:
        """Value and interval of a metric."""
        key = item.key, level
        if key not in self._found:
            self._found[key] = estimate(self.stats, item, level, self.wangs)
        return self._found[key]

    def is_thin(self, item: Metric) -> bool:
        """Whether so few units have the event, or lack it, that their spread says little."""
        if item.kind not in ("rate", "ratio"):
            return False
        table = self.stats.features(item)
        part, whole = (
            pl.col("count").filter(test).sum() for test in (pl.col("f0") != 0, pl.col("f0") != pl.col("f1"))
        )
        having, lacking = table.select(part.alias("a"), whole.alias("b")).row(0)
        return int(min(having, lacking)) < ci.FEW


@dataclass(frozen=True)
class Found:
    """A difference with its law."""

    base: Estimate
    variant: Estimate
    difference: float
    law: Law
    spread: Spread | None
    cross: Cross | None


def _is_constant(own: Own, units: int) -> bool:
    """Whether every unit has the same denominator: the metric is then a plain mean over units."""
    return own.products[-1][-1] * units == own.sums[-1] ** 2  # equality in Cauchy and Schwarz


def find(item: Metric, base: Side, variant: Side, sums: JointSums, level: float) -> Found | None:
    """Compare one metric of two variants.

    Returns
    -------
    Found or None
        None where the metric does not apply to one of the two.
    """
    one, two = base.estimate(item, level), variant.estimate(item, level)
    if one.value is None or two.value is None:
        return None
    step = two.value - one.value

    def at(side: Side) -> Callable[[float], Estimate]:
        return lambda wanted: side.estimate(item, wanted)

    if item.kind == "quantile":
        return Found(one, two, step, Order(at(base), at(variant)), None, None)
    own_one, own_two = sums.own[base.label, item.key], sums.own[variant.label, item.key]
    cross = sums.cross[base.label, variant.label, item.key]
    if sums.units < 2:
        return Found(one, two, step, Same("none"), None, cross)
    spread = linearise(item, sums.units, own_one, own_two, cross)
    plain = _is_constant(own_one, sums.units) and _is_constant(own_two, sums.units)
    single = (
        plain
        and item.kind in ("rate", "mean", "payout")
        and own_one.sums[-1] == own_two.sums[-1] == sums.units
    )
    law: Law
    if item.kind == "rate" and single:
        both = cross.products[0][0]
        law = Counts(own_two.sums[0] - both, own_one.sums[0] - both, sums.units)
    elif cross.differing == 0:
        law = Same()
    elif cross.differing < ci.FEW and single:
        law = Few(cross.differing, sums.units, cross.least / item.scale, cross.most / item.scale)
    elif cross.differing < ci.FEW or base.is_thin(item) or variant.is_thin(item):
        law = Separate(at(base), at(variant))
    else:
        pays = spread.paired * PAYS < spread.unpaired
        # Where pairing does not pay the larger of the two variances is taken: never too short an interval.
        variance = spread.paired if pays else max(spread.paired, spread.unpaired)
        freedom = min(sums.units, one.units, two.units, cross.differing) - 1
        law = Student(step, math.sqrt(variance), max(1, freedom), "paired" if pays else "unpaired")
        # Too skewed for Student: the ends of the two bootstrap intervals know of the tails.
        skewed = item.kind == "spread" or (item.kind == "payout" and not plain and cross.differing < SKEWED)
        if skewed and pays:
            law = Sides.of(one, two, spread.correlation or 0.0, level) or law
    return Found(one, two, step, law, spread, cross)


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's step-down procedure.

    Parameters
    ----------
    values : sequence of float
        One a claim.

    Returns
    -------
    list of float
        In the same order; deciding by these at α keeps the chance of any false claim below α.
    """
    order = sorted(range(len(values)), key=lambda number: values[number])
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, number in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[number]))
        adjusted[number] = largest
    return adjusted


# --- a run and its comparison ------------------------------------------------------------------------------


def pairs_of(labels: Sequence[str], against: Against = "first") -> list[tuple[str, str]]:
    """Pairs to compare: each with the first, or all of them."""
    if against not in ("first", "all"):
        raise CompareError(f"against is first or all, not {against!r}")
    if against == "all":
        return list(itertools.combinations(labels, 2))
    return [(labels[0], label) for label in labels[1:]]


def compare_run(
    source: Run | str | Path,
    *,
    metrics: Sequence[str] | None = None,
    against: Against = "first",
    level: float = 0.95,
    margins: Sequence[str] | Mapping[str, float] = (),
) -> pl.DataFrame:
    """Compare the variants of a run that is complete.

    Parameters
    ----------
    source : Run or path
        A run of two variants or more.
    metrics : sequence of str, optional
        Keys; by default all metrics, which makes as many claims.
    against : {"first", "all"}
        Compare with the first variant, or all pairs.
    level : float
        Of each interval, and of all claims together.
    margins : sequence of str or mapping
        Margins of equivalence: ``"draw_rate=0.005"``, or ``"draw_rate=5%"`` of the base's value.

    Returns
    -------
    DataFrame
        Columns as in ``SCHEMA``, one row a pair and metric.

    Raises
    ------
    CompareError
        When the run is not complete, or has one variant only.
    MetricError
        For an unknown metric.
    """
    run = source if isinstance(source, Run) else open_run(source)
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, such as 0.95, not {level}")
    labels = list(run.variants)
    if len(labels) < 2:
        raise CompareError(f"{run.path} has one variant only; to compare takes two or more")
    if run.manifest.done != run.manifest.total:
        raise CompareError(
            f"{run.path} is not complete: {run.manifest.done:,} of {run.manifest.total:,} games; resume it first"
        )
    wanted = parse_targets(margins)
    keys = list(METRICS) if metrics is None else list(dict.fromkeys(metrics))
    keys += [target.key for target in wanted if target.key not in keys]
    chosen = [metric(key) for key in keys]
    pairs = pairs_of(labels, against)
    opened = as_source(run)
    stats = collect_stats(opened.frame, chosen)
    sums = collect_joint(run, chosen, pairs) if chosen else EMPTY
    sides = {label: Side(label, stats[label], opened.wangs.get(label)) for label in labels}
    limits = {target.key: target for target in wanted}
    rows = [_row(item, sides[one], sides[two], sums, level, limits) for one, two in pairs for item in chosen]
    _adjust(rows, level)
    for row in rows:
        row["seed"] = opened.seed
        row["base_digest"] = opened.digests.get(row["base"])
        row["digest"] = opened.digests.get(row["variant"])
    return pl.DataFrame([[row.get(name) for name in SCHEMA] for row in rows], schema=SCHEMA, orient="row")


def _row(
    item: Metric, base: Side, variant: Side, sums: JointSums, level: float, limits: Mapping[str, Target]
) -> dict[str, Any]:
    """One row, without what depends on the other claims."""
    row: dict[str, Any] = {
        "base": base.label,
        "variant": variant.label,
        "metric": item.key,
        "units": sums.units or None,
        "level": level,
        "unit": item.unit,
        "method": "none",
    }
    found = find(item, base, variant, sums, level)
    if found is None:
        for name, side in (("base_value", base), ("value", variant)):
            row[name] = side.estimate(item, level).value
        return row
    low, high = found.law.interval(level)
    row |= {
        "base_value": found.base.value,
        "value": found.variant.value,
        "difference": found.difference,
        "low": low,
        "high": high,
        "method": found.law.method,
        "p": 1.0 if isinstance(found.law, Same) else p_value(found.law),
        "law": found.law,
    }
    if found.spread is not None:
        reduction = found.spread.reduction
        row["correlation"] = found.spread.correlation
        row["reduction"] = None if reduction == math.inf else reduction
    if found.cross is not None:
        row["differing"] = found.cross.differing
    if item.key in limits and found.base.value is not None:
        row["margin"] = limits[item.key].width(found.base.value)
        if row["margin"]:
            row["p_equivalence"] = p_equivalence(found.law, row["margin"])
    return row


def _adjust(rows: list[dict[str, Any]], level: float) -> None:
    """Fill in what depends on the number of claims."""
    alpha = 1 - level
    claims = [row for row in rows if row.get("p") is not None]
    for row, adjusted in zip(claims, holm([row["p"] for row in claims]), strict=True):
        row["claims"] = len(claims)
        row["joint_low"], row["joint_high"] = row["law"].interval(1 - alpha / len(claims))
        row["p_holm"] = adjusted
        row["decision"] = "undecided"
        if adjusted <= alpha and row["difference"] != 0:
            row["decision"] = "higher" if row["difference"] > 0 else "lower"
    within = [row for row in rows if row.get("p_equivalence") is not None]
    for row, adjusted in zip(within, holm([row["p_equivalence"] for row in within]), strict=True):
        row["p_equivalence_holm"] = adjusted
        row["equivalent"] = adjusted <= alpha


# --- playing -----------------------------------------------------------------------------------------------


def grid(
    variants: Sequence[str | Path], sets: Sequence[str] = (), vary: Sequence[str] = ()
) -> tuple[list[Variant], list[str]]:
    """Variants to compare, and a name for each that says what was varied.

    Parameters
    ----------
    variants : sequence of str or Path
        Presets or files.
    sets : sequence of str
        ``key=value`` for all of them.
    vary : sequence of str
        ``key=v1,v2,…``; several make a grid, the last one varying fastest.

    Returns
    -------
    list of Variant, list of str

    Raises
    ------
    CompareError
        For a ``vary`` without values, or two variants with the same rules.
    VariantError
        For a key or value that does not hold.
    """
    from sim.variant import load_variant

    axes = [_axis(text) for text in vary]
    loaded: list[Variant] = []
    names: list[str] = []
    for ref in variants:
        for cell in itertools.product(*axes):
            overrides = [*sets, *(f"{key}={value}" for key, value in cell)]
            variant = load_variant(ref, overrides)
            mode = str(ref).rpartition("+")[2] if "+" in Path(ref).name else ""
            name = variant.name if not mode or "+" in variant.name else f"{variant.name}+{mode}"
            name = "+".join([name, *(_short(key, value) for key, value in cell)])
            loaded.append(variant.model_copy(update={"name": name}))
            names.append(name)
    seen: dict[str, str] = {}
    for variant, name in zip(loaded, names, strict=True):
        if variant.digest in seen:
            raise CompareError(f"{seen[variant.digest]} and {name} are the same rules: nothing to compare")
        seen[variant.digest] = name
    return loaded, names


def _axis(text: str) -> list[tuple[str, str]]:
    key, equals, values = text.partition("=")
    parts = [part.strip() for part in values.split(",")]
    if not equals or not key.strip() or not all(parts):
        raise CompareError(f"--vary: {text!r} must be key=value,value,… e.g. win.min_huxi=12,15,18")
    return [(key.strip(), part) for part in parts]


def _short(key: str, value: str) -> str:
    """What a varied key adds to a name: ``by_wang`` for the limit's mode, else ``min_huxi=12``."""
    return value if key == "win.wang_limit.mode" else f"{key.rpartition('.')[2]}={value}"


def check_wishes(metrics: Sequence[str] | None, margins: Sequence[str] | Mapping[str, float]) -> list[Target]:
    """Refuse unknown metrics and margins before anything is played.

    Raises
    ------
    MetricError
    """
    for key in metrics or ():
        metric(key)
    return parse_targets(margins)


def compare(
    variants: Sequence[VariantRef],
    games: int = 100_000,
    *,
    bots: str | Sequence[str] = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    session: int = 0,
    chunk: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    quiet: bool = False,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    against: Against = "first",
    level: float = 0.95,
    margins: Sequence[str] | Mapping[str, float] = (),
) -> pl.DataFrame:
    """Play the same deals under every variant and compare them.

    Parameters
    ----------
    variants : sequence of str, Path or Variant
        Two or more; the first is the one that others are compared with.
    games, bots, seed, jobs, session, chunk, out, resume, quiet, progress, command
        As in :func:`sim.run.simulate`. Without ``out`` the games are kept in a temporary folder.
    metrics, against, level, margins
        As in :func:`compare_run`.

    Returns
    -------
    DataFrame
        Columns as in ``SCHEMA``; the same whatever ``jobs`` and ``chunk``.

    Examples
    --------
    >>> compare(["four_wang", "four_wang+by_wang"], games=20_000)  # doctest: +SKIP
    """
    from sim.run import simulate

    if len(variants) < 2:
        raise CompareError("to compare takes two variants or more; --vary makes several of one")
    check_wishes(metrics, margins)
    run = simulate(
        list(variants),
        games,
        bots=bots,
        seed=seed,
        jobs=jobs,
        session=session,
        chunk=chunk,
        out=out,
        resume=resume,
        quiet=quiet,
        progress=progress,
        command=command,
    )
    return compare_run(run, metrics=metrics, against=against, level=level, margins=margins)


def play_or_open(
    variants: Sequence[str | Path], sets: Sequence[str] = (), vary: Sequence[str] = (), **how: Any
) -> tuple[Run, dict[str, str]]:
    """Play the grid of :func:`grid`, or open a run folder when that alone is given.

    Parameters
    ----------
    variants, sets, vary
        As in :func:`grid`; ``variants`` may be one run folder instead.
    **how
        As in :func:`sim.run.simulate`.

    Returns
    -------
    Run, dict
        And label to the name to show.
    """
    if len(variants) == 1 and (Path(variants[0]) / "manifest.json").is_file():
        if sets or vary:
            raise CompareError(f"{variants[0]} is a run: --set and --vary would change what was played")
        run = open_intact(variants[0])
        return run, {label: label for label in run.variants}
    from sim.run import simulate

    loaded, names = grid(variants, sets, vary)
    if len(loaded) < 2:
        raise CompareError("to compare takes two variants or more; --vary makes several of one")
    run = simulate(loaded, **how)
    return run, dict(zip(run.variants, names, strict=True))
