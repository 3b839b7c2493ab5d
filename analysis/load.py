"""From a run, a run folder or game rows to one lazy frame with the columns that metrics are written in.

Metrics speak of roles (dealer, next, third, sitter), rows of seats; :func:`prepare` turns one into the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import polars as pl

from sim.rows import COUNTERS, FAN_NAMES, SEATS
from sim.store import Run, open_run

ROLES = ("dealer", "next", "third", "sitter")
ACTIVE = ROLES[:3]

DEFAULT_LABEL = "run"
"""Variant label of a frame that has none."""


class LoadError(ValueError):
    """A source that cannot be summarised; the message says what is missing."""


@runtime_checkable
class RunLike(Protocol):
    """What a run must offer, as :class:`sim.store.Run` does."""

    @property
    def variants(self) -> Mapping[str, Any]:
        """Label to variant, each with ``digest`` and ``flat()``."""

    @property
    def manifest(self) -> Any:
        """The manifest, with ``seed``."""

    @property
    def folder(self) -> Path | None:
        """The run folder."""

    def games(self) -> pl.LazyFrame:
        """All games, with a column ``variant``."""


@dataclass(frozen=True)
class Source:
    """Game rows with what belongs beside every number.

    Attributes
    ----------
    frame : LazyFrame
        Game rows with a column ``variant``.
    labels : tuple of str or None
        Variants in the order of the run; None where only the rows can tell.
    seed : int or None
        Seed of the run.
    digests : dict
        Label to variant hash.
    wangs : dict
        Label to number of wangs in the deck.
    folder : Path or None
        The run folder.
    """

    frame: pl.LazyFrame
    labels: tuple[str, ...] | None = None
    seed: int | None = None
    digests: dict[str, str] = field(default_factory=dict)
    wangs: dict[str, int] = field(default_factory=dict)
    folder: Path | None = None


def open_intact(path: str | Path) -> Run:
    """Open a run folder whose every part is as recorded: a torn or altered one is never counted.

    Raises
    ------
    LoadError
        Naming the first part that is not.
    sim.store.RunError
        For a folder that is no run folder.
    """
    run = open_run(path)
    damage = run.damage()
    if damage:
        more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
        raise LoadError(
            f"{run.path}: {damage[0].file} {damage[0].problem}{more}; play it again with --resume"
        )
    return run


def as_source(source: object) -> Source:
    """Accept a run, a run folder, a lazy or eager frame of game rows, or a :class:`Source`.

    Raises
    ------
    LoadError
        For anything else.
    sim.store.RunError
        For a folder that is no run folder.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        source = open_intact(source)
    if isinstance(source, pl.DataFrame):
        source = source.lazy()
    if isinstance(source, pl.LazyFrame):
        if "variant" not in source.collect_schema():
            source = source.with_columns(variant=pl.lit(DEFAULT_LABEL))
        return Source(source)
    if isinstance(source, RunLike):
        variants = source.variants
        return Source(
            source.games(),
            tuple(variants),
            source.manifest.seed,
            {label: variant.digest for label, variant in variants.items()},
            {label: variant.flat()["deck.wangs"] for label, variant in variants.items()},
            source.folder,
        )
    raise LoadError(f"cannot summarise {type(source).__name__}: give a run, a run folder or a frame of games")


def _by_role(name: str, seat: pl.Expr) -> pl.Expr:
    """Value of the per-seat columns ``name_0`` … at a seat that differs by row."""
    columns = (
        pl.when(seat == number).then(pl.col(f"{name}_{number}")).otherwise(None) for number in range(SEATS)
    )
    return pl.coalesce(columns)


def prepare(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Add the columns of which metrics are written, by role instead of by seat.

    Parameters
    ----------
    frame : LazyFrame
        Game rows with ``variant``.

    Returns
    -------
    LazyFrame
        ``variant``, ``session``, ``winner_role`` (0 dealer, 1 next, 2 third; null in a draw game), ``by``
        (0 own, 1 other, 2 deal), ``names`` (bit i is ``FAN_NAMES[i]``; 0 in a draw game), the plain win,
        money and counter columns, and ``score_<role>``, ``wangs_dealt_<role>``, ``wangs_final_<role>``.

    Raises
    ------
    LoadError
        When columns are missing.
    """
    plain = ("huxi", "tun", "fan", "score", "wangs_win", "xing", "money_win", "money_xing", "money_wang")
    needed = {"variant", "session", "dealer", "sitter", "winner", "by", *plain, *FAN_NAMES, *COUNTERS}
    needed |= {f"{name}_{seat}" for name in ("score", "wangs_dealt", "wangs_final") for seat in range(SEATS)}
    missing = sorted(needed - set(frame.collect_schema().names()))
    if missing:
        raise LoadError(f"these are no game rows: missing column {', '.join(missing)}")
    dealer = pl.col("dealer").cast(pl.Int8)
    seats = pl.when(pl.col("sitter").is_null()).then(3).otherwise(4).cast(pl.Int8)
    seat = {
        "dealer": dealer,
        "next": (dealer + 1) % seats,
        "third": (dealer + seats - 1) % seats,
        "sitter": pl.col("sitter"),
    }
    names = pl.sum_horizontal(
        pl.col(name).fill_null(False).cast(pl.Int16) * (1 << bit) for bit, name in enumerate(FAN_NAMES)
    )
    # Seats after the dealer: with four seats the third player is at 3, for the sitter at 2 never wins.
    after_dealer = (pl.col("winner").cast(pl.Int8) + seats - dealer) % seats
    columns = [
        pl.col("variant").cast(pl.String),
        pl.col("session"),
        after_dealer.clip(upper_bound=2).alias("winner_role"),
        pl.col("by").to_physical().cast(pl.Int8).alias("by"),
        names.cast(pl.Int16).alias("names"),
        *(pl.col(name) for name in (*plain, *COUNTERS)),
        *(_by_role("score", seat[role]).alias(f"score_{role}") for role in ROLES),
        *(
            _by_role(name, seat[role]).alias(f"{name}_{role}")
            for name in ("wangs_dealt", "wangs_final")
            for role in ACTIVE
        ),
    ]
    return frame.select(columns)
