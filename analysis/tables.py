"""A summary as a table for reading, as CSV, and as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Sequence
from typing import IO, Any

import polars as pl
from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text as RichText

from analysis.metrics import METRICS, SECTIONS, UNITS, Metric, Text

WIDTH = 100
"""Columns of a table that does not go to a terminal."""

ASYMMETRY = 0.1
"""An interval is shown as ± when its sides differ from their mean by at most this share."""

_NOT_APPLICABLE = "–"

_WORDS: dict[str, Text] = {
    "all_equal": Text(" (all equal)", "（皆同）"),
    "too_few": Text(" (too few)", "（太少）"),
    "games": Text("n = {n}", "n = {n}"),
    "own_n": Text("{cell} (n = {n})", "{cell}（n = {n}）"),
    "caption": Text(
        "{level} intervals: a ± b (the longer side) or [low, high]; “<”: nothing seen, "
        "one-sided {level} bound; “–”: does not apply; n is in the headings.",
        "{level} 置信区间：a ± b（取较长一侧）或 [下限, 上限]；"
        "“<”（或“> … 局一次”）表示未出现，取单侧 {level} 界限；“–”表示不适用；n 见各节标题行。",
    ),
    "sessions": Text(
        "Games are dependent within sessions: batch means over {units} sessions.",
        "同一场内各局相互关联：按 {units} 场作批均值。",
    ),
    "seed": Text("Seed {seed}.", "种子 {seed}。"),
}


# --- numbers --------------------------------------------------------------------------------------


def _plain(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def _digits(width: float, value: float) -> int:
    """Decimals that show two figures of an interval's half-width, three of a value without one."""
    scale, figures = (width, 2) if width > 0 else (abs(value), 3)
    if scale <= 0:
        return 0
    return min(8, max(0, figures - 1 - math.floor(math.log10(scale))))


def _alike(below: float, above: float) -> bool:
    """Whether the two sides of an interval are near enough for one number to stand for both."""
    return abs(below - above) <= ASYMMETRY * (below + above)


def measure(value: float, low: float | None, high: float | None, whole: bool = False) -> str:
    """Value with interval: ``a ± b``, b the longer side, or ``a [low, high]`` when the sides differ much."""
    if low is None or high is None:
        base = _plain(value, 0 if whole else _digits(0, value))
        if low is None and high is None:
            return base
        bound = f"≥ {_plain(low, 0)}" if low is not None else f"≤ {_plain(high or 0.0, 0)}"
        return f"{base} [{bound}]"
    below, above = value - low, high - value
    digits = 0 if whole else _digits((high - low) / 2, value)
    if below == above if whole else _alike(below, above):
        return f"{_plain(value, digits)} ± {_plain(max(below, above), digits)}"
    return f"{_plain(value, digits)} [{_plain(low, digits)}, {_plain(high, digits)}]"


def format_difference(
    value: float, low: float | None, high: float | None, item: Metric, signed: bool = False
) -> str:
    """Difference of a metric with its interval, in points where the metric is a share.

    Parameters
    ----------
    value : float
        The difference.
    low, high : float or None
        Ends of its interval.
    item : Metric
        The metric.
    signed : bool
        Put a + before a positive difference.
    """
    factor = 100.0 if item.unit == "share" else 1.0
    ends = [None if end is None else end * factor for end in (low, high)]
    text = measure(value * factor, ends[0], ends[1], whole=item.kind == "quantile")
    return f"+{text}" if signed and value > 0 else text


def _figures(value: float, figures: int) -> str:
    """Print a positive number with so many significant figures, and without an exponent."""
    rounded = float(f"{value:.{figures - 1}e}")
    return f"{rounded:.{max(0, figures - 1 - math.floor(math.log10(rounded)))}f}"


def _one_in(value: float, lang: str, figures: int = 3) -> str:
    """N of "1 in N"; from 10,000 on in thousands (k, 万) and so on."""
    steps = ((1e4, "万"), (1e8, "亿")) if lang == "zh" else ((1e3, "k"), (1e6, "M"), (1e9, "G"))
    unit, divisor = "", 1.0
    for limit, name in steps:
        if value >= max(limit, 1e4):
            unit, divisor = name, limit
    return _figures(value / divisor, figures) + unit


def _rare(value: float, low: float | None, high: float | None, method: str, lang: str) -> str:
    if method == "upper" and high:
        bound = _one_in(1 / high, lang)
        return f"> {bound} 局一次" if lang == "zh" else f"< 1 in {bound}"
    if value <= 0:
        return "0"
    middle = 1 / value
    if not low or not high:
        text = _one_in(middle, lang)
    else:
        least, most = 1 / high, 1 / low
        if _alike(middle - least, most - middle) and most < 1e4:
            text = measure(middle, least, most).replace(",", "")
        else:
            # So wide an interval leaves nothing for a third figure to say.
            text = f"{_one_in(middle, lang, 2)} [{_one_in(least, lang, 2)}–{_one_in(most, lang, 2)}]"
    return f"{text} 局一次" if lang == "zh" else f"1 in {text}"


def format_cell(row: dict[str, Any], item: Metric, lang: str = "en") -> str:
    """Value and interval of one row of a summary as text.

    Parameters
    ----------
    row : dict
        A row of a summary.
    item : Metric
        Its metric.
    lang : {"en", "zh"}
        Language.
    """
    value, low, high, method = row["value"], row["low"], row["high"], row["method"]
    if value is None:
        return _NOT_APPLICABLE
    if item.rare:
        text = _rare(value, low, high, method, lang)
    elif item.unit == "share":
        if method == "upper" and high is not None:
            return f"< {high * 100:.2g} %"
        if method == "lower" and low is not None:
            return f"> {_plain(low * 100, _digits((1 - low) * 100, 1.0))} %"
        bounds = [None if end is None else end * 100 for end in (low, high)]
        text = f"{measure(value * 100, bounds[0], bounds[1])} %"
    else:
        text = measure(value, low, high, whole=item.kind == "quantile")
    if low is None and high is None:
        same = item.kind in ("mean", "payout", "spread") and row["units"] > 1
        text += _WORDS["all_equal" if same else "too_few"][lang]
    return text


# --- the table ------------------------------------------------------------------------------------


def _sections(summary: pl.DataFrame) -> list[tuple[str, list[Metric]]]:
    present = set(summary["metric"].to_list())
    grouped = []
    for section in SECTIONS:
        items = [item for item in METRICS.values() if item.section == section and item.key in present]
        if items:
            grouped.append((section, items))
    return grouped


def _heading(section: str, items: list[Metric], lang: str) -> str:
    units = {item.unit for item in items}
    title = SECTIONS[section][lang]
    if len(units) == 1 and (unit := units.pop()) in ("money", "wangs") and lang == "zh":
        title += f" · {UNITS[unit][lang]}"
    return title


def _common_n(rows: list[dict[str, Any]]) -> int:
    """Return the n that most rows of a section share; the greater one of two as frequent."""
    counts: dict[int, int] = {}
    for row in rows:
        counts[row["n"]] = counts.get(row["n"], 0) + 1
    return max(counts, key=lambda n: (counts[n], n))


def render_table(summary: pl.DataFrame, lang: str = "en", width: int = WIDTH) -> RenderableType:
    """Lay a summary out for reading: variants side by side, one section a subject.

    Parameters
    ----------
    summary : DataFrame
        From :func:`analysis.summary.summarise`.
    lang : {"en", "zh"}
        Language.
    width : int
        Columns to fit into; variants that do not fit go into a further table.

    Returns
    -------
    RenderableType
        For a rich console; :func:`print_table` prints it.
    """
    labels = summary["variant"].unique(maintain_order=True).to_list()
    rows = {(row["variant"], row["metric"]): row for row in summary.iter_rows(named=True)}
    sections = _sections(summary)
    names = [item.name[lang] for _, items in sections for item in items]
    headings = [_heading(section, items, lang) for section, items in sections]
    first = max(map(cell_len, (*names, *headings)), default=0) + 2
    lines: list[tuple[bool, str, dict[str, str]]] = []
    for (_, items), heading in zip(sections, headings, strict=True):
        usual = {}
        for label in labels:
            held = [rows[label, item.key] for item in items if (label, item.key) in rows]
            usual[label] = _common_n(held) if held else 0
        counts = {label: _WORDS["games"][lang].format(n=f"{n:,}") for label, n in usual.items()}
        lines.append((True, heading, counts))
        for item in items:
            cells = {}
            for label in labels:
                row = rows.get((label, item.key))
                if row is None:
                    continue
                cell = format_cell(row, item, lang)
                if row["n"] != usual[label] and row["value"] is not None:
                    cell = _WORDS["own_n"][lang].format(cell=cell, n=f"{row['n']:,}")
                cells[label] = cell
            lines.append((False, f"  {item.name[lang]}", cells))
    digests = {row["variant"]: row["digest"] for row in rows.values()}
    parts: list[RenderableType] = []
    batch: list[str] = []
    used = first
    for label in labels:
        needed = 2 + max(cell_len(text) for text in (label, *(cells.get(label, "") for _, _, cells in lines)))
        if batch and used + needed > width:
            parts += [_one_table(batch, lines, digests), RichText()]
            batch, used = [], first
        batch.append(label)
        used += needed
    if batch:
        parts.append(_one_table(batch, lines, digests))
    parts += [RichText(), RichText(_caption(summary, lang), style="dim")]
    return Group(*parts)


def _one_table(
    labels: list[str], lines: list[tuple[bool, str, dict[str, str]]], digests: dict[str, str | None]
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 2), pad_edge=False, show_edge=False)
    table.add_column("", no_wrap=True)
    for label in labels:
        digest = digests.get(label)
        head = RichText(label, style="bold cyan")
        if digest:
            head.append(f"\n#{digest[:8]}", style="dim")
        table.add_column(head, justify="right")
    for number, (is_heading, name, cells) in enumerate(lines):
        if is_heading and number:
            table.add_section()
        style = "bold" if is_heading else ""
        shown = [RichText(cells.get(label, ""), style="dim" if is_heading else "") for label in labels]
        table.add_row(RichText(name, style=style), *shown)
    return table


def _caption(summary: pl.DataFrame, lang: str) -> str:
    if summary.is_empty():
        return ""
    row = summary.row(0, named=True)
    level = f"{row['level'] * 100:g} %"
    parts = [_WORDS["caption"][lang].format(level=level)]
    batched = summary.filter(pl.col("method") == "batch")["units"].to_list()
    if batched:
        parts.append(_WORDS["sessions"][lang].format(units=f"{max(batched):,}"))
    if row["seed"] is not None:
        parts.append(_WORDS["seed"][lang].format(seed=row["seed"]))
    return " ".join(parts) if lang == "en" else "".join(parts)


def make_console(file: IO[str] | None = None, width: int = WIDTH, markup: bool = True) -> Console:
    """Where tables are printed: a terminal at its width and in colour, anything else plainly at ``width`` columns.

    Parameters
    ----------
    file : text file, optional
        By default stdout.
    width : int
        Columns where it is no terminal.
    markup : bool
        Whether rich's markup in texts is read.
    """
    stream = file if file is not None else sys.stdout
    console = Console(file=stream, highlight=False, markup=markup)
    if console.is_terminal:
        return console
    return Console(
        file=stream, width=width, no_color=True, highlight=False, markup=markup, legacy_windows=False
    )


def print_table(summary: pl.DataFrame, lang: str = "en", file: IO[str] | None = None) -> None:
    """Print a summary: at a terminal's width and in colour, elsewhere plainly at 100 columns."""
    console = make_console(file)
    console.print(render_table(summary, lang, console.width))


# --- files ----------------------------------------------------------------------------------------


def _csv_value(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def to_csv(summary: pl.DataFrame) -> str:
    """Write a summary as CSV: six figures a number, empty where there is none; equal data, equal bytes."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(summary.columns)
    for row in summary.iter_rows():
        writer.writerow([_csv_value(value) for value in row])
    return stream.getvalue()


def to_json(summary: pl.DataFrame, indent: int | None = 1) -> str:
    """Write a summary as one JSON document.

    Returns
    -------
    str
        ``{"level", "seed", "variants": {label: {"digest", "metrics": {key: {…}}}}}``; a metric has value,
        low, high, n, events, one_in, unit, kind, method, units and its name in English and Chinese.
    """
    variants: dict[str, Any] = {}
    level: float | None = None
    seed: int | None = None
    for row in summary.iter_rows(named=True):
        level, seed = row.pop("level"), row.pop("seed")
        held = variants.setdefault(row.pop("variant"), {"digest": row.pop("digest"), "metrics": {}})
        row.pop("digest", None)
        key = row.pop("metric")
        known = METRICS.get(key)
        name = {"name": {"en": known.name.en, "zh": known.name.zh}} if known else {}
        held["metrics"][key] = name | row
    return json.dumps(
        {"level": level, "seed": seed, "variants": variants},
        ensure_ascii=False,
        indent=indent,
        allow_nan=False,
    )


def print_rules(rules: Sequence[Any], lang: str = "en", file: IO[str] | None = None) -> None:
    """Print the table of rules: number, name, how sure, keys.

    Parameters
    ----------
    rules : sequence of Rule
        See :mod:`sim.rulebook`.
    """
    console = Console(file=file, highlight=False)
    console.width = max(console.width, 104)  # the longest keys must not break
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    heads = {"en": ("rule", "name", "中文", "mark", "keys"), "zh": ("条", "名称", "中文", "依据", "键")}[lang]
    for head in heads:
        table.add_column(head, overflow="fold")
    for rule in rules:
        table.add_row(rule.number, rule.name, rule.zh, rule.mark(lang), "\n".join(rule.keys))
    console.print(table)


def print_rule(rule: Any, lang: str = "en", file: IO[str] | None = None) -> None:
    """Print one rule in full: the Chinese text, our reading, keys, how sure, an example."""
    console = Console(file=file, highlight=False, markup=False)
    zh = lang == "zh"
    console.print(f"{rule.number} {rule.name} {rule.zh}", style="bold")
    if rule.quote:
        console.print(f"“{rule.quote}”", style="italic")
    console.print(f"{rule.summary_zh if zh else rule.summary_en} [{rule.mark(lang)}]")
    if rule.keys:
        console.print(("键：" if zh else "Keys: ") + ", ".join(rule.keys))
    console.print(("例：" if zh else "Example: ") + (rule.example_zh if zh else rule.example_en))
