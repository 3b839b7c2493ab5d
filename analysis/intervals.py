"""Confidence intervals for rates, means, ratios, spreads and quantiles, from grouped integer data.

Everything here is deterministic and depends only on the grouped data: the bootstrap is seeded by a name, and
cells come sorted, so that neither chunks nor the number of jobs can change a digit.

scipy.special is used instead of scipy.stats, whose import alone takes most of a second; the tests hold the
two together.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

RESAMPLES = 1999
"""Bootstrap replicates; 1999 makes the 2.5 % point an exact order statistic."""

CELLS = 64
"""The most cells that a resampled table has; longer ones are merged first, at a cost of 0.1 % of the width."""

FEW = 10
"""Fewer deviating units than this, and an interval is built on their number, not on their spread."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made.

    Attributes
    ----------
    low, high : float or None
        The ends; None where the data give no bound on that side.
    method : str
        ``wilson``, ``exact``, ``upper`` (no event: one-sided bound), ``lower`` (nothing but events),
        ``johnson``, ``bootstrap``, ``delta`` (too few to resample), ``few``, ``order``, ``batch`` or
        ``none``.
    """

    low: float | None
    high: float | None
    method: str

    def clip(self, lowest: float | None, highest: float | None) -> Interval:
        """Cut the ends to the range that the quantity can have."""
        low, high = self.low, self.high
        if lowest is not None and low is not None:
            low = max(low, lowest)
        if highest is not None and high is not None:
            high = min(high, highest)
        return Interval(low, high, self.method)


NO_INTERVAL = Interval(None, None, "none")


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, such as 0.95, not {level}")


def normal_point(level: float) -> float:
    """Two-sided normal point, 1.96 for a level of 0.95."""
    return float(special.ndtri(0.5 + level / 2))


def t_point(level: float, freedom: int) -> float:
    """Two-sided Student point with ``freedom`` degrees of freedom."""
    return float(special.stdtrit(freedom, 0.5 + level / 2))


# --- rates ----------------------------------------------------------------------------------------


def wilson(events: float, n: float, z: float) -> tuple[float, float]:
    """Wilson score interval for ``events`` out of ``n``; both may be fractional (effective sizes).

    The same formula as ``scipy.stats.binomtest(k, n).proportion_ci(method="wilson")``.
    """
    share = events / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def clopper_pearson(events: int, n: int, level: float) -> tuple[float, float]:
    """Exact two-sided interval for a rate, as ``binomtest(k, n).proportion_ci(method="exact")``."""
    tail = (1 - level) / 2
    low = 0.0 if events == 0 else float(special.betaincinv(events, n - events + 1, tail))
    high = 1.0 if events == n else float(special.betaincinv(events + 1, n - events, 1 - tail))
    return low, high


def one_sided(n: float, level: float) -> float:
    """Return the upper bound of a rate after ``n`` trials without event: 1 − (1 − level)^(1/n), about 3/n."""
    return -math.expm1(math.log1p(-level) / n)


def rate_interval(events: int, n: int, level: float = 0.95, method: str = "wilson") -> Interval:
    """Interval of a rate from independent trials.

    Parameters
    ----------
    events, n : int
        Trials with the event, and all trials.
    level : float
        Confidence level.
    method : {"wilson", "exact"}
        ``exact`` is Clopper–Pearson.

    Returns
    -------
    Interval
        Without an event (or with nothing else) a one-sided bound at the same level; with ``n = 0`` no
        interval.

    Raises
    ------
    ValueError
        For impossible counts, an unknown method or a level outside (0, 1).
    """
    _check_level(level)
    if method not in ("wilson", "exact"):
        raise ValueError(f"method is wilson or exact, not {method!r}")
    if not 0 <= events <= n:
        raise ValueError(f"events must lie between 0 and n = {n}, not {events}")
    if n == 0:
        return NO_INTERVAL
    if events == 0:
        return Interval(0.0, one_sided(n, level), "upper")
    if events == n:
        return Interval(1.0 - one_sided(n, level), 1.0, "lower")
    if method == "exact":
        return Interval(*clopper_pearson(events, n, level), "exact")
    return Interval(*wilson(events, n, normal_point(level)), "wilson")


# --- means, ratios and spreads of independent deals -----------------------------------------------


def _few_deviations(values: FloatArray, counts: IntArray, level: float) -> Interval | None:
    """Interval of a mean when nearly all values are one and the same.

    The spread of a handful of deviations says little; their *number* is binomial. With the deviations from
    the commonest value between the smallest and the largest one seen, mean = mode + rate × deviation.
    """
    mode = int(np.argmax(counts))
    n = int(counts.sum())
    deviating = n - int(counts[mode])
    if deviating == 0 or deviating >= FEW or deviating > n / 5:
        return None
    rate_low, rate_high = clopper_pearson(deviating, n, level)
    deviation = np.delete(values - values[mode], mode)
    smallest, largest = float(deviation.min()), float(deviation.max())
    low = values[mode] + (rate_low if smallest > 0 else rate_high) * smallest
    high = values[mode] + (rate_high if largest > 0 else rate_low) * largest
    return Interval(float(low), float(high), "few")


def mean_interval(values: IntArray, counts: IntArray, level: float = 0.95, scale: float = 1.0) -> Interval:
    """Interval of a mean with short tails: Johnson's t, which allows for skewness.

    Parameters
    ----------
    values, counts : int arrays, shape (k,)
        Distinct values and how many units had each.
    level : float
        Confidence level.
    scale : float
        Unit of the values; the interval is of the mean of ``values / scale``.

    Returns
    -------
    Interval
        None on both sides when all units agree: they then say nothing about the rest.

    Notes
    -----
    x̄ + m₃/(6 s² n) ± t s/√n (Johnson 1978). With fewer than ten units off the commonest value, and those a
    small part, the interval rests on their number instead (method ``few``).
    """
    _check_level(level)
    n = int(counts.sum())
    if n < 2 or len(values) < 2:
        return NO_INTERVAL
    points = values / scale
    few = _few_deviations(points, counts, level)
    if few is not None:
        return few
    mean = float(counts @ points) / n
    centred = points - mean
    second = float(counts @ centred**2) / (n - 1)
    third = float(counts @ centred**3) / n
    centre = mean + third / (6 * second * n)
    half = t_point(level, n - 1) * math.sqrt(second / n)
    # The shift helps coverage but must not push the estimate itself out of its interval.
    return Interval(min(centre - half, mean), max(centre + half, mean), "johnson")


def generator(name: str) -> np.random.Generator:
    """Return a random generator that depends on nothing but ``name``."""
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "little")
    return np.random.Generator(np.random.Philox(key=key))


def _merge_cells(influence: FloatArray, table: FloatArray, counts: IntArray) -> tuple[FloatArray, IntArray]:
    """Merge neighbouring cells, by influence, until at most ``CELLS`` are left; weighted means are kept.

    Cells are laid out with a point density ∝ count^(1/3) · gap^(2/3), which makes the lost variance least
    (Panter and Dite), so long tails keep cells of their own.
    """
    order = np.argsort(influence, kind="stable")
    influence, table, counts = influence[order], table[order], counts[order]
    if len(counts) <= CELLS:
        return table, counts
    gaps = np.gradient(influence)
    position = np.cumsum(np.cbrt(counts * gaps**2))
    cell = np.minimum((position / position[-1] * CELLS).astype(np.int64), CELLS - 1)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    merged = np.add.reduceat(counts, starts)
    return np.add.reduceat(table * counts[:, None], starts, axis=0) / merged[:, None], merged


@dataclass(frozen=True, slots=True)
class Smooth:
    """A smooth function of mean features: value and gradient, both over rows of shape (b, m)."""

    value: Callable[[FloatArray], FloatArray]
    gradient: Callable[[FloatArray], FloatArray]
    inverse: Callable[[float], float]


def _log_sd_gradient(means: FloatArray) -> FloatArray:
    mean = means[:, 0] / means[:, 2]
    variance = means[:, 1] / means[:, 2] - mean**2
    parts = np.stack([-2 * mean, np.ones_like(mean), mean**2 - variance], axis=1)
    return parts / (2 * variance * means[:, 2])[:, None]


MEAN = Smooth(lambda m: m[:, 0], np.ones_like, lambda x: x)
RATIO = Smooth(
    lambda m: m[:, 0] / m[:, 1],
    lambda m: np.stack([1 / m[:, 1], -m[:, 0] / m[:, 1] ** 2], axis=1),
    lambda x: x,
)
LOG_SD = Smooth(
    lambda m: np.log(m[:, 1] / m[:, 2] - (m[:, 0] / m[:, 2]) ** 2) / 2,
    _log_sd_gradient,
    math.exp,
)


def bootstrap_interval(
    features: FloatArray,
    counts: IntArray,
    smooth: Smooth,
    name: str,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Bootstrap-t interval of a smooth function of mean features, the deal being the unit.

    Parameters
    ----------
    features : float array, shape (k, m)
        Distinct feature rows of a deal (a value; a numerator and a denominator; sum, sum of squares and
        number).
    counts : int array, shape (k,)
        Deals with each.
    smooth : Smooth
        The quantity as a function of the mean features.
    name : str
        Seeds the resampling.
    level : float
        Confidence level.
    resamples : int
        Replicates.

    Returns
    -------
    Interval or None
        None when the data do not vary. Where they are too few to resample, Student with the delta method.

    Notes
    -----
    Every replicate is a multinomial draw of the cell counts and is studentised by its own standard error
    from the delta method, so the interval leans the way that a heavy tail needs.
    """
    _check_level(level)
    n = int(counts.sum())
    if n < 2 or len(counts) < 2:
        return None
    mean = counts @ features / n
    spread = np.sqrt(counts @ (features - mean) ** 2 / n)
    unit = np.where(spread > 0, spread, 1.0)
    centred = (features - mean) / unit
    with np.errstate(divide="ignore", invalid="ignore"):
        gradient = smooth.gradient(mean[None, :])[0] * unit
    influence = centred @ gradient
    error = math.sqrt(float(counts @ influence**2) / n / n)
    size = float(np.abs(gradient).max())
    if not math.isfinite(error) or error <= 1e-12 * size:
        return None
    columns = features.shape[1]
    rows, cols = np.triu_indices(columns)
    centre = float(smooth.value(mean[None, :])[0])
    table = np.concatenate([centred, centred[:, rows] * centred[:, cols]], axis=1)
    table, grouped = _merge_cells(influence, table, counts)
    draws = generator(name).multinomial(n, grouped / n, size=resamples)
    moments = draws @ table / n
    firsts, seconds = moments[:, :columns], moments[:, columns:]
    replicate = mean + firsts * unit
    twice = np.where(rows == cols, 1.0, 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = smooth.gradient(replicate) * unit
        covariances = seconds - firsts[:, rows] * firsts[:, cols]
        variances = (slopes[:, rows] * slopes[:, cols] * covariances * twice).sum(axis=1)
        shifts = smooth.value(replicate) - smooth.value(mean[None, :])
        scores = shifts / np.sqrt(np.maximum(variances, 0.0) / n)
    scores = np.sort(scores[~np.isnan(scores)])
    method, lower, upper = "bootstrap", math.inf, math.inf
    if len(scores) >= resamples * level:
        rank = max(1, round((1 - level) / 2 * (len(scores) + 1)))
        lower, upper = float(scores[-rank]) * error, -float(scores[rank - 1]) * error
    if not (math.isfinite(lower) and math.isfinite(upper)):
        method, lower = "delta", t_point(level, n - 1) * error
        upper = lower
    low, high = centre - max(lower, 0.0), centre + max(upper, 0.0)
    return Interval(smooth.inverse(low), smooth.inverse(high), method)


def payout_interval(
    values: IntArray, counts: IntArray, name: str, level: float = 0.95, scale: float = 1.0
) -> Interval:
    """Interval of a mean with a heavy tail: bootstrap-t over deals on (value, count) data.

    Parameters and the ``few`` case as in :func:`mean_interval`, which is also the fall-back where the data
    are too few to resample; ``name`` seeds the resampling.
    """
    _check_level(level)
    if len(values) < 2:
        return NO_INTERVAL
    points = values / scale
    found = _few_deviations(points, counts, level)
    if found is None:
        found = bootstrap_interval(points[:, None], counts, MEAN, name, level)
    if found is None or found.method == "delta":
        return mean_interval(values, counts, level, scale)
    return found


def ratio_interval(pairs: IntArray, counts: IntArray, name: str, level: float = 0.95) -> Interval:
    """Interval of a ratio of means, numerator and denominator paired by deal.

    Parameters
    ----------
    pairs : int array, shape (k, 2)
        Distinct (numerator, denominator), 0 ≤ numerator ≤ denominator: a part of each deal's own total.
    counts : int array, shape (k,)
        Deals with each.
    name : str
        Seeds the resampling.
    level : float
        Confidence level.

    Notes
    -----
    With fewer than ten deals that have a numerator the interval rests on their number: rate × (smallest or
    largest numerator) / mean denominator. With none, that is a one-sided bound with the largest denominator
    in its place.
    """
    _check_level(level)
    n = int(counts.sum())
    mean_total = float(counts @ pairs[:, 1]) / n if n else 0.0
    if mean_total <= 0:
        return NO_INTERVAL
    hit = pairs[:, 0] > 0
    deals = int(counts[hit].sum())
    largest = float(pairs[:, 1].max()) / mean_total
    if deals == 0:
        return Interval(0.0, min(1.0, one_sided(n, level) * largest), "upper")
    if deals < FEW:
        low, high = clopper_pearson(deals, n, level)
        smallest, largest = (float(end) / mean_total for end in (pairs[hit, 0].min(), pairs[hit, 0].max()))
        return Interval(min(1.0, low * smallest), min(1.0, high * largest), "few")
    if bool((pairs[:, 0] == pairs[:, 1]).all()):
        return Interval(max(0.0, 1.0 - one_sided(n, level) * largest), 1.0, "lower")
    found = bootstrap_interval(pairs.astype(np.float64), counts, RATIO, name, level)
    return NO_INTERVAL if found is None else found.clip(0.0, 1.0)


def spread_interval(features: IntArray, counts: IntArray, name: str, level: float = 0.95) -> Interval:
    """Interval of a standard deviation, by bootstrap-t on its logarithm.

    Parameters
    ----------
    features : int array, shape (k, 3)
        Per deal: sum of the values, sum of their squares, and how many values there are.
    counts : int array, shape (k,)
        Deals with each.
    name : str
        Seeds the resampling.
    level : float
        Confidence level.
    """
    found = bootstrap_interval(features.astype(np.float64), counts, LOG_SD, name, level)
    return NO_INTERVAL if found is None else found


# --- quantiles ------------------------------------------------------------------------------------


def quantile_rank(n: int, share: tuple[int, int]) -> int:
    """Rank (from 1) of the sample quantile: the least value with ``share`` of the sample at or below it."""
    part, whole = share
    return max(1, -(-n * part // whole))


def value_at_rank(values: IntArray, counts: IntArray, rank: int) -> int:
    """Value with the given rank (from 1) among sorted grouped values."""
    return int(values[int(np.searchsorted(np.cumsum(counts), rank))])


def binomial_rank(tail: float, n: int, share: float) -> int:
    """Least k with P(Binomial(n, share) ≤ k) ≥ ``tail``."""
    k = max(0, math.ceil(float(special.bdtrik(tail, n, share))))
    # bdtrik solves for a real k; the neighbours decide the rounding.
    while k > 0 and float(special.bdtr(k - 1, n, share)) >= tail:
        k -= 1
    while k < n and float(special.bdtr(k, n, share)) < tail:
        k += 1
    return k


def quantile_interval(
    values: IntArray, counts: IntArray, share: tuple[int, int], level: float = 0.95
) -> Interval:
    """Interval of a quantile from order statistics; their ranks are binomial points, whatever the law.

    Parameters
    ----------
    values, counts : int arrays, shape (k,)
        Distinct values, ascending, and how many units had each.
    share : (int, int)
        The quantile as a fraction, such as (9, 10).
    level : float
        Confidence level, reached or passed for discrete values too.

    Returns
    -------
    Interval
        A side is None when so few units do not bound it.
    """
    _check_level(level)
    n = int(counts.sum())
    if n == 0:
        return NO_INTERVAL
    tail = (1 - level) / 2
    low = binomial_rank(tail, n, share[0] / share[1])
    high = binomial_rank(1 - tail, n, share[0] / share[1]) + 1
    return Interval(
        float(value_at_rank(values, counts, low)) if low >= 1 else None,
        float(value_at_rank(values, counts, high)) if high <= n else None,
        "order",
    )


# --- dependent games: batch means over sessions ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """Sums over sessions of products of session totals, in whole numbers.

    Attributes
    ----------
    sessions : int
        Sessions with a positive denominator.
    sums : tuple of int, length m
        Totals of the features.
    products : tuple of int, length m (m + 1) / 2
        Upper triangle of Σ f fᵀ over sessions, row by row.
    """

    sessions: int
    sums: tuple[int, ...]
    products: tuple[int, ...]

    def quadratic(self, weights: tuple[Any, ...]) -> Any:
        """Σ over sessions of (weights · f)², exact when the weights are whole numbers."""
        total: Any = 0
        position = 0
        for row, first in enumerate(weights):
            for col in range(row, len(weights)):
                total += (1 if col == row else 2) * first * weights[col] * self.products[position]
                position += 1
        return total


def batch_error(batch: Batch) -> float | None:
    """Return the standard error of Σ numerator / Σ denominator over sessions; None below two sessions."""
    top, bottom = batch.sums
    if batch.sessions < 2 or bottom == 0:
        return None
    # (y − r x)² with r = top / bottom, over a common denominator: whole numbers, no cancellation.
    residual = batch.quadratic((bottom, -top))
    share = float(residual) / float(bottom) ** 4 if residual else 0.0
    return math.sqrt(share * batch.sessions / (batch.sessions - 1))


def batch_interval(batch: Batch, level: float = 0.95, scale: float = 1.0) -> Interval:
    """Interval of a ratio of session sums (a mean per game, per win, a share): Student over sessions."""
    _check_level(level)
    error = batch_error(batch)
    if error is None or error == 0.0:
        return NO_INTERVAL
    centre = batch.sums[0] / batch.sums[1]
    half = t_point(level, batch.sessions - 1) * error
    return Interval((centre - half) / scale, (centre + half) / scale, "batch")


def batch_share_interval(batch: Batch, level: float = 0.95) -> Interval:
    """Interval of a part of a total over dependent games: :func:`batch_interval` within 0 and 1.

    When no session has any of it, at most a share p of sessions may have some (one-sided), and by Cauchy
    and Schwarz these hold at most √(p · mean square / square of the mean) of the total. Likewise when all
    of it is of one kind.
    """
    _check_level(level)
    top, bottom = batch.sums
    if top in (0, bottom) and bottom > 0:
        chance = one_sided(batch.sessions, level)
        bound = min(1.0, math.sqrt(chance * batch.products[2] * batch.sessions) / bottom)
        return Interval(0.0, bound, "upper") if top == 0 else Interval(1.0 - bound, 1.0, "lower")
    return batch_interval(batch, level).clip(0.0, 1.0)


def effective_size(share: float, error: float, sessions: int) -> float:
    """Independent trials that would give the rate ``share`` the standard error ``error``."""
    return share * (1 - share) / error**2 if error > 0 else float(sessions)


def batch_rate_interval(batch: Batch, level: float = 0.95) -> Interval:
    """Interval of a rate over dependent games: Wilson with the effective sample size of batch means.

    Without an event, or with nothing else, the sessions are the trials: the one-sided bound of that many.
    """
    _check_level(level)
    events, n = batch.sums
    if n == 0 or batch.sessions == 0:
        return NO_INTERVAL
    if events == 0:
        return Interval(0.0, one_sided(batch.sessions, level), "upper")
    if events == n:
        return Interval(1.0 - one_sided(batch.sessions, level), 1.0, "lower")
    error = batch_error(batch)
    if error is None:
        return NO_INTERVAL
    share = events / n
    size = effective_size(share, error, batch.sessions)
    return Interval(*wilson(share * size, size, t_point(level, batch.sessions - 1)), "batch")


def batch_spread_interval(batch: Batch, level: float = 0.95) -> Interval:
    """Interval of a standard deviation over dependent games: Student over sessions, for its logarithm.

    ``batch`` has the features of :func:`spread_interval`.
    """
    _check_level(level)
    if batch.sessions < 2 or batch.sums[2] == 0:
        return NO_INTERVAL
    first, second, number = batch.sums
    spread = second * number - first * first  # variance × number²
    if spread <= 0:
        return NO_INTERVAL
    # Influence of a session on the variance, times number²: whole numbers throughout.
    weights = (-2 * first * number, number * number, first * first - spread)
    residual = batch.quadratic(weights)
    scale = batch.sessions / (batch.sessions - 1)
    # d log sd = d variance / (2 variance); variance = spread / number².
    error = math.sqrt(float(residual) * scale) / (2.0 * float(spread) * float(number))
    centre = math.log(spread / number**2) / 2
    half = t_point(level, batch.sessions - 1) * error
    if half == 0.0:
        return NO_INTERVAL
    return Interval(math.exp(centre - half), math.exp(centre + half), "batch")


def batch_quantile_interval(
    values: IntArray, counts: IntArray, batch: Batch, share: tuple[int, int], level: float = 0.95
) -> Interval:
    """Interval of a quantile over dependent games (Woodruff): an interval for the share, read off the values.

    ``batch`` has the features (units at or below the sample quantile, all units) by session.
    """
    _check_level(level)
    error = batch_error(batch)
    if error is None:
        return NO_INTERVAL
    n = int(counts.sum())
    wanted = share[0] / share[1]
    half = t_point(level, batch.sessions - 1) * error
    # At a lump of equal values the error at the sample quantile may vanish; never beat independent units.
    half = max(half, normal_point(level) * math.sqrt(wanted * (1 - wanted) / n))
    low, high = math.floor(n * (wanted - half)), math.ceil(n * (wanted + half)) + 1
    return Interval(
        float(value_at_rank(values, counts, low)) if low >= 1 else None,
        float(value_at_rank(values, counts, high)) if high <= n else None,
        "batch",
    )
