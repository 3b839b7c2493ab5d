"""Synthetic records of real games, with a bias planted on request: to try the reality check, and for its tests."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.exact import wang_strata
from analysis.intervals import generator
from analysis.reality_read import RecordError
from sim.rows import FAN_NAMES

if TYPE_CHECKING:
    from sim.variant import Variant

IntArray = NDArray[np.int64]

PLANTS = ("dealer_wangs", "seat_wangs", "missing_draws")
"""``dealer_wangs=a``: a deal that gives the dealer k wangs is exp(a k) times as likely as it should be;
``seat_wangs=a``: the same for whoever sits in seat 0; ``missing_draws=a``: that share of draw games is not written."""


def read_plants(texts: Sequence[str]) -> dict[str, float]:
    """Read ``kind=amount``.

    Raises
    ------
    RecordError
        For an unknown kind or an amount that is no number from -2 to 2.
    """
    found = {}
    for text in texts:
        kind, _, amount = text.partition("=")
        try:
            value = float(amount)
        except ValueError:
            value = float("nan")
        if kind not in PLANTS or not -2 <= value <= 2 or (kind == "missing_draws" and not 0 <= value <= 1):
            raise RecordError(
                f"--plant: {text[:60]!r} must be one of {', '.join(PLANTS)} with an amount, e.g. dealer_wangs=0.3"
            )
        found[kind] = value
    return found


def synthetic_rows(
    variant: Variant, games: int, bots: tuple[str, str, str], seed: int, plants: Mapping[str, float]
) -> pl.DataFrame:
    """Play games whose dealer goes around at random, with a planted bias; columns as in a run folder.

    Parameters
    ----------
    variant : Variant
    games : int
    bots : three str
    seed : int
    plants : dict
        See :data:`PLANTS`.
    """
    from sim.parts import rows_to_frame
    from sim.strata import play_task

    keys: dict[str, Any] = dict(variant.flat())
    seats = int(keys["table.seats"])
    random = generator(f"synthetic {seed} {games}")
    dealers = random.integers(seats, size=games)
    # the role of seat 0, by the dealer's seat; None where it sits out
    roles = [0, *([2, None, 1] if seats == 4 else [2, 1])]
    law = wang_strata(int(keys["deck.wangs"]))
    strata = list(law)
    parts, order = [], []
    counts: dict[tuple[int, ...], int] = {}
    for dealer in range(seats):
        where = np.flatnonzero(dealers == dealer)
        tilt = np.zeros(len(strata))
        for kind, role in (("dealer_wangs", 0), ("seat_wangs", roles[dealer])):
            if role is not None:
                tilt += plants.get(kind, 0.0) * np.array([stratum[role] for stratum in strata])
        weights = np.array([float(chance) for chance in law.values()]) * np.exp(tilt)
        drawn = random.choice(len(strata), size=len(where), p=weights / weights.sum())
        for number, stratum in enumerate(strata):
            chosen = where[drawn == number]
            if len(chosen):
                first = counts.get(stratum, 0)
                counts[stratum] = first + len(chosen)
                rows = rows_to_frame(play_task(keys, bots, seed, stratum, first, len(chosen)))
                parts.append(_turned(rows, dealer, seats))
                order.append(chosen)
    frame = pl.concat(parts).with_columns(game=pl.Series(np.concatenate(order))).sort("game")
    if plants.get("missing_draws"):
        keep = (random.random(games) >= plants["missing_draws"]) | frame["winner"].is_not_null().to_numpy()
        frame = frame.filter(pl.Series(keep))
    return frame


def _turned(rows: pl.DataFrame, dealer: int, seats: int) -> pl.DataFrame:
    """The same games with another seat as dealer: a deal that stands alone knows no seats but by the dealer."""
    columns = [
        ((pl.col(name).cast(pl.Int64) + dealer) % seats).alias(name)
        for name in ("dealer", "winner", "sitter")
    ]
    for stem in ("wangs_dealt", "wangs_final", "score", "wang_paid"):
        columns += [
            pl.col(f"{stem}_{seat}").alias(f"{stem}_{(seat + dealer) % seats}") for seat in range(seats)
        ]
    return rows.with_columns(columns)


_WRITTEN = (
    "game", "dealer", "winner", "by", "huxi", "tun", "fan", "score", "names", "xing", "wangs_win",
    *(f"wangs_dealt_{seat}" for seat in range(4)),
    "draws", "discards", "ti", "wei", "chou_wei", "pao", "peng", "chi", "dead",
)  # fmt: skip


def _records(frame: pl.DataFrame) -> list[dict[str, Any]]:
    found = []
    for row in frame.iter_rows(named=True):
        row["names"] = ";".join(name for name in FAN_NAMES if row[name])
        row["winner"] = "none" if row["winner"] is None else row["winner"]
        found.append({name: row[name] for name in _WRITTEN})
    return found


def synthesise(
    variant: Variant,
    games: int,
    kind: str = "csv",
    *,
    bots: tuple[str, str, str] = ("greedy",) * 3,
    seed: int = 1,
    plants: Mapping[str, float] | None = None,
) -> str:
    """Text of synthetic records.

    Parameters
    ----------
    variant : Variant
    games : int
    kind : {"csv", "jsonl", "log"}
        ``log``: whole game logs, which hold hands and choices; without plants.
    bots : three str
        Dealer, next, third.
    seed : int
    plants : dict, optional
        See :data:`PLANTS`.

    Raises
    ------
    RecordError
        For plants in game logs.
    """
    plants = plants or {}
    if kind == "log":
        if plants:
            raise RecordError("--plant: goes with csv and jsonl, not with game logs")
        from sim.gamelog import Player, dump_line

        player = Player(variant, bots, seed)
        return "".join(dump_line(event) + "\n" for game in range(games) for event in player.events(game))
    records = _records(synthetic_rows(variant, games, bots, seed, plants))
    if kind == "jsonl":
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _WRITTEN, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def synthesise_command(
    variant: str,
    games: int,
    *,
    out: Path | None = None,
    kind: str = "csv",
    bots: str = "greedy",
    seed: int = 1,
    plants: Sequence[str] = (),
    overrides: Sequence[str] = (),
) -> int:
    """``chehuzi logs synthesise``: write synthetic records; exit status."""
    import sys

    from sim.parts import write_atomic
    from sim.players import parse_compiled
    from sim.variant import load_variant

    wanted = read_plants(plants)
    text = synthesise(
        load_variant(variant, overrides), games, kind, bots=parse_compiled(bots), seed=seed, plants=wanted
    )
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomic(out, text.encode())
    return 0


__all__ = ["PLANTS", "read_plants", "synthesise", "synthesise_command", "synthetic_rows"]
