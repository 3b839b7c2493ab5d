"""One chunk of games, played and put on disk: all that a worker process does.

A worker imports this module and what playing needs, not the manifest's model, and sends a few numbers back.
"""

from __future__ import annotations

import hashlib
import io
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Rows = npt.NDArray[np.int64]

BATCH = 16_384
"""Games whose wide int64 rows are in memory at once, about 8 MB; a chunk is kept in narrow types."""

TEMPORARY = ".tmp"
"""Suffix of files that are being written; their names begin with a dot."""

Player = Callable[[Mapping[str, object], tuple[str, str, str], int, int, int, int], "Rows"]
"""``(keys, bots, seed, first, count, session) -> rows``."""


@dataclass(frozen=True)
class Chunk:
    """Work order for one part of a run.

    Attributes
    ----------
    target : str
        Path of the part file.
    variant : int
        Position of the variant in the run.
    number : int
        Number of the part.
    first, count : int
        Its games.
    keys : dict
        Every dotted key of the variant.
    bots : three str
        Dealer, next, third.
    seed, session : int
        As in :func:`sim.run.simulate`.
    player : callable
        What plays the games.
    """

    target: str
    variant: int
    number: int
    first: int
    count: int
    keys: Mapping[str, object]
    bots: tuple[str, str, str]
    seed: int
    session: int
    player: Player


@dataclass(frozen=True)
class Done:
    """What comes back: ``size`` in bytes, ``seconds`` of work, ``source`` the digest of the code."""

    variant: int
    number: int
    rows: int
    draw_games: int
    size: int
    sha256: str
    seconds: float
    source: str


class _Keys:
    """The dotted keys of a variant, as :func:`sim.params.compile_params` asks for them."""

    def __init__(self, keys: Mapping[str, object]) -> None:
        self._keys = keys

    def flat(self) -> dict[str, object]:
        return dict(self._keys)


def compile_keys(keys: Mapping[str, object]) -> Any:
    """Params of a variant given by its dotted keys."""
    from sim.params import compile_params

    return compile_params(_Keys(keys))


def play_rows(
    keys: Mapping[str, object], bots: tuple[str, str, str], seed: int, first: int, count: int, session: int
) -> Rows:
    """Play games with the engine; see :func:`sim.engine.play_games` for the rows.

    Raises
    ------
    sim.own_bot.OwnBotError
        If a user's bot fails.
    """
    from sim.players import Players

    return Players(compile_keys(keys), bots, keys).play_games(seed, first, count, session)


def rows_schema() -> dict[str, Any]:
    """Column name to polars type, in order."""
    import polars as pl

    from sim.rows import BY_NAMES, COLUMN_TYPES

    return {
        name: pl.Enum(BY_NAMES) if kind == "Enum" else getattr(pl, kind)()
        for name, kind in COLUMN_TYPES.items()
    }


def rows_to_frame(rows: Rows) -> pl.DataFrame:
    """Turn the engine's int64 rows into a frame with narrow types.

    Parameters
    ----------
    rows : ndarray of int64, shape (games, len(ROW_COLUMNS))

    Returns
    -------
    DataFrame
        ``NULL`` has become null.

    Raises
    ------
    OverflowError
        If a value does not fit its column: nothing is wrapped silently.
    """
    import numpy as np
    import polars as pl

    from sim.rows import BY_NAMES, NULL, ROW_COLUMNS

    columns = np.ascontiguousarray(rows.T)
    wide = pl.DataFrame(dict(zip(ROW_COLUMNS, columns, strict=True)))
    narrow = []
    for name, kind in rows_schema().items():
        value = pl.when(pl.col(name) != NULL).then(pl.col(name))
        if kind == pl.Boolean:
            narrow.append(value.cast(pl.Int8).cast(pl.Boolean).alias(name))
        elif isinstance(kind, pl.Enum):
            codes = list(range(len(BY_NAMES)))
            narrow.append(value.replace_strict(codes, list(BY_NAMES), return_dtype=kind).alias(name))
        else:
            narrow.append(value.cast(kind).alias(name))
    try:
        return wide.select(narrow)
    except pl.exceptions.InvalidOperationError as error:
        raise OverflowError(f"a game row does not fit its columns: {str(error).splitlines()[0]}") from None


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, so that a rename survives a power cut."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash at any moment, finds the old one, the new one or none.

    Raises
    ------
    OSError
        Disk full, no permission, no such folder; the temporary file is gone then.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}{TEMPORARY}")
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None  # a full disk names no file by itself
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def play_part(chunk: Chunk) -> Done:
    """Play a chunk and write its part file.

    Returns
    -------
    Done
        Small enough to send back.

    Raises
    ------
    OSError
        If the file cannot be written.
    OverflowError
        See :func:`rows_to_frame`.
    """
    import polars as pl

    from sim._jit import source_digest

    started = time.perf_counter()
    step = max(1, BATCH // chunk.session) * chunk.session if chunk.session else BATCH
    frames = []
    for first in range(chunk.first, chunk.first + chunk.count, step):
        count = min(step, chunk.first + chunk.count - first)
        rows = chunk.player(chunk.keys, chunk.bots, chunk.seed, first, count, chunk.session)
        frames.append(rows_to_frame(rows))
    frame = pl.concat(frames, rechunk=True)
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", row_group_size=1 << 18)
    data = buffer.getvalue()
    write_atomic(Path(chunk.target), data)
    return Done(
        variant=chunk.variant,
        number=chunk.number,
        rows=frame.height,
        draw_games=frame["winner"].null_count(),
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        seconds=time.perf_counter() - started,
        source=source_digest(),
    )


def settle_worker(parent: int) -> None:
    """Make a new process of the pool a good worker: one polars thread, deaf to Ctrl-C, gone with its parent.

    Parameters
    ----------
    parent : int
        The process that began the pool. Killed, it cannot end its workers.
    """
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars  # noqa: F401  # now, because it puts a handler of its own in the place of the next line's

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and stops us
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(parent,), daemon=True, name="chehuzi-orphan-watch").start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a killed run must not go on playing."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
