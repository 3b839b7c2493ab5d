"""What a summary needs to know of the games, in whole numbers: it merges, and no order of merging changes it.

Games are counted by block: one sorted table a block with the distinct combinations of its columns. Memory
depends on how many combinations there are, not on the number of games. Sessions add, for every metric, the
sums of products of session totals, which is all that batch means need.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import polars as pl

from analysis.intervals import Batch
from analysis.load import LoadError, prepare
from analysis.metrics import BLOCKS, METRICS, Metric

FORMAT = 1
"""Version of the JSON form."""

_AT_ONCE = 24  # metrics a pass over sessions: bounds the width of the table that holds one row a session


def _sorted_cells(cells: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Add up equal cells and sort them, so that equal data give equal tables."""
    return cells.group_by(keys).agg(pl.all().sum()).sort(keys)


@dataclass(frozen=True)
class SessionSums:
    """What batch means over sessions need.

    Attributes
    ----------
    sessions : int
        Number of sessions.
    batches : dict
        Metric key to sums and products of its features over sessions.
    ranks : dict
        Quantile family to a table ``value, count, size, rank``. With C(v) a session's values at or below v
        and m all its values, the running sums of ``size`` and ``rank`` are Σ m·C(v) and Σ C(v)² over
        sessions.
    """

    sessions: int
    batches: dict[str, Batch]
    ranks: dict[str, pl.DataFrame]

    def __add__(self, other: SessionSums) -> SessionSums:
        """Merge the sums of different sessions."""
        batches = {
            key: Batch(
                batch.sessions + other.batches[key].sessions,
                tuple(a + b for a, b in zip(batch.sums, other.batches[key].sums, strict=True)),
                tuple(a + b for a, b in zip(batch.products, other.batches[key].products, strict=True)),
            )
            for key, batch in self.batches.items()
        }
        ranks = {
            key: _sorted_cells(pl.concat([table, other.ranks[key]]), ["value"])
            for key, table in self.ranks.items()
        }
        return SessionSums(self.sessions + other.sessions, batches, ranks)


@dataclass(frozen=True)
class SufficientStats:
    """Everything that a summary needs of the games of one variant.

    Attributes
    ----------
    games : int
        Number of games.
    blocks : dict
        Block name to a sorted table: the columns of the block (Int64, nulls kept) and ``count``.
    sessions : SessionSums or None
        None where every game stands alone.
    """

    games: int
    blocks: dict[str, pl.DataFrame]
    sessions: SessionSums | None = None

    @classmethod
    def empty(cls) -> SufficientStats:
        """Return the statistics of no game."""
        blocks = {
            block: pl.DataFrame(schema=dict.fromkeys((*columns, "count"), pl.Int64))
            for block, columns in BLOCKS.items()
        }
        return cls(0, blocks)

    @classmethod
    def from_frame(cls, frame: pl.LazyFrame | pl.DataFrame) -> SufficientStats:
        """Count the games of one variant.

        Parameters
        ----------
        frame : LazyFrame or DataFrame
            Game rows; sessions must be whole.

        Raises
        ------
        LoadError
            When columns are missing, or the rows are of several variants.
        """
        lazy = frame.lazy()
        if "variant" not in lazy.collect_schema():
            lazy = lazy.with_columns(variant=pl.lit(""))
        found = collect_stats(lazy)
        if len(found) > 1:
            raise LoadError(f"rows of one variant are wanted, not of {', '.join(found)}")
        return next(iter(found.values()), cls.empty())

    def __add__(self, other: SufficientStats) -> SufficientStats:
        """Merge the statistics of different games; sessions must not be split between the two.

        Raises
        ------
        LoadError
            When games in sessions meet games that stand alone.
        """
        if self.games == 0:
            return other
        if other.games == 0:
            return self
        if (self.sessions is None) != (other.sessions is None):
            raise LoadError("games in sessions and games that stand alone cannot be summarised together")
        blocks = {
            block: _sorted_cells(pl.concat([cells, other.blocks[block]]), BLOCKS[block])
            for block, cells in self.blocks.items()
        }
        merged = None
        if self.sessions is not None and other.sessions is not None:
            merged = self.sessions + other.sessions
        return SufficientStats(self.games + other.games, blocks, merged)

    @property
    def wangs_seen(self) -> bool:
        """Whether any player held a wang in any game."""
        for block in ("wangs_dealt", "wangs_final"):
            held = [pl.col(name) for name in BLOCKS[block] if name.startswith("wangs")]
            if self.blocks[block].select(pl.any_horizontal(expr > 0 for expr in held).any()).item():
                return True
        return False

    def features(self, metric: Metric) -> pl.DataFrame:
        """Count the distinct features of a metric.

        Returns
        -------
        DataFrame
            Columns ``f0``, ``f1`` … as in ``metric.features`` and ``count``, sorted; games whose last
            feature (the denominator) is 0 left out.
        """
        names = [f"f{i}" for i in range(len(metric.features))]
        cells = self.blocks[metric.block].select(*_features(metric, names), "count")
        return _sorted_cells(cells.filter(pl.col(names[-1]) != 0), names)

    def to_json(self) -> str:
        """Write as one JSON document; equal statistics give equal text."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "games": self.games,
            "blocks": {name: [list(row) for row in cells.rows()] for name, cells in self.blocks.items()},
            "sessions": None,
        }
        if self.sessions is not None:
            document["sessions"] = {
                "sessions": self.sessions.sessions,
                "batches": {
                    key: [batch.sessions, list(batch.sums), list(batch.products)]
                    for key, batch in self.sessions.batches.items()
                },
                "ranks": {key: [list(row) for row in t.rows()] for key, t in self.sessions.ranks.items()},
            }
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> SufficientStats:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        LoadError
            When the text is of another version.
        """
        document = json.loads(text)
        if document.get("format") != FORMAT:
            raise LoadError(f"statistics of format {document.get('format')!r}; this version reads {FORMAT}")
        blocks = {
            name: pl.DataFrame(rows, schema=dict.fromkeys((*BLOCKS[name], "count"), pl.Int64), orient="row")
            for name, rows in document["blocks"].items()
        }
        sessions = None
        if document["sessions"] is not None:
            part = document["sessions"]
            sessions = SessionSums(
                part["sessions"],
                {key: Batch(n, tuple(s), tuple(p)) for key, (n, s, p) in part["batches"].items()},
                {
                    key: pl.DataFrame(rows, schema=dict.fromkeys(_RANK_COLUMNS, pl.Int64), orient="row")
                    for key, rows in part["ranks"].items()
                },
            )
        return cls(document["games"], blocks, sessions)


_RANK_COLUMNS = ("value", "count", "size", "rank")


def _features(metric: Metric, names: Iterable[str]) -> list[pl.Expr]:
    return [
        expr.cast(pl.Int64).fill_null(0).alias(name)
        for name, expr in zip(names, metric.features, strict=True)
    ]


def family(metric: Metric) -> str:
    """Return what the quantiles of one quantity have in common."""
    return metric.key.rsplit("_p", 1)[0]


def _by_variant(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Split a table by its column ``variant``, rows in order."""
    parts = table.partition_by("variant", as_dict=True, include_key=False, maintain_order=True)
    return {str(key[0]): part for key, part in parts.items()}


def collect_stats(frame: pl.LazyFrame, metrics: Iterable[Metric] | None = None) -> dict[str, SufficientStats]:
    """Count the games of every variant in one go.

    Parameters
    ----------
    frame : LazyFrame
        Game rows with a column ``variant``; sessions must be whole.
    metrics : iterable of Metric, optional
        Collect only what these need; by default all there is.

    Returns
    -------
    dict
        Variant label to its statistics, by label.

    Raises
    ------
    LoadError
        When columns are missing, or only part of a variant's games are in sessions.
    """
    chosen = list(METRICS.values() if metrics is None else metrics)
    wanted = {item.block for item in chosen} | {
        "wangs_dealt",
        "wangs_final",
    }  # these two tell a deck without wangs
    blocks = {block: columns for block, columns in BLOCKS.items() if metrics is None or block in wanted}
    rows = prepare(frame)
    head = rows.group_by("variant").agg(
        pl.len().alias("games"), pl.col("session").count().alias("in_session")
    )
    tables = [
        rows.select("variant", *columns).group_by("variant", *columns).agg(pl.len().alias("count"))
        for columns in blocks.values()
    ]
    counted, *cells = pl.collect_all([head, *tables], engine="streaming")
    by_block = {
        block: _by_variant(
            table.with_columns(pl.col(*columns, "count").cast(pl.Int64)).sort("variant", *columns)
        )
        for (block, columns), table in zip(blocks.items(), cells, strict=True)
    }
    for label, games, in_session in counted.rows():
        if in_session not in (0, games):
            raise LoadError(f"{label}: {in_session} of {games} games are in sessions; all or none must be")
    sessions: dict[str, SessionSums] = {}
    if counted["in_session"].sum() > 0:
        sessions = _collect_sessions(rows.filter(pl.col("session").is_not_null()), chosen)
    return {
        label: SufficientStats(
            games, {block: parts[label] for block, parts in by_block.items()}, sessions.get(label)
        )
        for label, games, _ in sorted(counted.rows())
    }


def _collect_sessions(rows: pl.LazyFrame, chosen: list[Metric]) -> dict[str, SessionSums]:
    """Add up over sessions, by variant. Int128 keeps squares of large money exact."""
    columns = sorted({name for block in BLOCKS.values() for name in block})
    rows = rows.select("variant", "session", pl.col(columns).cast(pl.Int64))
    keys = ["variant", "session"]
    number = dict(
        rows.select(keys).unique().group_by("variant").agg(pl.len()).collect(engine="streaming").rows()
    )
    batches: dict[str, dict[str, Batch]] = {label: {} for label in number}
    pending = iter([item for item in chosen if item.kind != "quantile"])
    while at_once := list(islice(pending, _AT_ONCE)):
        for label, found in _batches(rows, keys, at_once):
            batches[label].update(found)
    empty = pl.DataFrame(schema=dict.fromkeys(_RANK_COLUMNS, pl.Int64))
    families = {family(item): item for item in chosen if item.kind == "quantile"}
    tables = {name: _by_variant(_rank_table(rows, keys, item)) for name, item in families.items()}
    return {
        label: SessionSums(
            n, batches[label], {name: parts.get(label, empty) for name, parts in tables.items()}
        )
        for label, n in number.items()
    }


def _batches(
    rows: pl.LazyFrame, keys: list[str], chosen: list[Metric]
) -> Iterable[tuple[str, dict[str, Batch]]]:
    features, products, layout = [], [], []
    for item in chosen:
        names = [f"{item.key}:{i}" for i in range(len(item.features))]
        features += _features(item, names)
        wide = [pl.col(name).cast(pl.Int128) for name in names]
        products.append((wide[-1] != 0).cast(pl.Int128).sum().alias(f"{item.key}:n"))
        pairs = [(i, j) for i in range(len(names)) for j in range(i, len(names))]
        products += [wide[i].sum().alias(f"{item.key}:s{i}") for i in range(len(names))]
        products += [(wide[i] * wide[j]).sum().alias(f"{item.key}:p{i}{j}") for i, j in pairs]
        layout.append((item.key, len(names), len(pairs)))
    totals = rows.select(*keys, *features).group_by(keys).agg(pl.all().sum())
    for row in totals.group_by("variant").agg(products).collect(engine="streaming").rows():
        label, *numbers = row
        found, at = {}, 0
        for key, sums, pairs_number in layout:
            ends = (at + 1, at + 1 + sums, at + 1 + sums + pairs_number)
            found[key] = Batch(
                numbers[at], tuple(numbers[ends[0] : ends[1]]), tuple(numbers[ends[1] : ends[2]])
            )
            at = ends[2]
        yield label, found


def _rank_table(rows: pl.LazyFrame, keys: list[str], item: Metric) -> pl.DataFrame:
    """Count pairs of values of one session by the larger of the two: the rank weights add up to that."""
    values = rows.select(*keys, *_features(item, ["value", "on"])).filter(pl.col("on") != 0)
    weighed = values.with_columns(
        size=pl.len().over(keys).cast(pl.Int64),
        rank=2 * pl.col("value").rank("ordinal").over(keys).cast(pl.Int64) - 1,
    )
    table = weighed.group_by("variant", "value").agg(
        pl.len().cast(pl.Int64).alias("count"), pl.col("size").sum(), pl.col("rank").sum()
    )
    return table.sort("variant", "value").collect()
