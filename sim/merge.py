"""Put the folders of ``simulate --shard i/n`` together into the run that one machine would have made.

Needs no framework and no common disk: each machine plays its shard, the folders are copied to one place, and ``merge``
checks every byte and writes a run folder whose parts and summary are those of an undivided run.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from sim.manifest import Manifest, RunError, part_file, printable, read_manifest, reason, require_same
from sim.parts import TEMPORARY, sync_folder
from sim.store import Run, RunFolder, is_held, is_intact


def merge_runs(folders: Sequence[str | Path], out: str | Path) -> Run:
    """Merge the shards of one run.

    Parameters
    ----------
    folders : sequence of path
        Every shard once, in any order.
    out : path
        Run folder, new or empty.

    Returns
    -------
    Run
        Complete, and not a shard any more.

    Raises
    ------
    RunError
        If a shard is missing, doubled, unfinished, damaged, or of another run: the folder and the field are named.
    """
    paths = [Path(folder) for folder in folders]
    if not paths:
        raise RunError("merge: name the folders of the shards")
    shards: dict[int, tuple[Path, Manifest]] = {}
    first: Manifest | None = None
    for path in paths:
        manifest = read_manifest(path)
        if manifest.shard is None:
            raise RunError(
                f"{printable(path)} is a whole run, no shard (simulate --shard i/n makes them)", path
            )
        place, number = (int(text) for text in manifest.shard.split("/"))
        if first is None:
            first = manifest
        total = int((first.shard or "").partition("/")[2])
        if number != total:
            raise RunError(f"{printable(path)} is shard {manifest.shard}, the others are of {total}", path)
        if place in shards:
            raise RunError(f"{printable(path)} is shard {manifest.shard} again, as {shards[place][0]}", path)
        if manifest.games != first.games:
            raise RunError(f"{printable(path)}: games is {manifest.games}, in {paths[0]} {first.games}", path)
        _require_same_run(first, manifest, path)
        _require_finished(manifest, path)
        shards[place] = (path, manifest)
    if first is None:
        raise RunError("merge: name the folders of the shards")
    lost = [f"{place}/{total}" for place in range(1, total + 1) if place not in shards]
    if lost:
        raise RunError(f"merge: shard {', '.join(lost[:10])} is missing")
    whole = first.model_copy(update={"shard": None, "parts": [], "status": "running", "command": None})
    folder = RunFolder.create(Path(out), whole)
    try:
        _copy_parts(folder, whole, shards, total)
        folder.save("complete")
    finally:
        folder.close()
    return Run(folder.path, folder.manifest)


def _require_same_run(first: Manifest, manifest: Manifest, path: Path) -> None:
    try:
        require_same(first, manifest.model_copy(update={"shard": first.shard}), path)
    except RunError as error:
        text = str(error).removeprefix(f"cannot resume {path}: ")
        raise RunError(
            f"{printable(path)} is of another run: {text}".replace(" now", " here"), path
        ) from None


def _require_finished(manifest: Manifest, path: Path) -> None:
    if is_held(path):
        raise RunError(f"{printable(path)} is still being played", path)
    if manifest.done != manifest.total:
        raise RunError(
            f"{printable(path)} has {manifest.done:,} of {manifest.total:,} games; finish it with --resume",
            path,
        )
    for part in manifest.parts:
        if not is_intact(path, part):
            raise RunError(
                f"{printable(path)}: {part.file} is not as recorded; --resume plays it again", path
            )


def _copy_parts(
    folder: RunFolder, whole: Manifest, shards: dict[int, tuple[Path, Manifest]], total: int
) -> None:
    """Copy every part under a temporary name, check the copy, rename, record."""
    found = {
        (part.variant, part.first // whole.chunk): (path, part)
        for path, manifest in shards.values()
        for part in manifest.parts
    }
    for variant, record in enumerate(whole.variants):
        for number in range(whole.chunks):
            path, part = found[record.label, number]
            target = folder.path / part_file(record.label, number)
            temporary = target.with_name(f".{target.name}{TEMPORARY}")
            try:
                shutil.copyfile(path / part.file, temporary)
                if not is_intact(folder.path, part.model_copy(update={"file": _name(folder, temporary)})):
                    raise RunError(f"{printable(path)}: {part.file} changed while it was copied", path)
                temporary.replace(target)
            except OSError as error:
                raise RunError(f"cannot write {target}: {reason(error)}", folder.path, status=1) from None
            folder.record(
                variant,
                number,
                rows=part.rows,
                draw_games=part.draw_games,
                size=part.bytes,
                sha256=part.sha256,
            )
        sync_folder(folder.path / "games" / record.label)


def _name(folder: RunFolder, path: Path) -> str:
    return path.relative_to(folder.path).as_posix()
