"""Tournaments for people and files: tables in English and Chinese, JSON, CSV, parquet and a plot."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import polars as pl

from analysis.metrics import Text
from analysis.seatings import short_name, write_text
from analysis.tables import WIDTH, make_console, measure, to_csv
from analysis.tournament import Tournament

if TYPE_CHECKING:
    from rich.table import Table

T = TypeVar("T")

_HEADS: dict[str, Text] = {
    "bot": Text("bot", "机器人"),
    "score": Text("score a game", "每局得分"),
    "win_rate": Text("wins %", "胡牌 %"),
    "relative_wins": Text("relative wins %", "相对胡牌 %"),
    "draw_rate": Text("draw games %", "荒庄 %"),
    "rating": Text("rating", "评分"),
    "chi": Text("chi", "吃"),
    "peng": Text("peng", "碰"),
    "passes": Text("passes", "过"),
    "win_passes": Text("wins passed", "过胡"),
    "own_share": Text("own card %", "自摸 %"),
    "to_next": Text("feeds next %", "点下家 %"),
    "to_before": Text("feeds before %", "点上家 %"),
    "fan": Text("mean fan", "平均番"),
    "step": Text("step", "台阶"),
    "difference": Text("score", "得分"),
    "one": Text("score, 1 against 2", "得分·一对二"),
    "two": Text("score, 2 against 1", "得分·二对一"),
    "p_holm": Text("Holm p", "Holm p"),
    "significant": Text("verdict", "结论"),
}

_WORDS: dict[str, Text] = {
    "head": Text(
        "{variant} #{digest}: {deals:,} deals, each in {seatings} seatings ({design}), seed {seed}",
        "{variant} #{digest}：{deals:,} 副牌，每副 {seatings} 种坐法（{design}），种子 {seed}",
    ),
    "pairs": Text("every pair, one against two and two against one", "每两家以一对二、二对一"),
    "triples": Text(
        "every three in all orders; neighbours one against two", "每三家全部排列；相邻两级以一对二、二对一"
    ),
    "steps": Text(
        "neighbours of the ladder, one against two and two against one", "相邻两级以一对二、二对一"
    ),
    "yes": Text("significant", "显著"),
    "no": Text("not significant", "不显著"),
    "worse": Text("significantly worse", "显著更差"),
    "steps_title": Text("Steps of the ladder (the second bot against the first)", "逐级比较（后者对前者）"),
    "style_title": Text("Style, a game", "打法（每局）"),
    "foot": Text(
        "Score: mean money of a seat. Wins: games won by a seat; relative: over the mean of all bots here, in steps "
        "over the weaker bot. Rating: Plackett–Luce (a seat wins in proportion to exp(rating)), mean 0. Feeds: the "
        "next player, or the one before, wins on a card that this bot drew. {level:g} % intervals, the deal being the "
        "unit; steps are judged by Holm over all {steps}.",
        "得分：每个座位每局的平均输赢。胡牌：每座位胡牌局的比例；相对胡牌：与本次各家平均（逐级比较中与较弱一方）相比的增减。"
        "评分：Plackett–Luce 模型（胡牌机会与 exp(评分) 成正比），均值为 0。"
        "点下家、点上家：下家或上家胡了此家摸出的牌。"
        "置信水平 {level:g}%，以一副牌为单位；各级是否显著按全部 {steps} 级作 Holm 校正。",
    ),
}


def _cell(row: Mapping[str, Any], name: str, factor: float = 1.0, signed: bool = False) -> str:
    """Value with its interval; ``–`` where there is none."""
    if row[name] is None:
        return "–"
    ends = [None if row[name + end] is None else row[name + end] * factor for end in ("_low", "_high")]
    if ends[0] == ends[1]:
        ends = [None, None]
    text = measure(row[name] * factor, ends[0], ends[1]) if row[name] or ends[1] else "0"
    return f"+{text}" if signed and row[name] > 0 else text


def _short(row: Mapping[str, Any], name: str, factor: float = 1.0) -> str:
    """Value ± the longer side of its interval, which has one figure: for wide tables."""
    if row[name] is None:
        return "–"
    value = row[name] * factor
    ends = [row[name + end] for end in ("_low", "_high")]
    sides = [abs(end * factor - value) for end in ends if end is not None]
    half = max(sides, default=0.0)
    if half == 0.0:
        return f"{value:.4g}"
    digits = max(0, -math.floor(math.log10(half)))
    return f"{value:.{digits}f} ± {half:.{digits}f}"


def format_p(value: float) -> str:
    """Print a p-value."""
    if value < 0.001:
        return "<0.001"
    return f"{value:.3f}" if value < 0.0995 else f"{value:.1f}"


def _table(columns: Sequence[str], lang: str, title: str | None = None) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 2),
        pad_edge=False,
        show_edge=False,
        title=title,
        title_justify="left",
        title_style="bold",
    )
    for number, column in enumerate(columns):
        table.add_column(_HEADS[column][lang], justify="right" if number else "left", no_wrap=number == 0)
    return table


def verdict_of_step(row: Mapping[str, Any], lang: str) -> str:
    """Say whether a step of the ladder is real."""
    word = "yes" if row["significant"] else "worse" if row["decision"] == "worse" else "no"
    return _WORDS[word][lang]


def tables_of(found: Tournament, variant: str, lang: str = "en") -> list[Table]:
    """Lay out the tables of one variant: bots, style, steps."""
    tables = []
    bots = found.bots.filter(pl.col("variant") == variant)
    if bots.height:
        table = _table(("bot", "score", "win_rate", "relative_wins", "draw_rate", "rating"), lang)
        for row in bots.iter_rows(named=True):
            table.add_row(
                short_name(row["bot"]),
                _cell(row, "score", signed=True),
                _cell(row, "win_rate", 100),
                _cell(row, "relative_wins", 100, signed=True),
                _cell(row, "draw_rate", 100),
                _cell(row, "rating", signed=True),
            )
        tables.append(table)
    style = found.style.filter(pl.col("variant") == variant)
    if style.height:
        names = ("chi", "peng", "passes", "win_passes", "own_share", "to_next", "to_before")
        table = _table(("bot", *names, "fan"), lang, _WORDS["style_title"][lang])
        fans = {row["bot"]: row for row in bots.iter_rows(named=True)}
        for row in style.iter_rows(named=True):
            cells = [_short(row, name, 100 if name in names[4:] else 1) for name in names]
            table.add_row(short_name(row["bot"]), *cells, _short(fans[row["bot"]], "fan"))
        tables.append(table)
    steps = found.steps.filter(pl.col("variant") == variant)
    if steps.height:
        columns = ("step", "difference", "relative_wins", "one", "two", "p_holm", "significant")
        table = _table(columns, lang, _WORDS["steps_title"][lang])
        for row in steps.iter_rows(named=True):
            table.add_row(
                f"{short_name(row['weaker'])} → {short_name(row['stronger'])}",
                _cell(row, "difference", signed=True),
                _cell(row, "relative_wins", 100, signed=True),
                _cell(row, "one", signed=True),
                _cell(row, "two", signed=True),
                format_p(row["p_holm"]),
                verdict_of_step(row, lang),
            )
        tables.append(table)
    return tables


def print_tournament(found: Tournament, lang: str = "en", file: IO[str] | None = None) -> None:
    """Print all tables.

    Parameters
    ----------
    found : Tournament
    lang : {"en", "zh"}
        Language.
    file : text file, optional
        By default stdout.
    """
    console = make_console(file, WIDTH + 20)
    for variant, label in zip(found.plan.variants, found.plan.labels, strict=True):
        text = _WORDS["head"][lang].format(
            variant=label,
            digest=variant.digest[:8],
            deals=found.plan.games,
            seatings=len(found.design.seatings),
            design=_WORDS[found.design.name][lang],
            seed=found.plan.seed,
        )
        console.print(text, style="bold cyan", markup=False)
        for table in tables_of(found, label, lang):
            console.print(table)
            console.print()
    foot = _WORDS["foot"][lang].format(level=found.level * 100, steps=found.steps.height)
    console.print(foot, style="dim", markup=False)


def document(found: Tournament) -> dict[str, Any]:
    """Everything as one JSON document."""
    plan = found.plan
    variants = {}
    left_out = ("variant", "level", "seed", "digest", "p_holm_low")
    for variant, label in zip(plan.variants, plan.labels, strict=True):
        parts = {}
        for name in ("bots", "pairs", "steps", "style"):
            rows = getattr(found, name).filter(pl.col("variant") == label).iter_rows(named=True)
            parts[name] = [{key: value for key, value in row.items() if key not in left_out} for row in rows]
        for row in parts["steps"]:
            row["verdict"] = {lang: verdict_of_step(row, lang) for lang in ("en", "zh")}
        variants[label] = {"digest": variant.digest, **parts}
    return {
        "deals": plan.games,
        "seed": plan.seed,
        "level": found.level,
        "design": found.design.name,
        "bots": list(plan.bots),
        "seatings": [list(plan.names(seating)) for seating in plan.seatings],
        "variants": variants,
    }


def write_tournament(found: Tournament, folder: Path, lang: str = "en") -> None:
    """Store a tournament: ``tournament.json``, a CSV and a parquet file a table, ``tournament.png``.

    Parameters
    ----------
    found : Tournament
    folder : Path
        Made where it is not there; files of the same names are replaced, each as a whole.
    lang : {"en", "zh"}
        Of the plot.
    """
    from sim.parts import write_atomic

    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(found), ensure_ascii=False, indent=1, allow_nan=False)
    write_text(folder / "tournament.json", text + "\n")
    for name in ("bots", "pairs", "steps", "style"):
        frame = getattr(found, name)
        if frame.height:
            write_text(folder / f"{name}.csv", to_csv(frame))
            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            write_atomic(folder / f"{name}.parquet", buffer.getvalue())
    write_atomic(folder / "tournament.png", plot_tournament(found, lang))


_PLOT: dict[str, Text] = {
    "score": Text("mean score a game", "每局平均得分"),
    "relative_wins": Text("wins against the mean of all, %", "胡牌（与各家平均相比，%）"),
    "difference": Text("score of the second less that of the first", "后者得分减前者"),
    "title": Text(
        "{deals:,} deals in every seating, seed {seed}; bars: {level:g} %",
        "{deals:,} 副牌·全部坐法·种子 {seed}·误差线 {level:g}%",
    ),
}


def styled(draw: Callable[[T, str], bytes]) -> Callable[[T, str], bytes]:
    """Draw in the style of all plots; in English where no font has Chinese."""

    @wraps(draw)
    def drawn(found: T, lang: str = "en") -> bytes:
        from matplotlib import rc_context
        from matplotlib.rcsetup import cycler

        from analysis.plot_style import SERIES, look_for, style

        look = look_for(lang)
        with rc_context({**style(look), "axes.prop_cycle": cycler(color=SERIES), "axes.grid": False}):
            return draw(found, look.lang)

    return drawn


@styled
def plot_tournament(found: Tournament, lang: str) -> bytes:
    """Draw scores, wins and steps with their intervals, one colour a variant; a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels: list[tuple[pl.DataFrame, str, float, list[str]]] = []
    if found.bots.height:
        names = list(found.plan.bots)
        panels += [(found.bots, "score", 1.0, names), (found.bots, "relative_wins", 100.0, names)]
    steps = found.steps.with_columns(bot=pl.concat_str("weaker", pl.lit(" → "), "stronger"))
    panels.append((steps, "difference", 1.0, steps["bot"].unique(maintain_order=True).to_list()))
    height = 1.6 + 0.32 * max(len(panel[3]) for panel in panels) * max(1, len(found.plan.labels) / 2)
    figure = Figure(figsize=(4.3 * len(panels), height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    many = len(found.plan.labels)
    for axis, (frame, name, factor, order) in zip(axes, panels, strict=True):
        axis.axvline(0, color="0.7", linewidth=1)
        for number, label in enumerate(found.plan.labels):
            rows = [
                row
                for row in frame.filter(pl.col("variant") == label).iter_rows(named=True)
                if row[name] is not None
                and row[f"{name}_low"] is not None
                and row[f"{name}_high"] is not None
            ]
            places = [order.index(row["bot"]) + (number - (many - 1) / 2) * 0.7 / many for row in rows]
            values = [row[name] * factor for row in rows]
            sides = [
                [value - row[f"{name}_low"] * factor for value, row in zip(values, rows, strict=True)],
                [row[f"{name}_high"] * factor - value for value, row in zip(values, rows, strict=True)],
            ]
            axis.errorbar(values, places, xerr=sides, fmt="o", markersize=4, capsize=2, label=label)
        axis.set_yticks(range(len(order)), [" → ".join(map(short_name, name.split(" → "))) for name in order])
        axis.set_ylim(-0.6, len(order) - 0.4)
        axis.set_xlabel(_PLOT[name][lang])
    axes[0].legend(frameon=False, fontsize="small")
    figure.suptitle(
        _PLOT["title"][lang].format(deals=found.plan.games, seed=found.plan.seed, level=found.level * 100),
        fontsize="medium",
    )
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return buffer.getvalue()
