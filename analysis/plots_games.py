"""Plots of games: outcome, scores, names, wangs, wins, length, swings. Each takes a tidy frame, gives a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.load import ACTIVE
from analysis.metrics import FAN_TEXT, ROLE_NAMES, Text
from analysis.plot_style import MAX_VARIANTS, MUTED, Look, figure, series

PERCENT = FuncFormatter(lambda value, _: f"{round(value * 100, 6):g} %")


def say(look: Look, en: str, zh: str) -> str:
    """A text in the language of a plot."""
    return Text(en, zh)[look.lang]


def variants_of(frame: pl.DataFrame) -> list[str]:
    """Variants of a frame, in order, as many as a plot can show."""
    return [str(name) for name in frame["variant"].unique(maintain_order=True).to_list()][:MAX_VARIANTS]


def _ends(part: pl.DataFrame, name: str = "share") -> list[list[float]]:
    """Lengths of both sides of the intervals, as errorbar wants them."""
    value = part[name]
    return [
        (value - part["low"].fill_null(value)).clip(0).to_list(),
        (part["high"].fill_null(value) - value).clip(0).to_list(),
    ]


def _dodge(number: int, count: int, width: float = 0.6) -> float:
    return 0.0 if count == 1 else (number / (count - 1) - 0.5) * width


def dots(
    axes: Any, at: Sequence[float], part: pl.DataFrame, how: dict[str, Any], across: bool, **more: Any
) -> None:
    """Values with their intervals as dots with bars."""
    keys = {key: how[key] for key in ("color", "marker")} | {
        "linestyle": "none",
        "elinewidth": 1.4,
        "capsize": 2.5,
    }
    name = "value" if "value" in part.columns and "share" not in part.columns else "share"
    ends = _ends(part, name)
    if across:
        axes.errorbar(part[name], at, xerr=ends, **keys, **more)
    else:
        axes.errorbar(at, part[name], yerr=ends, **keys, **more)


def _each(frame: pl.DataFrame, look: Look) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    names = variants_of(frame)
    styles, labels = series(names), look.labels(names)
    for number, name in enumerate(names):
        yield number, name, labels[name], styles[name]


def legend(axes: Any, count: int, **how: Any) -> None:
    """Name the curves above the panel."""
    if count > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.2, **how)


def plot_outcome(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Draw rate, and the share of wins by role, with intervals.

    Parameters
    ----------
    frame : DataFrame
        A summary: ``variant, metric, value, low, high``.
    lang : {"en", "zh"}

    Returns
    -------
    Figure
    """
    names = variants_of(frame)
    with figure(lang, 2.6 + 0.28 * len(names), 2, height_ratios=[0.5 + 0.28 * len(names), 2.1]) as (
        made,
        axes,
        look,
    ):
        for number, name, _, how in _each(frame, look):
            part = frame.filter((pl.col("variant") == name) & (pl.col("metric") == "draw_rate"))
            if part["value"].null_count() == 0:
                dots(axes[0], [number] * part.height, part, how, across=True)
            keys = [f"win_share_{role}" for role in ACTIVE]
            rows = {
                row["metric"]: row for row in frame.filter(pl.col("variant") == name).iter_rows(named=True)
            }
            held = [rows[key] for key in keys if key in rows and rows[key]["value"] is not None]
            if held:
                places = [keys.index(row["metric"]) + _dodge(number, len(names), 0.5) for row in held]
                dots(axes[1], places, pl.DataFrame(held).select("value", "low", "high"), how, across=False)
        labels = look.labels(names)
        axes[0].set_yticks(range(len(names)), [labels[name] for name in names])
        axes[0].set_ylim(len(names) - 0.4, -0.6)
        axes[0].set_xlim(left=0)
        axes[0].xaxis.set_major_formatter(PERCENT)
        axes[0].grid(axis="y", visible=False)
        axes[0].set_title(say(look, "Draw games, share of all games", "荒庄率（占全部局）"))
        axes[1].axhline(1 / 3, color=MUTED, linewidth=1, linestyle=":")
        axes[1].set_xticks(range(3), [ROLE_NAMES[role][look.lang] for role in ACTIVE])
        axes[1].yaxis.set_major_formatter(PERCENT)
        axes[1].grid(axis="x", visible=False)
        axes[1].set_title(
            say(
                look,
                "Who wins, share of the games won (dotted: one third)",
                "谁胡牌，占胡牌局（点线为三分之一）",
            )
        )
    return made


def _curves(axes: Any, frame: pl.DataFrame, key: str, look: Look, names: Sequence[str], **more: Any) -> None:
    """Shares over a number, with bands, in the styles of all the variants of the plot."""
    styles, labels = series(names), look.labels(names)
    for name in names:
        part = frame.filter(pl.col("variant") == name).sort(key)
        if part.is_empty():
            continue
        how = styles[name] | {"markersize": 3.6} | more
        axes.plot(part[key], part["share"], label=labels[name], **how)
        low, high = part["low"].fill_null(part["share"]), part["high"].fill_null(part["share"])
        axes.fill_between(part[key], low, high, color=how["color"], alpha=0.22, linewidth=0)


def _thousands(value: float, _: object = None) -> str:
    return f"{value:,.0f}"


def _rarity(lang: str) -> FuncFormatter:
    """Small shares as "1 in N"."""

    def text(value: float, _: object = None) -> str:
        if value <= 0:
            return ""
        if value > 0.02:
            return f"{value * 100:g} %"
        return f"1 in {1 / value:,.0f}" if lang == "en" else f"1/{1 / value:,.0f}"

    return FuncFormatter(text)


def plot_scores(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Chance of a win of so many points or more, and of gaining or losing so much in a game; log axes.

    Parameters
    ----------
    frame : DataFrame
        ``variant, what`` (win, gain, loss), ``at, share, low, high``.
    """
    names = variants_of(frame)
    with figure(lang, 5.6, 2) as (made, axes, look):
        _curves(axes[0], frame.filter(pl.col("what") == "win"), "at", look, names)
        _curves(axes[1], frame.filter(pl.col("what") == "gain"), "at", look, names)
        losses = frame.filter(pl.col("what") == "loss")
        styles = series(names)
        for name in names:
            part = losses.filter(pl.col("variant") == name).sort("at")
            how = styles[name] | {"markerfacecolor": "white", "markersize": 3.6, "linewidth": 0.9}
            axes[1].plot(part["at"], part["share"], **how)
            axes[1].fill_between(
                part["at"], part["low"], part["high"], color=how["color"], alpha=0.15, linewidth=0
            )
        for panel in axes:
            panel.set_xscale("log", base=2)
            panel.set_yscale("log")
            panel.xaxis.set_major_formatter(FuncFormatter(_thousands))
            panel.yaxis.set_major_formatter(_rarity(look.lang))
            panel.minorticks_off()
        axes[0].set_title(
            say(look, "Wins of so many points (tun × fan) or more", "胡牌达到该分数（囤×番）的比例"), pad=22
        )
        legend(axes[0], len(names))
        axes[0].set_ylabel(say(look, "share of wins", "占胡牌局"))
        axes[0].set_xlabel(say(look, "points", "分"))
        axes[1].set_title(
            say(
                look,
                "One player gains (full) or loses (hollow) so much",
                "一名打牌玩家单局赢（实心）或输（空心）达到该数的比例",
            )
        )
        axes[1].set_ylabel(say(look, "share of games", "占全部局"))
        axes[1].set_xlabel(say(look, "money, xing and wang payments included", "分（含醒钱与王霸赔付）"))
    return made


def plot_names(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Fan names by how often they come and by their share of all money.

    Parameters
    ----------
    frame : DataFrame
        A summary: ``variant, metric, value, low, high``.
    """
    names = variants_of(frame)
    present = set(frame.filter(pl.col("value") > 0)["metric"].to_list())
    fans = [fan for fan in FAN_TEXT if f"rate_{fan}" in present]
    height = 1.6 + 2 * len(fans) * max(0.24, 0.12 * len(names))
    with figure(lang, height, 2) as (made, axes, look):
        for number, name, label, how in _each(frame, look):
            for panel, prefix in zip(axes, ("rate", "share"), strict=True):
                rows = {
                    row["metric"]: row
                    for row in frame.filter(pl.col("variant") == name).iter_rows(named=True)
                }
                held = [
                    (place, rows[f"{prefix}_{fan}"])
                    for place, fan in enumerate(fans)
                    if rows.get(f"{prefix}_{fan}", {}).get("value")
                ]
                if held:
                    places = [place + _dodge(number, len(names), 0.5) for place, _ in held]
                    part = pl.DataFrame([row for _, row in held]).select("value", "low", "high")
                    dots(panel, places, part, how, across=True, label=label)
        for panel in axes:
            panel.set_yticks(range(len(fans)), [FAN_TEXT[fan][look.lang] for fan in fans])
            panel.set_ylim(len(fans) - 0.4, -0.6)
        axes[0].set_xscale("log")
        axes[0].xaxis.set_major_formatter(_rarity(look.lang))
        axes[0].minorticks_off()
        axes[0].set_title(say(look, "How often: share of all games", "出现率（占全部局）"), pad=22)
        legend(axes[0], len(names))
        axes[1].set_xlim(left=0)
        axes[1].xaxis.set_major_formatter(PERCENT)
        axes[1].set_title(
            say(
                look,
                "Share of all money, xing included (names overlap)",
                "占全部输赢（连同醒钱；名堂可重叠）",
            )
        )
    return made


def plot_wangs(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Wangs that a player holds, dealt and at the end.

    Parameters
    ----------
    frame : DataFrame
        ``variant, when`` (dealt, final), ``wangs, share, low, high``.
    """
    names = variants_of(frame)
    with figure(lang, 4.8, 2, sharex=True) as (made, axes, look):
        texts = (
            say(look, "Wangs of a player, dealt", "起手王霸张数（每家）"),
            say(look, "… and at the end", "终局王霸张数（每家）"),
        )
        for panel, when, text in zip(axes, ("dealt", "final"), texts, strict=True):
            for number, name, label, how in _each(frame, look):
                part = frame.filter((pl.col("variant") == name) & (pl.col("when") == when)).sort("wangs")
                places = [value + _dodge(number, len(names), 0.4) for value in part["wangs"]]
                dots(panel, places, part, how, across=False, label=label)
            panel.set_title(text, pad=22 if when == "dealt" else 6)
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            panel.set_ylim(0, panel.get_ylim()[1] * 1.06)
            panel.yaxis.set_major_formatter(PERCENT)
        legend(axes[0], len(names))
        axes[1].set_xlabel(say(look, "wangs", "张"))
    return made


def plot_payouts(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """What a draw game pays for wangs, all payments together.

    Parameters
    ----------
    frame : DataFrame
        ``variant, amount, share, low, high``.
    """
    names = variants_of(frame)
    with figure(lang, 3.0) as (made, axes, look):
        for number, name, label, how in _each(frame, look):
            part = frame.filter(pl.col("variant") == name).sort("amount")
            shift = _dodge(number, len(names), 1.6)
            dots(axes[0], [value + shift for value in part["amount"]], part, how, across=False, label=label)
            axes[0].vlines(
                [value + shift for value in part["amount"]], 0, part["share"], color=how["color"], linewidth=1
            )
        axes[0].set_ylim(0, axes[0].get_ylim()[1] * 1.06)
        axes[0].yaxis.set_major_formatter(PERCENT)
        axes[0].set_title(
            say(look, "Wang payments of a draw game, share of draw games", "荒庄局王霸赔付总额，占荒庄局"),
            pad=22,
        )
        axes[0].set_xlabel(say(look, "money", "分"))
        legend(axes[0], len(names))
    return made


def plot_wins(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Huxi and tun of a win.

    Parameters
    ----------
    frame : DataFrame
        ``variant, what`` (huxi, tun), ``value, share, low, high``.
    """
    names = variants_of(frame)
    with figure(lang, 4.9, 2) as (made, axes, look):
        for panel, what in zip(axes, ("huxi", "tun"), strict=True):
            shown = frame.filter((pl.col("what") == what) & (pl.col("share") > 0.0005))
            _curves(panel, shown, "value", look, names)
            panel.set_ylim(0, panel.get_ylim()[1] * 1.06)
            panel.yaxis.set_major_formatter(PERCENT)
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes[0].set_title(say(look, "Huxi of a win, share of wins", "每胡胡息，占胡牌局"), pad=22)
        axes[0].set_xlabel(say(look, "huxi", "胡息"))
        axes[1].set_title(say(look, "Tun of a win, share of wins", "每胡囤数，占胡牌局"))
        axes[1].set_xlabel(say(look, "tun", "囤"))
        legend(axes[0], len(names))
    return made


def plot_length(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """Games still going, and the chance that the next wall card ends one, by wall card.

    Parameters
    ----------
    frame : DataFrame
        ``variant, what`` (alive, hazard), ``card, share, low, high``.
    """
    names = variants_of(frame)
    with figure(lang, 4.9, 2, sharex=True) as (made, axes, look):
        _curves(axes[0], frame.filter(pl.col("what") == "alive"), "card", look, names)
        _curves(axes[1], frame.filter(pl.col("what") == "hazard"), "card", look, names)
        for panel in axes:
            panel.set_ylim(0, panel.get_ylim()[1] * 1.06)
            panel.yaxis.set_major_formatter(PERCENT)
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes[0].set_title(
            say(look, "Games not yet won after so many wall cards", "摸完该张后尚未胡牌的局"), pad=22
        )
        axes[1].set_title(
            say(
                look,
                "Hazard: this wall card ends a game that got so far",
                "风险率：打到该张的局在该张胡牌的比例",
            )
        )
        axes[1].set_xlabel(say(look, "wall card (0: before the first)", "第几张墩牌（0 为摸牌之前）"))
        legend(axes[0], len(names))
    return made


def plot_swings(frame: pl.DataFrame, lang: str = "en") -> Figure:
    """What a player has won or lost by game of a session: median, middle half, and all but one in ten.

    Parameters
    ----------
    frame : DataFrame
        ``variant, game, share, value, low, high, evenings, sessions``.
    """
    names = variants_of(frame)
    with figure(lang, 0.9 + 1.6 * len(names), len(names), sharex=True, sharey=True) as (made, axes, look):
        styles, labels = series(names), look.labels(names)
        for panel, name in zip(axes, names, strict=True):
            part = frame.filter(pl.col("variant") == name)
            game = part.filter(pl.col("share") == 0.5).sort("game")["game"]
            line = {
                share: part.filter(pl.col("share") == share).sort("game")
                for share in (0.05, 0.25, 0.5, 0.75, 0.95)
            }
            colour = styles[name]["color"]
            panel.fill_between(
                game, line[0.05]["value"], line[0.95]["value"], color=colour, alpha=0.18, linewidth=0
            )
            panel.fill_between(
                game, line[0.25]["value"], line[0.75]["value"], color=colour, alpha=0.35, linewidth=0
            )
            panel.plot(game, line[0.5]["value"], color=colour)
            for share in (0.05, 0.95):
                last = line[share].tail(1)
                panel.errorbar(
                    last["game"],
                    last["value"],
                    yerr=_ends(last, "value"),
                    color=colour,
                    capsize=2.5,
                    elinewidth=1.4,
                )
            panel.axhline(0, color=MUTED, linewidth=0.8)
            panel.set_title(labels[name])
            panel.yaxis.set_major_formatter(FuncFormatter(_thousands))
        axes[-1].set_xlabel(say(look, "game of the session", "一场中的第几局"))
        made.supylabel(say(look, "won or lost so far", "累计输赢"), fontsize=9.5)
    return made
