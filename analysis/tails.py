"""How bad it gets: quantiles and expected shortfall of what changes hands in a game, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from analysis import intervals as ci
from analysis.load import LoadError, as_source
from analysis.metrics import ALL_MONEY, metric
from analysis.sufficient import collect_stats

SHARES = ((95, 100), (99, 100), (999, 1000))

SCHEMA: dict[str, type[pl.DataType]] = {
    "variant": pl.String,
    "share": pl.Float64,
    "quantile": pl.Float64,
    "quantile_low": pl.Float64,
    "quantile_high": pl.Float64,
    "shortfall": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "level": pl.Float64,
}


def tails(source: object, level: float = 0.95, shares: Sequence[tuple[int, int]] = SHARES) -> pl.DataFrame:
    """Quantiles and expected shortfall of all transfers of a game, one row a variant and share.

    Parameters
    ----------
    source : run, path, LazyFrame or DataFrame
        As in :func:`analysis.summary.summarise`; games that stand alone.
    level : float
        Of intervals.
    shares : sequence of (int, int)
        Each a fraction q; the shortfall is the mean transfer of the 1 − q games with most money.

    Returns
    -------
    DataFrame
        Columns as in ``SCHEMA``; money in points.

    Raises
    ------
    LoadError
        For games in sessions: their dependence is not allowed for.

    Notes
    -----
    Shortfall = v + E(x − v)₊ / (1 − q), least at the quantile v (Rockafellar and Uryasev 2000). An error in v
    is of second order there, so the interval is that of the mean excess, by bootstrap-t.
    """
    rows = []
    for label, stats in collect_stats(as_source(source).frame, [metric("transfers")]).items():
        if stats.sessions is not None:
            raise LoadError(f"{label}: tails need games that stand alone, not sessions")
        cells = stats.blocks["money"].group_by(ALL_MONEY.alias("x")).agg(pl.col("count").sum()).sort("x")
        values, counts = cells["x"].to_numpy(), cells["count"].to_numpy()
        n = int(counts.sum())
        for share in shares:
            rest = 1 - share[0] / share[1]
            value = ci.value_at_rank(values, counts, ci.quantile_rank(n, share))
            ends = ci.quantile_interval(values, counts, share, level)
            excess = (values - value).clip(0)
            # few games: nothing lies beyond the quantile, and so nothing tells how far it could
            found = (
                ci.payout_interval(excess, counts, f"shortfall {share}", level)
                if excess.any()
                else ci.NO_INTERVAL
            )
            low, high = (
                None if end is None else value + max(0.0, end) / rest for end in (found.low, found.high)
            )
            mean = value + float(counts @ excess) / n / rest
            quantile = (float(value), ends.low, ends.high)
            rows.append((label, share[0] / share[1], *quantile, mean, low, high, n, level))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
