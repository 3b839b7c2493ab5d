"""The manifest of a run folder: its model, how it is written, and a reader that trusts nothing."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

FORMAT: Final = 1
"""Version of the run folder."""
MANIFEST = "manifest.json"

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
    status : int
        Exit status that suits: 2 when what was asked for or found cannot be used, 1 when the work failed.
    """

    def __init__(self, message: str, path: Path | None = None, status: int = 2) -> None:
        super().__init__(printable(message, 1000))
        self.path = path
        self.status = status


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
    shard : str or None
        ``i/n`` where this folder holds every n-th part only, from the i-th on (:mod:`sim.merge`).
    check : str or None
        Sha256 of the manifest itself, written with this field empty; None in folders of older programs.
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
    shard: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}/[1-9][0-9]{0,5}$")] | None = None
    check: _Sha | None = None
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

    def has_chunk(self, number: int) -> bool:
        """Whether part ``number`` of each variant is this folder's: all are, but in a shard."""
        if self.shard is None:
            return True
        place, shards = (int(text) for text in self.shard.split("/"))
        return number % shards == place - 1

    @property
    def total(self) -> int:
        """Games of all variants, of a shard its own."""
        if self.shard is None:
            return self.games * len(self.variants)
        own = sum(self.expected(number)[1] for number in range(self.chunks) if self.has_chunk(number))
        return own * len(self.variants)


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
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def printable(text: object, limit: int = 200) -> str:
    """One line that a terminal can be trusted with."""
    line = "".join(char if char.isprintable() else "?" for char in str(text))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def dump_manifest(manifest: Manifest) -> bytes:
    """JSON of a manifest, one line a part, with the hash of itself."""
    bare = _dump(manifest.model_copy(update={"check": None}))
    return _dump(manifest.model_copy(update={"check": hashlib.sha256(bare).hexdigest()}))


def _dump(manifest: Manifest) -> bytes:
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
        with path.open("rb") as stream:
            data = stream.read(MAX_MANIFEST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{printable(folder)} is no run folder: it has no {MANIFEST}", folder) from None
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {printable(path)}: {reason(error)}", folder) from None
    where = printable(path)
    if len(data) > MAX_MANIFEST_BYTES:
        raise RunError(f"{where}: larger than {MAX_MANIFEST_BYTES >> 20} MB, no manifest of ours", folder)
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        raise RunError(f"{where}: {_first_fault(error)}", folder) from None
    except (ValueError, RecursionError) as error:
        raise RunError(f"{where}: no JSON that can be read: {printable(error)}", folder) from None
    fault = _contradiction(manifest, folder)
    if fault:
        raise RunError(f"{where}: {fault}", folder)
    return manifest


def _first_fault(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    first = faults[0]
    place = ".".join(printable(step, 60) for step in first["loc"])
    text = printable(first["msg"])
    if place == "format":
        text = f"this program reads run folders of format {FORMAT} only"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{place}: {text}{more}" if place else f"{text}{more}"


def _contradiction(manifest: Manifest, folder: Path) -> str | None:
    """Say what in a well-typed manifest cannot be."""
    labels = [variant.label for variant in manifest.variants]
    for number, label in enumerate(labels):
        if not is_safe_label(label):
            return f"variants.{number}.label: {printable(label, 60)!r} is no safe folder name"
        wangs = manifest.variants[number].keys.get("deck.wangs")
        if type(wangs) is not int or not 0 <= wangs <= 4:
            return f"variants.{number}.keys.deck.wangs: must be a whole number from 0 to 4"
    if len({label.casefold() for label in labels}) != len(labels):
        return "variants: two have the same label"
    if manifest.session and manifest.chunk % manifest.session:
        return f"chunk: {manifest.chunk} is no multiple of session {manifest.session}"
    seen = set()
    for number, part in enumerate(manifest.parts):
        place = f"parts.{number}"
        if part.variant not in labels:
            return f"{place}.variant: no variant {printable(part.variant, 60)!r} in this run"
        if part.first % manifest.chunk or part.first >= manifest.games:
            return f"{place}.first: no part of this run begins at game {part.first}"
        index = part.first // manifest.chunk
        count = manifest.expected(index)[1]
        if part.count != count or part.rows != count:
            given = f"{part.count} ({part.rows} rows)"
            return f"{place}.count: the part at game {part.first} has {count} games, not {given}"
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
    """Name a link in the folder that leads elsewhere."""
    for path in (folder / "games", *(folder / "games" / label for label in labels)):
        if path.is_symlink():
            return f"{path.relative_to(folder)} is a link; a run folder holds its games itself"
    return None


def reason(error: Exception) -> str:
    """Say why an operation failed, in the system's words."""
    return printable(getattr(error, "strerror", None) or error)


def require_same(stored: Manifest, asked: Manifest, path: Path) -> None:
    """Refuse to mix two runs in one folder.

    Raises
    ------
    RunError
        Naming the first field that differs, with both values.
    """

    def refuse(field: str, old: object, new: object) -> RunError:
        text = f"cannot resume {path}: {field} is {printable(old)} there, {printable(new)} now"
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
    for field in ("seed", "bots", "session", "chunk", "shard"):
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

    Raises
    ------
    RunError
        If something in it does not fit a manifest.
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
    try:
        return VariantRecord.model_validate_json(json.dumps(record, ensure_ascii=False))
    except ValidationError as error:
        raise RunError(f"variant {label}: {_first_fault(error)}") from None
