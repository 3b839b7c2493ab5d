"""The published study: the three presets, what each main key changes, and how far it holds for stronger players.

``make study`` plays it (runs stay under ``results/study-run``) and writes ``results/study``: tables as CSV, plots, and a page in English
and Chinese. Every number comes from the runs; nothing is kept by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from analysis.compare import compare_run
from analysis.compare_words import full_name, verdicts
from analysis.metrics import METRICS, Metric
from analysis.plot_style import to_svg
from analysis.plots import draw_plots, frames_of
from analysis.report import write_report
from analysis.summary import summarise, write_summary
from analysis.tables import format_cell, format_difference, to_csv
from sim.parts import write_atomic
from sim.run import simulate
from sim.store import Run
from sim.variant import PRESETS, differences, load_variant

SEED = 2026
MAIN = (
    "draw_rate",
    "win_share_dealer",
    "dealer_advantage",
    "score_mean",
    "sd_score",
    "own_draw_share",
    "wang_win_share",
    "wang_payout_draw",
    "rate_wang_zha",
    "draws",
)
CHANGED = ("draw_rate", "dealer_advantage", "transfers", "sd_score")
VARIATIONS: dict[str, tuple[str, ...]] = {
    "two_wang": (
        "win.min_huxi=12",
        "win.min_huxi=18",
        "tun.base=2",
        "xing.card=none",
        "xing.card=flip",
        "xing.payment=winner_only",
        "pass.blocks_chi=false",
        "turn.peng_to_pao=others_draw",
    ),
    "four_wang": (
        "win.wang_limit.mode=none",
        "win.wang_limit.mode=by_wang",
        "win.min_huxi=12",
        "win.min_huxi=18",
        "tun.base=2",
        "xing.card=none",
        "xing.card=flip",
        "xing.payment=winner_only",
        "wang.ti=false",
    ),
}
"""Settings of one key each, against the preset on the same deals."""

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "title": "The three presets of 永州扯胡子, {games:,} games each",
        "intro": "Played on {day} with seed {seed}: {games:,} games of each preset with `{bots}` players, {strong_games:,} with "
        "`{strong}` players, {changed_games:,} of each variation. Intervals are 95 %.",
        "main": "The presets, `{bots}` players",
        "strong": "The same with `{strong}` players",
        "changed": "What one key changes ({base}, same deals, `{bots}` players)",
        "metric": "metric",
        "setting": "setting",
        "words": "in words",
        "verdicts": "What differs",
        "means": "What it means, and where it may be wrong",
        "plots": "Plots",
        "more": "The whole table, tails and captions: [report.html](report.html) (download and open it), [report.md](report.md).",
    },
    "zh": {
        "title": "永州扯胡子三种玩法，各打 {games:,} 局",
        "intro": "{day} 完成，种子 {seed}：每种玩法用 `{bots}` 牌手打 {games:,} 局，用 `{strong}` 牌手打 {strong_games:,} 局，"
        "每个改动打 {changed_games:,} 局。区间均为 95%。",
        "main": "三种玩法（`{bots}` 牌手）",
        "strong": "换成 `{strong}` 牌手",
        "changed": "改一条规则会怎样（{base}，同一批牌，`{bots}` 牌手）",
        "metric": "指标",
        "setting": "改动",
        "words": "规则说法",
        "verdicts": "差别在哪里",
        "means": "怎么看，哪里可能不对",
        "plots": "图",
        "more": "全部指标、尾部和图说见 [report.html](report.html)（下载后打开）、[report.md](report.md)。",
    },
}
CAUTION: dict[str, tuple[str, ...]] = {
    "en": (
        "Intervals cover the luck of the cards only. The players are programs: compare the two tables above; where they disagree, the "
        "number is about the players as much as about the rule.",
        "Differences between variants hold better than levels: both sides are played by the same players on the same deals.",
        "Points that no source settles (the split of the double xing, the doubling in a draw game, which limit is standard with four wangs, "
        "base tun 1 or 2) are keys; the study takes the presets as they are.",
        "Rows with one key changed are not adjusted for their number in the CSV's `low` and `high`; `joint_low`, `joint_high` and "
        "`decision` are (all claims of a base together).",
    ),
    "zh": (
        "区间只反映牌运。牌手是程序：请对照上面两张表，两表不一致之处，说的既是规则，也是牌手。",
        "玩法之间的差别比数值本身可靠：两边由同样的牌手打同一批牌。",
        "没有出处能定的几点（双醒怎么分、荒庄的加倍、四王以哪种限胡为准、底囤一还是二）都是可改的键，本研究按预设处理。",
        "CSV 里单键改动的 `low`、`high` 未按个数修正；`joint_low`、`joint_high`、`decision` 已修正（同一底本的全部结论一起算）。",
    ),
}


def _metric(key: str) -> Metric:
    return METRICS[key]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * (len(head) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def summary_table(summary: pl.DataFrame, lang: str, keys: Sequence[str] = MAIN) -> list[str]:
    """Markdown lines: one row a metric, one column a variant."""
    labels = summary["variant"].unique(maintain_order=True).to_list()
    rows = []
    for key in keys:
        item = _metric(key)
        cells = [full_name(item, lang)]
        for label in labels:
            row = summary.filter((pl.col("variant") == label) & (pl.col("metric") == key)).to_dicts()
            cells.append(format_cell(row[0], item, lang) if row else "–")
        rows.append(cells)
    return _table([WORDS[lang]["metric"], *labels], rows)


def variation_table(base: str, comparison: pl.DataFrame, settings: Sequence[str], lang: str) -> list[str]:
    """Markdown lines: one row a changed key, the paired difference of each metric of ``CHANGED``."""
    labels = comparison["variant"].unique(maintain_order=True).to_list()
    items = [_metric(key) for key in CHANGED]
    rows = []
    for label, setting in zip(labels, settings, strict=True):
        words = "; ".join(differences(load_variant(base), load_variant(base, [setting]), lang))
        cells = [f"`{setting}` {words}"]
        for item in items:
            row = comparison.filter((pl.col("variant") == label) & (pl.col("metric") == item.key)).to_dicts()[
                0
            ]
            cells.append(format_difference(row["difference"], row["low"], row["high"], item, True))
        rows.append(cells)
    return _table([WORDS[lang]["setting"], *(full_name(item, lang) for item in items)], rows)


def play_study(
    runs: Path, games: int, bots: str, strong: str, jobs: int | None, quiet: bool
) -> dict[str, Run]:
    """Play, or finish, every run of the study; name to run."""
    how: dict[str, Any] = {"seed": SEED, "jobs": jobs, "resume": True, "quiet": quiet}
    found = {
        "presets": simulate(list(PRESETS), games, bots=bots, out=runs / "presets", **how),
        "strong": simulate(list(PRESETS), max(1, games // 10), bots=strong, out=runs / "strong", **how),
    }
    for base, settings in VARIATIONS.items():
        variants = [load_variant(base), *(load_variant(base, [setting]) for setting in settings)]
        found[base] = simulate(variants, max(1, games // 5), bots=bots, out=runs / base, **how)
    for run in found.values():
        write_summary(run)
    return found


def write_study(
    out: Path,
    runs: Path,
    games: int = 1_000_000,
    *,
    bots: str = "greedy",
    strong: str = "expert",
    jobs: int | None = None,
    quiet: bool = False,
) -> list[Path]:
    """Play the study and write its folder.

    Parameters
    ----------
    out : Path
        Where tables, plots and pages go.
    runs : Path
        Where the games go; a broken study is finished from there.
    games : int
        Of each preset; a tenth with ``strong`` players, a fifth of each variation.
    bots, strong : str
        Players.

    Returns
    -------
    list of Path
        What was written.
    """
    found = play_study(runs, games, bots, strong, jobs, quiet)
    out.mkdir(parents=True, exist_ok=True)
    files: dict[str, bytes] = {}
    summaries = {name: summarise(found[name]) for name in ("presets", "strong")}
    for name, summary in summaries.items():
        files[f"{name}.csv"] = to_csv(summary).encode()
    paired = {
        name: compare_run(found[name], metrics=MAIN if name == "presets" else CHANGED)
        for name in ("presets", *VARIATIONS)
    }
    for name, comparison in paired.items():
        files[f"differences-{name}.csv"] = comparison.write_csv().encode()
    frames = frames_of([found["presets"]])
    for lang in ("en", "zh"):
        names = []
        for name, plot in draw_plots(frames, lang):
            names.append(f"{name}-{lang}.svg")
            head = '<?xml version="1.0" encoding="utf-8"?>\n'
            files[names[-1]] = (head + to_svg(plot)).encode()
        page = _page(found, summaries, paired, names, lang, bots, strong)
        files["README.md" if lang == "en" else "README.zh.md"] = page.encode()
    written = []
    for name, data in files.items():
        write_atomic(out / name, data)
        written.append(out / name)
    return written + write_report([found["presets"].path], out=out / "report.html", lang="both")


def _page(
    found: dict[str, Run],
    summaries: dict[str, pl.DataFrame],
    paired: dict[str, pl.DataFrame],
    plots: Sequence[str],
    lang: str,
    bots: str,
    strong: str,
) -> str:
    facts = {
        "day": date.fromisoformat(found["presets"].manifest.created[:10]),
        "seed": SEED,
        "games": found["presets"].manifest.games,
        "strong_games": found["strong"].manifest.games,
        "changed_games": found["two_wang"].manifest.games,
        "bots": bots,
        "strong": strong,
    }

    def word(key: str, **more: object) -> str:
        return WORDS[lang][key].format(**facts, **more)

    lines = [f"# {word('title')}", "", word("intro"), "", word("more"), "", f"## {word('main')}", ""]
    lines += summary_table(summaries["presets"], lang)
    lines += [f"## {word('strong')}", "", *summary_table(summaries["strong"], lang)]
    lines += [f"## {word('verdicts')}", "", *(f"* {line}" for line in verdicts(paired["presets"], lang)), ""]
    for base, settings in VARIATIONS.items():
        lines += [f"## {word('changed', base=base)}", ""]
        lines += variation_table(base, paired[base], settings, lang)
    lines += [f"## {word('means')}", "", *(f"* {line}" for line in CAUTION[lang]), ""]
    lines += [f"## {word('plots')}", "", *(f"![{name.rpartition('-')[0]}]({name})\n" for name in plots)]
    return "\n".join(lines)
