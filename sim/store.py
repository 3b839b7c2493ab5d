"""The run folder: manifest, parts, lock, and what lets a broken run be finished.

A part counts when the manifest names it; the manifest is replaced whole, after the part is on the disk. So
whatever moment a run ends at, what is recorded is complete, and the rest is played again: game ``i`` of a
seed is always the same game.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import platform
import re
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sim.parts import TEMPORARY, rows_schema, sync_folder, write_atomic

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
"""Version of the run folder."""
MANIFEST = "manifest.json"
LOCK = ".lock"
SUMMARIES = ("summary.parquet", "summary.csv")

MAX_MANIFEST_BYTES = 64 << 20
MAX_GAMES = 10**12
MAX_CHUNK = 10**7
MAX_PARTS = 200_000
MAX_SEED = 2**64 - 1
MAX_SESSION = 10**6
_NUMBER = 10**15  # no key of a variant comes near it, and int64 holds its products

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


class RunError(Exception):
    """A run that cannot start, go on or be read; the message is one line: what, where, what would be right.

    Attributes
    ----------
    path : Path or None
        The run folder, when there is one.
    """

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.path = path


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run; its folder can be resumed. No ``except Exception`` swallows it.

    Attributes
    ----------
    path : Path
        The run folder.
    """

    def __init__(self, path: Path, done: int, total: int) -> None:
        super().__init__(f"interrupted after {done:,} of {total:,} games; {path} can be resumed")
        self.path = path
        self.done = done
        self.total = total


def is_safe_label(label: str) -> bool:
    """Whether a label may be the name of a folder on every common system."""
    return (
        0 < len(label) <= 64
        and all(char.isalnum() or char in "_+-.~" for char in label)
        and label[0] not in ".-~"
        and label[-1] != "."
        and _RESERVED.fullmatch(label) is None
    )


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


_Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$")]
_Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Text = Annotated[str, Field(max_length=1000)]
_Key = Annotated[str, Field(max_length=100)]
_Int = Annotated[int, Field(ge=-_NUMBER, le=_NUMBER)]
_Scalar = bool | _Int | _Text | None
_Value = _Scalar | Annotated[dict[_Key, _Int], Field(max_length=100)]
_Keys = Annotated[dict[_Key, _Value], Field(max_length=1000)]
_Games = Annotated[int, Field(ge=0, le=MAX_GAMES)]


class VariantRecord(_Strict):
    """A variant as it was played: enough to play it again without its file.

    Attributes
    ----------
    label : str
        Its name in this run, also its folder.
    name, title : str, dict
        File stem, and display titles by language.
    preset, overrides : str, dict
        Nearest preset, and the dotted keys that differ from it.
    keys : dict
        Every dotted key, merged.
    digest : str
        Hash of the merged keys.
    """

    label: _Text
    name: _Text
    title: Annotated[dict[_Key, _Text], Field(max_length=20)]
    preset: _Text
    overrides: _Keys
    keys: _Keys
    digest: _Hex

    def flat(self) -> dict[str, object]:
        """Every dotted key with its value, so that a record compiles like a variant."""
        return dict(self.keys)


class PartRecord(_Strict):
    """A part file: games ``first`` to ``first + count - 1`` of a variant.

    Attributes
    ----------
    variant : str
        Label.
    first, count, rows, draw_games : int
        Its games, its rows, and how many of them are draw games.
    file : str
        Path in the run folder.
    sha256, bytes : str, int
        Of the file.
    """

    variant: _Text
    first: _Games
    count: _Games
    file: _Text
    sha256: _Sha
    bytes: Annotated[int, Field(ge=0, le=1 << 50)]
    rows: _Games
    draw_games: _Games


class Manifest(_Strict):
    """What was played, by what, and which parts are there.

    Attributes
    ----------
    format, tool_version : int, str
        Version of the folder and of this program.
    created : str
        ISO time, UTC.
    command : list of str or None
        Command line, if one was given.
    seed, games, session, chunk : int
        As in :func:`sim.run.simulate`; games a variant.
    bots : three str
        Dealer, next, third.
    variants : list of VariantRecord
    versions : dict
        Python, packages and platform.
    source, rules : str
        Digest of the code with its versions, and of the code alone.
    status : str
        ``running``, ``complete``, ``interrupted`` or ``failed``.
    parts : list of PartRecord
        In the order of variants and games.
    """

    format: Literal[1]
    tool_version: _Text
    created: _Text
    command: Annotated[list[Annotated[str, Field(max_length=10_000)]], Field(max_length=1000)] | None
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)]
    games: Annotated[int, Field(ge=1, le=MAX_GAMES)]
    session: Annotated[int, Field(ge=0, le=MAX_SESSION)]
    chunk: Annotated[int, Field(ge=1, le=MAX_CHUNK)]
    bots: tuple[_Text, _Text, _Text]
    variants: Annotated[list[VariantRecord], Field(min_length=1, max_length=1000)]
    versions: Annotated[dict[_Key, _Text], Field(max_length=50)]
    source: _Hex
    rules: _Hex
    status: Literal["running", "complete", "interrupted", "failed"]
    parts: Annotated[list[PartRecord], Field(max_length=MAX_PARTS)]

    @property
    def chunks(self) -> int:
        """Parts a variant."""
        return -(-self.games // self.chunk)

    def expected(self, number: int) -> tuple[int, int]:
        """First game and number of games of part ``number`` of a variant."""
        first = number * self.chunk
        return first, min(self.chunk, self.games - first)

    @property
    def done(self) -> int:
        """Games of all variants that are on the disk."""
        return sum(part.count for part in self.parts)

    @property
    def total(self) -> int:
        """Games of all variants."""
        return self.games * len(self.variants)


def part_file(label: str, number: int) -> str:
    """Path of a part in its run folder."""
    return f"games/{label}/part-{number:05d}.parquet"


def describe_versions() -> dict[str, str]:
    """Versions of all that can change a byte."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in ("numpy", "numba", "polars"):
        found[package] = version(package)
    return found


def tool_version() -> str:
    """Version of this program as installed."""
    try:
        return version("chehuzi")
    except PackageNotFoundError:
        return "not installed"


def hash_file(path: Path) -> str:
    """Sha256 of a file, in hex, read in pieces."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _printable(text: object, limit: int = 200) -> str:
    """One line that a terminal can be trusted with."""
    line = "".join(char if char.isprintable() else "?" for char in str(text))
    return line if len(line) <= limit else line[: limit - 1] + "…"


# --- the manifest ------------------------------------------------------------------------------------------


def dump_manifest(manifest: Manifest) -> bytes:
    """JSON of a manifest, one line a part."""
    head = json.dumps(manifest.model_dump(mode="json", exclude={"parts"}), ensure_ascii=False, indent=2)
    parts = ",\n".join("    " + json.dumps(part.model_dump(), ensure_ascii=False) for part in manifest.parts)
    listed = f"[\n{parts}\n  ]" if parts else "[]"
    return f'{head[:-2]},\n  "parts": {listed}\n}}\n'.encode()


def read_manifest(folder: str | Path) -> Manifest:
    """Read and check the manifest of a run folder.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Manifest

    Raises
    ------
    RunError
        If there is none, or anything in it is not as it must be. Nothing outside the folder is ever named by
        a manifest that passes.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_MANIFEST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{_printable(folder)} is no run folder: it has no {MANIFEST}", folder) from None
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {_printable(path)}: {_reason(error)}", folder) from None
    where = _printable(path)
    if len(data) > MAX_MANIFEST_BYTES:
        raise RunError(f"{where}: larger than {MAX_MANIFEST_BYTES >> 20} MB, no manifest of ours", folder)
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        raise RunError(f"{where}: {_first_fault(error)}", folder) from None
    except (ValueError, RecursionError) as error:
        raise RunError(f"{where}: no JSON that can be read: {_printable(error)}", folder) from None
    fault = _contradiction(manifest, folder)
    if fault:
        raise RunError(f"{where}: {fault}", folder)
    return manifest


def _first_fault(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    first = faults[0]
    place = ".".join(_printable(step, 60) for step in first["loc"])
    text = _printable(first["msg"])
    if place == "format":
        text = f"this program reads run folders of format {FORMAT} only"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{place}: {text}{more}" if place else f"{text}{more}"


def _contradiction(manifest: Manifest, folder: Path) -> str | None:
    """What in a well-typed manifest cannot be."""
    labels = [variant.label for variant in manifest.variants]
    for number, label in enumerate(labels):
        if not is_safe_label(label):
            return f"variants.{number}.label: {_printable(label, 60)!r} is no safe folder name"
    if len({label.casefold() for label in labels}) != len(labels):
        return "variants: two have the same label"
    if manifest.session and manifest.chunk % manifest.session:
        return f"chunk: {manifest.chunk} is no multiple of session {manifest.session}"
    seen = set()
    for number, part in enumerate(manifest.parts):
        place = f"parts.{number}"
        if part.variant not in labels:
            return f"{place}.variant: no variant {_printable(part.variant, 60)!r} in this run"
        if part.first % manifest.chunk or part.first >= manifest.games:
            return f"{place}.first: no part of this run begins at game {part.first}"
        index = part.first // manifest.chunk
        count = manifest.expected(index)[1]
        if part.count != count or part.rows != count:
            return f"{place}.count: the part at game {part.first} has {count} games, not {part.count} ({part.rows} rows)"
        if part.draw_games > count:
            return f"{place}.draw_games: {part.draw_games} of {count} games"
        if part.file != part_file(part.variant, index):
            return f"{place}.file: must be {part_file(part.variant, index)!r}"
        if part.file in seen:
            return f"{place}.file: {part.file!r} is listed twice"
        seen.add(part.file)
    if manifest.status == "complete" and manifest.done != manifest.total:
        return f"status: complete, but {manifest.done} of {manifest.total} games are listed"
    return _way_out(labels, folder)


def _way_out(labels: list[str], folder: Path) -> str | None:
    """A link in the folder that leads elsewhere."""
    for path in (folder / "games", *(folder / "games" / label for label in labels)):
        if path.is_symlink():
            return f"{path.relative_to(folder)} is a link; a run folder holds its games itself"
    return None


def _reason(error: Exception) -> str:
    """Say why an operation failed, in the system's words."""
    return _printable(getattr(error, "strerror", None) or error)


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
                raise RunError(f"cannot write to {self._folder}: {_reason(error)}", self._folder) from None
            try:
                _lock(handle)
                # The last holder may have removed the file between our opening and our locking it.
                if os.path.samestat(os.fstat(handle), os.stat(self._path)):
                    break
                os.close(handle)
            except FileNotFoundError:
                os.close(handle)
            except (BlockingIOError, PermissionError):
                holder = _printable(os.pread(handle, 200, 0).decode(errors="replace")) if os.name == "posix" else ""
                os.close(handle)
                tries -= 1  # who only asks whether it is held holds it for a moment
                if not tries:
                    who = holder.strip() or "another process"
                    raise RunError(f"{self._folder} is in use by {who}", self._folder) from None
                time.sleep(0.05)
            except OSError as error:
                os.close(handle)
                raise RunError(f"cannot lock {self._folder}: {_reason(error)}", self._folder) from None
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
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            pass
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
        handle = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- writing -----------------------------------------------------------------------------------------------


class RunFolder:
    """A run folder that this process writes.

    Use :meth:`create` or :meth:`reopen`, then :meth:`record` for every part, and :meth:`close`.
    """

    SAVE_SECONDS = 1.0

    def __init__(self, path: Path, manifest: Manifest, lock: FolderLock) -> None:
        self.path = path
        self._manifest = manifest
        self._lock = lock
        self._order = {variant.label: number for number, variant in enumerate(manifest.variants)}
        self._parts = {(self._order[part.variant], part.first // manifest.chunk): part for part in manifest.parts}
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
                if (variant, number) not in self._parts:
                    yield variant, number

    def target(self, variant: int, number: int) -> Path:
        """Path of a part."""
        return self.path / part_file(self._manifest.variants[variant].label, number)

    def counts(self, variant: int) -> tuple[int, int]:
        """Games and draw games of a variant that are recorded."""
        parts = [part for (of, _), part in self._parts.items() if of == variant]
        return sum(part.count for part in parts), sum(part.draw_games for part in parts)

    def record(self, variant: int, number: int, *, rows: int, draw_games: int, size: int, sha256: str) -> None:
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
        if time.monotonic() - self._saved >= max(self.SAVE_SECONDS, 20 * self._took):
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
            raise RunError(f"cannot write {self.path / MANIFEST}: {_reason(error)}", self.path) from None
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
            raise RunError(f"cannot make the folder {_printable(path)}: {_reason(error)}", path) from None
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
            parts = [part for part in stored.parts if part.count == kept.expected(part.first // kept.chunk)[1]]
            kept = kept.model_copy(update={"parts": [part for part in parts if is_intact(path, part)]})
            folder = cls(path, kept, lock)
            folder._make_folders()
            if kept.done < kept.total:
                for name in SUMMARIES:  # of the unfinished run; a summary must never be of fewer games
                    (path / name).unlink(missing_ok=True)
            folder.save()
        except OSError as error:
            lock.release()
            raise RunError(f"cannot go on in {path}: {_reason(error)}", path) from None
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
            raise RunError(f"cannot make folders in {self.path}: {_reason(error)}", self.path) from None


def _exists(path: Path) -> RunError:
    what = "a run" if (path / MANIFEST).exists() else "files"
    return RunError(f"{path} holds {what} already; finish a run with --resume, or choose another folder", path)


def is_fresh(path: Path) -> bool:
    """Whether a folder holds nothing, or only what a run leaves that was killed before its first manifest."""
    for entry in path.iterdir():
        if entry.name == "games" and entry.is_dir() and not entry.is_symlink():
            if any(child.is_symlink() or not child.is_dir() or any(child.iterdir()) for child in entry.iterdir()):
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


def require_same(stored: Manifest, asked: Manifest, path: Path) -> None:
    """Refuse to mix two runs in one folder.

    Raises
    ------
    RunError
        Naming the first field that differs, with both values.
    """

    def refuse(field: str, old: object, new: object) -> RunError:
        text = f"cannot resume {path}: {field} is {_printable(old)} there, {_printable(new)} now"
        return RunError(text, path)

    old_labels = [variant.label for variant in stored.variants]
    new_labels = [variant.label for variant in asked.variants]
    if old_labels != new_labels:
        raise refuse("variants", ", ".join(old_labels), ", ".join(new_labels))
    for before, after in zip(stored.variants, asked.variants, strict=True):
        for key in sorted(before.keys.keys() | after.keys.keys()):
            old, new = before.keys.get(key), after.keys.get(key)
            if old != new or type(old) is not type(new):
                raise refuse(f"variant {before.label}, {key},", json.dumps(old), json.dumps(new))
        if before.digest != after.digest:
            raise refuse(f"variant {before.label}, digest,", before.digest, after.digest)
    for field in ("seed", "bots", "session", "chunk"):
        old, new = getattr(stored, field), getattr(asked, field)
        if old != new:
            shown = [",".join(value) if field == "bots" else value for value in (old, new)]
            raise refuse(field, *shown)
    if asked.games < stored.games:
        raise RunError(
            f"cannot resume {path}: games is {stored.games} there, {asked.games} now; it may only grow", path
        )
    for name in ("python", "numpy", "numba", "polars"):
        old, new = stored.versions.get(name, "unknown"), asked.versions.get(name, "unknown")
        if name == "python":  # as the digest of the source: the minor version counts
            old, new = (".".join(text.split(".")[:2]) for text in (old, new))
        if old != new:
            raise refuse(f"versions.{name}", old, new)
    if stored.source != asked.source:
        raise refuse("source (digest of the code)", stored.source, asked.source)


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
        """``running``, ``complete``, ``interrupted`` or ``failed``; a run that nobody plays any more is interrupted."""
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
            A column ``variant`` (enum of the labels), then the columns of :data:`sim.rows.ROW_COLUMNS`, in the
            order of variants and games. Nothing is read before it is collected, and then in pieces.

        Raises
        ------
        RunError
            If there is no such variant.
        """
        import polars as pl

        labels = list(self.variants)
        if variant is not None and variant not in labels:
            raise RunError(f"no variant {_printable(variant, 60)!r} in {self.path}; it has {', '.join(labels)}", self.path)
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
                found.append(Damage(part.file, _reason(error)))
        return found

    def __repr__(self) -> str:
        """One line."""
        names = ", ".join(self.variants)
        return f"<Run {names}: {self.manifest.done:,} of {self.manifest.total:,} games, {self.status}, {self.path}>"

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
            lines.append(row([variant.label, title, f"{games:,} of {manifest.games:,}", share, variant.digest[:12]]))
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


def describe_variant(variant: Any, label: str) -> VariantRecord:
    """Record of a variant, as it will be read back from JSON.

    Parameters
    ----------
    variant : sim.variant.Variant
    label : str
        Its name in the run.

    Returns
    -------
    VariantRecord
    """
    title = variant.title
    if hasattr(title, "model_dump"):
        title = title.model_dump()
    texts = {language: text for language, text in dict(title or {}).items() if text is not None}
    record = {
        "label": label,
        "name": variant.name,
        "title": texts,
        "preset": variant.preset,
        "overrides": variant.overrides,
        "keys": variant.flat(),
        "digest": variant.digest,
    }
    return VariantRecord.model_validate_json(json.dumps(record, ensure_ascii=False))
