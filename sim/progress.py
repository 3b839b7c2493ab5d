"""Progress on stderr: a bar on a terminal or in Jupyter, a plain line every few seconds elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PLAIN_SECONDS = 5.0
"""Time between plain lines."""
RATE_SECONDS = 20.0
"""Games a second are taken over this long, so that the time left follows the present speed."""
_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Snapshot:
    """How far a run is.

    Attributes
    ----------
    label : str
        Variant in play.
    done, total : int
        Games of all variants, games found on resuming included.
    games, draw_games : int
        Games of this variant, and how many of them were draw games.
    """

    label: str
    done: int
    total: int
    games: int
    draw_games: int


class Progress(Protocol):
    """What :func:`sim.run.simulate` tells about its work; anything with these four methods will do."""

    def message(self, text: str) -> None:
        """Say something once."""

    def start(self, done: int, total: int) -> None:
        """Begin to play; ``done`` games are there already."""

    def update(self, now: Snapshot) -> None:
        """Take note of a finished part."""

    def close(self) -> None:
        """Leave the screen tidy; may be called twice."""


def half_width(count: int, n: int) -> float:
    """Half the width of the 95 % Wilson interval of a rate ``count / n``.

    Parameters
    ----------
    count, n : int
        Events and trials.

    Returns
    -------
    float
        0.5 when there is no trial.
    """
    if n <= 0:
        return 0.5
    rate = count / n
    square = _Z95 * _Z95
    return _Z95 * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n)) / (1 + square / n)


def clock(seconds: float) -> str:
    """Seconds as ``m:ss`` or ``h:mm:ss``."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


class Speed:
    """Games a second over the last while, by a clock that no time change moves."""

    def __init__(self, done: int, now: float | None = None) -> None:
        first = time.monotonic() if now is None else now
        self._seen: deque[tuple[float, int]] = deque([(first, done)])

    def add(self, done: int, now: float | None = None) -> None:
        """Note that ``done`` games are finished."""
        moment = time.monotonic() if now is None else now
        self._seen.append((moment, done))
        while len(self._seen) > 2 and self._seen[1][0] < moment - RATE_SECONDS:
            self._seen.popleft()

    def rate(self) -> float:
        """Games a second; 0 while nothing is known."""
        (begin, before), (end, after) = self._seen[0], self._seen[-1]
        return (after - before) / (end - begin) if end > begin else 0.0


def describe(now: Snapshot, rate: float) -> tuple[str, str, str]:
    """Words for speed, time left and precision of the draw rate; empty where nothing is known yet."""
    speed = f"{rate:,.0f} games/s" if rate > 0 else ""
    left = f"{clock((now.total - now.done) / rate)} left" if rate > 0 else ""
    precision = ""
    if now.games:
        width = half_width(now.draw_games, now.games)
        precision = f"draw games {now.draw_games / now.games:.2%} ± {width:.2%}"
    return speed, left, precision


class QuietProgress:
    """Says nothing."""

    def message(self, text: str) -> None:
        """Say nothing."""

    def start(self, done: int, total: int) -> None:
        """Say nothing."""

    def update(self, now: Snapshot) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Say nothing."""


class PlainProgress:
    """A line every few seconds and one at the end.

    Parameters
    ----------
    seconds : float
        Time between lines.
    """

    def __init__(self, seconds: float = PLAIN_SECONDS) -> None:
        self._stream: TextIO | None = sys.stderr
        self._seconds = seconds
        self._speed = Speed(0)
        self._said = time.monotonic()

    def _say(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            print(text, file=self._stream, flush=True)
        except (OSError, ValueError):  # nobody listens any more: no reason to lose the run
            self._stream = None

    def message(self, text: str) -> None:
        """Print a line."""
        self._say(text)

    def start(self, done: int, total: int) -> None:
        """Start the clock."""
        self._speed = Speed(done)
        self._said = time.monotonic()

    def update(self, now: Snapshot) -> None:
        """Print a line when the last one is old enough or all is done."""
        self._speed.add(now.done)
        moment = time.monotonic()
        if moment - self._said < self._seconds and now.done < now.total:
            return
        self._said = moment
        parts = [part for part in describe(now, self._speed.rate()) if part]
        share = f"{now.done / now.total:.0%}" if now.total else "100%"
        self._say(
            f"{now.label}: {now.done:,} of {now.total:,} games ({share})" + "".join(f", {p}" for p in parts)
        )

    def close(self) -> None:
        """Nothing is left open."""


class BarProgress:
    """A bar by rich, on a terminal or in Jupyter.

    Parameters
    ----------
    console : rich.console.Console
        Where to draw, normally stderr.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._speed = Speed(0)
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def message(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, markup=False, highlight=False)

    def start(self, done: int, total: int) -> None:
        """Draw the bar."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._speed = Speed(done)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}", markup=False),
            TextColumn("{task.fields[left]}", markup=False),
            TextColumn("{task.fields[precision]}", markup=False),
            console=self._console,
            refresh_per_second=5,
        )
        self._task = self._bar.add_task("", total=total, completed=done, speed="", left="", precision="")
        self._bar.start()

    def update(self, now: Snapshot) -> None:
        """Move the bar."""
        self._speed.add(now.done)
        if self._bar is None or self._task is None:
            return
        speed, left, precision = describe(now, self._speed.rate())
        self._bar.update(
            self._task,
            description=now.label,
            completed=now.done,
            speed=speed,
            left=left,
            precision=precision,
        )

    def close(self) -> None:
        """Stop drawing; the bar stays on the screen as it is."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _jupyter_can_draw() -> bool:
    """Whether rich can redraw in a notebook; without ipywidgets it only warns."""
    from importlib.util import find_spec

    return find_spec("ipywidgets") is not None


def make_progress(quiet: bool = False) -> Progress:
    """Choose the progress that suits where stderr goes.

    Parameters
    ----------
    quiet : bool
        Say nothing at all.

    Returns
    -------
    Progress
    """
    if quiet:
        return QuietProgress()
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        return BarProgress(console) if _jupyter_can_draw() else PlainProgress()
    # Not console.is_terminal: FORCE_COLOR makes that true for a log file, too.
    if sys.stderr.isatty() and not console.is_dumb_terminal:
        return BarProgress(console)
    return PlainProgress()
