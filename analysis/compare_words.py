"""Comparisons for people: a table, and a verdict in words, in English and Chinese."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import IO, Any

import polars as pl
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text as RichText

from analysis.metrics import METRICS, SECTIONS, UNITS, Metric, Text
from analysis.tables import WIDTH, format_difference, make_console

HEADLINES = (
    "draw_rate",
    "win_rate_dealer",
    "own_draw_share",
    "score_dealer",
    "dealer_advantage",
    "sd_score",
    "tun_mean",
    "fan_mean",
    "score_mean",
    "wang_payout",
    "draws",
)
"""Metrics that get a sentence of their own; others only when they are asked for."""

_SUBJECTS: dict[str, tuple[str, str]] = {
    "draw_rate": (
        "{variant} draws {by} more often than {base}",
        "{variant} draws {by} less often than {base}",
    ),
    **{
        f"win_rate_{role}": (
            f"the {words} wins {{by}} more often under {{variant}} than under {{base}}",
            f"the {words} wins {{by}} less often under {{variant}} than under {{base}}",
        )
        for role, words in (("dealer", "dealer"), ("next", "next player"), ("third", "third player"))
    },
    "draws": (
        "a game draws {by} more under {variant} than under {base}",
        "a game draws {by} fewer under {variant} than under {base}",
    ),
}
"""Sentences that read better than the general one: (higher, lower)."""

_GENERAL = (
    "{name}: {by} higher under {variant} than under {base} ({x} against {y})",
    "{name}: {by} lower under {variant} than under {base} ({x} against {y})",
)

_CONTEXT: dict[str, Text] = {
    "names": Text("rate of {}", "{}出现率"),
    "wins": Text("share of wins {}", "{}（占胡牌局）"),
    "spread": Text("sd of a game, {}", "{}的单局标准差"),
    "shares": Text("share of all money, {}", "输赢总额中{}的占比"),
    "draw": Text("draw games, {}", "{}"),
    "wangs": Text("wangs {}", "王霸张数·{}"),
}
"""How a metric is called outside its section of the table."""

_ARROWS = {"higher": "▲", "lower": "▼", "undecided": "·"}


def full_name(item: Metric, lang: str) -> str:
    """Return the name of a metric outside its section of the table."""
    name = item.name[lang]
    return _CONTEXT[item.section][lang].format(name) if item.section in _CONTEXT else name


def _amount(row: Mapping[str, Any], item: Metric, lang: str) -> str:
    """Size of a difference with its joint interval, without sign: ``3.1 ± 0.2 points``."""
    sign = 1.0 if row["difference"] >= 0 else -1.0
    low, high = (row["joint_low"], row["joint_high"]) if sign > 0 else (row["joint_high"], row["joint_low"])
    ends = [None if end is None else sign * end for end in (low, high)]
    text = format_difference(sign * row["difference"], ends[0], ends[1], item)
    if item.unit == "share":
        return f"{text} points" if lang == "en" else f"{text} 个百分点"
    if lang == "zh":
        return f"{text} {UNITS[item.unit].zh}"
    unit = "" if item.unit in ("money", "points", "times") else f" {UNITS[item.unit].en}"
    return text + unit


def _value(number: float, item: Metric) -> str:
    """Print a value alone, to three figures; a quantile whole."""
    if item.kind == "quantile":
        return f"{number:,.0f}"
    number = number * 100 if item.unit == "share" else number
    digits = 0 if number == 0 else max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:,.{min(digits, 6)}f}{' %' if item.unit == 'share' else ''}"


def verdict(row: Mapping[str, Any], lang: str = "en", names: Mapping[str, str] | None = None) -> str:
    """Say in one sentence what a row of a comparison shows.

    Parameters
    ----------
    row : mapping
        A row from :func:`analysis.compare.compare`.
    lang : {"en", "zh"}
        Language.
    names : mapping, optional
        Label to the name to use.

    Returns
    -------
    str
    """
    item = METRICS[row["metric"]]
    shown = names or {}
    base, variant = (shown.get(row[key], row[key]) for key in ("base", "variant"))
    name = full_name(item, lang)
    if row["difference"] is None:
        return Text(
            f"{name}: does not apply to both {base} and {variant}",
            f"{name}：不能同时用于 {base} 与 {variant}",
        )[lang]
    by = _amount(row, item, lang)
    x, y = (_value(row[key], item) for key in ("value", "base_value"))
    if row["method"] == "same":
        text = Text(
            f"{name}: the same in every deal under {variant} and {base} ({x})",
            f"{name}：{variant} 与 {base} 每一局都相同（{x}）",
        )[lang]
    elif row["decision"] == "undecided":
        text = Text(
            f"{name}: no difference shown between {variant} and {base} ({_signed(row, item)})",
            f"{name}：未见 {variant} 与 {base} 有差别（{_signed(row, item)}）",
        )[lang]
    elif lang == "en":
        number = 0 if row["decision"] == "higher" else 1
        pattern = _SUBJECTS.get(item.key, _GENERAL)[number]
        text = pattern.format(variant=variant, base=base, by=by, name=name, x=x, y=y)
    else:
        word = "高" if row["decision"] == "higher" else "低"
        if item.unit not in ("share", "money", "points"):
            word = "多" if row["decision"] == "higher" else "少"
        text = f"{variant} 的{name}比 {base} {word} {by}（{x} 对 {y}）"
    return text + _equivalence(row, item, lang)


def _signed(row: Mapping[str, Any], item: Metric) -> str:
    return format_difference(row["difference"], row["joint_low"], row["joint_high"], item, signed=True)


def _equivalence(row: Mapping[str, Any], item: Metric, lang: str) -> str:
    if row["margin"] is None:
        return ""
    share = item.unit == "share"
    margin = f"{row['margin'] * (100 if share else 1):.3g}" + (
        {"en": " points", "zh": " 个百分点"}[lang] if share else ""
    )
    if row["equivalent"]:
        return Text(f"; equivalent within ± {margin}", f"；在 ± {margin} 以内等价")[lang]
    return Text(f"; not shown to be within ± {margin}", f"；未能证明在 ± {margin} 以内")[lang]


def verdicts(
    comparison: pl.DataFrame,
    lang: str = "en",
    names: Mapping[str, str] | None = None,
    everything: bool = False,
) -> list[str]:
    """Sentences of a comparison, in the order of its rows.

    Parameters
    ----------
    comparison : DataFrame
        From :func:`analysis.compare.compare`.
    lang : {"en", "zh"}
        Language.
    names : mapping, optional
        Label to the name to use.
    everything : bool
        A sentence for every metric that differs, not for the headlines only.

    Returns
    -------
    list of str
    """
    few = comparison["metric"].n_unique() <= len(HEADLINES)
    found = []
    for row in comparison.iter_rows(named=True):
        if row["difference"] is None:
            continue
        decided = row["decision"] in ("higher", "lower")
        if few or row["metric"] in HEADLINES or row["margin"] is not None or (everything and decided):
            found.append(verdict(row, lang, names))
    return found


_NARROW = 20
"""A longer name is broken over lines in the head of a table."""

_HEADS: dict[str, Text] = {
    "difference": Text("difference", "差"),
    "p": Text("Holm p", "Holm p"),
    "correlation": Text("corr.", "相关"),
    "reduction": Text("× games", "省局"),
}


def _p(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 0.0995:
        return f"{value:.1f}"
    if value >= 0.001:
        return f"{value:.3f}"
    return "<0.001"


def _reduction(value: float | None, method: str) -> str:
    if value is None:
        return ""
    text = f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    return f"{text} (unpaired)" if method == "unpaired" else text


def render_comparison(
    comparison: pl.DataFrame,
    lang: str = "en",
    names: Mapping[str, str] | None = None,
    facts: Sequence[str] = (),
    everything: bool = False,
) -> RenderableType:
    """Lay a comparison out for reading: one table a pair, then the verdicts.

    Parameters
    ----------
    comparison : DataFrame
        From :func:`analysis.compare.compare`.
    lang : {"en", "zh"}
        Language.
    names : mapping, optional
        Label to the name to use.
    facts : sequence of str
        Lines for the foot, such as bots and games.
    everything : bool
        See :func:`verdicts`.

    Returns
    -------
    RenderableType
    """
    parts: list[RenderableType] = []
    for one, two in comparison.select("base", "variant").unique(maintain_order=True).rows():
        rows = comparison.filter((pl.col("base") == one) & (pl.col("variant") == two))
        parts += [_pair_table(rows, lang, names or {}), RichText()]
    parts += [RichText(f"• {line}") for line in verdicts(comparison, lang, names, everything)]
    parts += [RichText(), RichText(_caption(comparison, lang), style="dim")]
    parts += [RichText(fact, style="dim") for fact in facts]
    return Group(*parts)


def _pair_table(rows: pl.DataFrame, lang: str, names: Mapping[str, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, 2), pad_edge=False, show_edge=False)
    first = rows.row(0, named=True)
    table.add_column("", no_wrap=True)
    for key, digest in (("base", "base_digest"), ("variant", "digest")):
        name = names.get(first[key], first[key])
        head = RichText(name if len(name) <= _NARROW else name.replace("+", "\n+"), style="bold cyan")
        if first[digest]:
            head.append(f"\n#{first[digest][:8]}", style="dim")
        table.add_column(head, justify="right")
    for name in _HEADS:
        table.add_column(_HEADS[name][lang], justify="right", no_wrap=True)
    by_key = {row["metric"]: row for row in rows.iter_rows(named=True)}
    for section, title in SECTIONS.items():
        items = [item for item in METRICS.values() if item.section == section and item.key in by_key]
        if not items:
            continue
        table.add_section()
        table.add_row(RichText(title[lang], style="bold"))
        for item in items:
            table.add_row(f"  {item.name[lang]}", *_cells(by_key[item.key], item))
    return table


def _cells(row: Mapping[str, Any], item: Metric) -> list[str]:
    values = ["–" if row[key] is None else _value(row[key], item) for key in ("base_value", "value")]
    if row["difference"] is None:
        return [*values, "–", "", "", ""]
    mark = "=" if row["equivalent"] else _ARROWS[row["decision"]]
    correlation = "" if row["correlation"] is None else f"{row['correlation']:.2f}"
    return [
        *values,
        f"{_signed(row, item)} {mark}",
        _p(row["p_holm"]),
        correlation,
        _reduction(row["reduction"], row["method"]),
    ]


def _caption(comparison: pl.DataFrame, lang: str) -> str:
    row = comparison.row(0, named=True)
    claims = max((number for number in comparison["claims"].to_list() if number is not None), default=0)
    level = f"{row['level'] * 100:g} %"
    units = f"{row['units'] or 0:,}"
    if lang == "zh":
        return (
            f"差 = 后者 − 前者，附 {level} 联合置信区间（{claims} 个结论同时成立）；"
            f"▲ 高、▼ 低（Holm），· 未定，= 等价；省局：配对所省局数的倍数。同样的牌 {units} 副，种子 {row['seed']}。"
        )
    return (
        f"difference = second − first, with intervals that hold at {level} for all {claims} claims together; "
        f"▲ higher, ▼ lower (Holm), · undecided, = equivalent; × games: how many times more games an unpaired "
        f"comparison takes. The same {units} deals (or sessions), seed {row['seed']}."
    )


def print_comparison(
    comparison: pl.DataFrame,
    lang: str = "en",
    names: Mapping[str, str] | None = None,
    facts: Sequence[str] = (),
    everything: bool = False,
    file: IO[str] | None = None,
) -> None:
    """Print a comparison; see :func:`render_comparison`."""
    console = make_console(file, WIDTH + 20)
    console.print(render_comparison(comparison, lang, names, facts, everything))


def comparison_json(comparison: pl.DataFrame, facts: Mapping[str, Any] | None = None) -> str:
    """Write a comparison as one JSON document.

    Returns
    -------
    str
        ``{…facts, "level", "seed", "claims", "digests": {label: hash}, "pairs": [{"base", "variant", "metrics":
        {key: {…, "verdict": {"en", "zh"}}}}]}``.
    """
    document: dict[str, Any] = dict(facts or {})
    digests: dict[str, str] = {}
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for row in comparison.iter_rows(named=True):
        document |= {"level": row["level"], "seed": row["seed"]}
        if row["claims"] is not None:
            document["claims"] = row["claims"]
        base, variant = row["base"], row["variant"]
        digests |= {base: row["base_digest"], variant: row["digest"]}
        pair = pairs.setdefault((base, variant), {"base": base, "variant": variant, "metrics": {}})
        left_out = ("base", "variant", "metric", "level", "seed", "claims", "base_digest", "digest")
        kept = {key: value for key, value in row.items() if key not in left_out}
        kept["verdict"] = {lang: verdict(row, lang) for lang in ("en", "zh")}
        pair["metrics"][row["metric"]] = kept
    document |= {"digests": digests, "pairs": list(pairs.values())}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
