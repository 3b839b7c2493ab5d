"""Bots in chosen seatings on the same deals: every seating is a task, and only whole-number sums are kept.

Tournaments and variance shares stand on this: a plan, played chunk by chunk of deals and within a chunk seating by
seating. What a chunk leaves is added up exactly, so neither ``jobs`` nor an interruption changes a digit, and memory
depends on the number of bots, not of games.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.load import LoadError
from sim.progress import Progress, Snapshot, make_progress

if TYPE_CHECKING:
    from sim.variant import Variant

IntArray = NDArray[np.int64]
Sums = dict[str, NDArray[Any]]
"""Name to an array of Python integers: sums add up exactly whatever their size."""
Seating = tuple[int, int, int]
"""Bots of dealer, next and third, as positions in the plan's list of bots."""

CHUNK = 2_048
"""Deals whose scores are in memory at once."""

STYLE = (
    "games",
    "chi",
    "peng",
    "passes",
    "win_passes",
    "wins",
    "own",
    "from_before",
    "from_after",
    "to_next",
    "to_before",
)
"""Counts of one player: games, actions, wins on an own (or dealt) card and on one that the player before or after
drew, and games in which the player himself drew the card that the next player or the one before won on."""

_POOL_PAYS = 3.0  # seconds of work above which starting processes pays


class SeatingError(LoadError):
    """A tournament or design that cannot be played; the message says why."""


@dataclass(frozen=True)
class Cell:
    """Games of one variant and seating.

    Attributes
    ----------
    scores : int array, shape (games, 3)
        Of dealer, next and third.
    winner : int array, shape (games,)
        Role of the winner, -1 in a draw game.
    fan : int array, shape (games,)
        Of the win; 0 in a draw game.
    style : int array, shape (games played again with a log, 3, len(STYLE))
        Counts by role.
    """

    scores: IntArray
    winner: IntArray
    fan: IntArray
    style: IntArray


class Collector(Protocol):
    """Takes the cells of one chunk and variant, and gives their sums."""

    def take(self, seating: int, cell: Cell) -> None:
        """Add the games of a seating."""

    def sums(self) -> Sums:
        """Sums over the chunk, all seatings taken."""


@dataclass(frozen=True)
class Plan:
    """What is to be played.

    Attributes
    ----------
    kind : str
        What for; a folder of another kind is refused.
    variants : tuple of Variant
    labels : tuple of str
    bots : tuple of str
    seatings : tuple of Seating
    games : int
        Deals, each played once in every seating.
    seed : int
    style : int
        Of these deals, so many are played again with a log, to count what each player does.
    chunk : int
    """

    kind: str
    variants: tuple[Variant, ...]
    labels: tuple[str, ...]
    bots: tuple[str, ...]
    seatings: tuple[Seating, ...]
    games: int
    seed: int
    style: int = 0
    chunk: int = CHUNK

    @property
    def total(self) -> int:
        """Games in all."""
        return self.games * len(self.variants) * len(self.seatings)

    def names(self, seating: Seating) -> tuple[str, str, str]:
        """Bots of a seating by name."""
        return self.bots[seating[0]], self.bots[seating[1]], self.bots[seating[2]]

    def key(self) -> dict[str, Any]:
        """All that the sums of a chunk depend on, but for the number of deals."""
        from sim._jit import source_digest

        return {
            "kind": self.kind,
            "variants": {
                label: variant.digest for label, variant in zip(self.labels, self.variants, strict=True)
            },
            "bots": list(self.bots),
            "seatings": [list(seating) for seating in self.seatings],
            "seed": self.seed,
            "chunk": self.chunk,
            "source": source_digest(),
        }


def bot_list(text: str | Sequence[str], least: int = 2, most: int = 30) -> tuple[str, ...]:
    """Read the names of bots that are to meet.

    Parameters
    ----------
    text : str or sequence of str
        ``"a,b,c"``, or the names.
    least, most : int
        How many there must and may be.

    Raises
    ------
    sim.bots.BotError
        For an unknown bot.
    SeatingError
        For a name twice, too few, or too many.
    """
    from sim.players import parse_players

    parts = text.split(",") if isinstance(text, str) else list(text)
    names = tuple(parse_players(part.strip())[0] for part in parts)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SeatingError(f"--bots: {twice} is named twice")
    if not least <= len(names) <= most:
        raise SeatingError(
            f"--bots: {least} to {most} bots, separated by commas, are wanted; not {len(names)}"
        )
    return names


def short_name(bot: str) -> str:
    """Return the name of a bot for tables: a user's own one without folders and digest."""
    return bot.rpartition("/")[2].partition("@")[0] if ".py:" in bot else bot


def ladder() -> tuple[str, ...]:
    """Return the bots from the weakest to the strongest, those fast enough for many games."""
    from sim import bots

    return tuple(bots.LADDER)


def restricted() -> tuple[str, ...]:
    """Return the restricted players, made for reading rules."""
    from sim import bots

    return tuple(bots.RESTRICTED)


def load_variants(
    refs: Sequence[str | Path], overrides: Sequence[str] = ()
) -> tuple[tuple[Variant, ...], tuple[str, ...]]:
    """Load variants and give each a label of its own.

    Raises
    ------
    sim.variant.VariantError
        For a variant that does not hold.
    SeatingError
        For the same rules twice.
    """
    from analysis.compare import CompareError, grid
    from sim.run import make_labels

    try:
        loaded, names = grid(refs, overrides)
    except CompareError as error:
        raise SeatingError(str(error).replace(": nothing to compare", "")) from None
    return tuple(loaded), tuple(make_labels(names))


def default_folder(plan: Plan) -> Path:
    """Return a folder under ``results`` that no other plan has."""
    digest = hashlib.sha256(json.dumps(plan.key(), sort_keys=True).encode()).hexdigest()[:8]
    return Path("results") / "-".join([plan.kind, *plan.labels[:4], f"s{plan.seed}", digest])


# --- playing -----------------------------------------------------------------------------------------------


def play_cell(
    variant: Variant, names: tuple[str, str, str], seed: int, first: int, count: int, style: int
) -> Cell:
    """Play games of one seating.

    Parameters
    ----------
    variant : Variant
    names : three str
        Bots of dealer, next and third.
    seed, first, count : int
        The games.
    style : int
        Of these, the first so many are played again with a log.
    """
    from sim import parts
    from sim.rows import COLUMN, NULL

    rows = parts.play_rows(variant.flat(), names, seed, first, count, 0)
    games = np.arange(count)
    dealer = rows[:, COLUMN["dealer"]]
    seats = np.where(rows[:, COLUMN["sitter"]] == NULL, 3, 4)
    places = (dealer, (dealer + 1) % seats, (dealer + seats - 1) % seats)
    scores = np.stack([rows[games, COLUMN["score_0"] + place] for place in places], axis=1)
    won = rows[:, COLUMN["winner"]]
    winner = np.full(count, -1, dtype=np.int64)
    for role, place in enumerate(places):
        winner[won == place] = role
    fan = np.where(winner >= 0, rows[:, COLUMN["fan"]], 0)
    return Cell(scores, winner, fan, count_style(variant, names, seed, first, min(style, count)))


def count_style(variant: Variant, names: tuple[str, str, str], seed: int, first: int, count: int) -> IntArray:
    """Play games again with a log and count what each player does; shape (count, 3, len(STYLE))."""
    counted = np.zeros((count, 3, len(STYLE)), dtype=np.int64)
    found: IntArray
    if not count:
        return counted
    from sim.bots.decisions import D_WIN
    from sim.gamelog import Player
    from sim.rows import BY_NAMES
    from sim.rules.lay import EV_CHI, EV_PASS, EV_PENG
    from sim.state import BY, DEALER, N_LOG, N_SEATS, SITTER, SOURCE, WINNER

    at = {name: number for number, name in enumerate(STYLE)}
    player = Player(variant, names, seed)
    for game in range(first, first + count):
        table = player.finish(game)
        found = counted[game - first]
        role = {}
        seat, seats = int(table.game[DEALER]), int(table.game[N_SEATS])
        for number in range(3):
            role[seat] = number
            seat = (seat + 1) % seats
            if seat == int(table.game[SITTER]):
                seat = (seat + 1) % seats
        log = table.log[: int(table.game[N_LOG])]
        found[:, at["games"]] += 1
        for name, chosen in (
            ("chi", log[:, 0] == EV_CHI),
            ("peng", log[:, 0] == EV_PENG),
            ("passes", log[:, 0] == EV_PASS),
            ("win_passes", (log[:, 0] == EV_PASS) & (log[:, 3] == D_WIN)),
        ):
            for place in log[chosen, 1]:
                found[role[int(place)], at[name]] += 1
        if int(table.game[WINNER]) < 0:
            continue
        winner = role[int(table.game[WINNER])]
        found[winner, at["wins"]] += 1
        if int(table.game[BY]) != BY_NAMES.index("other"):
            found[winner, at["own"]] += 1
            continue
        drawer = role[int(table.game[SOURCE])]
        follows = (winner - drawer) % 3 == 1
        found[winner, at["from_before" if follows else "from_after"]] += 1
        found[drawer, at["to_next" if follows else "to_before"]] += 1
    return counted


class _EnoughError(Exception):
    """Thrown into joblib's generator: unlike ``close`` it ends the workers without a warning."""


def _in_order(calls: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Cell]:
    if jobs == 1:
        for call in calls:
            yield play_cell(*call)
        return
    from joblib import Parallel, delayed

    from sim.parts import settle_worker

    parallel = Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator",
        batch_size=1,
        pre_dispatch=3 * jobs,
        initializer=settle_worker,
        initargs=(os.getpid(),),
    )
    results = parallel(delayed(play_cell)(*call) for call in calls)
    try:
        for each in results:  # noqa: UP028  # "yield from" would close it, with that warning
            yield each
    finally:
        with suppress(_EnoughError, StopIteration):
            results.throw(_EnoughError())


def collect(
    plan: Plan,
    begin: Callable[[int, int], Collector],
    *,
    jobs: int | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
    quiet: bool = False,
) -> dict[str, Sums]:
    """Play a plan and add up what its collectors find.

    Parameters
    ----------
    plan : Plan
    begin : callable
        ``(first deal, deals) -> Collector`` for a chunk of one variant.
    jobs : int, optional
        Processes; by default all cores when the work is worth it. They change no digit.
    folder : Path, optional
        Where chunks that are done are kept, so that the same plan, or one of more deals, goes on from there.
    progress, quiet
        As in :func:`sim.run.simulate`.

    Returns
    -------
    dict
        Variant label to sums.

    Raises
    ------
    SeatingError
        When the folder holds something else.
    """
    stored = None if folder is None else Checkpoints(folder, plan)
    bar = make_progress(quiet) if progress is None else progress
    total: dict[str, Sums] = {}
    missing: list[tuple[int, int]] = []
    for first in range(0, plan.games, plan.chunk):
        count = min(plan.chunk, plan.games - first)
        found = stored.read(first, count) if stored is not None else None
        if found is None:
            missing.append((first, count))
        else:
            _add(total, found)
    waiting = sum(count for _, count in missing) * len(plan.variants) * len(plan.seatings)
    calls = [
        (variant, plan.names(seating), plan.seed, first, count, max(0, plan.style - first))
        for first, count in missing
        for variant in plan.variants
        for seating in plan.seatings
    ]
    try:
        if calls:
            _announce(bar)
            bar.start(plan.total - waiting, plan.total)
        cells = _cells(calls, jobs)
        done = plan.total - waiting
        for first, count in missing:
            chunk: dict[str, Sums] = {}
            for label in plan.labels:
                collector = begin(first, count)
                draws = 0
                for number in range(len(plan.seatings)):
                    cell = next(cells)
                    collector.take(number, cell)
                    done += count
                    draws += int((cell.winner < 0).sum())
                    bar.update(Snapshot(label, done, plan.total, count * (number + 1), draws))
                chunk[label] = {name: value.astype(object) for name, value in collector.sums().items()}
            if stored is not None:
                stored.write(first, count, chunk)
            _add(total, chunk)
    finally:
        bar.close()
    return total


def _announce(bar: Progress) -> None:
    from sim._jit import is_warm

    if not is_warm():
        bar.message("compiling once, about a minute")


def _cells(calls: list[tuple[Any, ...]], jobs: int | None) -> Iterator[Cell]:
    """Play all calls; without a wish as to ``jobs`` two of them tell whether more processes pay."""
    left = 0
    if jobs is None and calls:
        import joblib

        yield play_cell(*calls[0])  # loads the machine code
        left = 1
        if len(calls) > 1:
            begun = time.perf_counter()
            yield play_cell(*calls[1])
            left = 2
            takes = (time.perf_counter() - begun) * (len(calls) - 2)
            jobs = int(joblib.cpu_count()) if takes > _POOL_PAYS else 1
    yield from _in_order(calls[left:], jobs or 1)


def _add(total: dict[str, Sums], more: Mapping[str, Sums]) -> None:
    for label, sums in more.items():
        if label not in total:
            total[label] = dict(sums)
            continue
        for name, value in sums.items():
            total[label][name] = total[label][name] + value


class Checkpoints:
    """Chunks that are done, as one small file each, in a folder that belongs to one plan.

    Parameters
    ----------
    folder : Path
        New, empty, or begun for the same plan.
    plan : Plan

    Raises
    ------
    SeatingError
        When it holds something else.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder = folder / "chunks"
        key = plan.key()
        file = folder / "plan.json"
        try:
            if file.is_file():
                if json.loads(file.read_text(encoding="utf-8")) != key:
                    raise SeatingError(
                        f"{folder} holds results of other variants, bots, seed or code; choose another --out"
                    )
            elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise SeatingError(
                    f"{folder} is not empty and no result of this command; choose another --out"
                )
            self._folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            if isinstance(error, SeatingError):
                raise
            raise SeatingError(f"cannot use {folder}: {getattr(error, 'strerror', None) or error}") from None
        self._style = plan.style
        write_text(file, json.dumps(key, ensure_ascii=False, indent=1))

    def _file(self, first: int, count: int) -> Path:
        style = min(max(0, self._style - first), count)
        return self._folder / f"{first}-{count}-{style}.json"

    def read(self, first: int, count: int) -> dict[str, Sums] | None:
        """Sums of a chunk, None where it is not there or cannot be read."""
        try:
            document = json.loads(self._file(first, count).read_text(encoding="utf-8"))
            return {
                label: {name: np.array(value, dtype=object) for name, value in sums.items()}
                for label, sums in document.items()
            }
        except (OSError, ValueError, AttributeError):
            return None

    def write(self, first: int, count: int, chunk: Mapping[str, Sums]) -> None:
        """Keep the sums of a chunk."""
        document = {
            label: {name: value.tolist() for name, value in sums.items()} for label, sums in chunk.items()
        }
        write_text(self._file(first, count), json.dumps(document, separators=(",", ":")))


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    from sim.parts import write_atomic

    write_atomic(path, text.encode())
