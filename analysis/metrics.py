"""The registry of metrics: what each is called, what it means, and how it is computed and bounded.

A metric is written in the columns of :func:`analysis.load.prepare`, as whole numbers: a numerator and a
denominator a game. The same expressions run on game rows and on grouped rows (:mod:`analysis.sufficient`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from analysis.load import ACTIVE, ROLES
from sim.rows import BY_NAMES, COUNTERS, FAN_NAMES

Kind = Literal["rate", "mean", "payout", "ratio", "quantile", "spread"]

BLOCKS: dict[str, tuple[str, ...]] = {
    "outcome": ("winner_role", "by", "names", "wangs_win", "xing"),
    "win": ("huxi", "tun", "fan", "score"),
    "scores": tuple(f"score_{role}" for role in ROLES),
    "money": ("winner_role", "names", "money_win", "money_xing", "money_wang"),
    "wangs_dealt": tuple(f"wangs_dealt_{role}" for role in ACTIVE),
    "wangs_final": ("winner_role", *(f"wangs_final_{role}" for role in ACTIVE)),
    **{name: (name,) for name in COUNTERS},
}
"""Columns that are counted jointly; every metric needs the columns of one block only."""


class MetricError(ValueError):
    """An unknown metric; the message names the nearest known one."""


@dataclass(frozen=True)
class Text:
    """A text in English and Chinese."""

    en: str
    zh: str

    def __getitem__(self, lang: str) -> str:
        """Return the text in ``lang``, ``en`` or ``zh``."""
        if lang not in ("en", "zh"):
            raise ValueError(f"lang is en or zh, not {lang!r}")
        return self.en if lang == "en" else self.zh


@dataclass(frozen=True)
class Metric:
    """One number a variant.

    Attributes
    ----------
    key : str
        Name in tables, files and options.
    section : str
        Heading under which it is shown, a key of ``SECTIONS``.
    name, meaning : Text
        Short name, and one sentence.
    unit : str
        A key of ``UNITS``.
    kind : str
        ``rate``: share of trials. ``mean``: mean of a quantity with short tails. ``payout``: mean with a
        heavy tail. ``ratio``: numerator and denominator both vary by deal. ``quantile``. ``spread``: standard
        deviation.
    features : tuple of Expr
        Whole numbers a game, nulls counting as 0: (numerator, denominator); for a spread (sum, sum of
        squares, number). For a quantile the denominator, 0 or 1, says which games have a value.
    scale : int
        The value is divided by this.
    share : (int, int) or None
        The quantile as a fraction.
    lowest, highest : float or None
        Range of the quantity, to which intervals are cut.
    needs_wangs : bool
        Not applicable to a deck without wangs.
    rare : bool
        Shown as "1 in N".
    """

    key: str
    section: str
    name: Text
    meaning: Text
    unit: str
    kind: Kind
    features: tuple[pl.Expr, ...] = field(compare=False)
    scale: int = 1
    share: tuple[int, int] | None = None
    lowest: float | None = None
    highest: float | None = None
    needs_wangs: bool = False
    rare: bool = False

    @property
    def block(self) -> str:
        """The block of columns that holds all that the metric needs."""
        needed = {name for expr in self.features for name in expr.meta.root_names()}
        for block, columns in BLOCKS.items():
            if needed <= set(columns):
                return block
        raise MetricError(f"metric {self.key} needs columns of more than one block: {sorted(needed)}")


SECTIONS: dict[str, Text] = {
    "outcome": Text("Outcome, per game", "胡与荒（每局）"),
    "wins": Text("Among games won", "胡牌局构成"),
    "money": Text("Money, per game", "输赢（每局）"),
    "spread": Text("Spread (sd of a game)", "波动（单局标准差）"),
    "win": Text("Size of a win", "每胡大小"),
    "names": Text("Fan names, per game", "名堂出现率（每局）"),
    "draw": Text("Draw games", "荒庄局"),
    "wangs": Text("Wangs held, per game", "王霸张数（每局）"),
    "shares": Text("Sources of all money", "全部输赢的来源"),
    "length": Text("Length and actions", "局长与动作（每局）"),
}

UNITS: dict[str, Text] = {
    "share": Text("%", "%"),
    "huxi": Text("huxi", "胡息"),
    "tun": Text("tun", "囤"),
    "fan": Text("fan", "番"),
    "points": Text("points", "分"),
    "money": Text("money", "分"),
    "wangs": Text("wangs", "张"),
    "cards": Text("cards", "张"),
    "times": Text("times", "次"),
}

ROLE_NAMES: dict[str, Text] = {
    "dealer": Text("dealer", "庄家"),
    "next": Text("next player", "庄下家"),
    "third": Text("third player", "庄上家"),
    "sitter": Text("sitter", "醒家"),
}

FAN_TEXT: dict[str, Text] = {
    "red": Text("red", "红胡"),
    "one_red": Text("one red", "一点朱"),
    "black": Text("black", "黑胡"),
    "zimo": Text("zimo", "自摸"),
    "wang_diao": Text("wang diao", "王钓"),
    "wang_diao_wang": Text("wang diao wang", "王钓王"),
    "wang_chuang": Text("wang chuang", "王闯"),
    "wang_chuang_wang": Text("wang chuang wang", "王闯王"),
    "wang_zha": Text("wang zha", "王炸"),
    "wang_zha_wang": Text("wang zha wang", "王炸王"),
}

COUNTER_TEXT: dict[str, tuple[Text, Text, str]] = {
    "draws": (
        Text("cards drawn", "摸牌数"),
        Text("Wall cards drawn in a game.", "一局中从墩上摸牌的张数。"),
        "cards",
    ),
    "wall_left": (
        Text("wall left", "墩上余牌"),
        Text("Wall cards left at the end.", "终局时墩上剩下的牌。"),
        "cards",
    ),
    "discards": (Text("discards", "打牌"), Text("Cards discarded in a game.", "一局中打出的牌。"), "times"),
    "decisions": (
        Text("decisions", "决策"),
        Text("Decisions asked of players in a game.", "一局中玩家需要作出的决定。"),
        "times",
    ),
    "passes": (
        Text("passes", "过"),
        Text(
            "Legal wins, pengs and chis that were passed in a game.", "一局中可胡、可碰、可吃而不要的次数。"
        ),
        "times",
    ),
    "chi": (Text("chi", "吃"), Text("Chis in a game.", "一局中吃牌的次数。"), "times"),
    "peng": (Text("peng", "碰"), Text("Pengs in a game.", "一局中碰牌的次数。"), "times"),
    "wei": (
        Text("wei", "偎"),
        Text("Weis in a game, chou wei included.", "一局中偎牌的次数，含臭偎。"),
        "times",
    ),
    "chou_wei": (Text("chou wei", "臭偎"), Text("Chou weis in a game.", "一局中臭偎的次数。"), "times"),
    "ti": (
        Text("ti", "提"),
        Text(
            "Tis on a drawn card in a game; dealt ones are not counted.", "一局中摸牌提的次数，不含起手提。"
        ),
        "times",
    ),
    "pao": (Text("pao", "跑"), Text("Paos in a game.", "一局中跑牌的次数。"), "times"),
    "dead": (
        Text("dead hands", "死手"),
        Text("Hands that went dead in a game.", "一局中成为死手的家数。"),
        "times",
    ),
}

QUANTILES = (10, 50, 90, 99)

ONE = pl.lit(1)
WON = pl.col("winner_role").is_not_null()
DRAWN = pl.col("winner_role").is_null()
ALL_MONEY = pl.col("money_win") + pl.col("money_xing") + pl.col("money_wang")


def has_name(name: str) -> pl.Expr:
    """Whether the win has this fan name, over the column ``names``."""
    return (pl.col("names") // (1 << FAN_NAMES.index(name))) % 2 == 1


def _outcome() -> Iterable[Metric]:
    yield Metric(
        "draw_rate",
        "outcome",
        Text("draw-game rate", "荒庄率"),
        Text("Share of games in which the wall ends and nobody has won.", "墩上摸完而无人胡牌的局所占比例。"),
        "share",
        "rate",
        (DRAWN, ONE),
    )
    for code, role in enumerate(ACTIVE):
        who = ROLE_NAMES[role]
        yield Metric(
            f"win_rate_{role}",
            "outcome",
            Text(f"win rate, {who.en}", f"胡牌率·{who.zh}"),
            Text(f"Share of all games that the {who.en} wins.", f"{who.zh}胡牌的局占全部局的比例。"),
            "share",
            "rate",
            (pl.col("winner_role") == code, ONE),
        )
    yield Metric(
        "heavenly_rate",
        "outcome",
        Text("heavenly win", "天胡率"),
        Text(
            "Share of games that the dealer wins on the dealt 21 cards.", "庄家起手二十一张即胡的局所占比例。"
        ),
        "share",
        "rate",
        (pl.col("by") == BY_NAMES.index("deal"), ONE),
        rare=True,
    )
    for code, role in enumerate(ACTIVE):
        who = ROLE_NAMES[role]
        yield Metric(
            f"win_share_{role}",
            "wins",
            Text(f"won by {who.en}", f"{who.zh}胡"),
            Text(f"Share of the games won that the {who.en} wins.", f"胡牌局中由{who.zh}胡的比例。"),
            "share",
            "rate",
            (pl.col("winner_role") == code, WON),
        )
    yield Metric(
        "own_draw_share",
        "wins",
        Text("on an own draw", "自摸占比"),
        Text(
            "Share of wins on a card that the winner drew, heavenly wins included.",
            "胡牌局中自摸（含天胡）的比例。",
        ),
        "share",
        "rate",
        (pl.col("by") != BY_NAMES.index("other"), WON),
    )
    yield Metric(
        "wang_win_share",
        "wins",
        Text("with a wang in hand", "带王胡占比"),
        Text("Share of wins whose winner holds at least one wang.", "胡牌局中胡家手上有王霸的比例。"),
        "share",
        "rate",
        (pl.col("wangs_win") > 0, WON),
        needs_wangs=True,
    )
    yield Metric(
        "xing_share",
        "wins",
        Text("with xing", "中醒占比"),
        Text("Share of wins that hit at least one xing card.", "胡牌局中至少中一个醒的比例。"),
        "share",
        "rate",
        (pl.col("xing") > 0, WON & pl.col("xing").is_not_null()),
    )


def _money() -> Iterable[Metric]:
    for role in ROLES:
        who = ROLE_NAMES[role]
        score = pl.col(f"score_{role}")
        yield Metric(
            f"score_{role}",
            "money",
            Text(f"score, {who.en}", f"得分·{who.zh}"),
            Text(f"Mean money that the {who.en} wins or loses in a game.", f"{who.zh}平均每局的输赢。"),
            "money",
            "payout",
            (score, score.is_not_null()),
        )
    dealer, following, third = (pl.col(f"score_{role}") for role in ACTIVE)
    yield Metric(
        "dealer_advantage",
        "money",
        Text("dealer advantage", "庄家优势"),
        Text(
            "Mean score of the dealer less that of the two other active players.",
            "庄家平均得分减去另外两个打牌玩家的平均得分。",
        ),
        "money",
        "payout",
        (2 * dealer - following - third, ONE),
        scale=2,
    )
    for key, money, name, meaning, wangs in (
        (
            "transfers",
            ALL_MONEY,
            Text("all transfers", "输赢总额"),
            Text("Mean of all money that changes hands in a game.", "平均每局易手的全部分数。"),
            False,
        ),
        (
            "win_money",
            pl.col("money_win"),
            Text("win money", "胡牌钱"),
            Text("Mean win money (tun × fan) paid in a game.", "平均每局付出的胡牌钱（囤×番）。"),
            False,
        ),
        (
            "xing_money",
            pl.col("money_xing"),
            Text("xing money", "醒钱"),
            Text("Mean xing money paid in a game.", "平均每局付出的醒钱。"),
            False,
        ),
        (
            "wang_payout",
            pl.col("money_wang"),
            Text("wang payout", "王霸赔付"),
            Text("Mean wang payments in a game, 0 in games won.", "平均每局的荒庄王霸赔付，胡牌局计 0。"),
            True,
        ),
    ):
        yield Metric(
            key, "money", name, meaning, "money", "payout", (money, ONE), lowest=0.0, needs_wangs=wangs
        )
    yield Metric(
        "sd_score",
        "spread",
        Text("a player", "打牌玩家"),
        Text(
            "Standard deviation of one active player's score in one game, over all three roles.",
            "一个打牌玩家单局得分的标准差，三个位置合计。",
        ),
        "money",
        "spread",
        (dealer + following + third, dealer**2 + following**2 + third**2, pl.lit(3)),
        lowest=0.0,
    )
    for role in ROLES:
        who = ROLE_NAMES[role]
        score = pl.col(f"score_{role}")
        yield Metric(
            f"sd_score_{role}",
            "spread",
            Text(f"{who.en}", f"{who.zh}"),
            Text(f"Standard deviation of the {who.en}'s score in one game.", f"{who.zh}单局得分的标准差。"),
            "money",
            "spread",
            (score, score**2, score.is_not_null()),
            lowest=0.0,
        )


def _wins() -> Iterable[Metric]:
    for name, zh, unit, kind in (
        ("huxi", "胡息", "huxi", "mean"),
        ("tun", "囤数", "tun", "mean"),
        ("fan", "番数", "fan", "payout"),
        ("score", "囤×番", "points", "payout"),
    ):
        column = pl.col(name)
        label = "tun × fan" if name == "score" else name
        features = (column, column.is_not_null())
        yield Metric(
            f"{name}_mean",
            "win",
            Text(f"{label}, mean", f"{zh}·平均"),
            Text(f"Mean {label} of a win.", f"每胡的平均{zh}。"),
            unit,
            "mean" if kind == "mean" else "payout",
            features,
            lowest=0.0,
        )
        for percent in QUANTILES:
            en = "median" if percent == 50 else f"p{percent}"
            yield Metric(
                f"{name}_p{percent}",
                "win",
                Text(f"{label}, {en}", f"{zh}·{'中位' if percent == 50 else f'{percent}% 分位'}"),
                Text(
                    f"At least {percent} % of wins have this {label} or less.",
                    f"{percent}% 的胡{zh}不超过此数。",
                ),
                unit,
                "quantile",
                features,
                share=(percent, 100),
            )
    yield Metric(
        "wangs_per_win",
        "win",
        Text("winner's wangs", "胡家王霸"),
        Text("Mean wangs in the winner's hand.", "胡家手上王霸的平均张数。"),
        "wangs",
        "mean",
        (pl.col("wangs_win"), WON),
        lowest=0.0,
        needs_wangs=True,
    )
    yield Metric(
        "xing_count",
        "win",
        Text("xing cards", "中醒数"),
        Text("Mean xing cards of a win.", "每胡平均中醒的张数。"),
        "cards",
        "mean",
        (pl.col("xing"), pl.col("xing").is_not_null()),
        lowest=0.0,
    )
    yield Metric(
        "xing_money_win",
        "win",
        Text("xing money", "醒钱"),
        Text("Mean xing money paid on a win.", "每胡平均付出的醒钱。"),
        "money",
        "payout",
        (pl.when(WON).then(pl.col("money_xing")).otherwise(0), WON),
        lowest=0.0,
    )


def _names() -> Iterable[Metric]:
    for name, text in FAN_TEXT.items():
        yield Metric(
            f"rate_{name}",
            "names",
            text,
            Text(f"Share of all games won with {text.en}.", f"全部局中以{text.zh}胡牌的比例。"),
            "share",
            "rate",
            (has_name(name), ONE),
            needs_wangs=name.startswith("wang"),
            rare=True,
        )
    yield Metric(
        "rate_plain",
        "names",
        Text("no name (1 fan)", "无名堂（1 番）"),
        Text("Share of all games won without any fan name.", "全部局中不带任何名堂胡牌的比例。"),
        "share",
        "rate",
        (WON & (pl.col("names") == 0), ONE),
        rare=True,
    )


def _wangs() -> Iterable[Metric]:
    yield Metric(
        "wang_payout_draw",
        "draw",
        Text("wang payout", "每荒王霸赔付"),
        Text("Mean wang payments in a draw game.", "荒庄局平均的王霸赔付总额。"),
        "money",
        "payout",
        (pl.when(DRAWN).then(pl.col("money_wang")).otherwise(0), DRAWN),
        lowest=0.0,
        needs_wangs=True,
    )
    held = [pl.col(f"wangs_final_{role}").cast(pl.Int64) for role in ACTIVE]
    yield Metric(
        "draw_one_holder",
        "draw",
        Text("all wangs in one hand", "王霸归一家占比"),
        Text(
            "Share of draw games in which one player holds every wang, so that `all_in_one` applies.",
            "荒庄局中所有王霸在一家手里（赔付翻倍）的比例。",
        ),
        "share",
        "rate",
        (DRAWN & (pl.max_horizontal(held) == pl.sum_horizontal(held)) & (pl.sum_horizontal(held) > 0), DRAWN),
        needs_wangs=True,
    )
    for when, moment, zh in (("dealt", "dealt", "起手"), ("final", "at the end", "终局")):
        for role in ACTIVE:
            who = ROLE_NAMES[role]
            column = pl.col(f"wangs_{when}_{role}")
            yield Metric(
                f"wangs_{when}_{role}",
                "wangs",
                Text(f"{when}, {who.en}", f"{zh}·{who.zh}"),
                Text(f"Mean wangs of the {who.en}, {moment}.", f"{who.zh}{zh}时王霸的平均张数。"),
                "wangs",
                "mean",
                (column, ONE),
                lowest=0.0,
                highest=4.0,
                needs_wangs=True,
            )


def _shares() -> Iterable[Metric]:
    for key, en, zh in (
        ("win", "wins", "胡牌钱"),
        ("xing", "xing", "醒钱"),
        ("wang", "wang payouts", "王霸赔付"),
    ):
        yield Metric(
            f"share_{key}",
            "shares",
            Text(en, zh),
            Text(f"Part of all money transferred that comes from {en}.", f"全部输赢中来自{zh}的部分。"),
            "share",
            "ratio",
            (pl.col(f"money_{key}"), ALL_MONEY),
            lowest=0.0,
            highest=1.0,
            needs_wangs=key == "wang",
        )
    for name, text in FAN_TEXT.items():
        earned = pl.col("money_win") + pl.col("money_xing")
        yield Metric(
            f"share_{name}",
            "shares",
            Text(f"with {text.en}", f"含{text.zh}的胡"),
            Text(
                f"Part of all money that games won with {text.en} bring, xing included; names may overlap.",
                f"全部输赢中由含{text.zh}的胡（连同醒钱）带来的部分；名堂可重叠。",
            ),
            "share",
            "ratio",
            (pl.when(has_name(name)).then(earned).otherwise(0), ALL_MONEY),
            lowest=0.0,
            highest=1.0,
            needs_wangs=name.startswith("wang"),
        )


def _length() -> Iterable[Metric]:
    for name, (text, meaning, unit) in COUNTER_TEXT.items():
        column = pl.col(name)
        features = (column, ONE)
        yield Metric(name, "length", text, meaning, unit, "mean", features, lowest=0.0)
        if name == "draws":
            for percent in (10, 50, 90):
                en = "median" if percent == 50 else f"p{percent}"
                zh = "中位" if percent == 50 else f"{percent}% 分位"
                yield Metric(
                    f"{name}_p{percent}",
                    "length",
                    Text(f"{text.en}, {en}", f"{text.zh}·{zh}"),
                    Text(
                        f"At least {percent} % of games draw so many cards or fewer.",
                        f"{percent}% 的局摸牌不超过此数。",
                    ),
                    unit,
                    "quantile",
                    features,
                    share=(percent, 100),
                )


def _registry() -> dict[str, Metric]:
    found: dict[str, Metric] = {}
    for make in (_outcome, _money, _wins, _names, _wangs, _shares, _length):
        for metric in make():
            if metric.key in found:
                raise MetricError(f"metric {metric.key} is defined twice")
            found[metric.key] = metric
    order = list(SECTIONS)
    return dict(sorted(found.items(), key=lambda item: order.index(item[1].section)))


METRICS: dict[str, Metric] = _registry()
"""Every metric by its key, in the order of the table."""


def metric(key: str) -> Metric:
    """Look a metric up.

    Raises
    ------
    MetricError
        When there is none of this key; the message names the nearest ones.
    """
    if key in METRICS:
        return METRICS[key]
    near = difflib.get_close_matches(key, METRICS, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; metrics are {', '.join(METRICS)}"
    raise MetricError(f"unknown metric {key!r}{hint}")
