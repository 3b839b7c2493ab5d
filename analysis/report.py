"""One page about some runs, for a meeting: a self-contained HTML file, with Markdown and CSV beside it.

Everything is computed once; :func:`page_of` then says it in one language.
"""

from __future__ import annotations

import csv
import io
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from analysis.compare_words import full_name, verdict, verdicts
from analysis.load import LoadError
from analysis.metrics import FAN_TEXT, METRICS, UNITS, Text
from analysis.plot_captions import TITLES, captions
from analysis.plot_data import Entry, entries_of, frames_of, source_of
from analysis.plot_style import FontWarning, look_for, theme_css, to_svg
from analysis.plots import draw_plots
from analysis.report_words import WORDS
from analysis.tables import format_cell, measure, to_csv
from analysis.tails import tails
from sim.manifest import printable, tool_version
from sim.parts import write_atomic

KEY_METRICS = (
    "draw_rate",
    *(f"win_share_{role}" for role in ("dealer", "next", "third")),
    "own_draw_share",
    "score_dealer",
    "dealer_advantage",
    "transfers",
    "sd_score",
    "huxi_mean",
    "tun_mean",
    "fan_mean",
    "score_mean",
    "wang_payout",
    "draws",
)

PAR: dict[str, tuple[str, ...]] = {
    "frequency": ("heavenly_rate", *(f"rate_{name}" for name in FAN_TEXT), "rate_plain"),
    "transfers": ("share_win", "share_xing", "share_wang", *(f"share_{name}" for name in FAN_TEXT)),
    "volatility": ("sd_score", *(f"sd_score_{role}" for role in ("dealer", "next", "third", "sitter"))),
    "draws": ("wang_payout_draw", "draw_one_holder"),
}
"""The PAR sheet, a heading and its metrics."""

ANSWERS = ("draw_rate", "dealer_advantage", "sd_score")
"""What the answer speaks of, a sentence each."""

_LANGS = ("en", "zh")


@dataclass(frozen=True)
class Table:
    """A table as text.

    Attributes
    ----------
    head : list of str
        First the corner.
    rows : list of list of str
        A row with its name alone is a heading.
    note : str
        What is said below it.
    """

    head: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """What a report rests on, computed once for both languages."""

    entries: list[Entry]
    frames: dict[str, pl.DataFrame]
    tails: pl.DataFrame | None
    level: float
    question: str | None
    command: str
    made: datetime

    @property
    def summary(self) -> pl.DataFrame:
        """The summary of all variants."""
        return self.frames["summary"]

    @property
    def labels(self) -> list[str]:
        """Variants, in order."""
        return [entry.label for entry in self.entries]


@dataclass(frozen=True)
class Page:
    """A report in one language.

    Attributes
    ----------
    lang : {"en", "zh"}
    title : str
    asked, answer, findings, notes : list of str
        Paragraphs, and items.
    key, par : Table
    rules : list of (str, list of str)
        Variant, and the sentences in which it differs from the first.
    plots : list of (name, title, svg, caption)
    provenance : list of (str, str)
    words : mapping
        Headings.
    """

    lang: str
    title: str
    asked: list[str]
    answer: list[str]
    findings: list[str]
    notes: list[str]
    key: Table
    par: Table
    rules: list[tuple[str, list[str]]]
    plots: list[tuple[str, str, str, str]]
    provenance: list[tuple[str, str]]
    words: Mapping[str, str] = field(default_factory=dict)


def facts_of(
    runs: Sequence[str | Path],
    level: float = 0.95,
    question: str | None = None,
    command: Sequence[str] | None = None,
    made: datetime | None = None,
) -> Facts:
    """Compute all that a report shows.

    Parameters
    ----------
    runs : sequence of path
        Run folders.
    level : float
        Of intervals.
    question : str, optional
        What was asked, in the words of who asks.
    command : sequence of str, optional
        Command line of the report.
    made : datetime, optional
        When; now by default.

    Returns
    -------
    Facts

    Raises
    ------
    LoadError
        When there is no game.
    sim.store.RunError
        For a folder that is no run folder.
    """
    entries = entries_of(runs)
    frames = frames_of(entries, level)
    alone = all(entry.run.manifest.session == 0 for entry in entries)
    worst = tails(source_of(entries), level) if alone else None
    return Facts(
        entries,
        frames,
        worst,
        level,
        question,
        shlex.join(command or ["chehuzi", "report", *map(str, runs)]),
        made or datetime.now(UTC),
    )


# --- tables ------------------------------------------------------------------------------------------------


def _rows(summary: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["variant"], row["metric"]): row for row in summary.iter_rows(named=True)}


def _metric_rows(facts: Facts, keys: Sequence[str], lang: str, short: bool = False) -> list[list[str]]:
    """A line a metric that applies to any variant; ``short``: a heading says the rest of its name."""
    held = _rows(facts.summary)
    found = []
    for key in keys:
        item = METRICS[key]
        rows = [held[label, key] for label in facts.labels]
        if all(row["value"] is None for row in rows):
            continue
        unit = UNITS[item.unit][lang]
        named = item.name[lang] if short else full_name(item, lang)
        named += "" if item.rare or item.unit == "share" else f" ({unit})"
        if lang == "zh":
            named = named.replace(" (", "（").replace(")", "）")
        found.append([named, *(format_cell(row, item, lang) for row in rows)])
    return found


def _games(facts: Facts) -> dict[str, int]:
    rows = facts.summary.filter(pl.col("metric") == "draw_rate")
    return dict(rows.select("variant", "n").iter_rows())


def _key_table(facts: Facts, lang: str) -> Table:
    words = WORDS
    games = _games(facts)
    rows = [[words["games"][lang], *(f"{games[label]:,}" for label in facts.labels)]]
    rows += _metric_rows(facts, KEY_METRICS, lang)
    note = words["intervals"][lang].format(level=f"{facts.level * 100:g} %")
    return Table(["", *facts.labels], rows, note)


def _par_table(facts: Facts, lang: str) -> Table:
    rows: list[list[str]] = []
    for heading, keys in PAR.items():
        lines = _metric_rows(facts, keys, lang, short=heading in ("frequency", "transfers"))
        if heading == "volatility":
            lines += _tail_rows(facts, lang)
        if heading == "draws":
            lines += _payout_rows(facts, lang)
        if lines:
            rows += [[WORDS[f"par_{heading}"][lang]], *lines]
    note = WORDS["par_note" if facts.tails is not None else "par_note_sessions"][lang]
    return Table(["", *facts.labels], rows, note)


def _tail_rows(facts: Facts, lang: str) -> list[list[str]]:
    if facts.tails is None:
        return []
    rows = []
    held = {(row["variant"], row["share"]): row for row in facts.tails.iter_rows(named=True)}
    for share in facts.tails["share"].unique(maintain_order=True):
        percent = f"{share * 100:g}"
        cells, means = [], []
        for label in facts.labels:
            row = held[label, share]
            cells.append(measure(row["quantile"], row["quantile_low"], row["quantile_high"], whole=True))
            few = WORDS["too_few"][lang] if row["low"] is None and row["high"] is None else ""
            means.append(measure(row["shortfall"], row["low"], row["high"]) + few)
        rows.append([WORDS["quantile"][lang].format(percent=percent), *cells])
        rows.append([WORDS["shortfall"][lang].format(rest=f"{100 - share * 100:.3g}"), *means])
    return rows


def _payout_rows(facts: Facts, lang: str) -> list[list[str]]:
    """How often a draw game pays each amount."""
    frame = facts.frames["payouts"].filter(pl.col("amount") > 0)
    held = {(row["variant"], row["amount"]): row for row in frame.iter_rows(named=True)}
    rows = []
    for amount in frame["amount"].unique().sort():
        cells = []
        for label in facts.labels:
            row = held.get((label, amount))
            if row is None or row["share"] is None:
                cells.append("–")
                continue
            low, high = (None if row[end] is None else row[end] * 100 for end in ("low", "high"))
            cells.append(f"{measure(row['share'] * 100, low, high)} %")
        rows.append([WORDS["pays"][lang].format(amount=amount), *cells])
    return rows


# --- words -------------------------------------------------------------------------------------------------


def _asked(facts: Facts, lang: str) -> list[str]:
    bots = dict.fromkeys(
        manifest.bots[0] if len(set(manifest.bots)) == 1 else ", ".join(manifest.bots)
        for manifest in (entry.run.manifest for entry in facts.entries)
    )
    games = sorted(set(_games(facts).values()))
    size = f"{games[0]:,}" if len(games) == 1 else f"{games[0]:,}–{games[-1]:,}"
    names = Text(", ", "、")[lang].join(facts.labels)
    asked = WORDS["asked_one" if len(facts.labels) == 1 else "asked_many"][lang].format(names=names)
    how = WORDS["asked_how"][lang].format(games=size, bots=Text("; ", "；")[lang].join(bots))
    return [facts.question or asked, how]


def _answer(facts: Facts, lang: str) -> list[str]:
    """Three sentences: draw games, the dealer, the swings."""
    compared = facts.frames.get("differences")
    if compared is not None and len(facts.labels) == 2:
        rows = {row["metric"]: row for row in compared.iter_rows(named=True)}
        if all(key in rows for key in ANSWERS):
            return [_sentence(verdict(rows[key], lang), lang) for key in ANSWERS]
    held = _rows(facts.summary)
    found = []
    for key in ANSWERS:
        item = METRICS[key]
        rows_of = [held[label, key] for label in facts.labels if held[label, key]["value"] is not None]
        rows_of.sort(key=lambda row: row["value"])
        if not rows_of:
            continue
        low, high = ((row["variant"], format_cell(row, item, lang)) for row in (rows_of[0], rows_of[-1]))
        pattern = WORDS[f"answer_{key}_{'one' if len(rows_of) == 1 else 'many'}"][lang]
        top, bottom = rows_of[0]["high"], rows_of[-1]["low"]
        overlap = WORDS["overlap"][lang] if top is None or bottom is None or top >= bottom else ""
        found.append(pattern.format(low=low[1], least=low[0], high=high[1], most=high[0], overlap=overlap))
    return found


def _sentence(text: str, lang: str) -> str:
    return f"{text}." if lang == "en" else f"{text}。"


def _rules(facts: Facts, lang: str) -> list[tuple[str, list[str]]]:
    from sim.variant import differences

    first = facts.entries[0]
    found = []
    for entry in facts.entries[1:]:
        one: Any = first.record
        two: Any = entry.record
        sentences = differences(one, two, lang) or [WORDS["same_rules"][lang]]
        title = entry.record.title.get(lang) or entry.record.title.get("en") or ""
        found.append(
            (WORDS["against"][lang].format(one=first.label, two=entry.label, title=title), sentences)
        )
    if not found:
        overrides = first.record.overrides
        held = [f"{key} = {value}" for key, value in overrides.items()]
        title = first.record.title.get(lang) or first.record.title.get("en") or ""
        found.append(
            (
                f"{first.label} · {title}",
                held or [WORDS["as_preset"][lang].format(preset=first.record.preset)],
            )
        )
    return found


def _provenance(facts: Facts, lang: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for run in dict.fromkeys(entry.run for entry in facts.entries):
        manifest = run.manifest
        status = (
            ""
            if manifest.done == manifest.total
            else WORDS["unfinished"][lang].format(done=f"{manifest.done:,}", total=f"{manifest.total:,}")
        )
        command = manifest.command or [
            "chehuzi",
            "simulate",
            *(record.preset for record in manifest.variants),
            *("--games", str(manifest.games), "--bots", ",".join(manifest.bots)),
            *("--seed", str(manifest.seed), "--session", str(manifest.session)),
        ]
        values = {
            "run": str(run.path) + status,
            "seed": str(manifest.seed),
            "n": WORDS["n_games"][lang].format(games=f"{manifest.games:,}", variants=len(manifest.variants)),
            "bots": ", ".join(manifest.bots),
            "sessions": str(manifest.session) if manifest.session else WORDS["no_sessions"][lang],
            "played": manifest.created,
            "hashes": "; ".join(f"{record.label} {record.digest[:16]}" for record in manifest.variants),
            "code": f"{manifest.source} / {manifest.rules}",
            "versions": ", ".join(
                f"{name} {number}"
                for name, number in {"chehuzi": manifest.tool_version, **manifest.versions}.items()
            ),
            "command": shlex.join(command),
        }
        rows += [(WORDS[f"p_{name}"][lang], printable(value, 2000)) for name, value in values.items()]
    made = f"{facts.made.isoformat(timespec='seconds')}, chehuzi {tool_version()}"
    rows += [(WORDS["p_made"][lang], made), (WORDS["p_report"][lang], printable(facts.command, 2000))]
    return rows


def page_of(facts: Facts, lang: str) -> Page:
    """Say a report in one language.

    Parameters
    ----------
    facts : Facts
    lang : {"en", "zh"}

    Returns
    -------
    Page
    """
    look = look_for(lang)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FontWarning)  # the page itself says so
        drawn = {
            name: to_svg(figure, prefix=f"{lang}-{name}", themed=True)
            for name, figure in draw_plots(facts.frames, lang)
        }
    said = captions(facts.frames, list(drawn), lang)
    notes = [look.note[lang]] if look.note is not None else []
    if any(entry.run.manifest.done != entry.run.manifest.total for entry in facts.entries):
        notes.append(WORDS["partial"][lang])
    if facts.frames.get("differences") is None and len(facts.labels) > 1:
        notes.append(WORDS["unpaired"][lang])
    compared = facts.frames.get("differences")
    findings = [] if compared is None else [_sentence(text, lang) for text in verdicts(compared, lang)]
    separator = Text(", ", "、")[lang]
    return Page(
        lang,
        WORDS["title"][lang].format(names=separator.join(facts.labels)),
        _asked(facts, lang),
        _answer(facts, lang),
        findings,
        notes,
        _key_table(facts, lang),
        _par_table(facts, lang),
        _rules(facts, lang),
        [(name, TITLES[name][lang], picture, said[name]) for name, picture in drawn.items()],
        _provenance(facts, lang),
        {key: text[lang] for key, text in WORDS.items()},
    )


# --- files -------------------------------------------------------------------------------------------------


def render_html(pages: Sequence[Page]) -> str:
    """One HTML document with all the pages and, where there are two, a switch between them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawing"] = _drawing
    light, dark = theme_css()
    template = environment.get_template("report.html.j2")
    return template.render(pages=pages, light=Markup(light), dark=Markup(dark)) + "\n"


def _drawing(picture: str) -> Any:
    """Mark an ``<svg>`` of ours as safe, sized by the page."""
    import re

    from markupsafe import Markup

    head = re.sub(
        r'<svg [^>]*viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" aria-hidden="true">', picture, count=1
    )
    return Markup(head.replace("xlink:href=", "href="))


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _markdown_table(table: Table) -> list[str]:
    width = len(table.head)
    lines = [f"| {' | '.join(map(_cell, table.head))} |", f"|---|{'---:|' * (width - 1)}"]
    for row in table.rows:
        cells = (
            [f"**{_cell(row[0])}**", *[""] * (width - 1)] if len(row) == 1 else [_cell(cell) for cell in row]
        )
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", table.note, ""]


def render_markdown(pages: Sequence[Page]) -> str:
    """Write the pages as Markdown, one after the other; plots by their captions."""
    lines: list[str] = []
    for page in pages:
        words = page.words
        lines += [f"# {page.title}", "", f"## {words['h_asked']}", ""]
        for paragraph in page.asked:
            lines += [paragraph, ""]
        lines += [f"## {words['h_answer']}", "", Text(" ", "")[page.lang].join(page.answer), ""]
        lines += [f"> {note}\n" for note in page.notes]
        lines += [f"## {words['h_key']}", "", *_markdown_table(page.key)]
        if page.findings:
            lines += [f"## {words['h_findings']}", "", *(f"* {text}" for text in page.findings), ""]
        lines += [f"## {words['h_rules']}", ""]
        for name, sentences in page.rules:
            lines += [f"**{name}**", "", *(f"* {text}" for text in sentences), ""]
        lines += [f"## {words['h_par']}", "", *_markdown_table(page.par), f"## {words['h_plots']}", ""]
        lines += [f"* **{title}** – {caption}" for _, title, _, caption in page.plots]
        lines += ["", f"## {words['h_method']}", "", words["method"], ""]
        lines += [f"* {name}: `{value}`" for name, value in page.provenance]
        lines.append("")
    return "\n".join(lines)


def render_csv(facts: Facts) -> str:
    """Write the summary as CSV with names in both languages; a byte-order mark lets spreadsheets read the Chinese."""
    names = [(METRICS[key].key, *(full_name(METRICS[key], lang) for lang in _LANGS)) for key in METRICS]
    lookup = pl.DataFrame(names, schema=["metric", "name_en", "name_zh"], orient="row")
    frame = facts.summary.join(lookup, on="metric", how="left", maintain_order="left")
    columns = ["variant", "metric", "name_en", "name_zh", *facts.summary.columns[2:]]
    rows = list(csv.reader(io.StringIO(to_csv(frame.select(columns)))))
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\r\n").writerows(rows)
    return "\ufeff" + stream.getvalue()


def target_of(runs: Sequence[str | Path], out: str | Path | None) -> Path:
    """Path of the HTML file: ``out``, or ``RUN-report.html`` beside the first run, or in ``out`` if that is a folder.

    Raises
    ------
    LoadError
        When ``out`` is neither a folder nor ends in ``.html``.
    """
    first = Path(runs[0]).resolve()
    name = f"{first.name}-report.html"
    if out is None:
        return first.parent / name
    target = Path(out)
    if target.is_dir():
        return target / name
    if target.suffix != ".html":
        raise LoadError(f"--out {target}: give a folder that exists, or a file that ends in .html")
    return target


def write_report(
    runs: Sequence[str | Path],
    out: str | Path | None = None,
    lang: str = "both",
    question: str | None = None,
    level: float = 0.95,
    command: Sequence[str] | None = None,
) -> list[Path]:
    """Write the report of some runs: HTML, and Markdown and CSV of the same name beside it.

    Parameters
    ----------
    runs : sequence of path
        Run folders; the first variant of the first run is the one that others are set against.
    out : path, optional
        The HTML file, or a folder; by default ``RUN-report.html`` beside the first run.
    lang : {"both", "en", "zh"}
        Languages; both with a switch.
    question : str, optional
        What was asked.
    level : float
        Of intervals.
    command : sequence of str, optional
        Command line, for the provenance.

    Returns
    -------
    list of Path
        The three files.

    Raises
    ------
    LoadError
        For runs without games, or a bad ``out``.
    sim.store.RunError
        For a folder that is no run folder.
    ValueError
        For an unknown language or a level outside (0, 1).
    """
    if lang not in ("both", *_LANGS):
        raise ValueError(f"lang is both, en or zh, not {lang!r}")
    target = target_of(runs, out)
    facts = facts_of(runs, level, question, command)
    pages = [page_of(facts, one) for one in (_LANGS if lang == "both" else (lang,))]
    files = {
        target: render_html(pages),
        target.with_suffix(".md"): render_markdown(pages),
        target.with_suffix(".csv"): render_csv(facts),
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        write_atomic(path, text.encode())
    return list(files)
