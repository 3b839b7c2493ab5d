"""Every metric of every variant with its interval, as a tidy table, and as files in the run folder."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from analysis import intervals as ci
from analysis.load import LoadError, Source, as_source
from analysis.metrics import METRICS, Metric, metric
from analysis.sufficient import SufficientStats, collect_stats, family
from analysis.tables import to_csv
from sim.parts import write_atomic

SCHEMA: dict[str, type[pl.DataType]] = {
    "variant": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "events": pl.Int64,
    "one_in": pl.Float64,
    "unit": pl.String,
    "kind": pl.String,
    "method": pl.String,
    "units": pl.Int64,
    "level": pl.Float64,
    "seed": pl.UInt64,
    "digest": pl.String,
}
"""Columns of a summary. ``n``: games (or wins, draw games) behind the value. ``events``: those with the
event, for a rate. ``one_in``: n / events. ``units``: independent units, games or sessions. ``method``: how
the interval was made."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval.

    Attributes
    ----------
    value : float or None
        None where the metric does not apply or nothing was counted.
    interval : Interval
        Its ends may be None.
    n : int
        Games (or wins, draw games) behind it.
    events : int or None
        For a rate, those with the event.
    units : int
        Independent units behind it: n, or sessions.
    """

    value: float | None
    interval: ci.Interval
    n: int
    events: int | None
    units: int

    @property
    def half_width(self) -> float | None:
        """Half of the interval's length; None without two ends."""
        if self.interval.low is None or self.interval.high is None:
            return None
        return (self.interval.high - self.interval.low) / 2


def estimate(
    stats: SufficientStats, item: Metric, level: float = 0.95, wangs: int | None = None, rates: str = "wilson"
) -> Estimate:
    """Estimate one metric of one variant.

    Parameters
    ----------
    stats : SufficientStats
        The games.
    item : Metric
        The metric.
    level : float
        Confidence level.
    wangs : int or None
        Wangs in the deck; None: told from the games.
    rates : {"wilson", "exact"}
        Interval of rates of independent games.

    Returns
    -------
    Estimate
        Without a value where the metric does not apply or its denominator is 0.
    """
    table = stats.features(item)
    counts = table["count"].to_numpy()
    columns = [table[f"f{i}"].to_numpy() for i in range(len(item.features))]
    n = int(counts.sum())
    batch = stats.sessions.batches.get(item.key) if stats.sessions is not None else None
    applies = n > 0 and not (item.needs_wangs and (wangs == 0 if wangs is not None else not stats.wangs_seen))
    if not applies:
        events = 0 if item.kind == "rate" and n > 0 and not item.needs_wangs else None
        return Estimate(None, ci.NO_INTERVAL, n, events, 0)
    units = n if stats.sessions is None else (batch.sessions if batch else stats.sessions.sessions)
    value, interval = _ESTIMATORS[item.kind](_Data(stats, item, columns, counts, n, batch, level, rates))
    events = _exact_sum(columns[0], counts) if item.kind == "rate" else None
    return Estimate(value, interval.clip(item.lowest, item.highest), n, events, units)


@dataclass(frozen=True, slots=True)
class _Data:
    stats: SufficientStats
    item: Metric
    columns: list[ci.IntArray]
    counts: ci.IntArray
    n: int
    batch: ci.Batch | None
    level: float
    rates: str


def _exact_sum(values: ci.IntArray, counts: ci.IntArray) -> int:
    return sum(int(value) * int(count) for value, count in zip(values, counts, strict=True))


def _rate(data: _Data) -> tuple[float | None, ci.Interval]:
    events = _exact_sum(data.columns[0], data.counts)
    if data.batch is not None:
        return events / data.n, ci.batch_rate_interval(data.batch, data.level)
    return events / data.n, ci.rate_interval(events, data.n, data.level, data.rates)


def _mean(data: _Data) -> tuple[float | None, ci.Interval]:
    scale = data.item.scale
    value = _exact_sum(data.columns[0], data.counts) / (data.n * scale)
    if data.batch is not None:
        return value, ci.batch_interval(data.batch, data.level, scale)
    if data.item.kind == "mean":
        return value, ci.mean_interval(data.columns[0], data.counts, data.level, scale)
    return value, ci.payout_interval(data.columns[0], data.counts, data.item.key, data.level, scale)


def _ratio(data: _Data) -> tuple[float | None, ci.Interval]:
    top, bottom = (_exact_sum(column, data.counts) for column in data.columns)
    if data.batch is not None:
        return top / bottom, ci.batch_share_interval(data.batch, data.level)
    pairs = np.stack(data.columns, axis=1)
    return top / bottom, ci.ratio_interval(pairs, data.counts, data.item.key, data.level)


def _spread(data: _Data) -> tuple[float | None, ci.Interval]:
    first, second, number = (_exact_sum(column, data.counts) for column in data.columns)
    value = (max(0, second * number - first * first) ** 0.5) / number
    if data.batch is not None:
        return value, ci.batch_spread_interval(data.batch, data.level)
    features = np.stack(data.columns, axis=1)
    return value, ci.spread_interval(features, data.counts, data.item.key, data.level)


def _quantile(data: _Data) -> tuple[float | None, ci.Interval]:
    share = data.item.share
    assert share is not None
    values, counts = data.columns[0], data.counts
    value = ci.value_at_rank(values, counts, ci.quantile_rank(data.n, share))
    sessions = data.stats.sessions
    if sessions is None:
        return float(value), ci.quantile_interval(values, counts, share, data.level)
    table = sessions.ranks[family(data.item)]
    below = table.filter(pl.col("value") <= value)
    batch = ci.Batch(
        sessions.sessions,
        (int(below["count"].sum()), int(table["count"].sum())),
        (int(below["rank"].sum()), int(below["size"].sum()), int(table["size"].sum())),
    )
    return float(value), ci.batch_quantile_interval(values, counts, batch, share, data.level)


_ESTIMATORS: dict[str, Callable[[_Data], tuple[float | None, ci.Interval]]] = {
    "rate": _rate,
    "mean": _mean,
    "payout": _mean,
    "ratio": _ratio,
    "spread": _spread,
    "quantile": _quantile,
}


def summarise(
    source: object,
    level: float = 0.95,
    metrics: Sequence[str] | None = None,
    rates: str = "wilson",
) -> pl.DataFrame:
    """Summarise games: one row a variant and metric, with interval and n.

    Parameters
    ----------
    source : run, path, LazyFrame or DataFrame
        A run, a run folder, or game rows (with a column ``variant`` when there are several).
    level : float
        Confidence level.
    metrics : sequence of str, optional
        Keys of the metrics wanted; all by default.
    rates : {"wilson", "exact"}
        Interval of rates; ``exact`` is Clopper–Pearson.

    Returns
    -------
    DataFrame
        Columns as in ``SCHEMA``; ``value`` is null where a metric does not apply.

    Raises
    ------
    LoadError
        When the source cannot be read.
    MetricError
        For an unknown metric.
    ValueError
        For a level outside (0, 1) or an unknown method.
    """
    opened = as_source(source)
    wanted = None if metrics is None else [metric(key) for key in metrics]
    return summarise_stats(collect_stats(opened.frame, wanted), opened, level, metrics, rates)


def summarise_stats(
    stats: dict[str, SufficientStats],
    source: Source | None = None,
    level: float = 0.95,
    metrics: Sequence[str] | None = None,
    rates: str = "wilson",
) -> pl.DataFrame:
    """Summarise statistics that were collected (and perhaps merged) before; see :func:`summarise`."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, such as 0.95, not {level}")
    chosen = list(METRICS.values()) if metrics is None else [metric(key) for key in metrics]
    labels = list(stats) if source is None or source.labels is None else list(source.labels)
    rows = []
    for label in labels:
        held = stats.get(label, SufficientStats.empty())
        wangs = source.wangs.get(label) if source is not None else None
        for item in chosen:
            found = estimate(held, item, level, wangs, rates)
            rows.append(
                (
                    label,
                    item.key,
                    found.value,
                    found.interval.low,
                    found.interval.high,
                    found.n,
                    found.events,
                    found.n / found.events if found.events else None,
                    item.unit,
                    item.kind,
                    found.interval.method,
                    found.units,
                    level,
                    source.seed if source is not None else None,
                    source.digests.get(label) if source is not None else None,
                )
            )
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def write_summary(source: object, level: float = 0.95, folder: str | Path | None = None) -> pl.DataFrame:
    """Summarise a run and put ``summary.parquet`` and ``summary.csv`` into its folder.

    Parameters
    ----------
    source : run or path
        As in :func:`summarise`.
    level : float
        Confidence level.
    folder : path, optional
        Where to write; by default the run's folder.

    Returns
    -------
    DataFrame
        The summary.

    Raises
    ------
    LoadError
        When there is no folder to write to.
    """
    opened = as_source(source)
    target = Path(folder) if folder is not None else opened.folder
    if target is None:
        raise LoadError("the run has no folder; give one")
    found = summarise(opened, level)
    columns = io.BytesIO()
    found.write_parquet(columns)
    write_atomic(target / "summary.parquet", columns.getvalue())
    write_atomic(target / "summary.csv", to_csv(found).encode())
    return found
