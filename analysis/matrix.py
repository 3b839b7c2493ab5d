"""How far do conclusions depend on the players? The same comparison under many bot mixes.

A claim is the direction of a significant paired difference between two variants. It is made under the reference mix
and asked again, on the same deals, under every other mix and every restricted player. See docs/tournament.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from analysis.compare import SCHEMA, Against, CompareError, compare_run
from analysis.honesty import check_run
from analysis.metrics import METRICS
from analysis.seatings import ladder, restricted

if TYPE_CHECKING:
    from sim.progress import Progress
    from sim.store import Run
    from sim.variant import Variant

LONG_SCHEMA: dict[str, Any] = {"mix": pl.String, **SCHEMA}
"""The comparisons under all mixes: those of :data:`analysis.compare.SCHEMA`, with the mix."""

CLAIMS_SCHEMA: dict[str, Any] = {
    "base": pl.String,
    "variant": pl.String,
    "metric": pl.String,
    "direction": pl.String,
    "reference": pl.String,
    "mixes": pl.Int64,
    "holds": pl.Int64,
    "reversed_in": pl.List(pl.String),
    "undecided_in": pl.List(pl.String),
    "least": pl.Float64,
    "greatest": pl.Float64,
    "unit": pl.String,
    "level": pl.Float64,
    "seed": pl.UInt64,
    "base_digest": pl.String,
    "digest": pl.String,
}
"""One row a claim. ``direction``: ``higher`` or ``lower``, under the reference mix, or where that is undecided under
most mixes that decide. ``reference``: the decision under the reference mix. ``mixes``: those in which the metric
applies; ``holds``: those that decide the same. ``least``, ``greatest``: of the differences over mixes."""


@dataclass(frozen=True)
class Matrix:
    """Comparisons under several mixes.

    Attributes
    ----------
    mixes : tuple of str
        ``"a"`` or ``"dealer,next,third"``; the first is the reference.
    games : int
    names : dict
        Variant label to the name to show.
    long : DataFrame
        See ``LONG_SCHEMA``.
    claims : DataFrame
        See ``CLAIMS_SCHEMA``.
    findings : tuple of Text
        What the honesty checks of the runs have found wrong.
    """

    mixes: tuple[str, ...]
    games: int
    names: dict[str, str]
    long: pl.DataFrame
    claims: pl.DataFrame
    findings: tuple[Any, ...] = ()


def mix_name(bots: Sequence[str]) -> str:
    """``"a"`` where all three are alike, else ``"a,b,c"``."""
    return bots[0] if len(set(bots)) == 1 else ",".join(bots)


def default_mixes() -> tuple[str, ...]:
    """Every bot of the ladder among its like, the best among others and the reverse, every restricted player."""
    rungs = ladder()
    best = rungs[-1]
    other = "greedy" if "greedy" in rungs[:-1] else rungs[0]
    mixed = (f"{best},{other},{other}", f"{other},{best},{best}") if best != other else ()
    return (*rungs, *mixed, *restricted())


def parse_mixes(text: str, reference: str = "greedy") -> tuple[str, ...]:
    """Read the mixes of ``--bots-matrix``.

    Parameters
    ----------
    text : str
        ``all``, or mixes apart by spaces (by semicolons where there are any), each one bot or dealer,next,third.
    reference : str
        Bots of the comparison itself; comes first.

    Raises
    ------
    sim.bots.BotError
        For an unknown bot or a wrong number of them.
    CompareError
        With fewer than two mixes there is nothing to hold against each other.
    """
    from sim.bots import BotError
    from sim.players import parse_players

    parts = [part.strip() for part in (text.split(";") if ";" in text else text.split())]
    parts = [part for part in parts if part]
    wanted = list(default_mixes()) if parts == ["all"] else parts
    try:
        found = [mix_name(parse_players(reference)), *(mix_name(parse_players(part)) for part in wanted)]
    except BotError as error:
        raise BotError(str(error).replace("--bots:", "--bots-matrix:")) from None
    mixes = tuple(dict.fromkeys(found))
    if len(mixes) < 2:
        raise CompareError(
            f"--bots-matrix: {mixes[0]} alone; name another mix, e.g. --bots-matrix 'random greedy'"
        )
    return mixes


def claims_of(long: pl.DataFrame, mixes: Sequence[str]) -> pl.DataFrame:
    """Draw the claims out of comparisons under several mixes.

    Parameters
    ----------
    long : DataFrame
        See ``LONG_SCHEMA``.
    mixes : sequence of str
        The first is the reference.

    Returns
    -------
    DataFrame
        See ``CLAIMS_SCHEMA``; metrics that no mix decides are no claims.
    """
    rows = []
    found: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for row in long.iter_rows(named=True):
        found.setdefault((row["base"], row["variant"], row["metric"]), {})[row["mix"]] = row
    for (base, variant, key), by_mix in found.items():
        decisions = {
            mix: by_mix[mix]["decision"]
            for mix in mixes
            if mix in by_mix and by_mix[mix]["difference"] is not None
        }
        decided = [value for value in decisions.values() if value in ("higher", "lower")]
        if not decided:
            continue
        reference = decisions.get(mixes[0])
        direction = reference if reference in ("higher", "lower") else max(decided, key=decided.count)
        differences = [by_mix[mix]["difference"] for mix in decisions]
        first = next(iter(by_mix.values()))
        rows.append(
            {
                "base": base,
                "variant": variant,
                "metric": key,
                "direction": direction,
                "reference": reference,
                "mixes": len(decisions),
                "holds": decided.count(direction),
                "reversed_in": [
                    mix
                    for mix, value in decisions.items()
                    if value in ("higher", "lower") and value != direction
                ],
                "undecided_in": [mix for mix, value in decisions.items() if value == "undecided"],
                "least": min(differences),
                "greatest": max(differences),
                **{name: first[name] for name in ("unit", "level", "seed", "base_digest", "digest")},
            }
        )
    return pl.DataFrame(
        [[row[name] for name in CLAIMS_SCHEMA] for row in rows], schema=CLAIMS_SCHEMA, orient="row"
    )


def ranks_of(long: pl.DataFrame, mixes: Sequence[str], metric: str) -> dict[str, dict[str, float]]:
    """Rank of each variant by a metric, from the lowest value, under each mix.

    Returns
    -------
    dict
        Mix to {label: rank from 1, ties sharing the mean rank}; a mix in which the metric does not apply to all is
        left out.
    """
    found: dict[str, dict[str, float]] = {}
    for mix in mixes:
        rows = long.filter((pl.col("mix") == mix) & (pl.col("metric") == metric))
        values: dict[str, float | None] = {}
        for row in rows.iter_rows(named=True):
            values.setdefault(row["base"], row["base_value"])
            values.setdefault(row["variant"], row["value"])
        known = {label: value for label, value in values.items() if value is not None}
        if known and len(known) == len(values):
            below = {label: sum(other < value for other in known.values()) for label, value in known.items()}
            same = {label: sum(other == value for other in known.values()) for label, value in known.items()}
            found[mix] = {label: below[label] + (same[label] + 1) / 2 for label in known}
    return found


def compare_matrix(
    variants: Sequence[Variant],
    mixes: Sequence[str],
    games: int = 100_000,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    against: Against = "first",
    level: float = 0.95,
    out: Path | None = None,
    progress: Progress | None = None,
    quiet: bool = False,
    **how: Any,
) -> Matrix:
    """Compare variants on the same deals under every mix.

    Parameters
    ----------
    variants : sequence of Variant
        Two or more.
    mixes : sequence of str
        From :func:`parse_mixes`.
    games : int
        Deals, the same under every mix.
    names : sequence of str, optional
        How the variants are shown.
    metrics, against, level
        As in :func:`analysis.compare.compare_run`.
    out : Path, optional
        Keep the games, one run folder a mix; without it they are deleted, mix by mix.
    progress, quiet, **how
        As in :func:`sim.run.simulate`.

    Returns
    -------
    Matrix

    Raises
    ------
    CompareError, sim.store.RunError
        As a comparison would.
    """
    from sim.progress import make_progress
    from sim.run import make_labels, simulate

    if len(variants) < 2:
        raise CompareError("to compare takes two variants or more; --vary makes several of one")
    bar = make_progress(quiet) if progress is None else progress
    frames: list[pl.DataFrame] = []
    findings: list[Any] = []
    labels: list[str] = []

    def compare_one(mix: str, folder: Path) -> Run:
        run = simulate(list(variants), games, bots=mix, out=folder, progress=bar, **how)
        found = compare_run(run, metrics=metrics, against=against, level=level)
        frames.append(found.select(pl.lit(mix).alias("mix"), pl.all()))
        findings.extend(check_run(run).findings)
        return run

    for number, (mix, place) in enumerate(zip(mixes, make_labels(mixes), strict=True)):
        bar.message(f"bots {mix} ({number + 1} of {len(mixes)})")
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            labels = list(compare_one(mix, out / place).variants)
            continue
        with tempfile.TemporaryDirectory(prefix="chehuzi-mix-") as folder:
            labels = list(compare_one(mix, Path(folder) / "run").variants)
    long = pl.concat(frames)
    shown = dict(zip(labels, names or labels, strict=True))
    return Matrix(tuple(mixes), games, shown, long, claims_of(long, mixes), tuple(findings))


def share_of_robust(claims: pl.DataFrame) -> tuple[int, int]:
    """Claims of the reference mix that hold in every mix, and all claims of the reference mix."""
    made = claims.filter(pl.col("reference").is_in(["higher", "lower"]))
    return made.filter(pl.col("holds") == pl.col("mixes")).height, made.height


def order_of_metrics(long: pl.DataFrame) -> list[str]:
    """Metrics of a comparison in the order of the registry."""
    present = set(long["metric"].unique().to_list())
    return [key for key in METRICS if key in present]
