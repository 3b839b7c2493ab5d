"""From runs to the tidy frames that plots are drawn from: one row a point, every share with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis import intervals as ci
from analysis.compare import compare_run
from analysis.compare_words import HEADLINES
from analysis.load import ACTIVE, LoadError, Source, prepare
from analysis.metrics import DRAWN, WON
from analysis.summary import summarise
from sim.manifest import VariantRecord
from sim.store import Run, open_run

ONE = pl.lit(1)
EVENING = 40
"""Games of a session where the run has none."""
_SWING_GAMES = 1_000_000
_AT_ONCE = 40


@dataclass(frozen=True)
class Entry:
    """One variant of one run, with a label that no other of the runs at hand has."""

    label: str
    own: str
    run: Run
    record: VariantRecord

    @property
    def games(self) -> pl.LazyFrame:
        """Its games, under its label."""
        label = pl.lit(self.label).cast(pl.String)
        return self.run.games(self.own).with_columns(label.alias("variant"))


def entries_of(runs: Sequence[Run | str | Path]) -> list[Entry]:
    """Every variant of every run; labels that occur twice get the name of their run's folder before them.

    Raises
    ------
    LoadError
        When there is no game at all.
    sim.store.RunError
        For a folder that is no run.
    """
    opened = [run if isinstance(run, Run) else open_run(run) for run in runs]
    counts: dict[str, int] = {}
    for run in opened:
        for label in run.variants:
            counts[label] = counts.get(label, 0) + 1
    found: list[Entry] = []
    for run in opened:
        for own, record in run.variants.items():
            if not any(part.variant == own for part in run.parts):
                continue
            label = own if counts[own] == 1 else f"{run.path.resolve().name}/{own}"
            taken = {entry.label for entry in found}
            number = 2
            while label in taken:
                label, number = f"{run.path.resolve().name}-{number}/{own}", number + 1
            found.append(Entry(label, own, run, record))
    if not found:
        raise LoadError(f"{', '.join(str(run.path) for run in opened)}: no finished game to report on")
    return found


def source_of(entries: Sequence[Entry]) -> Source:
    """All games of the entries, to be summarised together."""
    seeds = {entry.run.manifest.seed for entry in entries}
    return Source(
        pl.concat([entry.games for entry in entries]),
        tuple(entry.label for entry in entries),
        seeds.pop() if len(seeds) == 1 else None,
        {entry.label: entry.record.digest for entry in entries},
        {entry.label: int(str(entry.record.keys["deck.wangs"])) for entry in entries},
    )


# --- shares with intervals ---------------------------------------------------------------------------------


def shares(
    rows: pl.LazyFrame, events: Mapping[Any, tuple[pl.Expr, pl.Expr]], level: float, sessions: bool
) -> dict[Any, tuple[float | None, float | None, float | None, int]]:
    """Shares Σ numerator / Σ denominator, the unit being the game, or the session where there are any.

    Parameters
    ----------
    rows : LazyFrame
        Prepared rows of one variant.
    events : mapping
        Key to numerator and denominator, whole numbers a game, numerator ≤ denominator.
    level : float
    sessions : bool

    Returns
    -------
    dict
        Key to (share, low, high, denominator).
    """
    found: dict[Any, tuple[float | None, float | None, float | None, int]] = {}
    keys = list(events)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        columns = []
        for number, key in enumerate(some):
            for letter, expr in zip("tb", events[key], strict=True):
                columns.append(expr.cast(pl.Int64).fill_null(0).alias(f"{letter}{number}"))
        units = rows.select("session", *columns)
        if sessions:
            units = units.group_by("session").agg(pl.all().sum())
        wanted = []
        for number in range(len(some)):
            top, bottom = pl.col(f"t{number}"), pl.col(f"b{number}")
            wanted += [
                expr.sum().alias(f"{name}{number}")
                for name, expr in (
                    ("n", (bottom > 0).cast(pl.Int64)),
                    ("st", top),
                    ("sb", bottom),
                    ("tt", top * top),
                    ("tb", top * bottom),
                    ("bb", bottom * bottom),
                )
            ]
        row = units.select(wanted).collect(engine="streaming").row(0, named=True)
        for number, key in enumerate(some):
            n, st, sb, tt, tb, bb = (
                int(row[f"{name}{number}"] or 0) for name in ("n", "st", "sb", "tt", "tb", "bb")
            )
            if sb == 0:
                found[key] = (None, None, None, 0)
                continue
            if not sessions and n == sb and tt == st:
                interval = ci.rate_interval(st, sb, level)
            else:
                interval = ci.batch_rate_interval(ci.Batch(n, (st, sb), (tt, tb, bb)), level)
            found[key] = (st / sb, interval.low, interval.high, sb)
    return found


_SHARE = {"share": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64}


def _table(keys: Mapping[str, Any], rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={**keys, **_SHARE}, orient="row")


class _Games:
    """Prepared rows of one variant."""

    def __init__(self, label: str, frame: pl.LazyFrame, level: float) -> None:
        self.label = label
        self.rows = prepare(frame)
        self.level = level
        self.sessions = bool(self.rows.select(pl.col("session").is_not_null().any()).collect().item())

    def shares(self, events: Mapping[Any, tuple[pl.Expr, pl.Expr]]) -> dict[Any, Any]:
        return shares(self.rows, events, self.level, self.sessions)

    def distinct(self, *exprs: pl.Expr) -> list[int]:
        """Distinct values of expressions, ascending."""
        found: set[int] = set()
        for expr in exprs:
            values = self.rows.select(expr.alias("v")).unique().collect(engine="streaming")["v"]
            found |= {int(value) for value in values if value is not None}
        return sorted(found)


def _steps(most: int) -> list[int]:
    """Whole numbers up to ``most``, evenly spread on a log axis."""
    found = {1}
    step = 0.0
    while (at := round(2 ** (step / 2))) <= most:
        found.add(at)
        step += 1
    return sorted(found)


_ROLE_SCORES = [pl.col(f"score_{role}") for role in ACTIVE]


def _score_rows(games: _Games) -> list[tuple[Any, ...]]:
    """Chance that a win is of ``at`` points or more; that a player gains, or loses, as much in a game."""
    top = games.rows.select(
        pl.col("score").max().alias("win"),
        pl.max_horizontal(expr.abs().max() for expr in _ROLE_SCORES).alias("money"),
    )
    most = top.collect(engine="streaming").row(0)
    events: dict[Any, tuple[pl.Expr, pl.Expr]] = {}
    for at in _steps(int(most[0] or 0)):
        events["win", at] = ((pl.col("score") >= at), WON)
    for at in _steps(int(most[1] or 0)):
        events["gain", at] = (pl.sum_horizontal((e >= at).cast(pl.Int64) for e in _ROLE_SCORES), pl.lit(3))
        events["loss", at] = (pl.sum_horizontal((e <= -at).cast(pl.Int64) for e in _ROLE_SCORES), pl.lit(3))
    return [(games.label, *key, *found) for key, found in games.shares(events).items() if found[0]]


def _wang_rows(games: _Games) -> list[tuple[Any, ...]]:
    events: dict[Any, tuple[pl.Expr, pl.Expr]] = {}
    for when in ("dealt", "final"):
        held = [pl.col(f"wangs_{when}_{role}") for role in ACTIVE]
        most = max(games.distinct(*held), default=0)
        for number in range(most + 1):
            events[when, number] = (
                pl.sum_horizontal((expr == number).cast(pl.Int64) for expr in held),
                pl.lit(3),
            )
    return [(games.label, *key, *found) for key, found in games.shares(events).items()]


def _payout_rows(games: _Games) -> list[tuple[Any, ...]]:
    amounts = games.distinct(pl.when(DRAWN).then(pl.col("money_wang")))
    events = {at: (DRAWN & (pl.col("money_wang") == at), DRAWN) for at in amounts}
    return [(games.label, at, *found) for at, found in games.shares(events).items()]


def _win_rows(games: _Games) -> list[tuple[Any, ...]]:
    events: dict[Any, tuple[pl.Expr, pl.Expr]] = {}
    for what in ("huxi", "tun"):
        for value in games.distinct(pl.col(what)):
            events[what, value] = (pl.col(what) == value, WON)
    return [(games.label, *key, *found) for key, found in games.shares(events).items()]


def _length_rows(games: _Games) -> list[tuple[Any, ...]]:
    """Share of games still going after a wall card; and that of those going which the next card ends in a win."""
    most = max(games.distinct(pl.col("draws")), default=0)
    events: dict[Any, tuple[pl.Expr, pl.Expr]] = {}
    for card in range(most + 1):
        going = pl.col("draws") >= card
        ends = WON & (pl.col("draws") == card)
        events["alive", card] = ((pl.col("draws") > card) | ((pl.col("draws") == card) & DRAWN), ONE)
        events["hazard", card] = (ends, going)
    return [
        (games.label, *key, *found) for key, found in games.shares(events).items() if found[0] is not None
    ]


SWING_SHARES = ((5, 100), (25, 100), (50, 100), (75, 100), (95, 100))


def _swing_rows(entry_rows: pl.LazyFrame, games: _Games) -> list[tuple[Any, ...]]:
    """Quantiles of what one player has won since the evening began, by game of the evening."""
    if games.sessions:
        seats = [f"score_{seat}" for seat in range(4)]
        frame = entry_rows.head(_SWING_GAMES).select("session", *seats).collect()
        table = frame.select(pl.col(seats).fill_null(0)).to_numpy()
        lengths = frame.group_by("session", maintain_order=True).len()["len"].to_numpy()
        length = int(lengths[0]) if len(lengths) else 0
        number = int(np.argmax(lengths != length)) if (lengths != length).any() else len(lengths)
        seats_used = 4 if frame["score_3"].null_count() < frame.height else 3
    else:
        roles = [f"score_{role}" for role in (*ACTIVE, "sitter")]
        frame = games.rows.head(_SWING_GAMES).select(roles).collect()
        seats_used = 3 if frame["score_sitter"].null_count() == frame.height else 4
        table = frame.select(pl.col(roles).fill_null(0)).to_numpy()
        length = EVENING if frame.height >= 25 * EVENING else 10
        number = frame.height // length
    if number < 2 or length < 2:
        return []
    table = table[: number * length].reshape(number, length, -1)
    # One player an evening, so that evenings are independent; without sessions the roles go round the table.
    chair = np.arange(number)[:, None] % seats_used
    if not games.sessions:
        chair = (chair + np.arange(length)[None, :]) % seats_used
    chair = np.broadcast_to(chair, (number, length))
    sums = np.take_along_axis(table, chair[:, :, None], axis=2)[:, :, 0].cumsum(axis=1)
    rows: list[tuple[Any, ...]] = []
    for game in sorted({round(at) for at in np.linspace(0, length - 1, min(length, 40))}):
        values, counts = np.unique(sums[:, game], return_counts=True)
        for share in SWING_SHARES:
            value = ci.value_at_rank(values, counts, ci.quantile_rank(number, share))
            interval = ci.quantile_interval(values, counts, share, games.level)
            low, high = interval.low, interval.high
            rows.append(
                (games.label, game + 1, share[0] / share[1], float(value), low, high, number, games.sessions)
            )
    return rows


_SWINGS = {
    "variant": pl.String,
    "game": pl.Int64,
    "share": pl.Float64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "evenings": pl.Int64,
    "sessions": pl.Boolean,
}


def varied_keys(entries: Sequence[Entry]) -> list[str]:
    """Dotted keys in which the variants differ."""
    first = entries[0].record.keys
    return [key for key in first if any(entry.record.keys.get(key) != first[key] for entry in entries)]


def grid_frame(
    summary: pl.DataFrame, entries: Sequence[Entry], metric: str = "draw_rate"
) -> pl.DataFrame | None:
    """A metric over two keys: ``x_key, y_key, x, y`` and the columns of the summary.

    Returns
    -------
    DataFrame or None
        None unless the variants differ in exactly two keys, at least two values each.
    """
    keys = varied_keys(entries)
    if len(keys) != 2:
        return None
    x_key, y_key = keys
    cells = [
        (entry.label, x_key, y_key, str(entry.record.keys[x_key]), str(entry.record.keys[y_key]))
        for entry in entries
    ]
    across, down = ({cell[place] for cell in cells} for place in (3, 4))
    if len(across) < 2 or len(down) < 2 or len(cells) <= max(len(across), len(down)):
        return None  # a diagonal shows nothing of either key
    names = ("variant", "x_key", "y_key", "x", "y")
    table = pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String), orient="row")
    return table.join(summary.filter(pl.col("metric") == metric), on="variant", maintain_order="left")


def frames_of(
    runs: Sequence[Run | str | Path] | Sequence[Entry], level: float = 0.95
) -> dict[str, pl.DataFrame]:
    """Collect everything that the plots show.

    Parameters
    ----------
    runs : sequence of Run, path or Entry
        Runs, or what :func:`entries_of` made of them.
    level : float
        Of intervals.

    Returns
    -------
    dict
        ``summary`` (see :mod:`analysis.summary`), ``scores``, ``wangs``, ``payouts``, ``wins``, ``length``, ``swings``;
        ``differences`` (see :mod:`analysis.compare`) where a complete run has several variants, and ``grid`` where
        the variants differ in two keys.

    Raises
    ------
    LoadError
        When there is no game.
    """
    entries = [item for item in runs if isinstance(item, Entry)]
    if len(entries) != len(runs):
        entries = entries_of([item for item in runs if not isinstance(item, Entry)])
    found: dict[str, pl.DataFrame] = {"summary": summarise(source_of(entries), level)}
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _MAKERS}
    swings: list[tuple[Any, ...]] = []
    for entry in entries:
        games = _Games(entry.label, entry.games, level)
        for name, (make, _) in _MAKERS.items():
            rows[name] += make(games)
        swings += _swing_rows(entry.games, games)
    for name, (_, keys) in _MAKERS.items():
        found[name] = _table({"variant": pl.String, **keys}, rows[name])
    found["swings"] = pl.DataFrame(swings, schema=_SWINGS, orient="row")
    compared = differences_of(entries, level)
    if compared is not None:
        found["differences"] = compared
    grid = grid_frame(found["summary"], entries)
    if grid is not None:
        found["grid"] = grid
    return found


def differences_of(entries: Sequence[Entry], level: float = 0.95) -> pl.DataFrame | None:
    """Paired differences within each complete run, under the labels of the entries; None where there are none."""
    frames = []
    for path in dict.fromkeys(entry.run.path for entry in entries):
        own = [entry for entry in entries if entry.run.path == path]
        run = own[0].run
        if len(own) < 2 or run.manifest.done != run.manifest.total:
            continue
        names = {entry.own: entry.label for entry in own}
        frames.append(
            compare_run(run, metrics=HEADLINES, level=level).with_columns(
                pl.col("base", "variant").replace(names)
            )
        )
    return pl.concat(frames) if frames else None


_MAKERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "scores": (_score_rows, {"what": pl.String, "at": pl.Int64}),
    "wangs": (_wang_rows, {"when": pl.String, "wangs": pl.Int64}),
    "payouts": (_payout_rows, {"amount": pl.Int64}),
    "wins": (_win_rows, {"what": pl.String, "value": pl.Int64}),
    "length": (_length_rows, {"what": pl.String, "card": pl.Int64}),
}
