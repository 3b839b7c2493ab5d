"""A stand-in for the engine: rows made from seed, variant and game number alone, at a speed the tests choose.

Run as a script it is a whole run in a process of its own, to be killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sim.run
from sim.manifest import Manifest, RunError, RunInterrupted, describe_variant
from sim.parts import Player
from sim.progress import PlainProgress, Progress, QuietProgress
from sim.rows import COLUMN, COLUMN_TYPES, NULL, ROW_COLUMNS
from sim.run import _plan, _simulate, make_labels
from sim.store import Run

sim.run.SMALL_RUN = 0  # where tests ask for workers they mean it

Rows = npt.NDArray[np.int64]

_RANGES = {"Int8": 100, "Int16": 30_000, "Int32": 1 << 30, "Int64": 1 << 50, "Boolean": 2, "Enum": 3}


class FakeVariant:
    """The face of ``sim.variant.Variant`` that a run needs."""

    def __init__(self, name: str = "two", **keys: Any) -> None:
        self.name = name
        self.title = {"zh": "二王", "en": f"Title of {name}"}
        self.preset = "two_wang"
        self.overrides: dict[str, object] = dict(keys)
        self._keys = {"deck.wangs": 2, "win.min_huxi": 15, "win.wang_limit.min_fan": {1: 2, 2: 4}, **keys}

    def flat(self) -> dict[str, object]:
        return dict(self._keys)

    @property
    def digest(self) -> str:
        import hashlib

        return hashlib.sha256(json.dumps(self._keys, sort_keys=True).encode()).hexdigest()


def play(
    keys: Mapping[str, object], bots: tuple[str, str, str], seed: int, first: int, count: int, session: int
) -> Rows:
    """Rows that depend on nothing but seed, game and one key."""
    game = np.arange(first, first + count, dtype=np.uint64)[:, None]
    column = np.arange(len(ROW_COLUMNS), dtype=np.uint64)
    mix = (game * np.uint64(0x9E3779B97F4A7C15)) ^ (column * np.uint64(0xC2B2AE3D27D4EB4F))
    mix ^= np.uint64(seed * 0x165667B19E3779F9 & (2**64 - 1)) ^ np.uint64(int(str(keys["win.min_huxi"])))
    mix ^= mix >> np.uint64(29)
    mix *= np.uint64(0xBF58476D1CE4E5B9)
    mix ^= mix >> np.uint64(32)
    spread = np.array([_RANGES[kind] for kind in COLUMN_TYPES.values()], dtype=np.uint64)
    rows: Rows = (mix % spread).astype(np.int64)
    rows[:, COLUMN["game"]] = game[:, 0].astype(np.int64)
    rows[:, COLUMN["session"]] = game[:, 0].astype(np.int64) // session if session else NULL
    drawn = rows[:, COLUMN["huxi"]] % 8 == 0
    for name in ("winner", "by", "huxi", "tun", "fan", "score"):
        rows[drawn, COLUMN[name]] = NULL
    return rows


def play_slowly(*args: Any) -> Rows:
    """Like :func:`play`, at about 60 ms a thousand games."""
    time.sleep(args[4] * 6e-5)
    return play(*args)


def play_until_killed(*args: Any) -> Rows:
    """Like :func:`play`, but the worker that comes to game 3000 is killed."""
    if args[3] <= 3000 < args[3] + args[4]:
        os.kill(os.getpid(), signal.SIGKILL)
    return play(*args)


def play_to_full_disk(*args: Any) -> Rows:
    """Like :func:`play`, until the limit on file sizes stands in for a disk that is full."""
    import resource

    if args[3] >= 3000:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    return play(*args)


def play_and_report_threads(*args: Any) -> Rows:
    """Like :func:`play`; leaves the number of polars threads in the folder that stands in for the first bot."""
    import polars

    (Path(args[1][0]) / f"threads-{os.getpid()}").write_text(str(polars.thread_pool_size()))
    return play(*args)


def play_too_wide(*args: Any) -> Rows:
    """Rows with a value that does not fit its column."""
    rows = play(*args)
    rows[0, COLUMN["huxi"]] = 40_000
    return rows


PLAYERS: dict[str, Player] = {
    function.__name__: function
    for function in (play, play_slowly, play_until_killed, play_to_full_disk, play_too_wide)
}


def no_warm_up(manifest: Manifest, progress: Progress) -> None:
    """There is nothing to compile."""


def run(
    out: Path | None,
    variants: Any = None,
    games: int = 10_000,
    *,
    bots: tuple[str, str, str] = ("greedy", "greedy", "greedy"),
    seed: int = 1,
    jobs: int = 1,
    session: int = 0,
    chunk: int | None = 1000,
    resume: bool = False,
    player: Player = play,
    progress: Progress | None = None,
) -> Run:
    """A run with the fake engine."""
    given = (
        [FakeVariant("two"), FakeVariant("other", **{"win.min_huxi": 12})] if variants is None else variants
    )
    labels = make_labels([variant.name for variant in given])
    records = [describe_variant(variant, label) for variant, label in zip(given, labels, strict=True)]
    return _simulate(
        _plan(records, games, bots, seed, session, chunk, None),
        chunk_given=chunk is not None,
        jobs=jobs,
        out=out,
        resume=resume,
        progress=progress or QuietProgress(),
        player=player,
        warm_up=no_warm_up,
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Every part file of a run folder by its path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def main() -> int:
    """``run_fakes.py OUT JOBS PLAYER [often]``: resume or begin a run; exit 130 when interrupted, 2 on RunError."""
    out, jobs, player = Path(sys.argv[1]), int(sys.argv[2]), PLAYERS[sys.argv[3]]
    if "often" in sys.argv:
        from sim.store import RunFolder

        RunFolder.SAVE_SECONDS, RunFolder.SAVE_SHARE = 0.0, 1e9
    try:
        run(out, jobs=jobs, player=player, resume=True, progress=PlainProgress(0.0))
    except RunInterrupted as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a command line should: it is on its way out
        print(error, file=sys.stderr)
        return 130
    except RunError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # a second one on the way out, as the command line takes it
        return 130
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import run_fakes  # functions of __main__ would be sent to workers by value

    sys.exit(run_fakes.main())
