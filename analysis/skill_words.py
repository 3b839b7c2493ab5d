"""Skill and luck for people and files: a table and verdicts in English and Chinese, JSON, CSV and a plot."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import polars as pl

from analysis.metrics import Text
from analysis.seatings import write_text
from analysis.skill import PARTS, Skill
from analysis.tables import WIDTH, make_console, measure, to_csv
from analysis.tournament_words import styled

_NAMES: dict[str, Text] = {
    "variant": Text("variant", "玩法"),
    "deal": Text("deal %", "牌 %"),
    "seat": Text("seat %", "座位 %"),
    "bots": Text("bots %", "打法 %"),
    "own": Text("own bot %", "其中自己 %"),
    "rest": Text("rest %", "其余 %"),
    "sd": Text("sd of a score", "得分标准差"),
}

_WORDS: dict[str, Text] = {
    "title": Text("Where the spread of scores comes from", "得分的差异从何而来"),
    "more": Text(
        "{a} rewards skill more than {b}: who plays how makes {x} % of the variance against {y} %, "
        "difference {d} points",
        "{a} 比 {b} 更看打法：打法占方差 {x}% 对 {y}%，相差 {d} 个百分点",
    ),
    "undecided": Text(
        "{a} and {b}: no difference shown in what skill decides ({x} % against {y} %, difference {d} points)",
        "{a} 与 {b}：未见打法所占比重有差别（{x}% 对 {y}%，相差 {d} 个百分点）",
    ),
    "foot": Text(
        "{deals:,} deals, each with all {seatings} assignments of {bots}; seed {seed}. Deal: what the cards give to a "
        "seat, whoever plays. Seat: dealer, next, third. Bots: who plays how, at one's own seat (own) and at the "
        "others'. Rest: what the same cards bring when others play them, beyond that. {level:g} % intervals by "
        "jackknife over deals. Shares are relative to these bots: the more they differ, the larger the bots' share.",
        "{deals:,} 副牌，每副打遍 {bots} 的全部 {seatings} 种坐法，种子 {seed}。"
        "牌：无论谁打，牌给这个座位带来的输赢；座位：庄家、下家、上家；打法：谁来打（自己与另两家）；"
        "其余：同样的牌换人打，不能由上面解释的部分。置信水平 {level:g}%（按牌刀切）。"
        "比例取决于所用的机器人：彼此差得越远，打法占比越大。",
    ),
}


def _cell(row: Mapping[str, Any], name: str, factor: float) -> str:
    return measure(row[name] * factor, row[f"{name}_low"] * factor, row[f"{name}_high"] * factor)


def verdict(found: Skill, row: Mapping[str, Any], lang: str = "en") -> str:
    """Say which of two variants rewards skill more.

    Parameters
    ----------
    found : Skill
    row : mapping
        A row of ``found.pairs`` with the share ``bots``.
    lang : {"en", "zh"}
        Language.
    """
    shares = {each["variant"]: each["bots"] for each in found.shares.iter_rows(named=True)}
    up = row["difference"] > 0
    sign = 1.0 if up else -1.0
    ends = [sign * row[f"difference_{end}"] * 100 for end in (("low", "high") if up else ("high", "low"))]
    first, second = (row["other"], row["variant"]) if up else (row["variant"], row["other"])
    return _WORDS["undecided" if row["decision"] == "undecided" else "more"][lang].format(
        a=first,
        b=second,
        x=f"{shares[first] * 100:.3g}",
        y=f"{shares[second] * 100:.3g}",
        d=measure(sign * row["difference"] * 100, ends[0], ends[1]),
    )


def verdicts(found: Skill, lang: str = "en") -> list[str]:
    """Say it for every pair of variants."""
    rows = found.pairs.filter(pl.col("share") == "bots").iter_rows(named=True)
    return [verdict(found, row, lang) for row in rows]


def print_skill(found: Skill, lang: str = "en", file: IO[str] | None = None) -> None:
    """Print the shares and the verdicts.

    Parameters
    ----------
    found : Skill
    lang : {"en", "zh"}
        Language.
    file : text file, optional
        By default stdout.
    """
    from rich import box
    from rich.table import Table

    console = make_console(file, WIDTH + 20)
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 2),
        pad_edge=False,
        show_edge=False,
        title=_WORDS["title"][lang],
        title_justify="left",
        title_style="bold",
    )
    columns = ("variant", "deal", "seat", "bots", "own", "rest", "sd")
    for name in columns:
        table.add_column(_NAMES[name][lang], justify="left" if name == "variant" else "right", no_wrap=True)
    for row in found.shares.iter_rows(named=True):
        cells = [_cell(row, name, 1 if name == "sd" else 100) for name in columns[1:]]
        table.add_row(f"{row['variant']} #{row['digest'][:8]}", *cells)
    console.print(table)
    console.print()
    lines = verdicts(found, lang)
    for line in lines:
        console.print(f"• {line}", markup=False)
    if lines:
        console.print()
    foot = _WORDS["foot"][lang].format(
        deals=found.plan.games,
        seatings=len(found.plan.seatings),
        bots=", ".join(found.plan.bots) if lang == "en" else "、".join(found.plan.bots),
        seed=found.plan.seed,
        level=found.level * 100,
    )
    console.print(foot, style="dim", markup=False)


def document(found: Skill) -> dict[str, Any]:
    """Everything as one JSON document."""
    left_out = ("level", "seed", "deals", "seatings")
    variants = {}
    for row in found.shares.iter_rows(named=True):
        kept = {key: value for key, value in row.items() if key not in left_out}
        variants[kept.pop("variant")] = kept
    pairs = []
    for row in found.pairs.iter_rows(named=True):
        pair = {key: value for key, value in row.items() if key not in (*left_out, "digest", "other_digest")}
        if row["share"] == "bots":
            pair["verdict"] = {lang: verdict(found, row, lang) for lang in ("en", "zh")}
        pairs.append(pair)
    return {
        "deals": found.plan.games,
        "seed": found.plan.seed,
        "level": found.level,
        "bots": list(found.plan.bots),
        "seatings": len(found.plan.seatings),
        "variants": variants,
        "pairs": pairs,
    }


def write_skill(found: Skill, folder: Path, lang: str = "en") -> None:
    """Store ``skill.json``, ``shares.csv``, ``pairs.csv`` and ``skill.png``, each as a whole.

    Parameters
    ----------
    found : Skill
    folder : Path
        Made where it is not there.
    lang : {"en", "zh"}
        Of the plot.
    """
    from sim.parts import write_atomic

    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(found), ensure_ascii=False, indent=1, allow_nan=False)
    write_text(folder / "skill.json", text + "\n")
    write_text(folder / "shares.csv", to_csv(found.shares))
    if found.pairs.height:
        write_text(folder / "pairs.csv", to_csv(found.pairs))
    write_atomic(folder / "skill.png", plot_skill(found, lang))


_PLOT: dict[str, Text] = {
    "split": Text("share of the variance of a score, %", "占得分方差的比例，%"),
    "bots": Text("share of the bots, %", "打法所占比例，%"),
    "title": Text("{bots}; {deals:,} deals, seed {seed}", "{bots}；{deals:,} 副牌，种子 {seed}"),
}


@styled
def plot_skill(found: Skill, lang: str) -> bytes:
    """Draw the split by variant, and the bots' share with its interval; a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = list(found.shares.iter_rows(named=True))
    figure = Figure(figsize=(10, 1.8 + 0.4 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2, 1))
    places = range(len(rows))
    begin = [0.0] * len(rows)
    for name in PARTS:
        widths = [row[name] * 100 for row in rows]
        left.barh(places, widths, left=begin, height=0.6, label=_NAMES[name][lang].removesuffix(" %"))
        begin = [at + width for at, width in zip(begin, widths, strict=True)]
    left.set_xlabel(_PLOT["split"][lang])
    left.set_yticks(places, [row["variant"] for row in rows])
    left.invert_yaxis()
    left.set_xlim(0, 100)
    values = [row["bots"] * 100 for row in rows]
    sides = [
        [(row["bots"] - row["bots_low"]) * 100 for row in rows],
        [(row["bots_high"] - row["bots"]) * 100 for row in rows],
    ]
    right.errorbar(values, places, xerr=sides, fmt="o", capsize=3, color="C2")
    right.set_xlabel(_PLOT["bots"][lang])
    right.set_xlim(left=0)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower left", ncols=len(PARTS), frameon=False)
    figure.suptitle(
        _PLOT["title"][lang].format(
            bots=", ".join(found.plan.bots), deals=found.plan.games, seed=found.plan.seed
        ),
        fontsize="medium",
    )
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return buffer.getvalue()
