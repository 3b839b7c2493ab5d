"""One look for all plots: colours that stand apart for every eye and in grey, fonts with Chinese, text kept as text."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure

from analysis.metrics import Text

INK, MUTED, GRID = "#1c2430", "#5a6472", "#d8dde4"

SERIES = ("#1b3a6b", "#d55e00", "#56b4e9", "#8e4585", "#007a5a", "#e6a700")
"""Colours of variants; the first three differ most in grey, markers and lines tell the others apart."""
DARK = {
    INK: "#e6eaf0",
    MUTED: "#a3adba",
    GRID: "#3a424e",
    **dict(zip(SERIES, ("#e9edfa", "#ff8a3d", "#4aa3df", "#d68ad0", "#3fc79a", "#f2c14e"), strict=True)),
}
"""What each colour becomes on a dark page."""

MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (8, 2)))

WIDTH = 5.4
"""Inches: two figures stand side by side on a page, one fits a phone."""

MAX_VARIANTS = len(SERIES)
"""A plot with more curves than this cannot be read; the first ones are shown."""

NO_FONT = Text(
    "No Chinese font was found: plots are labelled in English. Install one (such as Noto Sans CJK), or the extra "
    "chehuzi[zh].",
    "未找到中文字体，图中文字改用英文。请安装中文字体（如 Noto Sans CJK），或安装可选组件 chehuzi[zh]。",
)

_FAMILIES = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Heiti SC",
    "STHeiti",
    "SimHei",
    "DengXian",
    "Droid Sans Fallback",
    "Noto Sans CJK JP",
    "Arial Unicode MS",
)
_FILES = re.compile(
    r"wqy|cjk|notosanssc|sourcehan|pingfang|hiragino|msyh|simhei|stheiti|deng|droidsansfallback", re.I
)
_SAMPLE = "扯胡子庄闲荒醒王霸囤番偎跑碰钓闯炸醒贰叁肆伍陆柒捌玖拾赔"


class FontWarning(UserWarning):
    """Chinese was asked for and no font has it."""


@cache
def _covered(path: str) -> frozenset[int]:
    return frozenset(font_manager.get_font(path).get_charmap())


def _named(family: str) -> str | None:
    for entry in font_manager.fontManager.ttflist:
        if entry.name == family and all(ord(char) in _covered(entry.fname) for char in _SAMPLE):
            return entry.fname
    return None


def _system_font() -> str | None:
    """Family of a Chinese font of the system, None where there is none."""
    for rescan in (False, True):
        if rescan:  # matplotlib's list of fonts may be older than the font
            known = {entry.fname for entry in font_manager.fontManager.ttflist}
            for path in font_manager.findSystemFonts():
                if path not in known and _FILES.search(Path(path).name):
                    try:
                        font_manager.fontManager.addfont(path)
                    except (OSError, RuntimeError):
                        continue
        for family in _FAMILIES:
            if _named(family):
                return family
    return None


def _extra_font() -> str | None:
    """Family of the font of the extra ``zh``, None where it is not installed."""
    try:
        from pylopdf_fonts_zh_cn import sans_path
    except ImportError:
        return None
    font_manager.fontManager.addfont(str(sans_path()))
    return str(font_manager.fontManager.ttflist[-1].name)


@cache
def chinese_font() -> str | None:
    """Family name of a font with Chinese: the system's, else that of the extra ``zh``; None without both."""
    return _system_font() or _extra_font()


@dataclass(frozen=True)
class Look:
    """Language and fonts that plots really have.

    Attributes
    ----------
    lang : {"en", "zh"}
        Language of labels; ``en`` where no font has Chinese.
    families : tuple of str
        Fonts, the first one first.
    note : Text or None
        What to tell the reader when it is not what was asked for.
    """

    lang: str
    families: tuple[str, ...]
    note: Text | None = None

    def printable(self, text: str) -> bool:
        """Whether the fonts have every character of a text."""
        files = [font_manager.findfont(family) for family in self.families]
        return all(any(ord(char) in _covered(file) for file in files) for char in text if char != "\n")

    def labels(self, names: Sequence[str]) -> dict[str, str]:
        """Name to what a plot shows for it: itself, or a number where a font lacks a character of it."""
        return {
            name: plain(name) if self.printable(name) else f"variant {number}"
            for number, name in enumerate(names, start=1)
        }


def plain(text: str) -> str:
    """Keep matplotlib from reading a text as mathematics."""
    return text.replace("$", r"\$")


def look_for(lang: str) -> Look:
    """Fonts for a language.

    Raises
    ------
    ValueError
        For a language other than ``en`` and ``zh``.
    """
    if lang not in ("en", "zh"):
        raise ValueError(f"lang is en or zh, not {lang!r}")
    font = chinese_font()
    if lang == "en":
        return Look("en", ("DejaVu Sans",) if font is None else ("DejaVu Sans", font))
    if font is None:
        return Look("en", ("DejaVu Sans",), NO_FONT)
    return Look("zh", (font, "DejaVu Sans"))


def style(look: Look) -> dict[Any, Any]:
    """Matplotlib settings of the one style."""
    return {
        "font.family": list(look.families),
        "font.size": 9.5,
        "axes.titlesize": 10.5,
        "axes.titlelocation": "left",
        "axes.titleweight": "normal",
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.7,
        "text.color": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "lines.linewidth": 1.6,
        "lines.markersize": 5,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "white",
        **_AS_TEXT,
    }


_AS_TEXT: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "chehuzi"}


class Plot(Figure):
    """A figure that keeps text as text when it is saved as SVG, and shows itself in a notebook."""

    def savefig(self, fname: Any, **kwargs: Any) -> None:
        """Save; see :meth:`matplotlib.figure.Figure.savefig`."""
        with mpl.rc_context(_AS_TEXT):
            if str(kwargs.get("format") or fname).endswith("svg"):
                kwargs.setdefault("metadata", {"Date": None})
            super().savefig(fname, **{"facecolor": "white"} | kwargs)

    def _repr_svg_(self) -> str:
        return to_svg(self)


@contextmanager
def figure(
    lang: str, height: float, rows: int = 1, **subplots: Any
) -> Iterator[tuple[Plot, list[Any], Look]]:
    """Begin a figure in the style; within the block everything made has it.

    Parameters
    ----------
    lang : {"en", "zh"}
    height : float
        Inches.
    rows : int
        Panels, one above the other.

    Yields
    ------
    Plot, list of Axes, Look
    """
    look = look_for(lang)
    if look.note is not None:
        warnings.warn(look.note.en, FontWarning, stacklevel=4)
    with mpl.rc_context(style(look)):
        made = Plot(figsize=(WIDTH, height), layout="constrained")
        axes = made.subplots(rows, squeeze=False, **subplots).flatten().tolist()
        yield made, axes, look


def to_svg(plot: Figure, prefix: str = "", themed: bool = False) -> str:
    """Write a figure as an SVG element.

    Parameters
    ----------
    plot : Figure
    prefix : str
        Put before every id, so that several stand on one page.
    themed : bool
        Put CSS variables in place of the colours, ``--`` and the hex digits, for pages light and dark.

    Returns
    -------
    str
        From ``<svg`` on; text is text.
    """
    stream = io.StringIO()
    with mpl.rc_context(_AS_TEXT):
        plot.savefig(stream, format="svg", facecolor="none", transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    if prefix:
        text = re.sub(r'\bid="', f'id="{prefix}-', text)
        text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", text)
    if themed:
        for colour in DARK:
            text = text.replace(colour, f"var(--c{colour[1:]})")
    return text


def theme_css() -> tuple[str, str]:
    """CSS variables of :func:`to_svg` for light pages and for dark ones."""
    light = "".join(f"--c{name[1:]}:{name};" for name in DARK)
    return light, "".join(f"--c{name[1:]}:{value};" for name, value in DARK.items())


def series(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker and line of each variant."""
    return {
        name: {
            "color": SERIES[number % len(SERIES)],
            "marker": MARKERS[number % len(MARKERS)],
            "linestyle": LINES[number % len(LINES)],
        }
        for number, name in enumerate(names)
    }
