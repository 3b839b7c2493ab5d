"""Sums over deals of products of features of two variants, in whole numbers: what paired comparisons need.

The unit is the deal, or the session. Nothing here is rounded, so neither the number of jobs, nor the size of
chunks, nor the order of merging can change a digit of what is computed from it. Memory does not grow with the
number of games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.load import LoadError, prepare
from analysis.metrics import Metric
from sim.store import Run

IntArray = NDArray[np.int64]
Matrix = tuple[tuple[int, ...], ...]

AT_ONCE = 16_384
"""Games a variant whose features are in memory at once."""


class Column:
    """A column of whole numbers, with its largest magnitude."""

    __slots__ = ("largest", "values")

    def __init__(self, values: IntArray) -> None:
        self.values = values
        self.largest = max(int(values.max()), -int(values.min())) if len(values) else 0

    def dot(self, other: Column) -> int:
        """Sum of products, exact whatever its size."""
        if self.largest * other.largest * len(self.values) < 1 << 62:
            return int(self.values @ other.values)
        long, short = (self, other) if self.largest >= other.largest else (other, self)
        bits = long.largest.bit_length() // 2
        high = long.values >> bits
        low = long.values - (high << bits)
        return (Column(high).dot(short) << bits) + Column(low).dot(short)

    def sum(self) -> int:
        """Sum, exact whatever its size."""
        return self.dot(Column(np.ones(len(self.values), dtype=np.int64)))


def _add(left: Matrix, right: Matrix) -> Matrix:
    return tuple(tuple(a + b for a, b in zip(*rows, strict=True)) for rows in zip(left, right, strict=True))


@dataclass(frozen=True)
class Own:
    """Sums of one metric in one variant.

    Attributes
    ----------
    sums : tuple of int, length m
        Totals of the features.
    products : m × m ints
        Σ f fᵀ over units.
    """

    sums: tuple[int, ...]
    products: Matrix

    def __add__(self, other: Own) -> Own:
        """Merge sums over different units."""
        sums = tuple(a + b for a, b in zip(self.sums, other.sums, strict=True))
        return Own(sums, _add(self.products, other.products))


@dataclass(frozen=True)
class Cross:
    """Sums of one metric over the same units in two variants.

    Attributes
    ----------
    products : m × m ints
        Σ f gᵀ over units, f of the first variant and g of the second.
    differing : int
        Units in which any feature differs.
    least, most : int
        Extremes of the second's first feature less the first's; 0 where none is on that side.
    """

    products: Matrix
    differing: int
    least: int
    most: int

    def __add__(self, other: Cross) -> Cross:
        """Merge sums over different units."""
        return Cross(
            _add(self.products, other.products),
            self.differing + other.differing,
            min(self.least, other.least),
            max(self.most, other.most),
        )


@dataclass(frozen=True)
class JointSums:
    """Sums over the same units in several variants.

    Attributes
    ----------
    units : int
        Deals, or sessions.
    own : dict
        (label, metric key) to the sums of that variant.
    cross : dict
        (label, label, metric key) to the sums of that pair.
    """

    units: int
    own: Mapping[tuple[str, str], Own]
    cross: Mapping[tuple[str, str, str], Cross]

    def __add__(self, other: JointSums) -> JointSums:
        """Merge sums over different units; the order does not matter."""
        if self.units == 0:
            return other
        if other.units == 0:
            return self
        own = {key: value + other.own[key] for key, value in self.own.items()}
        cross = {key: value + other.cross[key] for key, value in self.cross.items()}
        return JointSums(self.units + other.units, own, cross)


EMPTY = JointSums(0, {}, {})


class Features:
    """The features of metrics as integer columns, each computed once however many metrics use it.

    Parameters
    ----------
    metrics : iterable of Metric
    """

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self.metrics = tuple(metrics)
        found: dict[bytes, str] = {}
        self._columns: list[pl.Expr] = []
        self._names: dict[str, tuple[str, ...]] = {}
        for item in self.metrics:
            names = []
            for expr in item.features:
                key = expr.meta.serialize()
                if key not in found:
                    found[key] = f"x{len(found)}"
                    self._columns.append(expr.cast(pl.Int64).fill_null(0).alias(found[key]))
                names.append(found[key])
            self._names[item.key] = tuple(names)

    def columns(self, rows: pl.LazyFrame) -> dict[str, Column]:
        """Compute the columns for game rows, or their totals by session where games are in sessions."""
        prepared = prepare(rows).select("session", *self._columns).collect()
        if prepared["session"].null_count() < prepared.height:
            prepared = prepared.group_by("session").agg(pl.all().sum()).sort("session")
        return {column.name: Column(column.to_numpy()) for column in prepared.drop("session").iter_columns()}

    def names(self, item: Metric) -> tuple[str, ...]:
        """Names of the columns of one metric."""
        return self._names[item.key]

    def of(self, item: Metric, columns: Mapping[str, Column]) -> list[Column]:
        """Return the columns of one metric."""
        return [columns[name] for name in self._names[item.key]]


def joint_sums(
    features: Features, rows: Mapping[str, pl.LazyFrame], pairs: Sequence[tuple[str, str]]
) -> JointSums:
    """Add up one piece of games.

    Parameters
    ----------
    features : Features
        Of the metrics wanted.
    rows : dict
        Label to the same games in the same order, with ``game``, ``session`` and ``variant``.
    pairs : sequence of (label, label)
        What will be compared.

    Returns
    -------
    JointSums

    Raises
    ------
    LoadError
        When the games of two variants are not the same numbers.
    """
    numbers = {label: frame.select("game").collect()["game"] for label, frame in rows.items()}
    first, reference = next(iter(numbers.items()))
    for label, found in numbers.items():
        if not found.equals(reference):
            raise LoadError(f"{first} and {label} hold different games: they cannot be paired")
    columns = {label: features.columns(frame) for label, frame in rows.items()}
    units = len(next(iter(columns[first].values())).values)
    own, cross = {}, {}
    for item in features.metrics:
        held = {label: features.of(item, columns[label]) for label in rows}
        for label, mine in held.items():
            products = [[0] * len(mine) for _ in mine]
            for i, left in enumerate(mine):
                for j in range(i, len(mine)):
                    products[i][j] = products[j][i] = left.dot(mine[j])
            own[label, item.key] = Own(tuple(column.sum() for column in mine), tuple(map(tuple, products)))
        for one, two in pairs:
            a, b = held[one], held[two]
            unequal = np.zeros(units, dtype=bool)
            for left, right in zip(a, b, strict=True):
                unequal |= left.values != right.values
            step = b[0].values - a[0].values
            cross[one, two, item.key] = Cross(
                tuple(tuple(left.dot(right) for right in b) for left in a),
                int(unequal.sum()),
                min(0, int(step.min())),
                max(0, int(step.max())),
            )
    return JointSums(units, own, cross)


def pieces(run: Run) -> Iterator[dict[str, pl.LazyFrame]]:
    """Go through a run by the same games of every variant, some thousand at a time.

    Yields
    ------
    dict
        Label to rows. Sessions are whole.

    Raises
    ------
    LoadError
        When a variant lacks games that another has.
    """
    labels = tuple(run.variants)
    files: dict[int, dict[str, Any]] = {}
    for part in run.parts:
        files.setdefault(part.first, {})[part.variant] = part
    length = run.manifest.session
    step = max(1, AT_ONCE // length) * length if length else AT_ONCE
    for first in sorted(files):
        found = files[first]
        lacking = [label for label in labels if label not in found]
        if lacking:
            raise LoadError(f"{', '.join(lacking)}: the games from {first} on are missing; resume the run")
        count = found[labels[0]].count
        frames = {
            label: pl.read_parquet(run.path / found[label].file).with_columns(variant=pl.lit(label)).lazy()
            for label in labels
        }
        bounds = [*range(0, count, step), count]
        for begin, end in pairwise(bounds):
            yield {label: frame.slice(begin, end - begin) for label, frame in frames.items()}


def collect_joint(run: Run, metrics: Iterable[Metric], pairs: Sequence[tuple[str, str]]) -> JointSums:
    """Add up a whole run, one piece after the other.

    Parameters
    ----------
    run : Run
        All variants with the same games.
    metrics : iterable of Metric
        Quantiles are left out: they are no function of sums.
    pairs : sequence of (label, label)

    Returns
    -------
    JointSums

    Raises
    ------
    LoadError
        See :func:`pieces`.
    """
    features = Features(item for item in metrics if item.kind != "quantile")
    total = EMPTY
    if features.metrics:
        for piece in pieces(run):
            total += joint_sums(features, piece, pairs)
    return total
