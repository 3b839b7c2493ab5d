"""Precision on demand: play until intervals are as narrow as asked, and say beforehand what that will take.

A run grows in rounds of whole chunks. After each one the widths alone decide: never the values, and never
whatever chunk came back first. So the games played are the same whatever the number of jobs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from analysis.load import LoadError, as_source
from analysis.metrics import Text, metric
from analysis.sufficient import SufficientStats, collect_stats
from analysis.summary import estimate
from analysis.targets import Target, parse_targets

if TYPE_CHECKING:
    from sim.progress import Progress, Snapshot
    from sim.run import VariantRef
    from sim.store import Run

MINIMUM = 10_000
"""Games a variant before the first look."""
MAXIMUM = 10_000_000
"""Games a variant at most."""
CHUNK = 5_000
"""Games a chunk, unless the maximum makes too many of them."""
MOST_CHUNKS = 5_000

GROWTH = 4.0
"""The most by which a round multiplies the games: early widths are only estimates."""
MARGIN = 1.03
"""Games asked for beyond what the present width calls for, so that one more round mostly is enough."""
STEP = 0.05
"""The least growth of a round: few looks keep the coverage."""


class PrecisionError(LoadError):
    """A width that no number of games brings."""


@dataclass(frozen=True)
class Need:
    """How far one metric of one variant is.

    Attributes
    ----------
    label : str
        Variant.
    target : Target
        What is asked.
    value, half_width : float or None
        So far; None where nothing can be said yet.
    wanted : float or None
        Half-width asked, in the metric's unit.
    games : int or None
        Games that will bring it, as far as the present width tells.
    reached : bool
        Whether it is narrow enough.
    """

    label: str
    target: Target
    value: float | None
    half_width: float | None
    wanted: float | None
    games: int | None
    reached: bool

    def words(self, lang: str = "en") -> str:
        """One line: metric, variant, width, what is still needed."""
        item = metric(self.target.key)
        percent = item.unit == "share"
        name = item.name[lang]
        if self.half_width is None or self.wanted is None:
            more = {"en": "no interval yet", "zh": "尚无置信区间"}[lang]
            return f"{self.label}: {name} {more}" if lang == "en" else f"{self.label}：{name}{more}"
        have, want = (_width(number, percent) for number in (self.half_width, self.wanted))
        if self.reached:
            rest = Text("reached", "已达到")[lang]
        elif self.games is None:
            rest = Text("nothing to judge by yet", "尚无从估计")[lang]
        else:
            about = f"{_rounded(self.games):,}"
            rest = Text(f"about {about} games", f"约需 {about} 局")[lang]
        if lang == "zh":
            return f"{self.label}：{name} ± {have}（要求 ± {want}），{rest}"
        return f"{self.label}: {name} ± {have} (wanted ± {want}), {rest}"


def _rounded(games: int) -> int:
    """Round up to two figures: an estimate has no more."""
    unit = int(10 ** max(0, len(str(games)) - 2))
    return -(-games // unit) * unit


def _width(number: float, percent: bool) -> str:
    return f"{number * 100:.2g} %" if percent else f"{number:.3g}"


@dataclass(frozen=True)
class Round:
    """A look at the widths after so many games a variant."""

    games: int
    needs: tuple[Need, ...]

    @property
    def reached(self) -> bool:
        """Whether all are narrow enough."""
        return all(need.reached for need in self.needs)


@dataclass(frozen=True)
class Precision:
    """How a run on demand ended.

    Attributes
    ----------
    rounds : tuple of Round
        Every look, in order.
    maximum : int
        The most games allowed.
    """

    rounds: tuple[Round, ...]
    maximum: int

    @property
    def reached(self) -> bool:
        """Whether every width was reached."""
        return self.rounds[-1].reached

    @property
    def games(self) -> int:
        """Games a variant."""
        return self.rounds[-1].games

    def shortfall(self, lang: str = "en") -> list[str]:
        """One line for every width that was not reached."""
        end = Text(f"after {self.games:,} games, the most allowed", f"（已达局数上限 {self.games:,} 局）")[
            lang
        ]
        lines = [need.words(lang) for need in self.rounds[-1].needs if not need.reached]
        return [f"{line} {end}" if lang == "en" else f"{line}{end}" for line in lines]


def look(
    stats: Mapping[str, SufficientStats],
    targets: Sequence[Target],
    games: int,
    level: float = 0.95,
    wangs: Mapping[str, int] | None = None,
) -> Round:
    """Compare widths with what is asked.

    Parameters
    ----------
    stats : mapping
        Label to the statistics of all its games so far.
    targets : sequence of Target
    games : int
        Games a variant so far.
    level : float
        Confidence level.
    wangs : mapping, optional
        Label to wangs in the deck.

    Raises
    ------
    PrecisionError
        When a metric does not apply to a variant.
    """
    needs = []
    for label, held in stats.items():
        count = None if wangs is None else wangs.get(label)
        for target in targets:
            item = metric(target.key)
            if item.needs_wangs and count == 0:
                raise PrecisionError(f"{label} has no wangs, so {target.key} does not apply to it")
            found = estimate(held, item, level, count)
            half = found.half_width
            wanted = None if found.value is None else target.width(found.value)
            reached = half is not None and wanted is not None and half <= wanted
            needed = None
            if half is not None and wanted:
                needed = max(1, math.ceil(games * (half / wanted) ** 2))
            needs.append(Need(label, target, found.value, half, wanted, needed, reached))
    return Round(games, tuple(needs))


def next_games(now: Round, chunk: int, maximum: int) -> int:
    """Games a variant after the next round: a multiple of ``chunk``, or ``maximum``."""
    open_needs = [need for need in now.needs if not need.reached]
    known = [need.games for need in open_needs if need.games is not None]
    wanted = max(known, default=0) * MARGIN
    if len(known) < len(open_needs):
        wanted = max(wanted, 2.0 * now.games)
    wanted = min(max(wanted, now.games * (1 + STEP)), now.games * GROWTH)
    whole = max(now.games // chunk + 1, math.ceil(wanted / chunk)) * chunk
    return min(whole, maximum)


def until(
    collect: Callable[[int, int], Mapping[str, SufficientStats]],
    targets: Sequence[Target],
    *,
    minimum: int = MINIMUM,
    maximum: int = MAXIMUM,
    chunk: int = CHUNK,
    level: float = 0.95,
    wangs: Callable[[], Mapping[str, int]] | None = None,
    told: Callable[[Round], None] | None = None,
) -> Precision:
    """Drive anything that plays games to the widths asked.

    Parameters
    ----------
    collect : callable
        ``(first, last) -> {label: statistics}`` of games ``first`` to ``last - 1``; called in order, without
        gaps.
    targets : sequence of Target
    minimum, maximum, chunk : int
        Games before the first look, games at most, and what a round is a multiple of.
    level : float
        Confidence level.
    wangs : callable, optional
        Label to wangs in the deck, asked for after the first round.
    told : callable, optional
        Hears of every look.
    """
    if not targets:
        raise PrecisionError("no width is asked for, e.g. draw_rate=0.002")
    if not 1 <= minimum <= maximum:
        raise PrecisionError(
            f"minimum {minimum:,} and maximum {maximum:,}: the first is 1 or more, the second no less"
        )
    games = min(-(-minimum // chunk) * chunk, maximum)
    done = 0
    held: dict[str, SufficientStats] = {}
    rounds: list[Round] = []
    while True:
        for label, fresh in collect(done, games).items():
            held[label] = held[label] + fresh if label in held else fresh
        done = games
        rounds.append(look(held, targets, games, level, None if wangs is None else wangs()))
        if told is not None:
            told(rounds[-1])
        if rounds[-1].reached or games >= maximum:
            return Precision(tuple(rounds), maximum)
        games = next_games(rounds[-1], chunk, maximum)


def chunk_for(maximum: int, session: int = 0) -> int:
    """Games a chunk of a run on demand: depends on nothing but its maximum and session."""
    size = max(CHUNK, -(-maximum // MOST_CHUNKS))
    return max(1, -(-size // session)) * session if session else size


def run_until(
    variants: VariantRef | Sequence[VariantRef],
    targets: Sequence[str],
    *,
    minimum: int = MINIMUM,
    maximum: int = MAXIMUM,
    level: float = 0.95,
    bots: str | Sequence[str] = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    out: str | Path | None = None,
    session: int = 0,
    chunk: int | None = None,
    resume: bool = False,
    quiet: bool = False,
    progress: Callable[[], Progress] | None = None,
    command: Sequence[str] | None = None,
    lang: str = "en",
) -> tuple[Run, Precision]:
    """Play until every width is reached in every variant, or the maximum.

    Parameters
    ----------
    variants, bots, seed, jobs, out, session, chunk, resume, quiet, command
        As in :func:`sim.run.simulate`.
    targets : sequence of str
        ``"draw_rate=0.002"`` (half-width), ``"score_dealer=5%"`` (of the value).
    minimum, maximum : int
        Games a variant; with sessions the maximum is a multiple of ``session``.
    level : float
        Confidence level of the intervals.
    progress : callable, optional
        Makes the progress of a round.
    lang : {"en", "zh"}
        Language of messages.

    Returns
    -------
    Run, Precision
        The run is complete for the games played; ask ``Precision.reached`` whether they were enough.

    Raises
    ------
    PrecisionError, MetricError, RunError, RunInterrupted
    """
    from sim.manifest import MANIFEST, read_manifest
    from sim.progress import make_progress
    from sim.run import simulate

    wanted = parse_targets(targets)
    keys = [metric(target.key) for target in wanted]
    size = chunk_for(maximum, session) if chunk is None else chunk
    maximum -= maximum % session if session else 0
    run: Run | None = None
    least = 0
    if resume and out is not None and (Path(out) / MANIFEST).is_file():
        stored = read_manifest(out)
        size, least = (stored.chunk if chunk is None else chunk), stored.games

    def voice() -> Progress:
        return make_progress(quiet) if progress is None else progress()

    def collect(first: int, last: int) -> Mapping[str, SufficientStats]:
        nonlocal run
        if run is None or run.manifest.games < last:
            run = simulate(
                variants,
                max(last, least),
                bots=bots,
                seed=seed,
                jobs=jobs,
                out=out if run is None else run.path,
                session=session,
                chunk=size,
                resume=resume or run is not None,
                progress=voice(),
                command=command,
            )
        rows = run.games().filter((pl.col("game") >= first) & (pl.col("game") < last))
        return collect_stats(rows, keys)

    def wangs() -> Mapping[str, int]:
        return {} if run is None else as_source(run).wangs

    def told(now: Round) -> None:
        speaker = voice()
        for need in now.needs:
            head = Text(f"{now.games:,} games: ", f"{now.games:,} 局：")[lang]
            speaker.message(head + need.words(lang))
        speaker.close()

    found = until(
        collect,
        wanted,
        minimum=minimum,
        maximum=maximum,
        chunk=size,
        level=level,
        wangs=wangs,
        told=told,
    )
    assert run is not None
    return run, found


# --- beforehand --------------------------------------------------------------------------------------------


PILOT = 10_000
"""Games a variant of a pilot run."""


@dataclass(frozen=True)
class Plan:
    """What precision will cost.

    Attributes
    ----------
    pilot : Round
        Widths of the pilot run.
    speed : float
        Games a second, all jobs together.
    labels : tuple of str
        Variants.
    seed : int
        Of the pilot.
    digests : dict
        Label to variant hash.
    """

    pilot: Round
    speed: float
    labels: tuple[str, ...]
    seed: int
    digests: Mapping[str, str]

    @property
    def games(self) -> int | None:
        """Games a variant for all widths; None when the pilot does not tell."""
        numbers = [need.games for need in self.pilot.needs]
        known = [number for number in numbers if number is not None]
        return max(known) if len(known) == len(numbers) and known else None

    @property
    def seconds(self) -> float | None:
        """Time for it with the jobs of the pilot."""
        return None if self.games is None else self.games * len(self.labels) / self.speed


class _Clock:
    """Progress that only looks at the clock."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, int]] = []

    def message(self, text: str) -> None:
        """Say nothing."""

    def start(self, done: int, total: int) -> None:
        """Start the clock."""
        self._note(done)

    def update(self, now: Snapshot) -> None:
        """Note the time of a part."""
        self._note(now.done)

    def _note(self, done: int) -> None:
        import time

        self.seen.append((time.perf_counter(), done))

    def close(self) -> None:
        """Nothing is open."""

    @property
    def speed(self) -> float:
        """Games a second; the first parts, which pay for the start of workers, are left out when there are more."""
        marks = self.seen[1:] if len(self.seen) > 4 else self.seen
        (begin, before), (end, after) = marks[0], marks[-1]
        return (after - before) / max(end - begin, 1e-9)


def plan(
    variants: VariantRef | Sequence[VariantRef],
    targets: Sequence[str],
    *,
    pilot: int = PILOT,
    level: float = 0.95,
    bots: str | Sequence[str] = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    session: int = 0,
) -> Plan:
    """Play a pilot run and estimate what the widths will take.

    Parameters
    ----------
    variants, bots, seed, jobs, session
        As in :func:`sim.run.simulate`.
    targets : sequence of str
        As in :func:`run_until`.
    pilot : int
        Games a variant.
    level : float
        Confidence level.

    Returns
    -------
    Plan

    Raises
    ------
    PrecisionError, MetricError, RunError
    """
    from sim.run import simulate

    wanted = parse_targets(targets)
    if not wanted:
        raise PrecisionError("no width is asked for, e.g. --until draw_rate=0.002")
    size = max(1, pilot // 10)
    if session:
        size = max(1, size // session) * session
        pilot = -(-pilot // session) * session
    clock = _Clock()
    run = simulate(
        variants, pilot, bots=bots, seed=seed, jobs=jobs, session=session, chunk=size, progress=clock
    )
    source = as_source(run)
    stats = collect_stats(source.frame, [metric(target.key) for target in wanted])
    now = look({label: stats[label] for label in run.variants}, wanted, pilot, level, source.wangs)
    return Plan(now, clock.speed, tuple(run.variants), seed, source.digests)


def plan_json(found: Plan) -> dict[str, object]:
    """Return a plan as a JSON document."""
    return {
        "pilot_games": found.pilot.games,
        "seed": found.seed,
        "games_per_second": round(found.speed, 1),
        "games": found.games,
        "seconds": None if found.seconds is None else round(found.seconds, 1),
        "digests": found.digests,
        "needs": [
            {
                "variant": need.label,
                "metric": need.target.key,
                "target": str(need.target),
                "value": need.value,
                "half_width": need.half_width,
                "wanted": need.wanted,
                "games": need.games,
            }
            for need in found.pilot.needs
        ],
    }


def plan_lines(found: Plan, lang: str = "en") -> list[str]:
    """Return a plan in words, one line a variant and metric, then the whole."""
    from sim.progress import clock

    pilot = found.pilot.games
    lines = [need.words(lang) for need in found.pilot.needs]
    if found.games is None or found.seconds is None:
        lines.append(
            Text(
                f"{pilot:,} games do not tell; try a larger --pilot, or for a rare event chehuzi rare",
                f"试跑 {pilot:,} 局无从估计；可加大 --pilot，稀有事件可用 chehuzi rare",
            )[lang]
        )
    else:
        many = len(found.labels)
        lines.append(
            Text(
                f"in all about {_rounded(found.games):,} games"
                + (f" for each of {many} variants" if many > 1 else "")
                + f", {clock(found.seconds)} (m:ss) at {found.speed:,.0f} games/s",
                f"总计约 {_rounded(found.games):,} 局"
                + (f"（{many} 种规则各）" if many > 1 else "")
                + f"，约 {clock(found.seconds)}（分:秒），{found.speed:,.0f} 局/秒",
            )[lang]
        )
    tags = ", ".join(f"{label} #{digest[:8]}" for label, digest in found.digests.items())
    lines.append(
        Text(
            f"pilot: {pilot:,} games, seed {found.seed}; {tags}",
            f"试跑：{pilot:,} 局，种子 {found.seed}；{tags}",
        )[lang]
    )
    return lines
