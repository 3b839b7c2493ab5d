"""Whether a run folder holds what it says: every byte, every game, and that the games can be played again.

Three layers, each of which can fail by itself: files against recorded hashes, rows against what every game
must fulfil, and a sample of games against the engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.manifest import (
    MANIFEST,
    Manifest,
    PartRecord,
    RunError,
    VariantRecord,
    dump_manifest,
    printable,
)
from sim.parts import TEMPORARY, Player, play_rows, rows_schema, rows_to_frame
from sim.store import LOCK, SUMMARIES, Run, open_run

if TYPE_CHECKING:
    import polars as pl

SEATS = range(4)


@dataclass(frozen=True)
class Finding:
    """Something that is not as it must be: the file, the kind of fault, and what is wrong with which game."""

    file: str
    kind: str
    problem: str


@dataclass(frozen=True)
class Verification:
    """What was looked at, and what was found.

    Attributes
    ----------
    path : Path
    status : str
        Of the run; an unfinished one can be verified as far as it has come.
    parts, rows, replayed : int
        Parts hashed, rows checked, games played again.
    skipped : str
        Why games were not played again; empty if they were.
    findings : tuple of Finding
    """

    path: Path
    status: str
    parts: int
    rows: int
    replayed: int
    skipped: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def check_manifest(run: Run) -> Iterator[Finding]:
    """The manifest against the hash of itself, and byte by byte against how it would be written."""
    manifest = run.manifest
    if manifest.check is None:
        return
    stored = (run.path / MANIFEST).read_bytes()
    meant = dump_manifest(manifest)
    if stored == meant:
        return
    place = next((at for at, pair in enumerate(zip(stored, meant, strict=False)) if pair[0] != pair[1]), 0)
    line = stored[:place].count(b"\n") + 1
    yield Finding(
        MANIFEST, "hash", f"was altered after it was written: line {line} or a value hashed into it differs"
    )


def check_files(run: Run) -> Iterator[Finding]:
    """Every part against its recorded size and hash; parts missing from a complete run; files of nobody."""
    for damage in run.damage():
        yield Finding(damage.file, "hash", damage.problem)
    manifest = run.manifest
    recorded = {part.file for part in manifest.parts}
    if manifest.status == "complete" and manifest.done != manifest.total:
        yield Finding(
            MANIFEST, "games", f"says complete, and holds {manifest.done:,} of {manifest.total:,} games"
        )
    known = {MANIFEST, LOCK, *SUMMARIES}
    for path in sorted(run.path.rglob("*")):
        name = path.relative_to(run.path).as_posix()
        if path.is_dir() and not path.is_symlink():
            continue
        if name not in known | recorded and not path.name.endswith(TEMPORARY):
            yield Finding(printable(name), "stranger", "is no part of the run")


def check_rows(
    part: PartRecord, variant: VariantRecord, rows: pl.DataFrame, session: int
) -> Iterator[Finding]:
    """What must hold in every part, whoever played it.

    Game numbers complete and unique, transfers sum to zero, wangs conserved, a draw game without a wang in the wall.
    """
    import polars as pl

    def finding(kind: str, wrong: pl.DataFrame, problem: str) -> Finding:
        games = wrong["game"].to_list() if "game" in wrong.columns else []
        first = f", first in game {games[0]}" if games else ""
        return Finding(part.file, kind, f"{problem} in {wrong.height:,} rows{first}")

    if rows.height != part.rows or part.rows != part.count:
        yield Finding(part.file, "rows", f"has {rows.height:,} rows, recorded are {part.rows:,}")
    numbers = pl.DataFrame({"game": pl.int_range(part.first, part.first + part.count, eager=True)})
    if not rows["game"].equals(numbers["game"]):
        lost = numbers.join(rows, on="game", how="anti")["game"].to_list()
        twice = rows.filter(pl.col("game").is_duplicated())["game"].unique().sort().to_list()
        what = f"game {lost[0]} is missing" if lost else f"game {twice[0]} is there twice" if twice else ""
        yield Finding(part.file, "games", what or "games are not in order")
    if session and not (rows["session"] == rows["game"] // session).all():
        yield finding("games", rows.filter(pl.col("session") != pl.col("game") // session), "wrong session")
    draws = rows["winner"].null_count()
    if draws != part.draw_games:
        yield Finding(part.file, "rows", f"has {draws:,} draw games, recorded are {part.draw_games:,}")
    wangs = int(str(variant.keys["deck.wangs"]))
    scores = pl.sum_horizontal(pl.col(f"score_{seat}").fill_null(0) for seat in SEATS)
    final = pl.sum_horizontal(pl.col(f"wangs_final_{seat}").fill_null(0).cast(pl.Int64) for seat in SEATS)
    fewer = pl.any_horizontal(
        (pl.col(f"wangs_final_{seat}") < pl.col(f"wangs_dealt_{seat}")).fill_null(False) for seat in SEATS
    )
    drawn = pl.col("winner").is_null()
    for kind, wrong, problem in (
        ("transfers", scores != 0, "scores do not sum to zero"),
        ("wangs", final > wangs, "more wangs than the deck has"),
        ("wangs", drawn & (final != wangs), "a draw game with wangs in the wall"),
        ("wangs", fewer, "a seat that lost a wang"),
    ):
        bad = rows.filter(wrong)
        if bad.height:
            yield finding(kind, bad, problem)


def _panics(error: BaseException) -> bool:
    """Whether polars gave up on a file in a way that is no ``Exception``."""
    return type(error).__name__ == "PanicException"


def check_variant(variant: VariantRecord) -> Iterator[Finding]:
    """The keys of a variant: a legal set of rules, with the recorded digest."""
    from sim.variant import VariantError, load_variant

    try:
        loaded = load_variant("base", variant.keys)
    except VariantError as error:
        problem = str(error).splitlines()[0].removeprefix("--set: ")
        yield Finding(MANIFEST, "variant", f"{variant.label}: {printable(problem)}")
        return
    if loaded.digest != variant.digest:
        yield Finding(
            MANIFEST, "variant", f"{variant.label}: keys have digest {loaded.digest}, not as recorded"
        )


def _picked(manifest: Manifest, number: int) -> list[int]:
    """Games (or first games of sessions) to play again: spread over the run, by its hash, not by chance."""
    unit = manifest.session or 1
    units = manifest.games // unit
    wanted = max(1, min(units, -(-number // unit)))
    seed = hashlib.sha256(f"{manifest.seed} {manifest.games}".encode()).digest()
    shift = int.from_bytes(seed[:8], "big")
    step = units / wanted
    return sorted({int(place * step + shift % max(1, int(step))) % units * unit for place in range(wanted)})


def replay_sample(
    run: Run, variant: VariantRecord, number: int, player: Player = play_rows
) -> tuple[int, list[Finding]]:
    """Play ``number`` games of a variant again and compare every column; (games played, findings)."""
    import polars as pl

    manifest = run.manifest
    parts = {part.first: part for part in manifest.parts if part.variant == variant.label}
    found: list[Finding] = []
    played = 0
    for first in _picked(manifest, number):
        part = parts.get(first // manifest.chunk * manifest.chunk)
        if part is None:
            continue
        count = min(manifest.session or 1, manifest.games - first)
        stored = (
            pl.scan_parquet(run.path / part.file, schema=rows_schema(), glob=False)
            .filter(pl.col("game").is_between(first, first + count - 1))
            .collect()
        )
        again = rows_to_frame(
            player(variant.keys, manifest.bots, manifest.seed, first, count, manifest.session)
        )
        played += count
        if stored.equals(again):
            continue
        names = [
            name
            for name in again.columns
            if stored.height != again.height or not stored[name].equals(again[name])
        ]
        found.append(
            Finding(part.file, "replay", f"game {first}: played again, other {', '.join(names[:6])}")
        )
    return played, found


def verify_run(path: str | Path, sample: int = 200, player: Player = play_rows) -> Verification:
    """Look at every byte of a run folder that is recorded, at every row, and play a sample again.

    Parameters
    ----------
    path : path
    sample : int
        Games a variant to play again; 0 for none.
    player : callable
        What plays them.

    Returns
    -------
    Verification

    Raises
    ------
    RunError
        If it is no run folder, or its manifest cannot be read.
    """
    import polars as pl

    from sim._jit import rules_digest
    from sim.own_bot import is_own_bot

    try:
        run = open_run(path)
    except RunError as error:
        if not (Path(path) / MANIFEST).is_file():
            raise
        broken_manifest = Finding(MANIFEST, "hash", f"cannot be read: {error}")
        return Verification(Path(path), "unknown", 0, 0, 0, "no manifest to play by", (broken_manifest,))
    manifest = run.manifest
    found = [*check_manifest(run), *check_files(run)]
    broken = {finding.file for finding in found}
    if player is play_rows:  # of rules as the engine knows them
        found += [finding for variant in manifest.variants for finding in check_variant(variant)]
    rows = 0
    for part in manifest.parts:
        if part.file in broken:
            continue
        try:
            lazy = pl.scan_parquet(run.path / part.file, schema=rows_schema(), glob=False)
            height = lazy.select(pl.len()).collect().item()  # from its foot alone: a bomb is not unpacked
            if height != part.rows:
                problem = f"has {height:,} rows, recorded are {part.rows:,}"
                found.append(Finding(part.file, "rows", problem))
                broken.add(part.file)
                continue
            frame = lazy.collect()
        except BaseException as error:
            if not isinstance(error, OSError | pl.exceptions.PolarsError) and not _panics(error):
                raise
            why = printable(getattr(error, "strerror", None) or error)
            found.append(Finding(part.file, "rows", f"cannot be read: {why}"))
            broken.add(part.file)
            continue
        rows += frame.height
        wrong = [*check_rows(part, run.variants[part.variant], frame, manifest.session)]
        found += wrong
    skipped, replayed = "", 0
    if manifest.rules != rules_digest():
        skipped = f"played by other code (rules {manifest.rules}, here {rules_digest()})"
    elif broken & {part.file for part in manifest.parts}:
        skipped = "parts are damaged"
    elif any(is_own_bot(name) for name in manifest.bots):
        skipped = "bots of the user's own are code, and no code is run that a run folder names"
    elif sample:
        for variant in manifest.variants:
            if any(one.kind == "variant" and one.problem.startswith(f"{variant.label}: ") for one in found):
                continue  # the kernels trust their rules
            try:
                played, wrong = replay_sample(run, variant, sample, player)
            except (LookupError, TypeError, ValueError, OverflowError) as error:
                what = f"{variant.label} cannot be played again: {type(error).__name__}: {printable(error)}"
                found.append(Finding(MANIFEST, "replay", what))
                continue
            replayed += played
            found += wrong
    return Verification(run.path, run.status, len(manifest.parts), rows, replayed, skipped, tuple(found))


def as_json(verification: Verification) -> dict[str, Any]:
    """Plain data of a verification."""
    return {
        "run": str(verification.path),
        "status": verification.status,
        "ok": verification.ok,
        "parts": verification.parts,
        "rows": verification.rows,
        "replayed": verification.replayed,
        "skipped": verification.skipped,
        "findings": [vars(finding) for finding in verification.findings],
    }
