"""Captions of the plots, in English and Chinese: what one sees, said from the numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analysis.compare_words import full_name
from analysis.load import ACTIVE
from analysis.metrics import FAN_TEXT, METRICS, ROLE_NAMES, Text
from analysis.tables import format_cell, measure

TITLES: dict[str, Text] = {
    "outcome": Text("Draw games, and who wins", "荒庄与各家胡牌"),
    "differences": Text("Paired differences from the first variant", "与第一种规则的配对差"),
    "scores": Text("How much is won and lost in a game", "一局的输赢"),
    "names": Text("Fan names: how often, and how much of the money", "名堂：多常见，占多少输赢"),
    "wangs": Text("Wangs held", "王霸的持有"),
    "payouts": Text("Payouts of draw games", "荒庄赔付"),
    "wins": Text("Huxi and tun of a win", "每胡的胡息与囤数"),
    "length": Text("How long a game lasts", "一局有多长"),
    "swings": Text("Swings of a session", "一场的起伏"),
    "grid": Text("Over two rule keys", "两个规则键的交叉"),
}


def _cell(summary: pl.DataFrame, label: str, key: str, lang: str) -> str:
    row = summary.filter((pl.col("variant") == label) & (pl.col("metric") == key)).row(0, named=True)
    return format_cell(row, METRICS[key], lang)


def _ends(summary: pl.DataFrame, key: str) -> tuple[str, str] | None:
    """Variants with the least and the most of a metric; None without a value."""
    rows = summary.filter((pl.col("metric") == key) & pl.col("value").is_not_null()).sort(
        "value", maintain_order=True
    )
    return None if rows.is_empty() else (rows["variant"][0], rows["variant"][-1])


def _range(summary: pl.DataFrame, key: str, name: Text, lang: str) -> str:
    """``draw-game rate: from a (x) to b (y)``; one variant alone: its value."""
    ends = _ends(summary, key)
    if ends is None:
        return ""
    low, high = ends
    if low == high:
        return f"{name[lang]}{Text(': ', '：')[lang]}{_cell(summary, low, key, lang)}"
    x, y = _cell(summary, low, key, lang), _cell(summary, high, key, lang)
    return Text(
        f"{name.en}: from {x} ({low}) to {y} ({high})", f"{name.zh}：从 {x}（{low}）到 {y}（{high}）"
    )[lang]


def _join(sentences: list[str], lang: str) -> str:
    held = [sentence for sentence in sentences if sentence]
    # a sentence that begins with a variant's label keeps it as it is
    held = [s if re.match(r"\S*[_+0-9]|\S+ \(|\S+:", s) else s[0].upper() + s[1:] for s in held]
    return " ".join(f"{sentence}." for sentence in held) if lang == "en" else "".join(f"{s}。" for s in held)


def _winner(summary: pl.DataFrame, label: str) -> str | None:
    """Role that wins most, if its interval lies above those of the others."""
    keys = {f"win_share_{role}": role for role in ACTIVE}
    rows = summary.filter((pl.col("variant") == label) & pl.col("metric").is_in(list(keys)))
    ranked = sorted(rows.drop_nulls(["low", "high"]).iter_rows(named=True), key=lambda row: -row["value"])
    if len(ranked) < len(ACTIVE) or any(row["high"] >= ranked[0]["low"] for row in ranked[1:]):
        return None
    return keys[ranked[0]["metric"]]


def _outcome(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    summary = frames["summary"]
    best = {_winner(summary, label) for label in summary["variant"].unique(maintain_order=True)}
    found = [_range(summary, "draw_rate", METRICS["draw_rate"].name, lang)]
    if len(best) == 1 and (role := best.pop()) is not None:
        who = ROLE_NAMES[role]
        found.append(Text(f"everywhere the {who.en} wins most", f"各种规则下都是{who.zh}胡得最多")[lang])
        name = Text(f"share won by the {who.en}", f"{who.zh}所胡")
        found.append(_range(summary, f"win_share_{role}", name, lang))
    return found


def _at(frame: pl.DataFrame, **where: Any) -> dict[str, Any] | None:
    rows = frame.filter(*(pl.col(key) == value for key, value in where.items()))
    return None if rows.is_empty() else rows.row(0, named=True)


def bounds(low: float | None, high: float | None, digits: int = 0) -> str:
    """Interval in brackets, nothing without one."""
    return "" if low is None or high is None else f" [{low:,.{digits}f}, {high:,.{digits}f}]"


def _scores(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    frame = frames["scores"]
    found = []
    for label in frame["variant"].unique(maintain_order=True):
        losses = frame.filter((pl.col("variant") == label) & (pl.col("what") == "loss")).sort("at")
        rare = losses.filter(pl.col("share") <= 0.01)
        if rare.is_empty():
            continue
        row = rare.row(0, named=True) | {"value": rare["share"][0]}
        found.append(
            Text(
                f"{label}: a player loses {row['at']} or more in {_percent(row)} of games",
                f"{label}：一家输 {row['at']} 或更多的，占 {_percent(row)} 的局",
            )[lang]
        )
    return found


def _percent(row: Mapping[str, Any]) -> str:
    low, high = (None if row[key] is None else row[key] * 100 for key in ("low", "high"))
    return f"{measure(row['value'] * 100, low, high)} %"


def _names(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    summary = frames["summary"]
    found = []
    for label in summary["variant"].unique(maintain_order=True):
        here = summary.filter((pl.col("variant") == label) & pl.col("value").is_not_null())
        keys = {kind: [f"{kind}_{name}" for name in FAN_TEXT] for kind in ("rate", "share")}
        tops = {
            kind: here.filter(pl.col("metric").is_in(several)).sort(
                "value", descending=True, maintain_order=True
            )
            for kind, several in keys.items()
        }
        if any(top.is_empty() or not top["value"][0] for top in tops.values()):
            continue
        often, rich = (tops[kind]["metric"][0] for kind in ("rate", "share"))
        one, two = (FAN_TEXT[key.partition("_")[2]] for key in (often, rich))
        x, y = (_percent(tops[kind].row(0, named=True)) for kind in ("rate", "share"))
        found.append(
            Text(
                f"{label}: {one.en} is the most frequent ({x} of games), {two.en} brings most of the money ({y})",
                f"{label}：{one.zh}最常见（{x}），{two.zh}带来的输赢最多（{y}）",
            )[lang]
        )
    overlap = Text("A win may bear several names, so shares overlap", "一胡可带几个名堂，各项占比有重叠")[
        lang
    ]
    return [*found, overlap]


def _wangs(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    frame = frames["wangs"].filter(pl.col("when") == "final")
    found = []
    for label in frame["variant"].unique(maintain_order=True):
        row = _at(frame, variant=label, wangs=0)
        if row is not None and row["share"] is not None:
            share = _percent(row | {"value": row["share"]})
            found.append(
                Text(
                    f"{label}: a player ends {share} of games without a wang",
                    f"{label}：一家终局时手上无王的占 {share}",
                )[lang]
            )
    return found


def _payouts(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    summary = frames["summary"]
    holder = Text("all wangs in one hand at a draw game", "荒庄时王霸归一家")
    name = Text("mean payout of a draw game", "每荒平均赔付")
    return [
        _range(summary, "wang_payout_draw", name, lang),
        _range(summary, "draw_one_holder", holder, lang),
    ]


def _wins(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    return [
        _range(frames["summary"], "huxi_mean", Text("mean huxi", "平均胡息"), lang),
        _range(frames["summary"], "tun_mean", Text("mean tun", "平均囤数"), lang),
    ]


def _length(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    found = [_range(frames["summary"], "draws", Text("wall cards drawn in a game", "每局摸牌"), lang)]
    enough = frames["length"].filter((pl.col("what") == "hazard") & (pl.col("n") >= 200))
    for label in enough["variant"].unique(maintain_order=True):
        row = (
            enough.filter(pl.col("variant") == label)
            .sort("share", descending=True, maintain_order=True)
            .row(0, named=True)
        )
        card = row["card"]
        share = f"{row['share'] * 100:.1f} %{bounds(row['low'] * 100, row['high'] * 100, 1)}"
        when = Text(f"at wall card {card}", f"墩上第 {card} 张")
        if card == 0:
            when = Text("before the first wall card", "摸第一张牌之前")
        found.append(
            Text(
                f"{label}: the chance of a win peaks {when.en} in these games, at {share} of those still on",
                f"{label}：本次以{when.zh}最易胡出，占尚未终局的 {share}",
            )[lang]
        )
    return found


def _differences(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    rows = frames["differences"].filter(pl.col("difference").is_not_null())
    decided = rows.filter(pl.col("decision").is_in(["higher", "lower"]))
    found = [
        Text(
            f"{len(decided)} of {len(rows)} differences are decided; the bars hold for all of them together",
            f"{len(rows)} 个差中有 {len(decided)} 个有定论；区间对全部结论同时成立",
        )[lang]
    ]
    open_ones = rows.filter(pl.col("decision") == "undecided")
    names = dict.fromkeys(full_name(METRICS[key], lang) for key in open_ones["metric"])
    if names:
        found.append(Text("not decided: ", "未定：")[lang] + Text(", ", "、")[lang].join(names))
    return found


def _grid(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    rows = frames["grid"].sort("value", maintain_order=True)
    item = METRICS[rows["metric"][0]]
    cells = [rows.row(index, named=True) for index in (0, -1)]
    words = [
        f"{cell['value'] * 100:.2f} %{bounds(cell['low'] * 100, cell['high'] * 100, 2)} "
        f"({cell['x_key']}={cell['x']}, {cell['y_key']}={cell['y']})"
        for cell in cells
    ]
    name = item.name[lang]
    return [Text(f"{name}: from {words[0]} to {words[1]}", f"{name}：从 {words[0]} 到 {words[1]}")[lang]]


def _swings(frames: Mapping[str, pl.DataFrame], lang: str) -> list[str]:
    frame = frames["swings"]
    found = []
    for label in frame["variant"].unique(maintain_order=True):
        here = frame.filter(pl.col("variant") == label)
        last = int(here["game"].to_numpy().max())
        low, high = (_at(here, game=last, share=share) for share in (0.05, 0.95))
        if low is None or high is None:
            continue
        x, y = (f"{row['value']:+,.0f}{bounds(row['low'], row['high'])}" for row in (low, high))
        found.append(
            Text(
                f"{label}: after {last} games one player in twenty is at {x} or worse, one in twenty at {y} or better",
                f"{label}：{last} 局之后，二十人中最差的一人在 {x} 以下，最好的一人在 {y} 以上",
            )[lang]
        )
    if not frame["sessions"].all():
        found.append(
            Text(
                "Evenings are put together from single games; the player takes every place in turn",
                "每场由独立的局拼成，玩家轮流坐各个位置",
            )[lang]
        )
    return found


_CAPTIONS = {
    "outcome": _outcome,
    "differences": _differences,
    "scores": _scores,
    "names": _names,
    "wangs": _wangs,
    "payouts": _payouts,
    "wins": _wins,
    "length": _length,
    "swings": _swings,
    "grid": _grid,
}


def captions(frames: Mapping[str, pl.DataFrame], names: Sequence[str], lang: str = "en") -> dict[str, str]:
    """What one sees on each plot.

    Parameters
    ----------
    frames : mapping
        From :func:`analysis.plot_data.frames_of`.
    names : sequence of str
        Plots that were drawn.
    lang : {"en", "zh"}
        Language.

    Returns
    -------
    dict
        Name of the plot to its caption.
    """
    return {name: _join(_CAPTIONS[name](frames, lang), lang) for name in names}
