"""Plots that compare: paired differences across variants, and a metric over two keys."""

from __future__ import annotations

from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.compare_words import _CONTEXT as CONTEXT
from analysis.metrics import METRICS, UNITS, metric
from analysis.plot_style import INK, MUTED, figure, plain, series
from analysis.plots_games import say, variants_of


def plot_differences(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Forest plot of paired differences: a panel a metric, a row a variant, intervals that hold together.

    Parameters
    ----------
    frame : DataFrame
        From :func:`analysis.compare.compare`. Full markers: a difference is shown; hollow ones: it is not.

    Returns
    -------
    Figure
    """
    held = frame.filter(pl.col("difference").is_not_null())
    keys = [key for key in METRICS if key in set(held["metric"].to_list())][:12]
    names = variants_of(held)
    columns = 2 if len(keys) > 1 else 1
    rows = max(1, -(-len(keys) // columns))
    height = 0.5 + rows * (0.62 + 0.22 * len(names))
    with figure(lang, height, rows, ncols=columns, sharey=True) as (made, axes, look):
        styles = series(dict.fromkeys([*held["base"].to_list(), *names]))
        labels = look.labels(names)
        for panel, key in zip(axes, keys, strict=False):
            item = metric(key)
            factor = 100.0 if item.unit == "share" else 1.0
            for number, name in enumerate(names):
                row = held.filter((pl.col("variant") == name) & (pl.col("metric") == key)).to_dicts()
                if row:
                    _one(panel, number, row[0], factor, styles[name])
            panel.axvline(0, color=INK, linewidth=0.9)
            title = item.name[look.lang]
            if item.section in CONTEXT:
                title = CONTEXT[item.section][look.lang].format(title)
            unit = say(look, "points", "个百分点") if item.unit == "share" else UNITS[item.unit][look.lang]
            text = f"{title} ({unit})" if look.lang == "en" else f"{title}（{unit}）"
            panel.set_title(text.replace(" (", "\n(") if len(text) > 30 else text, fontsize=8.5)
            panel.grid(axis="y", visible=False)
            panel.xaxis.set_major_locator(MaxNLocator(4))
            panel.tick_params(labelsize=8.5)
        for panel in axes[len(keys) :]:
            panel.set_visible(False)
        for panel in axes[: len(keys)]:
            panel.set_yticks(range(len(names)), [labels[name] for name in names])
            panel.set_ylim(len(names) - 0.4, -0.6)
    return made


def _one(panel: Any, place: int, row: dict[str, Any], factor: float, how: dict[str, Any]) -> None:
    value = row["difference"] * factor
    low, high = (value if row[name] is None else row[name] * factor for name in ("joint_low", "joint_high"))
    decided = row["decision"] in ("higher", "lower")
    panel.errorbar(
        [value],
        [place],
        xerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
        color=how["color"],
        marker=how["marker"],
        markerfacecolor=how["color"] if decided else "white",
        capsize=2.5,
        elinewidth=1.4,
    )


def plot_grid(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Heat map of a metric over two keys, each cell with its value and half-width.

    Parameters
    ----------
    frame : DataFrame
        ``x_key, y_key, x, y, metric, value, low, high``; see :func:`analysis.plot_data.grid_frame`.
    """
    first = frame.row(0, named=True)
    item = metric(first["metric"])
    factor = 100.0 if item.unit == "share" else 1.0
    xs, ys = (frame[name].unique(maintain_order=True).to_list() for name in ("x", "y"))
    cells = {(row["x"], row["y"]): row for row in frame.iter_rows(named=True)}
    table = [
        [
            float("nan")
            if (cell := cells.get((x, y))) is None or cell["value"] is None
            else cell["value"] * factor
            for x in xs
        ]
        for y in ys
    ]
    with figure(lang, 1.3 + 0.5 * len(ys)) as (made, axes, look):
        panel = axes[0]
        image = panel.imshow(table, cmap="cividis", aspect="auto")
        least, most = image.get_clim()
        for down, y in enumerate(ys):
            for across, x in enumerate(xs):
                row = cells.get((x, y))
                if row is None or row["value"] is None:
                    continue
                value = row["value"] * factor
                bright = most > least and (value - least) / (most - least) > 0.55
                ends = [row[name] for name in ("low", "high")]
                half = "" if None in ends else f"\n± {(ends[1] - ends[0]) / 2 * factor:.2g}"
                panel.text(
                    across, down, f"{value:.3g}{half}", ha="center", va="center", fontsize=8.5,
                    color="black" if bright else "white",
                )  # fmt: skip
        panel.set_xticks(range(len(xs)), [plain(x) for x in xs])
        panel.set_yticks(range(len(ys)), [plain(y) for y in ys])
        panel.set_xlabel(first["x_key"])
        panel.set_ylabel(first["y_key"])
        panel.grid(visible=False)
        unit = UNITS[item.unit][look.lang]
        panel.set_title(
            f"{item.name[look.lang]} ({unit})" if look.lang == "en" else f"{item.name[look.lang]}（{unit}）"
        )
        bar = made.colorbar(image, ax=panel)
        bar.outline.set_edgecolor(MUTED)
    return made
