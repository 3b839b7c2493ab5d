"""The run folder: manifest, parts, lock, and what lets a broken run be finished.

A part counts when the manifest names it; the manifest is replaced whole, after the part is on the disk. So
whatever moment a run ends at, what is recorded is complete, and the rest is played again: game ``i`` of a
seed is always the same game.
"""

from __future__ import annotations

import html
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from sim.manifest import (
    MANIFEST,
    Manifest,
    PartRecord,
    RunError,
    VariantRecord,
    dump_manifest,
    hash_file,
    part_file,
    printable,
    read_manifest,
    reason,
    require_same,
)
from sim.parts import TEMPORARY, rows_schema, sync_folder, write_atomic

if TYPE_CHECKING:
    import polars as pl

LOCK = ".lock"
SUMMARIES = ("summary.parquet", "summary.csv")


# --- the lock ----------------------------------------------------------------------------------------------


class FolderLock:
    """Holds a run folder for one process; the system lets go when the process ends, however it ends.

    Parameters
    ----------
    folder : Path
        An existing folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / LOCK
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the folder.

        Raises
        ------
        RunError
            If another process holds it (the message names it), or the folder cannot be written.
        """
        tries = 5
        while True:
            try:
                handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
            except OSError as error:
                raise RunError(f"cannot write to {self._folder}: {reason(error)}", self._folder) from None
            try:
                _lock(handle)
                # The last holder may have removed the file between our opening and our locking it.
                if os.path.samestat(os.fstat(handle), self._path.stat()):
                    break
                os.close(handle)
            except FileNotFoundError:
                os.close(handle)
            except (BlockingIOError, PermissionError):
                holder = (
                    printable(os.pread(handle, 200, 0).decode(errors="replace")) if os.name == "posix" else ""
                )
                os.close(handle)
                tries -= 1  # who only asks whether it is held holds it for a moment
                if not tries:
                    who = holder.strip() or "another process"
                    raise RunError(f"{self._folder} is in use by {who}", self._folder) from None
                time.sleep(0.05)
            except OSError as error:
                os.close(handle)
                raise RunError(f"cannot lock {self._folder}: {reason(error)}", self._folder) from None
        self._handle = handle
        try:
            os.ftruncate(handle, 0)
            os.write(handle, f"process {os.getpid()} on {socket.gethostname()} since {_now()}".encode())
        except OSError:  # a full disk: the lock holds all the same, only nameless
            pass

    def release(self) -> None:
        """Let go; the file disappears."""
        if self._handle is None:
            return
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = None


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, 1 << 30, os.SEEK_SET)  # beyond the text, which stays readable
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(folder: Path) -> bool:
    """Whether some process is working on a run folder."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        _lock(handle)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- writing -----------------------------------------------------------------------------------------------


class RunFolder:
    """A run folder that this process writes.

    Use :meth:`create` or :meth:`reopen`, then :meth:`record` for every part, and :meth:`close`.

    Attributes
    ----------
    path : Path
    damaged : int
        Recorded parts whose file was missing or altered; they are played again.
    """

    SAVE_SECONDS = 1.0
    """Least time between two manifests while playing."""
    SAVE_SHARE = 0.05
    """Most of the time that may go into writing them."""

    def __init__(self, path: Path, manifest: Manifest, lock: FolderLock) -> None:
        self.path = path
        self._manifest = manifest
        self._lock = lock
        self._order = {variant.label: number for number, variant in enumerate(manifest.variants)}
        self._parts = {
            (self._order[part.variant], part.first // manifest.chunk): part for part in manifest.parts
        }
        self.damaged = 0
        self._saved = time.monotonic()
        self._took = 0.0

    @property
    def manifest(self) -> Manifest:
        """The manifest with all parts recorded so far."""
        parts = [self._parts[key] for key in sorted(self._parts)]
        return self._manifest.model_copy(update={"parts": parts})

    def missing(self) -> Iterator[tuple[int, int]]:
        """Variant and number of every part that is not recorded, in order."""
        for variant in range(len(self._manifest.variants)):
            for number in range(self._manifest.chunks):
                if (variant, number) not in self._parts and self._manifest.has_chunk(number):
                    yield variant, number

    def target(self, variant: int, number: int) -> Path:
        """Path of a part."""
        return self.path / part_file(self._manifest.variants[variant].label, number)

    def counts(self, variant: int) -> tuple[int, int]:
        """Games and draw games of a variant that are recorded."""
        parts = [part for (of, _), part in self._parts.items() if of == variant]
        return sum(part.count for part in parts), sum(part.draw_games for part in parts)

    def record(
        self, variant: int, number: int, *, rows: int, draw_games: int, size: int, sha256: str
    ) -> None:
        """Take note of a part that is on the disk; the manifest follows within about a second of work."""
        label = self._manifest.variants[variant].label
        first, count = self._manifest.expected(number)
        self._parts[variant, number] = PartRecord(
            variant=label,
            first=first,
            count=count,
            file=part_file(label, number),
            sha256=sha256,
            bytes=size,
            rows=rows,
            draw_games=draw_games,
        )
        # A long manifest is written less often, so that writing it stays a small share of the work.
        if time.monotonic() - self._saved >= max(self.SAVE_SECONDS, self._took / self.SAVE_SHARE):
            self.save()

    def save(self, status: Literal["running", "complete", "interrupted", "failed"] | None = None) -> None:
        """Write the manifest.

        Raises
        ------
        RunError
            If it cannot be written; the old one is still there.
        """
        if status is not None:
            self._manifest = self._manifest.model_copy(update={"status": status})
        begin = time.monotonic()
        try:
            write_atomic(self.path / MANIFEST, dump_manifest(self.manifest))
        except OSError as error:
            raise RunError(
                f"cannot write {self.path / MANIFEST}: {reason(error)}", self.path, status=1
            ) from None
        self._saved = time.monotonic()
        self._took = self._saved - begin

    def close(self) -> None:
        """Clean up and let the folder go."""
        clean_temporary(self.path)
        self._lock.release()

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> RunFolder:
        """Make a new run folder; an empty one that exists will do.

        Raises
        ------
        RunError
            If there is anything in the folder, or it cannot be made.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            held = not is_fresh(path)
        except (OSError, ValueError) as error:
            raise RunError(f"cannot make the folder {printable(path)}: {reason(error)}", path) from None
        if held:
            raise _exists(path)
        lock = FolderLock(path)
        lock.acquire()
        try:
            if not is_fresh(path):  # another process was quicker
                raise _exists(path)
            clean_temporary(path)
            folder = cls(path, manifest, lock)
            folder._make_folders()
            folder.save()
        except BaseException:
            lock.release()
            raise
        return folder

    @classmethod
    def reopen(cls, path: Path, manifest: Manifest) -> RunFolder:
        """Go on with a run.

        Parameters
        ----------
        path : Path
        manifest : Manifest
            What is asked for now, without parts.

        Returns
        -------
        RunFolder
            With every recorded part whose file is as recorded; all others are missing.

        Raises
        ------
        RunError
            If the folder holds another run (the field is named), is in use or cannot be written.
        """
        lock = FolderLock(path)
        lock.acquire()
        try:
            stored = read_manifest(path)
            require_same(stored, manifest, path)
            clean_temporary(path)
            kept = stored.model_copy(update={"games": manifest.games, "status": "running"})
            parts = [
                part for part in stored.parts if part.count == kept.expected(part.first // kept.chunk)[1]
            ]
            intact = [part for part in parts if is_intact(path, part)]
            folder = cls(path, kept.model_copy(update={"parts": intact}), lock)
            folder.damaged = len(parts) - len(intact)
            folder._make_folders()
            if sum(part.count for part in intact) < kept.total:
                for name in SUMMARIES:  # of the unfinished run; a summary must never be of fewer games
                    (path / name).unlink(missing_ok=True)
            folder.save()
        except OSError as error:
            lock.release()
            raise RunError(f"cannot go on in {path}: {reason(error)}", path) from None
        except BaseException:
            lock.release()
            raise
        return folder

    def _make_folders(self) -> None:
        try:
            for variant in self._manifest.variants:
                (self.path / "games" / variant.label).mkdir(parents=True, exist_ok=True)
            sync_folder(self.path / "games")
            sync_folder(self.path)
        except OSError as error:
            raise RunError(f"cannot make folders in {self.path}: {reason(error)}", self.path) from None


def _exists(path: Path) -> RunError:
    what = "a run" if (path / MANIFEST).exists() else "files"
    return RunError(
        f"{path} holds {what} already; finish a run with --resume, or choose another folder", path
    )


def is_fresh(path: Path) -> bool:
    """Whether a folder holds nothing, or only what a run leaves that was killed before its first manifest."""
    for entry in path.iterdir():
        if entry.name == "games" and entry.is_dir() and not entry.is_symlink():
            if any(
                child.is_symlink() or not child.is_dir() or any(child.iterdir()) for child in entry.iterdir()
            ):
                return False
        elif entry.name != LOCK and not _is_temporary(entry):
            return False
    return True


def _is_temporary(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    ours = path.name.startswith((f".{MANIFEST}.", ".part-")) and path.name.endswith(TEMPORARY)
    return ours or path.name.startswith(tuple(f".{name}." for name in SUMMARIES))


def clean_temporary(folder: Path) -> None:
    """Remove what was being written when a run was killed."""
    for place in (folder, *(folder / "games").glob("*")):
        if place.is_symlink() or not place.is_dir():
            continue
        for path in place.glob(".*"):
            if _is_temporary(path):
                try:
                    path.unlink(missing_ok=True)
                except OSError:  # it is never read either way
                    continue


def is_intact(folder: Path, part: PartRecord) -> bool:
    """Whether a part's file is there with the recorded size and hash."""
    path = folder / part.file
    try:
        if path.is_symlink() or path.stat().st_size != part.bytes:
            return False
        return hash_file(path) == part.sha256
    except OSError:
        return False


# --- reading -----------------------------------------------------------------------------------------------


class Damage(NamedTuple):
    """A part that is not as recorded."""

    file: str
    problem: str


class Run:
    """A run folder, to read.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : Manifest
        What was played.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @property
    def folder(self) -> Path:
        """The same as ``path``."""
        return self.path

    @property
    def variants(self) -> Mapping[str, VariantRecord]:
        """Label to variant, in the order of the run."""
        return {variant.label: variant for variant in self.manifest.variants}

    @property
    def parts(self) -> tuple[PartRecord, ...]:
        """Every finished part with its hash, in the order of variants and games."""
        return tuple(self.manifest.parts)

    @property
    def status(self) -> str:
        """``running``, ``complete``, ``interrupted`` or ``failed``; one that nobody plays is interrupted."""
        if self.manifest.status == "running" and not is_held(self.path):
            return "interrupted"
        return self.manifest.status

    def games(self, variant: str | None = None) -> pl.LazyFrame:
        """Finished games, one row a game.

        Parameters
        ----------
        variant : str, optional
            Label of one variant; all by default.

        Returns
        -------
        LazyFrame
            A column ``variant`` (enum of the labels), then the columns of :data:`sim.rows.ROW_COLUMNS`, in
            the order of variants and games. Nothing is read before it is collected, and then in pieces.

        Raises
        ------
        RunError
            If there is no such variant.
        """
        import polars as pl

        labels = list(self.variants)
        if variant is not None and variant not in labels:
            raise RunError(
                f"no variant {printable(variant, 60)!r} in {self.path}; it has {', '.join(labels)}",
                self.path,
            )
        kind = pl.Enum(labels)
        frames = []
        for label in labels if variant is None else [variant]:
            files = [self.path / part.file for part in self.parts if part.variant == label]
            if files:
                rows = pl.scan_parquet(files, schema=rows_schema(), glob=False, hive_partitioning=False)
                frames.append(rows.select(pl.lit(label, dtype=kind).alias("variant"), pl.all()))
        if not frames:
            return pl.LazyFrame(schema={"variant": kind, **rows_schema()})
        return pl.concat(frames)

    def damage(self) -> list[Damage]:
        """Parts whose file is missing, or differs from the recorded size or hash; empty when all is well."""
        found = []
        for part in self.parts:
            path = self.path / part.file
            try:
                size = path.lstat().st_size
                if path.is_symlink():
                    found.append(Damage(part.file, "is a link"))
                elif size != part.bytes:
                    found.append(Damage(part.file, f"has {size} bytes, recorded are {part.bytes}"))
                elif (digest := hash_file(path)) != part.sha256:
                    found.append(Damage(part.file, f"has sha256 {digest}, recorded is {part.sha256}"))
            except OSError as error:
                found.append(Damage(part.file, reason(error)))
        return found

    def __repr__(self) -> str:
        """One line."""
        names, manifest = ", ".join(self.variants), self.manifest
        return f"<Run {names}: {manifest.done:,} of {manifest.total:,} games, {self.status}, {self.path}>"

    def _repr_html_(self) -> str:
        """Table for notebooks; every text is escaped."""
        manifest = self.manifest

        def row(cells: list[object], tag: str = "td") -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        lines = [row(["variant", "title", "games", "draw games", "hash"], "th")]
        for variant in manifest.variants:
            parts = [part for part in manifest.parts if part.variant == variant.label]
            games, draws = sum(part.count for part in parts), sum(part.draw_games for part in parts)
            share = f"{draws / games:.2%}" if games else "–"
            title = variant.title.get("en") or variant.title.get("zh") or ""
            lines.append(
                row([variant.label, title, f"{games:,} of {manifest.games:,}", share, variant.digest[:12]])
            )
        facts = f"{self.status}, seed {manifest.seed}, bots {', '.join(manifest.bots)}"
        if manifest.session:
            facts += f", sessions of {manifest.session}"
        caption = html.escape(f"{self.path} ({facts})")
        return f"<table><caption>{caption}</caption>{''.join(lines)}</table>"


def open_run(path: str | Path) -> Run:
    """Open a run folder for reading; it may be unfinished, or in play.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    Run

    Raises
    ------
    RunError
        If it is no run folder, or its manifest is not as it must be.

    Examples
    --------
    >>> open_run("results/first").games("two_wang").collect()  # doctest: +SKIP
    """
    folder = Path(path)
    return Run(folder, read_manifest(folder))


def remove_run(path: str | Path) -> bool:
    """Delete a run folder, so that a new run may take its place; False if there is none.

    Only what a run writes is deleted: a folder with any other file in it is refused.

    Raises
    ------
    RunError
        If the folder is in use, or is no run folder.
    """
    folder = Path(path)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    read_manifest(folder)
    if is_held(folder):
        raise RunError(f"{folder} is in use by another process; wait for it or choose another folder", folder)
    known = {MANIFEST, LOCK, "games", *SUMMARIES}
    foreign = [
        entry.name for entry in folder.iterdir() if entry.name not in known and not _is_temporary(entry)
    ]
    if foreign:
        raise RunError(f"{folder} holds {foreign[0]!r} besides a run; delete the folder by hand", folder)
    shutil.rmtree(folder)
    return True
