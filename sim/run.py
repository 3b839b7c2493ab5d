"""Play many games of some variants in parallel, into a run folder. No statistics here."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import tempfile
import threading
import time
import unicodedata
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from sim.manifest import (
    FORMAT,
    MAX_CHUNK,
    MAX_GAMES,
    MAX_PARTS,
    MAX_SEED,
    MAX_SESSION,
    Manifest,
    RunError,
    RunInterrupted,
    VariantRecord,
    describe_variant,
    describe_versions,
    is_safe_label,
    printable,
    read_manifest,
    tool_version,
)
from sim.parts import Chunk, Done, Player, compile_keys, play_part, play_rows, settle_worker
from sim.progress import Progress, Snapshot, make_progress
from sim.store import Run, RunFolder, is_fresh, open_run

if TYPE_CHECKING:
    from sim.variant import Variant

    VariantRef: TypeAlias = str | Path | Variant

__all__ = ["Run", "RunError", "RunInterrupted", "default_chunk", "open_run", "simulate"]

MAX_JOBS = 4096

# A part is work for one worker at a time: many enough that the bar moves and all cores end together, few
# enough that opening and flushing files costs little.
_PARTS_WANTED = 32
_LEAST_CHUNK, _MOST_CHUNK = 1_000, 100_000
_PARTS_BEARABLE = 5_000

# Starting workers takes a second or two. A run of no more than so many games first plays a part here, and goes
# on here when that promises to be quicker.
SMALL_RUN = 50_000
_POOL_SECONDS = 1.5

_COMPILE_SECONDS = 45


def simulate(
    variants: VariantRef | Sequence[VariantRef],
    games: int = 100_000,
    *,
    bots: str | Sequence[str] = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    out: str | Path | None = None,
    session: int = 0,
    chunk: int | None = None,
    resume: bool = False,
    quiet: bool = False,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
    shard: str | None = None,
) -> Run:
    """Play games of one or more variants and keep one row a game.

    Game ``i`` of a seed is the same game whatever ``jobs``, ``chunk``, machine, or interruption; and it is
    the same deal in every variant.

    Parameters
    ----------
    variants : str, Path, Variant, or a sequence of them
        Presets by name, files, or variants.
    games : int
        Games a variant; with sessions a multiple of ``session``.
    bots : str or sequence of str
        One player for all seats, or three: dealer, next, third (``"a,b,c"`` or a sequence). A bot's name, ``search``
        with its knobs, or ``FILE.py:CLASS`` (:mod:`sim.own_bot`).
    seed : int
        0 to 2**64 - 1.
    jobs : int, optional
        Worker processes; by default the cores that this process may use. 1 plays in this process.
    out : path, optional
        Run folder, new or empty. By default a temporary one, which goes when this Python process ends.
    session : int
        Deals a session, with dealer rotation; 0 lets every game stand alone.
    chunk : int, optional
        Games a part file, a multiple of ``session``. Changes the files, never the games.
    resume : bool
        Finish the run in ``out``; a folder that is not there is begun. Variants, bots, seed, session, chunk
        and code must be those of the folder; ``games`` may have grown.
    quiet : bool
        No progress on stderr.
    progress : Progress, optional
        Told about the work instead of the one chosen by where stderr goes.
    command : sequence of str, optional
        Command line, for the manifest.
    shard : str, optional
        ``i/n``: play only every n-th part from the i-th on, on this machine; :func:`sim.merge.merge_runs` puts the n
        folders together.

    Returns
    -------
    Run
        Complete.

    Raises
    ------
    RunError
        Bad arguments, a folder in use or of another run, a full disk, a dead worker. What is on the disk can
        be resumed.
    RunInterrupted
        After Ctrl-C, likewise.
    sim.variant.VariantError
        A variant that does not hold.
    sim.bots.BotError
        An unknown bot, or a user's bot that fails.

    Examples
    --------
    >>> run = simulate(["two_wang", "four_wang"], games=10_000, seed=7)  # doctest: +SKIP
    >>> run.games().collect()  # doctest: +SKIP
    """
    names = _bot_names(bots)
    records = _records(variants)
    manifest = _plan(records, games, names, seed, session, chunk, command)
    if shard is not None:
        manifest = _take_shard(manifest, shard)
    return _simulate(
        manifest,
        chunk_given=chunk is not None,
        jobs=_jobs(jobs),
        out=None if out is None else Path(out),
        resume=resume,
        progress=make_progress(quiet) if progress is None else progress,
        player=play_rows,
        warm_up=_warm_up,
    )


def default_chunk(games: int, session: int = 0, bots: Sequence[str] = ()) -> int:
    """Games a part when none is given; depends on nothing but ``games``, ``session`` and the players' kind."""
    from sim.players import is_compiled

    if not is_compiled(bots):  # some games a second: small parts, so that all cores are busy to the end
        wanted = -(-games // _PARTS_WANTED)
        return min(max(1, wanted // session) * session if session else wanted, MAX_CHUNK)
    wanted = max(-(-games // _PARTS_WANTED), _LEAST_CHUNK)
    wanted = max(min(wanted, _MOST_CHUNK), -(-games // _PARTS_BEARABLE))
    wanted = -(-wanted // 1000) * 1000
    if session:
        wanted = max(1, wanted // session) * session
    return min(wanted, MAX_CHUNK // session * session if session else MAX_CHUNK)


# --- what is asked for -------------------------------------------------------------------------------------


def _whole(name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise RunError(f"{name}: {value!r} is no whole number")
    number = int(value.__index__())
    if not least <= number <= most:
        raise RunError(f"{name}: {number} is out of range, {least} to {most} will do")
    return number


def _bot_names(bots: str | Sequence[str]) -> tuple[str, str, str]:
    from sim.players import parse_players

    return parse_players(bots if isinstance(bots, str) else ",".join(str(name) for name in bots))


def _jobs(jobs: int | None) -> int:
    if jobs is not None:
        return _whole("jobs", jobs, 1, MAX_JOBS)
    import joblib

    return int(joblib.cpu_count())  # affinity, containers and LOKY_MAX_CPU_COUNT are heeded


def _records(variants: VariantRef | Sequence[VariantRef]) -> list[VariantRecord]:
    """Load the variants and give each its label."""
    listed: list[Any] = (
        list(variants) if isinstance(variants, Sequence) and not isinstance(variants, str) else [variants]
    )
    if not listed:
        raise RunError("variants: none is given")
    loaded = []
    for ref in listed:
        if not isinstance(ref, str | Path):
            loaded.append((ref, str(ref.name)))
            continue
        from sim.variant import load_variant

        variant = load_variant(ref)
        mode = str(ref).rpartition("+")[2] if "+" in Path(ref).name else ""
        loaded.append(
            (variant, f"{variant.name}+{mode}" if mode and "+" not in variant.name else variant.name)
        )
    labels = make_labels([name for _, name in loaded])
    return [describe_variant(variant, label) for (variant, _), label in zip(loaded, labels, strict=True)]


def make_labels(names: Sequence[str]) -> list[str]:
    """Turn names into distinct labels that can be folders everywhere.

    Parameters
    ----------
    names : sequence of str
        Names of variants; any text, repeats allowed.

    Returns
    -------
    list of str
        The names with odd characters replaced; repeats get ``-2``, ``-3`` and so on.
    """
    labels: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = unicodedata.normalize("NFKC", name)
        plain = re.sub(r"[^\w+.~-]+", "_", plain).lstrip(".-~").rstrip(".")[:48].rstrip(".")
        if not is_safe_label(plain):
            plain = f"variant_{plain}".rstrip(".")
        if not is_safe_label(plain):
            plain = "variant"
        label, number = plain, 1
        while label.casefold() in taken:
            number += 1
            label = f"{plain}-{number}"
        taken.add(label.casefold())
        labels.append(label)
    return labels


def _plan(
    records: list[VariantRecord],
    games: int,
    bots: tuple[str, str, str],
    seed: int,
    session: int,
    chunk: int | None,
    command: Sequence[str] | None,
) -> Manifest:
    """Check the arguments and put them into a manifest without parts."""
    from datetime import UTC, datetime

    from sim._jit import rules_digest, source_digest

    games = _whole("games", games, 1, MAX_GAMES)
    seed = _whole("seed", seed, 0, MAX_SEED)
    session = _whole("session", session, 0, MAX_SESSION)
    if session and games % session:
        below, above = games // session * session, -(-games // session) * session
        either = f"{below} or {above}" if below else f"{above}"
        raise RunError(f"games: {games} is no multiple of session {session}; {either} would be")
    if chunk is None:
        size = default_chunk(games, session, bots)
    else:
        size = _whole("chunk", chunk, 1, MAX_CHUNK)
        if session and size % session:
            raise RunError(f"chunk: {size} is no multiple of session {session}")
    if -(-games // size) * len(records) > MAX_PARTS:
        raise RunError(f"chunk: {size} makes more than {MAX_PARTS} parts; choose a larger one")
    if len(records) > 1000:
        raise RunError(f"variants: {len(records)} are too many for one run, 1000 at most")
    return Manifest(
        format=FORMAT,
        tool_version=tool_version(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=None if command is None else [str(word)[:10_000] for word in command][:1000],
        seed=seed,
        games=games,
        session=session,
        chunk=size,
        bots=bots,
        variants=records,
        versions=describe_versions(),
        source=source_digest(),
        rules=rules_digest(),
        status="running",
        parts=[],
    )


def _take_shard(manifest: Manifest, shard: str) -> Manifest:
    place, slash, shards = shard.partition("/")
    wanted = "i/n with 1 <= i <= n, as 2/4"
    if not slash or not all(text.isascii() and text.isdigit() and len(text) < 6 for text in (place, shards)):
        raise RunError(f"shard: {printable(shard, 40)!r} is not {wanted}")
    if not 1 <= int(place) <= int(shards):
        raise RunError(f"shard: {printable(shard, 40)!r} is not {wanted}")
    if int(shards) > manifest.chunks:
        raise RunError(
            f"shard: {manifest.chunks} parts cannot be shared among {shards}; a smaller chunk makes more of them"
        )
    return manifest.model_copy(update={"shard": f"{int(place)}/{int(shards)}"})


# --- doing it ----------------------------------------------------------------------------------------------


def _simulate(
    manifest: Manifest,
    *,
    chunk_given: bool,
    jobs: int,
    out: Path | None,
    resume: bool,
    progress: Progress,
    player: Player,
    warm_up: Callable[[Manifest, Progress], None],
) -> Run:
    if out is None:
        if resume:
            raise RunError("resume: say which folder (out)")
        out = _temporary_folder()
    with _Stop() as stop:
        folder = _open_folder(out, manifest, chunk_given, resume)
        try:
            _finish(folder, jobs, progress, player, warm_up, stop)
        finally:
            progress.close()
            folder.close()
        if stop.pending:  # pressed when all was done already
            raise _interrupted(folder)
    return Run(folder.path, folder.manifest)


def _open_folder(out: Path, manifest: Manifest, chunk_given: bool, resume: bool) -> RunFolder:
    try:
        begun = resume and out.exists() and not (out.is_dir() and is_fresh(out))
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {out}: {getattr(error, 'strerror', None) or error}", out) from None
    if not begun:
        return RunFolder.create(out, manifest)
    if not chunk_given:
        manifest = manifest.model_copy(update={"chunk": read_manifest(out).chunk})
    return RunFolder.reopen(out, manifest)


def _finish(
    folder: RunFolder,
    jobs: int,
    progress: Progress,
    player: Player,
    warm_up: Callable[[Manifest, Progress], None],
    stop: _Stop,
) -> None:
    """Play all that is missing; whatever happens, the manifest says what is there."""
    manifest = folder.manifest
    missing = list(folder.missing())
    if folder.damaged:
        progress.message(f"{folder.damaged} parts are not as recorded and are played again")
    try:
        if missing:
            with stop.here():
                warm_up(manifest, progress)
            progress.start(manifest.done, manifest.total)
            _play(folder, missing, jobs, progress, player, stop)
        folder.save("complete")
    except KeyboardInterrupt:
        _save_quietly(folder, "interrupted")
        raise _interrupted(folder) from None
    except BaseException:
        _save_quietly(folder, "failed")
        raise


def _save_quietly(folder: RunFolder, status: Literal["interrupted", "failed"]) -> None:
    """Write the manifest if the disk lets us; why we stop is more important to tell than that it does not."""
    with suppress(RunError):
        folder.save(status)


def _interrupted(folder: RunFolder) -> RunInterrupted:
    manifest = folder.manifest
    return RunInterrupted(folder.path, manifest.done, manifest.total)


def _play(
    folder: RunFolder,
    missing: list[tuple[int, int]],
    jobs: int,
    progress: Progress,
    player: Player,
    stop: _Stop,
) -> None:
    begun = time.perf_counter()
    games = sum(folder.manifest.expected(number)[1] for _, number in missing)
    if min(jobs, len(missing)) > 1 and games <= SMALL_RUN:
        _drain(folder, _results(_chunks(folder, missing[:1], player), 1), progress, stop)
        missing = missing[1:]
        if (time.perf_counter() - begun) * len(missing) < _POOL_SECONDS:
            jobs = 1
    _drain(folder, _results(_chunks(folder, missing, player), min(jobs, len(missing))), progress, stop)


def _drain(folder: RunFolder, results: Generator[Done, None, None], progress: Progress, stop: _Stop) -> None:
    """Record parts as they come."""
    manifest = folder.manifest
    done = manifest.done
    counts = [folder.counts(number) for number in range(len(manifest.variants))]
    try:
        while True:
            with stop.here():
                part = next(results, None)
            if part is None:
                return
            if part.source != manifest.source:
                raise RunError(
                    f"the code changed during the run ({manifest.source} to {part.source}); begin it again",
                    folder.path,
                    status=1,
                )
            folder.record(
                part.variant,
                part.number,
                rows=part.rows,
                draw_games=part.draw_games,
                size=part.size,
                sha256=part.sha256,
            )
            done += part.rows
            games, draws = counts[part.variant]
            counts[part.variant] = games + part.rows, draws + part.draw_games
            label = manifest.variants[part.variant].label
            progress.update(Snapshot(label, done, manifest.total, *counts[part.variant]))
    except (OSError, MemoryError) as error:
        raise RunError(f"cannot go on in {folder.path}: {_words(error)}", folder.path, status=1) from error
    except RuntimeError as error:
        if type(error).__name__ not in ("TerminatedWorkerError", "BrokenProcessPool"):
            raise
        raise RunError(_death(error, folder.path), folder.path, status=1) from None
    finally:
        _end(results)


def _chunks(folder: RunFolder, missing: list[tuple[int, int]], player: Player) -> Iterator[Chunk]:
    manifest = folder.manifest
    root = folder.path.resolve()
    for variant, number in missing:
        first, count = manifest.expected(number)
        yield Chunk(
            target=str(root / folder.target(variant, number).relative_to(folder.path)),
            variant=variant,
            number=number,
            first=first,
            count=count,
            keys=manifest.variants[variant].keys,
            bots=manifest.bots,
            seed=manifest.seed,
            session=manifest.session,
            player=player,
        )


def _results(chunks: Iterator[Chunk], jobs: int) -> Generator[Done, None, None]:
    """Finished chunks, in the order in which they come."""
    if jobs == 1:
        return (play_part(chunk) for chunk in chunks)
    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,  # a chunk is work enough
        pre_dispatch=2 * jobs,
        max_nbytes=None,
        initializer=settle_worker,
        initargs=(os.getpid(),),
    )
    # A terminal sends Ctrl-C to all processes of the run. Only this one may hear it: a worker would print a
    # traceback, and the helper with which joblib ends the workers would die of it and leave them running.
    with _interrupt_blocked():
        results: Generator[Done, None, None] = parallel(delayed(play_part)(chunk) for chunk in chunks)
    return results


class _EndError(Exception):
    """Thrown into joblib's generator: unlike ``close`` it ends the workers without a warning."""


def _end(results: Generator[Done, None, None]) -> None:
    """Stop the pool at once if it is still at work."""
    with suppress(_EndError, StopIteration):
        results.throw(_EndError())


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """Hold Ctrl-C back from this thread, and from the processes and threads that it starts, for good."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # begun later, it would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Stop:
    """Ctrl-C that strikes only where it can do no harm, and once.

    Within :meth:`here` the first Ctrl-C raises at once, elsewhere on the next entry; a second one does
    nothing, so that putting the folder in order is never cut short.
    """

    def __init__(self) -> None:
        self._asked = False
        self._raised = False
        self._exposed = False
        self._ours = False

    def __enter__(self) -> Self:
        # Not ours to change: a handler of the caller's, Ctrl-C ignored (nohup), a thread beside the main one.
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @property
    def pending(self) -> bool:
        """Whether Ctrl-C was pressed and has not been raised."""
        return self._asked and not self._raised

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True
        if self._exposed:
            self._raise()

    def _raise(self) -> None:
        if self.pending:
            self._raised = True
            raise KeyboardInterrupt

    @contextmanager
    def here(self) -> Iterator[None]:
        """Let Ctrl-C strike in the body."""
        self._exposed = True
        try:
            self._raise()
            yield
        finally:
            self._exposed = False


def _words(error: BaseException) -> str:
    """Reason of an error in a few words, with the file when it is about one."""
    if isinstance(error, MemoryError):
        return "out of memory; fewer --jobs need less"
    reason = str(getattr(error, "strerror", None) or error)
    name = getattr(error, "filename", None)
    return f"{reason} ({name})" if name else reason


def _death(error: RuntimeError, path: Path) -> str:
    codes = re.search(r"\{(.*?)\}", str(error))
    how = f" ({codes.group(1)})" if codes else ""
    return (
        f"a worker process died{how}, perhaps killed for lack of memory; {path} can be resumed with --resume"
    )


def _warm_up(manifest: Manifest, progress: Progress) -> None:
    """Compile once, before workers start: they only load. Tables of the variants are built likewise."""
    from sim._jit import is_warm

    if not is_warm():
        progress.message(f"compiling once (about {_COMPILE_SECONDS} s)")
    from sim.engine import warm_up
    from sim.players import warm_up as warm_up_players

    params = [compile_keys(variant.keys) for variant in manifest.variants]
    warm_up(params[0])
    warm_up_players(params[0], manifest.bots)


_temporary: list[Path] = []


def _temporary_folder() -> Path:
    """Make a folder that goes with this process: a LazyFrame may outlive its Run, so not sooner."""
    try:
        path = Path(tempfile.mkdtemp(prefix="chehuzi-run-"))
    except OSError as error:
        raise RunError(f"cannot make a temporary folder: {_words(error)}") from None
    if not _temporary:
        atexit.register(_remove_temporary, os.getpid())
    _temporary.append(path)
    return path


def _remove_temporary(owner: int) -> None:
    if os.getpid() != owner:  # a fork of the process that made them
        return
    for path in _temporary:
        shutil.rmtree(path, ignore_errors=True)
