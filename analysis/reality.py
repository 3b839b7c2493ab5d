"""Real games against simulated ones: is the dealing random, are the frequencies those of the variant, do people
choose as bots do?

The dealing is held against exact laws; frequencies and choices against games of bots. All tests of one question are
adjusted together by Holm, and each has an effect with an interval.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from analysis import intervals as ci
from analysis.compare import holm
from analysis.exact import HANDS, alike_law, hand_law, wang_strata
from analysis.load import prepare
from analysis.metrics import FAN_TEXT, Text
from analysis.options import OPTIONS, count_options
from analysis.reality_read import DRAW, ROLES, RecordError, Records, read_mapping, read_records
from analysis.strata import announce_compiling, default_jobs, in_order
from sim.rows import FAN_NAMES

if TYPE_CHECKING:
    from sim.variant import Variant

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_GAMES = 30
LEAST_EXPECTED = 5.0
"""Cells that expect fewer are pooled."""
CHUNK = 8_192
LOGGED = 1_000
"""Games a mix of bots that are played with a log, to compare choices."""
MOST_BINS = 8
RED_CARDS = 24
ORDINARY = 80


@dataclass(frozen=True)
class Cell:
    """One category: real count, its share, and the simulated or exact share, with the interval of the difference."""

    name: Text
    count: int
    share: float
    other: float
    low: float
    high: float


@dataclass(frozen=True)
class Check:
    """One test.

    Attributes
    ----------
    key : str
    name : Text
    n : int
        Games, wins, hands or offers in the records.
    p : float
        Adjusted by Holm over the checks of its question.
    raw : float
        Not adjusted.
    effect : str
        ``w`` (Cohen's, from the G statistic less its degrees of freedom) or ``difference`` (real less expected).
    value, low, high : float
        Of the effect, with interval at the level of the report.
    unit : str
        ``wangs``, ``cards``, ``share`` or empty.
    cells : tuple of Cell
    flagged : bool
        Whether p is below alpha.
    statistic, freedom : float, int
        G and its degrees of freedom, or z and 0.
    """

    key: str
    name: Text
    n: int
    p: float
    raw: float
    effect: str
    value: float
    low: float
    high: float
    unit: str = ""
    cells: tuple[Cell, ...] = ()
    flagged: bool = False
    statistic: float = 0.0
    freedom: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "key": self.key,
            "name": {"en": self.name.en, "zh": self.name.zh},
            "n": self.n,
            "statistic": self.statistic,
            "degrees_of_freedom": self.freedom,
            "p": self.raw,
            "p_adjusted": self.p,
            "flagged": self.flagged,
            "effect": self.effect,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "cells": [
                {
                    "name": {"en": cell.name.en, "zh": cell.name.zh},
                    "count": cell.count,
                    "share": cell.share,
                    "expected": cell.other,
                    "difference": cell.share - cell.other,
                    "low": cell.low,
                    "high": cell.high,
                }
                for cell in self.cells
            ],
        }


# --- statistics -------------------------------------------------------------------------------------------


def g_statistic(observed: FloatArray, expected: FloatArray) -> float:
    """G = 2 Σ O ln(O / E), over cells of any shape; empty cells add nothing."""
    held = observed > 0
    return float(2 * (observed[held] * np.log(observed[held] / expected[held])).sum())


def pooled_cells(weights: FloatArray, least: float = LEAST_EXPECTED) -> IntArray:
    """Pool neighbouring cells until each expects ``least``; shape (k,), groups from 0."""
    groups = np.zeros(len(weights), dtype=np.int64)
    group, held = 0, 0.0
    for number, weight in enumerate(weights):
        groups[number] = group
        held += weight
        if held >= least and weights[number + 1 :].sum() >= least:
            group, held = group + 1, 0.0
    return groups


def noncentrality(statistic: float, freedom: int, tail: float) -> float:
    """Noncentrality λ for which a noncentral χ² is at most ``statistic`` with chance ``tail``; 0 if there is none."""
    if freedom < 1 or special.chdtr(freedom, statistic) <= tail:
        return 0.0
    low, high = 0.0, statistic + 10 * math.sqrt(statistic + freedom) + 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if special.chndtr(statistic, freedom, middle) > tail else (low, middle)
    return (low + high) / 2


def effect_w(statistic: float, freedom: int, n: float, level: float) -> tuple[float, float, float]:
    """Cohen's w and its interval, from G: λ / n = w², λ estimated by G − df and bounded by inverting χ²(λ)."""
    tail = (1 - level) / 2
    ends = (max(0.0, statistic - freedom), *(noncentrality(statistic, freedom, t) for t in (1 - tail, tail)))
    value, low, high = (math.sqrt(end / n) for end in ends)
    return value, low, high


def share_difference(events: int, n: int, others: int, m: int, level: float) -> tuple[float, float]:
    """Newcombe's interval of a difference of two shares; ``m = 0``: the other share is exact and ``others`` unused."""
    z = ci.normal_point(level)
    share, other = events / n, others / m
    low, high = ci.wilson(events, n, z)
    below, above = ci.wilson(others, m, z)
    gap = share - other
    return gap - math.hypot(share - low, above - other), gap + math.hypot(high - share, other - below)


@dataclass(frozen=True)
class _Found:
    """A check before it is adjusted."""

    key: str
    name: Text
    n: int
    p: float
    effect: str
    value: float
    low: float
    high: float
    unit: str
    cells: tuple[Cell, ...]
    statistic: float
    freedom: int


def _against_law(
    key: str, name: Text, names: Sequence[Text], counts: IntArray, law: FloatArray, level: float
) -> _Found | None:
    """G-test of counts against an exact law."""
    n = int(counts.sum())
    groups = pooled_cells(law * n)
    size = int(groups[-1]) + 1
    if n < LEAST_GAMES or size < 2:
        return None
    observed, expected = np.zeros(size), np.zeros(size)
    np.add.at(observed, groups, counts)
    np.add.at(expected, groups, law * n)
    statistic, freedom = g_statistic(observed, expected), size - 1
    value, low, high = effect_w(statistic, freedom, n, level)
    cells = []
    for group in range(size):
        share, other = observed[group] / n, expected[group] / n
        one, two = ci.wilson(float(observed[group]), n, ci.normal_point(level))
        cells.append(
            Cell(_joined(names, groups, group), int(observed[group]), share, other, one - other, two - other)
        )
    p = float(special.chdtrc(freedom, statistic))
    return _Found(key, name, n, p, "w", value, low, high, "", tuple(cells), statistic, freedom)


def _against_games(
    key: str, name: Text, names: Sequence[Text], counts: IntArray, others: IntArray, level: float
) -> _Found | None:
    """G-test of two samples: real and simulated games."""
    n, m = int(counts.sum()), int(others.sum())
    if n < LEAST_GAMES or m < LEAST_GAMES:
        return None
    both = (counts + others).astype(np.float64)
    groups = pooled_cells(both * (min(n, m) / (n + m)))
    size = int(groups[-1]) + 1
    if size < 2:
        return None
    table = np.zeros((2, size))
    np.add.at(table[0], groups, counts)
    np.add.at(table[1], groups, others)
    expected = np.outer([n, m], table.sum(axis=0)) / (n + m)
    statistic, freedom = g_statistic(table, expected), size - 1
    value, low, high = effect_w(statistic, freedom, n * m / (n + m), level)
    cells = []
    for group in range(size):
        one, two = int(table[0, group]), int(table[1, group])
        ends = share_difference(one, n, two, m, level)
        cells.append(Cell(_joined(names, groups, group), one, one / n, two / m, *ends))
    p = float(special.chdtrc(freedom, statistic))
    return _Found(key, name, n, p, "w", value, low, high, "", tuple(cells), statistic, freedom)


def _joined(names: Sequence[Text], groups: IntArray, group: int) -> Text:
    """Name of a pooled cell: the first and the last of what is in it."""
    held = [name for name, own in zip(names, groups, strict=True) if own == group]
    if len(held) == 1:
        return held[0]
    last = Text(f"{held[0].en} … {held[-1].en}", f"{held[0].zh} … {held[-1].zh}")
    return last if len(held) > 2 else Text(f"{held[0].en}, {held[1].en}", f"{held[0].zh}、{held[1].zh}")


def _mean_against_law(
    key: str, name: Text, total: int, n: int, mean: float, variance: float, unit: str, level: float
) -> _Found | None:
    """Test a total of n games against the exact mean and variance of its sum (normal, n being at least 30)."""
    if n < LEAST_GAMES or variance <= 0:
        return None
    error = math.sqrt(variance)
    z = (total - mean) / error
    half = ci.normal_point(level) * error / n
    gap = (total - mean) / n
    p = 2 * float(special.ndtr(-abs(z)))
    return _Found(key, name, n, p, "difference", gap, gap - half, gap + half, unit, (), z, 0)


def _rates(
    key: str, name: Text, real: tuple[IntArray, IntArray], bots: tuple[IntArray, IntArray], level: float
) -> _Found | None:
    """Two rates of taken among offered; games are the units, for choices within a game depend on each other."""
    shares, errors, offers = [], [], []
    for taken, offered in (real, bots):
        n = int(offered.sum())
        if n < LEAST_GAMES:
            return None
        share = float(taken.sum()) / n
        games = max(2, int((offered > 0).sum()))
        spread = float(((taken - share * offered) ** 2).sum()) * games / (games - 1)
        shares.append(share)
        # a rate of 0 or 1 shows no spread: as if two choices more had gone half and half
        errors.append(max(spread / n**2, (share * n + 1) * (n - share * n + 1) / (n + 2) ** 3))
        offers.append(n)
    gap, error = shares[0] - shares[1], math.sqrt(sum(errors))
    half = ci.normal_point(level) * error
    p = 2 * float(special.ndtr(-abs(gap) / error))
    cell = Cell(name, int(real[0].sum()), shares[0], shares[1], gap - half, gap + half)
    return _Found(
        key, name, offers[0], p, "difference", gap, gap - half, gap + half, "share", (cell,), gap / error, 0
    )


def adjust(found: Sequence[_Found], alpha: float) -> tuple[Check, ...]:
    """Adjust the checks of one question by Holm and flag those below ``alpha``."""
    adjusted = holm([each.p for each in found])
    return tuple(
        Check(
            each.key,
            each.name,
            each.n,
            p,
            each.p,
            each.effect,
            each.value,
            each.low,
            each.high,
            each.unit,
            each.cells,
            p < alpha,
            each.statistic,
            each.freedom,
        )
        for each, p in zip(found, adjusted, strict=True)
    )


# --- the dealing ------------------------------------------------------------------------------------------

_ROLE = {
    "dealer": Text("dealer", "庄家"),
    "next": Text("next player", "庄下家"),
    "third": Text("third player", "庄上家"),
}
_DEALT = tuple(f"wangs_dealt_{role}" for role in ROLES)


def _dealing(records: Records, variant: Variant, level: float) -> Iterator[_Found | None]:
    flat: dict[str, Any] = dict(variant.flat())
    wangs, seats = int(flat["deck.wangs"]), int(flat["table.seats"])
    frame, deck = records.frame, ORDINARY + wangs
    if wangs and records.has(*_DEALT):
        held = frame.select(*_DEALT).drop_nulls().to_numpy()
        law = wang_strata(wangs)
        order = sorted(law, key=lambda stratum: (-float(law[stratum]), stratum))
        number = {stratum: place for place, stratum in enumerate(order)}
        counts = np.zeros(len(order), dtype=np.int64)
        for row in held.tolist():
            counts[number[(*row, wangs - sum(row))]] += 1
        yield _against_law(
            "wangs_joint",
            Text("wangs dealt to dealer-next-third, and wall", "王霸起手分布（庄-下-上-墩）"),
            [Text("-".join(map(str, stratum)), "-".join(map(str, stratum))) for stratum in order],
            counts,
            np.array([float(law[stratum]) for stratum in order]),
            level,
        )
    for role, hand in zip(ROLES, HANDS, strict=True):
        column = f"wangs_dealt_{role}"
        if wangs and records.has(column):
            values = frame[column].drop_nulls()
            each = hand_law(hand, wangs)
            mean = sum(float(chance) * count for count, chance in each.items())
            variance = sum(float(chance) * (count - mean) ** 2 for count, chance in each.items())
            n = len(values)
            name = Text(f"wangs dealt to the {_ROLE[role].en}", f"{_ROLE[role].zh}起手王霸")
            yield _mean_against_law(
                column, name, int(values.sum()), n, n * mean, n * variance, "wangs", level
            )
    if wangs and records.has("dealer", *_DEALT):
        yield from _by_seat(frame, wangs, seats, level)
    if records.kind == "log":
        yield from _hands(frame, wangs, deck, level)


def _by_seat(frame: pl.DataFrame, wangs: int, seats: int, level: float) -> Iterator[_Found | None]:
    """Wangs of each chair: a favoured person keeps his chair, whoever deals."""
    held = frame.select("dealer", *_DEALT).drop_nulls().to_numpy()
    if len(np.unique(held[:, 0])) < 2:
        return  # chair and role are the same thing
    place = {0: 0, 1: 1, seats - 1: 2}
    laws = []
    for hand in HANDS:
        law = hand_law(hand, wangs)
        mean = sum(float(chance) * count for count, chance in law.items())
        laws.append((mean, sum(float(chance) * (count - mean) ** 2 for count, chance in law.items())))
    for seat in range(seats):
        total, n, mean, variance = 0, 0, 0.0, 0.0
        for row in held.tolist():
            role = place.get((seat - row[0]) % seats)
            if role is not None:
                total, n = total + row[1 + role], n + 1
                mean, variance = mean + laws[role][0], variance + laws[role][1]
        name = Text(f"wangs dealt to seat {seat}", f"{seat}号座起手王霸")
        yield _mean_against_law(f"wangs_seat_{seat}", name, total, n, mean, variance, "wangs", level)


def _hands(frame: pl.DataFrame, wangs: int, deck: int, level: float) -> Iterator[_Found | None]:
    """Kans, tis and red cards of whole dealt hands."""
    for role, hand in zip(ROLES, HANDS, strict=True):
        for what, copies, text in (("kans", 3, Text("kans", "坎")), ("tis", 4, Text("tis", "提"))):
            law = alike_law(copies, hand, wangs)
            most = max(law)
            counts = np.bincount(frame[f"{what}_{role}"].to_numpy(), minlength=most + 1).astype(np.int64)
            yield _against_law(
                f"{what}_{role}",
                Text(f"{text.en} dealt to the {_ROLE[role].en}", f"{_ROLE[role].zh}起手{text.zh}"),
                [Text(str(number), str(number)) for number in range(most + 1)],
                counts,
                np.array([float(law.get(number, 0)) for number in range(most + 1)]),
                level,
            )
        n, share = frame.height, RED_CARDS / deck
        variance = hand * share * (1 - share) * (deck - hand) / (deck - 1)
        yield _mean_against_law(
            f"reds_{role}",
            Text(f"red cards dealt to the {_ROLE[role].en}", f"{_ROLE[role].zh}起手红字"),
            int(frame[f"reds_{role}"].sum()),
            n,
            n * hand * share,
            n * variance,
            "cards",
            level,
        )


def repeated_deals(records: Records) -> int:
    """Games of a log whose cards all lie as in an earlier one."""
    if "deal" not in records.frame:
        return 0
    return records.frame.height - records.frame["deal"].n_unique()


# --- frequencies ------------------------------------------------------------------------------------------

_RESULTS = (
    Text("dealer wins", "庄家胡"),
    Text("next player wins", "庄下家胡"),
    Text("third player wins", "庄上家胡"),
    Text("draw game", "荒庄"),
)
_BYS = (Text("own draw", "自摸"), Text("another's draw", "胡别人摸的"), Text("heavenly", "天胡"))
_QUANTITIES: dict[str, Text] = {
    "huxi": Text("huxi of a win", "每胡胡息"),
    "tun": Text("tun of a win", "每胡囤数"),
    "fan": Text("fan of a win", "每胡番数"),
    "score": Text("tun × fan of a win", "每胡囤×番"),
    "xing": Text("xing cards of a win", "每胡中醒数"),
    "wangs_win": Text("winner's wangs", "胡家王霸"),
    "draws": Text("cards drawn in a game", "每局摸牌数"),
    "discards": Text("discards in a game", "每局打牌数"),
    "chi": Text("chis in a game", "每局吃牌数"),
    "peng": Text("pengs in a game", "每局碰牌数"),
    "wei": Text("weis in a game", "每局偎牌数"),
    "chou_wei": Text("chou weis in a game", "每局臭偎数"),
    "ti": Text("tis in a game", "每局提牌数"),
    "pao": Text("paos in a game", "每局跑牌数"),
    "dead": Text("dead hands in a game", "每局死手数"),
}


def _simulated(frame: pl.DataFrame) -> pl.DataFrame:
    """Game rows as the columns of records."""
    rows = prepare(frame.with_columns(variant=pl.lit("")).lazy()).collect()
    won = pl.col("winner_role").is_not_null()
    return rows.select(
        pl.col("winner_role").fill_null(DRAW).cast(pl.Int64).alias("result"),
        pl.col("by").cast(pl.Int64),
        pl.when(won).then(pl.col("names")).cast(pl.Int64).alias("names"),
        *(pl.col(name).cast(pl.Int64) for name in (*_QUANTITIES, *_DEALT) if name in rows.columns),
    )


def _bins(real: IntArray, other: IntArray) -> list[tuple[int, int]]:
    """Ranges of values: each value by itself, or some with about equally many games."""
    values, counts = np.unique(np.concatenate([real, other]), return_counts=True)
    if len(values) <= MOST_BINS:
        return [(int(value), int(value)) for value in values]
    # both samples weigh alike in the choice of ranges, so that their sizes do not decide
    weight = np.array([(real == value).mean() + (other == value).mean() for value in values])
    place = np.minimum((np.cumsum(weight) - weight / 2) / 2 * MOST_BINS, MOST_BINS - 1).astype(np.int64)
    del counts
    return [(int(values[place == at].min()), int(values[place == at].max())) for at in np.unique(place)]


def _range(low: int, high: int) -> Text:
    text = str(low) if low == high else f"{low}–{high}"
    return Text(text, text)


def _frequencies(records: Records, other: pl.DataFrame, level: float) -> Iterator[_Found | None]:
    frame = records.frame
    for key, name, cells in (
        ("result", Text("who wins", "胡家"), _RESULTS),
        ("by", Text("how a win comes", "胡法"), _BYS),
    ):
        if records.has(key):
            counts = [
                np.bincount(side[key].drop_nulls().to_numpy(), minlength=len(cells)).astype(np.int64)
                for side in (frame, other)
            ]
            yield _against_games(key, name, cells, counts[0], counts[1], level)
    for key, name in _QUANTITIES.items():
        if records.has(key) and key in other:
            sides = [side[key].drop_nulls().to_numpy() for side in (frame, other)]
            if not len(sides[1]):
                continue
            bins = _bins(sides[0], sides[1])
            tables = [
                np.array([((side >= low) & (side <= high)).sum() for low, high in bins], dtype=np.int64)
                for side in sides
            ]
            yield _against_games(key, name, [_range(*ends) for ends in bins], tables[0], tables[1], level)
    if records.has("names"):
        for bit, fan_name in enumerate(FAN_NAMES):
            counts = []
            for side in (frame, other):
                masks = side["names"].drop_nulls().to_numpy()
                hits = int((masks >> bit & 1).sum())
                counts.append(np.array([hits, len(masks) - hits], dtype=np.int64))
            text = FAN_TEXT[fan_name]
            name = Text(f"wins with {text.en}", f"{text.zh}（占胡牌局）")
            pair = (text, Text("without", "无"))
            yield _against_games(f"name_{fan_name}", name, pair, counts[0], counts[1], level)


# --- choices ----------------------------------------------------------------------------------------------

_CHOICES: dict[str, tuple[Text, str, tuple[str, ...]]] = {
    "win": (Text("wins taken, of those possible", "可胡而胡"), "win", ("win", "pass_win")),
    "peng": (Text("pengs taken, of those possible", "可碰而碰"), "peng", ("peng", "pass_peng")),
    "chi": (Text("chis taken, of those possible", "可吃而吃"), "chi", ("chi", "pass_chi")),
    "chi_two_seven_ten": (Text("chis with a 2-7-10", "吃牌含二七十"), "chi_two_seven_ten", ("chi",)),
    "chi_one_two_three": (Text("chis with a 1-2-3", "吃牌含一二三"), "chi_one_two_three", ("chi",)),
    "chi_run": (Text("chis with another run", "吃牌含其他一句话"), "chi_run", ("chi",)),
    "chi_jiao": (Text("chis with a jiao", "吃牌含绞"), "chi_jiao", ("chi",)),
    "chi_bi": (Text("chis with further groups (bi)", "吃牌带比"), "chi_bi", ("chi",)),
}


def _real_options(records: Records) -> dict[str, IntArray]:
    """Options of the records, as columns of :data:`OPTIONS`, where they hold choices."""
    frame = records.frame
    if records.kind == "log":
        return {name: frame[f"option_{name}"].to_numpy() for name in OPTIONS}
    found: dict[str, IntArray] = {}
    for name, column in (("peng", "peng_passed"), ("chi", "chi_passed")):
        if records.has(name, column):
            rows = frame.select(name, column).drop_nulls()
            found[name], found[f"pass_{name}"] = rows[name].to_numpy(), rows[column].to_numpy()
    if records.has("result", "win_passed"):
        rows = frame.select((pl.col("result") != DRAW).cast(pl.Int64), "win_passed").drop_nulls()
        found["win"], found["pass_win"] = rows["result"].to_numpy(), rows["win_passed"].to_numpy()
    return found


def _choices(real: Mapping[str, IntArray], bots: IntArray, level: float) -> Iterator[_Found | None]:
    played = {name: bots[:, at] for at, name in enumerate(OPTIONS)}
    for key, (name, taken, among) in _CHOICES.items():
        if taken in real and all(part in real for part in among):
            sides = [(side[taken], np.sum([side[part] for part in among], axis=0)) for side in (real, played)]
            yield _rates(f"choice_{key}", name, sides[0], sides[1], level)


# --- all of it --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mix:
    """Records against the games of one mix of bots."""

    bots: tuple[str, str, str]
    games: int
    checks: tuple[Check, ...]
    choices: tuple[Check, ...]

    @property
    def distance(self) -> float:
        """Mean effect w over the frequencies: how far these bots' games are from the records."""
        return float(np.mean([check.value for check in self.checks])) if self.checks else 0.0


@dataclass(frozen=True)
class Reality:
    """What a comparison found.

    Attributes
    ----------
    variant : Variant
    games : int
        Games in the records.
    kind : str
    skipped : int
    dealing : tuple of Check
    repeated : int
        Deals that occur again.
    mixes : list of Mix
    seed : int
    level, alpha : float
    remarks : list of Text
        What could not be looked at, and why.
    """

    variant: Variant
    games: int
    kind: str
    skipped: int
    dealing: tuple[Check, ...]
    repeated: int
    mixes: list[Mix]
    seed: int
    level: float
    alpha: float
    remarks: list[Text] = field(default_factory=list)

    @property
    def dealing_flagged(self) -> bool:
        """Whether the dealing is not random."""
        return self.repeated > 0 or any(check.flagged for check in self.dealing)

    @property
    def flagged(self) -> bool:
        """Whether anything is flagged: the dealing, or frequencies under every mix of bots."""
        return self.dealing_flagged or (
            bool(self.mixes) and all(any(check.flagged for check in mix.checks) for mix in self.mixes)
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "variant": self.variant.name,
            "digest": self.variant.digest,
            "games": self.games,
            "format": self.kind,
            "unfinished_games_skipped": self.skipped,
            "seed": self.seed,
            "level": self.level,
            "alpha": self.alpha,
            "remarks": [{"en": text.en, "zh": text.zh} for text in self.remarks],
            "dealing": {
                "random": not self.dealing_flagged,
                "repeated_deals": self.repeated,
                "checks": [check.as_dict() for check in self.dealing],
            },
            "play": [
                {
                    "bots": list(mix.bots),
                    "games": mix.games,
                    "distance": mix.distance,
                    "checks": [check.as_dict() for check in mix.checks],
                    "choices": [check.as_dict() for check in mix.choices],
                }
                for mix in self.mixes
            ],
        }


def _play(keys: Mapping[str, Any], bots: tuple[str, str, str], seed: int, first: int, count: int) -> IntArray:
    from sim.parts import play_rows

    return play_rows(keys, bots, seed, first, count, 0)


def _check_deck(records: Records, variant: Variant, path: str | Path) -> None:
    wangs = int(str(variant.flat()["deck.wangs"]))
    held = [name for name in _DEALT if name in records.frame]
    if held:
        most = records.frame.select(
            pl.sum_horizontal(pl.col(name).fill_null(0) for name in held).max()
        ).item()
        if most > wangs:
            raise RecordError(
                f"{path}: {most} wangs are dealt in one game, the deck of {variant.name} has {wangs}; "
                "is --variant right?"
            )


def compare_records(
    records: Records,
    variant: Variant,
    mixes: Sequence[tuple[str, str, str]],
    games: int = 50_000,
    *,
    seed: int = 1,
    jobs: int | None = None,
    level: float = 0.95,
    alpha: float = 0.01,
) -> Reality:
    """Hold records against a variant.

    Parameters
    ----------
    records : Records
    variant : Variant
    mixes : sequence of three str
        Bots of dealer, next and third; each mix is a comparison of its own.
    games : int
        Games to simulate a mix; 0: look at the dealing only.
    seed, jobs : int
    level : float
        Of intervals.
    alpha : float
        A question is answered "differs" with at most this chance where nothing differs.

    Returns
    -------
    Reality
    """
    from sim.parts import rows_to_frame

    keys: dict[str, Any] = dict(variant.flat())
    remarks = []
    replaced = keys["turn.extra_quad"] == "replacement_draw" and records.kind != "log"
    if replaced:
        remarks.append(
            Text(
                "Cards are replaced after dealt tis (turn.extra_quad), so wangs in starting hands have no exact "
                "law here.",
                "起手多提要补牌（turn.extra_quad），起手王霸没有精确分布可比。",
            )
        )
    dealt = [] if replaced else [each for each in _dealing(records, variant, level) if each]
    if not dealt and not replaced:
        need = ", ".join(_DEALT)
        remarks.append(
            Text(
                f"The records do not say how wangs were dealt ({need}), or for fewer than {LEAST_GAMES} games: the "
                "dealing is not checked.",
                f"记录没有起手王霸（{need}），或不足 {LEAST_GAMES} 局：未检查发牌。",
            )
        )
    found = []
    real = _real_options(records)
    processes = default_jobs(games * max(1, len(mixes)), jobs)
    for mix in mixes if games else ():
        spans = [(first, min(CHUNK, games - first)) for first in range(0, games, CHUNK)]
        calls = [(keys, mix, seed, first, count) for first, count in spans]
        other = pl.concat(_simulated(rows_to_frame(rows)) for rows in in_order(_play, calls, processes))
        checks = [each for each in _frequencies(records, other, level) if each]
        choices: list[_Found] = []
        if real:
            logged = count_options(variant, mix, seed, 0, min(games, LOGGED))
            choices = [each for each in _choices(real, logged, level) if each]
        adjusted = adjust([*checks, *choices], alpha)
        found.append(Mix(mix, games, adjusted[: len(checks)], adjusted[len(checks) :]))
    if found and not found[0].checks:
        remarks.append(
            Text(
                f"Fewer than {LEAST_GAMES} games hold anything to compare frequencies by.",
                f"可比较的局不足 {LEAST_GAMES} 局。",
            )
        )
    return Reality(
        variant,
        records.frame.height,
        records.kind,
        records.skipped,
        adjust(dealt, alpha),
        repeated_deals(records),
        found,
        seed,
        level,
        alpha,
        remarks,
    )


# --- words ------------------------------------------------------------------------------------------------

_WORDS: dict[str, Text] = {
    "head": Text(
        "{games:,} real games against {name} #{digest}", "{games:,} 局真实牌局，对照 {name} #{digest}"
    ),
    "skipped": Text("{} unfinished games were left out.", "略去未打完的 {} 局。"),
    "random": Text(
        "Dealing: nothing speaks against chance ({n} checks, smallest adjusted p {p}).",
        "发牌：没有不随机的迹象（检验 {n} 项，校正后最小 p {p}）。",
    ),
    "biased": Text("Dealing: NOT random as the rules have it.", "发牌：与随机发牌不符！"),
    "repeated": Text(
        "{} deals lie card by card as an earlier one: a repeated shuffle, or records twice in the file.",
        "有 {} 副牌与前面某副逐张相同：洗牌重复，或记录重复。",
    ),
    "gap": Text(
        "{name}: {value:+.3f} {unit} a game [{low:+.3f}, {high:+.3f}] from what chance gives; adjusted p {p}.",
        "{name}：比随机每局相差 {value:+.3f} {unit} [{low:+.3f}, {high:+.3f}]，校正后 p {p}。",
    ),
    "law": Text(
        "{name}: not the exact law; effect w = {value:.3f} [{low:.3f}, {high:.3f}], adjusted p {p}.",
        "{name}：不合精确分布；效应量 w = {value:.3f} [{low:.3f}, {high:.3f}]，校正后 p {p}。",
    ),
    "seen": Text(
        "The widest interval leaves open, {name}: {low:+.3f} to {high:+.3f} {unit} a game.",
        "最宽的区间所不能排除的偏差，{name}：每局 {low:+.3f} 至 {high:+.3f} {unit}。",
    ),
    "mix": Text(
        "Against {games:,} games of the bots {bots}: {flagged} of {n} frequencies differ.",
        "对照机器人 {bots} 的 {games:,} 局：{n} 项频率中有 {flagged} 项不同。",
    ),
    "differ": Text(
        "The players play otherwise than these bots, or by other rules: look at the largest effects first.",
        "玩家的打法与这些机器人不同，或所用规则不同：先看效应量最大的几项。",
    ),
    "nearest": Text(
        "Nearest are the bots {bots} (mean effect w = {w:.3f}).",
        "最接近的是机器人 {bots}（平均效应量 w = {w:.3f}）。",
    ),
    "choices": Text("How people choose, against the bots", "人的选择与机器人相比"),
    "columns": Text("what|real|simulated|difference|w|adjusted p", "项目|真实|模拟|相差|w|校正后 p"),
    "tail": Text(
        "Seed {seed}; intervals {level:.0%}; flagged (*) at adjusted p < {alpha:g} (Holm, a question at a time). "
        "Games are taken as independent.",
        "种子 {seed}；置信水平 {level:.0%}；校正后 p < {alpha:g} 者标 *（Holm，每个问题各自校正）。各局视为相互独立。",
    ),
    "private": Text("Columns not named in the mapping were not read.", "映射之外的列一概没有读取。"),
}
_UNITS = {
    "wangs": Text("wangs", "张王"),
    "cards": Text("cards", "张"),
    "share": Text("", ""),
    "": Text("", ""),
}


def _p(value: float) -> str:
    """``< 0.0001``, or the value with its equals sign."""
    return "< 0.0001" if value < 1e-4 else f"= {value:.4f}" if value < 0.1 else f"= {value:.2f}"


def _dealing_lines(found: Reality, lang: str) -> Iterator[str]:
    if not found.dealing and not found.repeated:
        return
    if not found.dealing_flagged:
        least = min(check.p for check in found.dealing)
        yield _WORDS["random"][lang].format(n=len(found.dealing), p=_p(least))
        means = [check for check in found.dealing if check.effect == "difference" and check.unit == "wangs"]
        if means:
            widest = max(means, key=lambda check: check.high - check.low)
            yield "  " + _WORDS["seen"][lang].format(
                name=widest.name[lang], low=widest.low, high=widest.high, unit=_UNITS["wangs"][lang]
            )
        return
    yield _WORDS["biased"][lang]
    if found.repeated:
        yield "  * " + _WORDS["repeated"][lang].format(found.repeated)
    for check in found.dealing:
        if check.flagged:
            words = {"name": check.name[lang], "value": check.value, "low": check.low, "high": check.high}
            key = "gap" if check.effect == "difference" else "law"
            yield "  * " + _WORDS[key][lang].format(**words, unit=_UNITS[check.unit][lang], p=_p(check.p))


def _rows(checks: Sequence[Check], lang: str) -> Iterator[list[str]]:
    for check in checks:
        mark = "*" if check.flagged else ""
        w = f"{check.value:.3f} [{check.low:.3f}, {check.high:.3f}]" if check.effect == "w" else ""
        cells = check.cells[:1] if check.key.startswith("name_") else check.cells
        single = len(cells) == 1
        if not single:
            yield [
                f"{check.name[lang]} (n = {check.n:,})",
                "",
                "",
                "",
                w,
                _p(check.p).removeprefix("= ") + mark,
            ]
        for cell in cells:
            name = f"{check.name[lang]} (n = {check.n:,})" if single else f"  {cell.name[lang]}"
            gap = f"{cell.share - cell.other:+.1%} [{cell.low:+.1%}, {cell.high:+.1%}]"
            shares = [f"{cell.share:.1%}", f"{cell.other:.1%}", gap]
            yield [name, *shares, *([w, _p(check.p).removeprefix("= ") + mark] if single else ["", ""])]


def print_reality(found: Reality, lang: str = "en", full: bool = False, file: IO[str] | None = None) -> None:
    """Print the verdicts and a table a mix of bots; ``full``: checks that are not flagged too."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    stream = file if file is not None else sys.stdout
    console = Console(file=stream, highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(
            file=stream, width=110, no_color=True, highlight=False, markup=False, legacy_windows=False
        )
    name = found.variant.words(lang)

    def say(text: str, style: str | None = None) -> None:
        console.print(text, style=style, soft_wrap=True)

    say(_WORDS["head"][lang].format(games=found.games, name=name, digest=found.variant.digest[:8]), "bold")
    if found.skipped:
        say(_WORDS["skipped"][lang].format(found.skipped))
    for text in found.remarks:
        say(text[lang])
    for line in _dealing_lines(found, lang):
        say(line, "bold red" if found.dealing_flagged else None)
    for mix in found.mixes:
        if not mix.checks:
            continue
        bots = mix.bots[0] if len(set(mix.bots)) == 1 else ",".join(mix.bots)
        flagged = sum(check.flagged for check in mix.checks)
        console.print()
        say(
            _WORDS["mix"][lang].format(games=mix.games, bots=bots, flagged=flagged, n=len(mix.checks)), "bold"
        )
        if flagged:
            say(_WORDS["differ"][lang])
        for title, checks in (("", mix.checks), (_WORDS["choices"][lang], mix.choices)):
            shown = [check for check in checks if full or check.flagged or title]
            if not shown:
                continue
            if title:
                say(title, "bold")
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
            for number, column in enumerate(_WORDS["columns"][lang].split("|")):
                table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
            for row in _rows(shown, lang):
                table.add_row(*row)
            console.print(table)
    if len(found.mixes) > 1:
        best = min(found.mixes, key=lambda mix: mix.distance)
        say(_WORDS["nearest"][lang].format(bots=",".join(dict.fromkeys(best.bots)), w=best.distance))
    say(_WORDS["tail"][lang].format(seed=found.seed, level=found.level, alpha=found.alpha))
    if found.kind != "log":
        say(_WORDS["private"][lang])


def compare_command(
    file: str | Path,
    variant: str,
    *,
    mapping: str | Path | None = None,
    bots: Sequence[str] = (),
    games: int = 50_000,
    seed: int = 1,
    jobs: int | None = None,
    alpha: float = 0.01,
    overrides: Sequence[str] = (),
    full: bool = False,
    strict: bool = False,
    as_json: bool = False,
    lang: str = "en",
) -> int:
    """``chehuzi logs compare``: print what a file of real games shows; exit status (1 with ``strict`` if flagged)."""
    from sim.players import parse_compiled
    from sim.variant import load_variant

    loaded = load_variant(variant, overrides)
    mixes = [parse_compiled(text) for text in bots or ("greedy",)]
    mapped = read_mapping(mapping) if mapping is not None else None
    records = read_records(file, mapped, int(str(loaded.flat()["table.seats"])))
    _check_deck(records, loaded, file)
    if games:
        announce_compiling(lang)
    found = compare_records(records, loaded, mixes, games, seed=seed, jobs=jobs, alpha=alpha)
    if as_json:
        print(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        print_reality(found, lang, full)
    return 1 if strict and found.flagged else 0


__all__ = ["Reality", "RecordError", "compare_command", "compare_records", "print_reality"]
