"""Every plot of some runs at once, as figures or as files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from analysis.plot_data import Entry, frames_of
from analysis.plot_style import to_svg
from analysis.plots_compare import plot_differences, plot_grid
from analysis.plots_games import (
    plot_length,
    plot_names,
    plot_outcome,
    plot_payouts,
    plot_scores,
    plot_swings,
    plot_wangs,
    plot_wins,
)
from sim.parts import write_atomic
from sim.store import Run

__all__ = ["PLOTS", "all_plots", "draw_plots", "frames_of"]

PLOTS: dict[str, tuple[str, Callable[[pl.DataFrame, str], Figure]]] = {
    "outcome": ("summary", plot_outcome),
    "differences": ("differences", plot_differences),
    "scores": ("scores", plot_scores),
    "names": ("summary", plot_names),
    "wangs": ("wangs", plot_wangs),
    "payouts": ("payouts", plot_payouts),
    "wins": ("wins", plot_wins),
    "length": ("length", plot_length),
    "swings": ("swings", plot_swings),
    "grid": ("grid", plot_grid),
}
"""Plot to the frame that it shows and the function that draws it."""


def draw_plots(frames: Mapping[str, pl.DataFrame], lang: str = "en") -> Iterator[tuple[str, Figure]]:
    """Draw every plot that the frames have data for.

    Parameters
    ----------
    frames : mapping
        From :func:`frames_of`.
    lang : {"en", "zh"}

    Yields
    ------
    str, Figure
    """
    for name, (wanted, draw) in PLOTS.items():
        frame = frames.get(wanted)
        if frame is None or frame.is_empty():
            continue
        if name == "wangs" and frame["wangs"].max() == 0:
            continue
        if name == "payouts" and frame["amount"].max() == 0:
            continue
        yield name, draw(frame, lang)


def all_plots(
    runs: Sequence[Run | str | Path] | Sequence[Entry],
    folder: str | Path,
    lang: str = "en",
    level: float = 0.95,
) -> list[Path]:
    """Draw every plot of some runs into a folder, as SVG (text as text) and PNG.

    Parameters
    ----------
    runs : sequence of Run or path
    folder : path
        Made where it is not there.
    lang : {"en", "zh"}
    level : float
        Of intervals.

    Returns
    -------
    list of Path
        What was written.
    """
    return write_plots(frames_of(runs, level), folder, lang)


def write_plots(frames: Mapping[str, pl.DataFrame], folder: str | Path, lang: str = "en") -> list[Path]:
    """Write the plots of frames into a folder; see :func:`all_plots`."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, plot in draw_plots(frames, lang):
        picture = io.BytesIO()
        plot.savefig(picture, format="png", dpi=150)
        vector = '<?xml version="1.0" encoding="utf-8"?>\n' + to_svg(plot)
        for ending, data in (("svg", vector.encode()), ("png", picture.getvalue())):
            write_atomic(target / f"{name}.{ending}", data)
            written.append(target / f"{name}.{ending}")
    return written
