"""Faults of a variant that show in play: what never happens, what never matters, and what is exploited.

Every key is switched to another value on the same deals: a key whose switch changes no game had no effect. Bots play in
all seats alike for what happens, and one against two of another for exploits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis import intervals as ci
from analysis.audit_rules import (
    COLOURS,
    RULE_OF_NAME,
    SPECIALS,
    Bounds,
    Finding,
    Severity,
    inert_keys,
)
from analysis.compare import holm
from analysis.events import EXTRA
from analysis.metrics import FAN_TEXT, METRICS, Text
from analysis.options import OPTIONS, count_options
from analysis.strata import default_jobs, in_order
from analysis.sufficient import SufficientStats
from analysis.summary import Estimate, estimate
from sim.rows import FAN_NAMES, NULL

if TYPE_CHECKING:
    from sim.variant import Variant

IntArray = NDArray[np.int64]

CHUNK = 2_048
SESSION = 8
"""Deals a session where keys of the dealer are switched."""
LOGGED = 300
"""Games a bot that are played with a log, to count options."""
ENOUGH = 1 / 3_000
"""What was never seen is called dead only where its upper bound is below this."""
MUCH = 0.5
"""Share of all money that one bonus should not exceed."""
MANY_DEAD = 0.05

_EVENTS: dict[str, tuple[str, Text, pl.Expr]] = {
    "draw_game": ("1.3", Text("a draw game", "荒庄"), EXTRA["draw_game"]),
    "wang_payout": ("1.3", Text("a wang payout", "荒庄赔王"), pl.col("money_wang") > 0),
    "one_holder": (
        "1.3",
        Text("a draw game with all wangs in one hand", "荒庄时所有王在一家"),
        EXTRA["draw_game"]
        & (
            pl.max_horizontal(pl.col(f"wangs_final_{seat}").fill_null(0) for seat in range(4))
            == pl.sum_horizontal(
                pl.col(f"wangs_final_{seat}").fill_null(0).cast(pl.Int64) for seat in range(4)
            )
        ),
    ),
    "heavenly": ("1.13", Text("a heavenly win", "天胡"), pl.col("by") == "deal"),
    "own": ("4.4", Text("a win on an own draw", "自摸"), pl.col("by") == "own"),
    "other": ("5.3", Text("a win on another's draw", "胡别人摸的牌"), pl.col("by") == "other"),
    "wei": ("2.1", Text("a wei", "偎"), pl.col("wei") > 0),
    "chou_wei": ("2.2", Text("a chou wei", "臭偎"), pl.col("chou_wei") > 0),
    "ti": ("2.3", Text("a ti", "提"), pl.col("ti") > 0),
    "peng": ("2.4", Text("a peng", "碰"), pl.col("peng") > 0),
    "pao": ("2.5", Text("a pao", "跑"), pl.col("pao") > 0),
    "chi": ("2.9", Text("a chi", "吃"), pl.col("chi") > 0),
    "xing": ("2.13", Text("a xing", "中醒"), pl.col("xing") > 0),
    "dead": ("2.8", Text("a dead hand", "死手"), pl.col("dead") > 0),
    **{
        f"win_{wangs}": (
            "1.4",
            Text(f"a win with {wangs} wangs in hand", f"带{wangs}张王胡"),
            pl.col("wangs_win") == wangs,
        )
        for wangs in range(1, 5)
    },
    **{name: (RULE_OF_NAME[name], text, pl.col(name)) for name, text in FAN_TEXT.items()},
}
"""What is counted in games: rule, words, and the games that show it."""

_EXPECTED_NONE = ("dead",)
"""Nobody minds when these never happen."""

_OPTIONS: dict[str, tuple[str, Text, str, bool]] = {
    "win": ("5.3", Text("winning", "胡"), "win", True),
    "pass_win": ("5.3", Text("letting a win go", "有胡不胡"), "win", False),
    "peng": ("2.4", Text("peng", "碰"), "peng", True),
    "pass_peng": ("2.7", Text("letting a peng go", "忍碰"), "peng", False),
    "chi": ("2.9", Text("chi", "吃"), "chi", True),
    "pass_chi": ("2.10", Text("letting a chi go", "有吃不吃"), "chi", False),
    "chi_two_seven_ten": ("1.8", Text("chi of 2-7-10", "吃二七十"), "chis", True),
    "chi_one_two_three": ("1.8", Text("chi of 1-2-3", "吃一二三"), "chis", True),
    "chi_run": ("1.8", Text("chi of another run", "吃其他一句话"), "chis", True),
    "chi_jiao": ("1.9", Text("chi of a jiao", "吃绞"), "chis", True),
    "chi_bi": ("2.11", Text("chi with further groups (bi)", "吃并比牌"), "chis", True),
}
"""Option: rule, words, what it is counted among, and whether leaving it out would make a rule idle."""

# --- what a key is switched to ----------------------------------------------------------------------------

_ALWAYS = ("deck.wangs", "table.seats", "stake", "tun.base")
"""Keys that change every game or every payment: nothing is learnt by switching them."""
_DEALER = ("table.first_dealer", "table.dealer_after_win", "table.dealer_after_draw")
_CHOICES: dict[str, tuple[str, ...]] = {
    "table.first_dealer": ("owner", "random"),
    "table.dealer_after_win": ("winner", "stays", "next"),
    "table.dealer_after_draw": ("next", "stays"),
    "turn.extra_quad": ("skip_discard", "replacement_draw"),
    "turn.peng_to_pao": ("any_draw", "others_draw"),
    "xing.card": ("follow", "flip", "none"),
    "xing.payment": ("dealer_side", "any_winner", "winner_only"),
}


def switches(flat: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each key that can be idle, with what to set in its place.

    Parameters
    ----------
    flat : mapping
        Every dotted key with its value.

    Yields
    ------
    (str, list of dict)
        Name of the key (``win.wang_limit.min_fan.2`` for one number of the table) and overrides to try: where none of
        them changes a game, the key is idle.
    """
    idle = inert_keys(flat)
    for key, value in flat.items():
        if key in idle or key in _ALWAYS:
            continue
        if key == "win.wang_limit.min_fan":
            for wangs in range(1, flat["deck.wangs"] + 1):
                below = value[wangs - 1] if wangs > 1 else 1
                if below < value[wangs]:
                    yield f"{key}.{wangs}", [{key: value | {wangs: below}}]
        elif key == "win.wang_limit.mode":
            if value != "none":
                yield key, [{key: "none"}]
        elif key in _CHOICES:
            yield key, [{key: other} for other in _CHOICES[key] if other != value]
        elif isinstance(value, bool):
            yield key, [{key: not value}]
        elif (other := _other_number(key, value)) is not None:
            yield key, [{key: other}]


def _other_number(key: str, value: int) -> int | None:
    """Where the rule behind a number is switched off, or changed if it is off."""
    if key == "cap":
        return 0 if value else None
    if key == "xing.singles":
        return 3 - value
    if key == "win.wang_limit.special_only_from":
        return min(5, value + 1)
    if key == "fan.red_min":
        return 30
    if key == "tun.step":
        return value + 1
    if key == "draw.wang_payout.all_in_one" or key.startswith("fan."):
        return 1 if value > 1 else 2
    if key == "win.min_huxi":
        return 0 if value else 15
    return 0 if value else 3  # huxi of a group, unit of a wang payout


# --- playing ----------------------------------------------------------------------------------------------


def _play(keys: Mapping[str, Any], bots: Sequence[str], seed: int, first: int, count: int) -> IntArray:
    from sim.parts import play_rows

    return play_rows(keys, (bots[0], bots[1], bots[2]), seed, first, count, 0)


def _changed(
    keys: Mapping[str, Any],
    others: Sequence[tuple[str, Sequence[Mapping[str, Any]]]],
    bot: str,
    seed: int,
    first: int,
    count: int,
) -> list[int]:
    """Games that any switch of a key changes, by key."""
    from sim.parts import play_rows

    bots = (bot, bot, bot)
    base: dict[int, IntArray] = {}
    found = []
    for key, tries in others:
        session = SESSION if key in _DEALER else 0
        if session not in base:
            base[session] = play_rows(keys, bots, seed, first, count, session)
        differs = np.zeros(count, dtype=np.bool_)
        for switch in tries:
            rows = play_rows({**keys, **switch}, bots, seed, first, count, session)
            differs |= (rows != base[session]).any(axis=1)
        found.append(int(differs.sum()))
    return found


def _options(variant: Variant, bot: str, seed: int, games: int) -> dict[str, int]:
    """Count options offered and taken over games ``0`` to ``games - 1``, from their logs."""
    totals = count_options(variant, (bot, bot, bot), seed, 0, games).sum(axis=0)
    return dict(zip(OPTIONS, totals.tolist(), strict=True))


def _gain(
    keys: Mapping[str, Any], challenger: str, standard: str, seed: int, first: int, count: int
) -> IntArray:
    """What a challenger gets more than the standard bot in the same deals and roles, summed over the three roles."""
    from sim.rows import COLUMN

    seats = int(keys["table.seats"])
    at = [COLUMN[f"score_{seat}"] for seat in (0, 1, seats - 1)]
    base = _play(keys, (standard,) * 3, seed, first, count)
    total = np.zeros(count, dtype=np.int64)
    for role in range(3):
        bots = [standard] * 3
        bots[role] = challenger
        rows = _play(keys, bots, seed, first, count)
        total += rows[:, at[role]] - base[:, at[role]]
    return total


def _spans(games: int, step: int = CHUNK) -> list[tuple[int, int]]:
    return [(first, min(step, games - first)) for first in range(0, games, step)]


# --- results ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rate:
    """Events out of trials, with interval."""

    events: int
    n: int
    low: float
    high: float

    @classmethod
    def of(cls, events: int, n: int, level: float) -> Rate:
        """Wilson, or a one-sided bound without event."""
        interval = ci.rate_interval(events, n, level)
        return cls(events, n, interval.low or 0.0, 1.0 if interval.high is None else interval.high)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        value = self.events / self.n if self.n else None
        return {"events": self.events, "n": self.n, "rate": value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Exploit:
    """A challenger against two standard bots, in all roles of the same deals.

    Attributes
    ----------
    bot, against : str
    gain : float
        Mean score that it gets more than the standard bot in its place.
    low, high : float or None
        Interval of that.
    p : float
        Of "it gets no more", adjusted by Holm over all challengers.
    deals : int
    """

    bot: str
    against: str
    gain: float
    low: float | None
    high: float | None
    p: float
    deals: int


@dataclass(frozen=True)
class Played:
    """What the games of an audit showed.

    Attributes
    ----------
    bots : tuple of str
        Standard bots, each in all seats of the same deals.
    judge : str
        The bot under which keys were switched.
    games, seed : int
    level : float
    events : dict
        Bot to event to rate.
    shares : dict
        Metric key to estimate, with the judge's games.
    keys : dict
        Key to games changed by switching it.
    options : dict
        Bot to option to rate among what it was offered.
    exploits : list of Exploit
    most_fan : dict
        Bot to the greatest fan seen.
    findings : list of Finding
    """

    bots: tuple[str, ...]
    judge: str
    games: int
    seed: int
    level: float
    events: dict[str, dict[str, Rate]] = field(default_factory=dict)
    shares: dict[str, Estimate] = field(default_factory=dict)
    keys: dict[str, Rate] = field(default_factory=dict)
    options: dict[str, dict[str, Rate]] = field(default_factory=dict)
    exploits: list[Exploit] = field(default_factory=list)
    most_fan: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, findings aside."""
        return {
            "bots": list(self.bots),
            "judge": self.judge,
            "games": self.games,
            "seed": self.seed,
            "level": self.level,
            "events": {
                bot: {name: rate.as_dict() for name, rate in rates.items()}
                for bot, rates in self.events.items()
            },
            "greatest_fan_seen": self.most_fan,
            "money": {
                key: {"value": each.value, "low": each.interval.low, "high": each.interval.high, "n": each.n}
                for key, each in self.shares.items()
            },
            "games_changed_by_key": {key: rate.as_dict() for key, rate in self.keys.items()},
            "options": {
                bot: {name: rate.as_dict() for name, rate in rates.items()}
                for bot, rates in self.options.items()
            },
            "exploits": [
                {
                    "bot": each.bot,
                    "against": each.against,
                    "gain": each.gain,
                    "low": each.low,
                    "high": each.high,
                    "p_adjusted": each.p,
                    "deals": each.deals,
                }
                for each in self.exploits
            ],
        }


def judge_of(bots: Sequence[str]) -> str:
    """Return the bot under which keys are switched: ``greedy``, the fastest that plays for a hand, or the last."""
    return "greedy" if "greedy" in bots else bots[-1]


def audit_play(
    variant: Variant,
    bots: Sequence[str],
    challengers: Sequence[str] = (),
    games: int = 10_000,
    *,
    seed: int = 1,
    jobs: int | None = None,
    level: float = 0.95,
) -> Played:
    """Play a variant and say what its games show.

    Parameters
    ----------
    variant : Variant
    bots : sequence of str
        Standard bots, from the weakest to the strongest.
    challengers : sequence of str
        Further bots that might do better than the strongest.
    games : int
        Deals a bot; switches of keys on as many, options on ``LOGGED``, exploits on a fifth, at least 200.
    seed, jobs : int
    level : float
        Of intervals; findings of exploits are adjusted for their number.

    Returns
    -------
    Played
    """
    keys: dict[str, Any] = dict(variant.flat())
    judge, best = judge_of(bots), bots[-1]
    processes = default_jobs(games * (len(bots) + 50), jobs)
    played = Played(tuple(bots), judge, games, seed, level)
    stats: dict[str, SufficientStats] = {}
    for bot in bots:
        stats[bot], played.events[bot], played.most_fan[bot] = _happenings(
            keys, bot, games, seed, processes, level
        )
    for key in _MONEY:
        played.shares[key] = estimate(stats[judge], METRICS[key], level, keys["deck.wangs"])
    played.keys.update(_switch_keys(keys, judge, bots, games, seed, processes, level))
    logged = min(games, LOGGED)
    calls = [(variant, bot, seed, logged) for bot in bots]
    for bot, counts in zip(bots, in_order(_options, calls, processes), strict=True):
        played.options[bot] = _option_rates(counts, level)
    rivals = [bot for bot in (*bots[:-1], *challengers) if bot not in (best, "random")]
    played.exploits.extend(_exploits(keys, rivals, best, max(200, games // 5), seed, processes, level))
    played.findings.extend(_findings(variant, played, challengers))
    return played


_MONEY = ("share_win", "share_xing", "share_wang", *(f"share_{name}" for name in FAN_NAMES))


def _happenings(
    keys: Mapping[str, Any], bot: str, games: int, seed: int, jobs: int, level: float
) -> tuple[SufficientStats, dict[str, Rate], int]:
    from sim.parts import rows_to_frame

    stats, counts, most = SufficientStats.empty(), dict.fromkeys(_EVENTS, 0), 0
    calls = [(keys, (bot, bot, bot), seed, first, count) for first, count in _spans(games, 4 * CHUNK)]
    for rows in in_order(_play, calls, jobs):
        frame = rows_to_frame(rows)
        stats = stats + SufficientStats.from_frame(frame)
        for name, number in frame.select(
            expr.fill_null(False).sum().alias(name) for name, (_, _, expr) in _EVENTS.items()
        ).row(0, named=True).items():  # fmt: skip
            counts[name] += int(number)
        fan = rows[:, _column("fan")]
        most = max(most, int(fan[fan != NULL].max(initial=0)))
    return stats, {name: Rate.of(number, games, level) for name, number in counts.items()}, most


def _column(name: str) -> int:
    from sim.rows import COLUMN

    return COLUMN[name]


def _switch_keys(
    keys: Mapping[str, Any],
    judge: str,
    bots: Sequence[str],
    games: int,
    seed: int,
    jobs: int,
    level: float,
) -> dict[str, Rate]:
    """Games changed by each key under the judge; keys that changed none are tried under the other bots too."""
    tries = list(switches(keys))
    step = CHUNK // SESSION * SESSION

    def count(bot: str, wanted: list[Any]) -> IntArray:
        calls = [(keys, wanted, bot, seed, first, number) for first, number in _spans(games, step)]
        found = list(in_order(_changed, calls, jobs))
        totals: IntArray = np.array(found, dtype=np.int64).reshape(len(found), len(wanted)).sum(axis=0)
        return totals

    totals = dict(zip([key for key, _ in tries], count(judge, tries).tolist(), strict=True))
    for bot in bots:
        silent = [item for item in tries if totals[item[0]] == 0]
        if bot != judge and silent:
            for (key, _), number in zip(silent, count(bot, silent).tolist(), strict=True):
                totals[key] = max(totals[key], number)
    return {key: Rate.of(number, games, level) for key, number in totals.items()}


def _option_rates(counts: Mapping[str, int], level: float) -> dict[str, Rate]:
    offered = {
        "win": counts["win"] + counts["pass_win"],
        "peng": counts["peng"] + counts["pass_peng"],
        "chi": counts["chi"] + counts["pass_chi"],
        "chis": counts["chi"],
    }
    return {
        name: Rate.of(counts[name], offered[among], level)
        for name, (_, _, among, _) in _OPTIONS.items()
        if offered[among]
    }


def _exploits(
    keys: Mapping[str, Any],
    rivals: Sequence[str],
    best: str,
    deals: int,
    seed: int,
    jobs: int,
    level: float,
) -> list[Exploit]:
    from scipy import special

    spans = _spans(deals, 512)
    calls = [(keys, rival, best, seed, first, count) for rival in rivals for first, count in spans]
    parts = list(in_order(_gain, calls, jobs))
    found = []
    for number, rival in enumerate(rivals):
        gains = np.concatenate(parts[number * len(spans) : (number + 1) * len(spans)])
        values, counts = np.unique(gains, return_counts=True)
        interval = ci.payout_interval(values, counts.astype(np.int64), f"audit {rival}", level, 3.0)
        error = float(gains.std(ddof=1)) / np.sqrt(len(gains))
        p = float(special.ndtr(-gains.mean() / error)) if error > 0 else 1.0
        found.append((rival, float(gains.mean()) / 3, interval, p))
    adjusted = holm([p for *_, p in found])
    return [
        Exploit(rival, best, gain, interval.low, interval.high, p, deals)
        for (rival, gain, interval, _), p in zip(found, adjusted, strict=True)
    ]


# --- findings ---------------------------------------------------------------------------------------------


def _one_in(bound: float, lang: str) -> str:
    number = f"{int(1 / bound):,}"
    return f"1 in {number}" if lang == "en" else f"{number} 局一次"


def _unseen(bound: float) -> Severity:
    return "warning" if bound < ENOUGH else "note"


def _never_fired(keys: Mapping[str, Any], played: Played) -> Iterator[Finding]:
    bounds = Bounds(keys)
    wangs = keys["deck.wangs"]
    absent = {f"win_{number}" for number in range(wangs + 1, 5)}
    absent |= {name for name in FAN_NAMES if bounds.why_impossible(name)}
    if wangs == 0:
        absent |= {"wang_payout", "one_holder"}
    payout = keys["draw.wang_payout.enabled"] and keys["draw.wang_payout.unit"]
    absent |= set() if payout else {"wang_payout", "one_holder"}
    absent |= set() if keys["deal.heavenly_win"] else {"heavenly"}
    absent |= {"xing"} if keys["xing.card"] == "none" else set()
    for name, (rule, text, _) in _EVENTS.items():
        rates = [played.events[bot][name] for bot in played.bots]
        if name in absent or name in _EXPECTED_NONE or any(rate.events for rate in rates):
            continue
        bound = rates[0].high
        severity = _unseen(bound)
        few = severity == "note"
        yield Finding(
            "never-fired",
            rule,
            severity,
            (f"fan.{name}",) if name in FAN_NAMES else (),
            Text(
                f"{text.en[0].upper()}{text.en[1:]} was not seen in {played.games:,} games with any of "
                f"{len(played.bots)} bots: rarer than {_one_in(bound, 'en')} for each of them.",
                f"{text.zh}在 {played.games:,} 局里一次也没有出现（{len(played.bots)} 种机器人皆然）："
                f"少于 {_one_in(bound, 'zh')}。",
            ),
            Text(
                "Play more games (--games), or chehuzi rare, before calling it dead."
                if few
                else "Leave the rule out, or make it easier, if players are to meet it.",
                "局数尚少：增加 --games 或用 chehuzi rare 再判断。"
                if few
                else "若要玩家遇得到，请放宽；否则可以删去。",
            ),
            "play",
            {"games": played.games, "bots": list(played.bots), "upper_bound": bound},
        )


def _idle_keys(played: Played, said: set[str]) -> Iterator[Finding]:
    from sim.variant import rule_of

    for key, rate in played.keys.items():
        if rate.events or key in said:
            continue
        plain = key.rpartition(".")[0] if key.startswith("win.wang_limit.min_fan.") else key
        severity = _unseen(rate.high)
        yield Finding(
            "key-idle",
            rule_of(plain),
            severity,
            (plain,),
            Text(
                f"Switching {key} changed none of {rate.n:,} games with any of {len(played.bots)} bots: it matters "
                f"less than {_one_in(rate.high, 'en')} games.",
                f"改动 {key} 后，{rate.n:,} 局没有一局不同（{len(played.bots)} 种机器人皆然）："
                f"起作用少于 {_one_in(rate.high, 'zh')}。",
            ),
            Text(
                "Leave the rule out, or change it so that it bites; it may also be that no bot plays for it."
                if severity == "warning"
                else "Play more games (--games) before calling it dead.",
                "此条可删去，或改到能起作用；也可能是机器人都不会为它而打。"
                if severity == "warning"
                else "局数尚少：增加 --games 再判断。",
            ),
            "play",
            {"key": key, **rate.as_dict()},
        )


def _unchosen(played: Played) -> Iterator[Finding]:
    for name, (rule, text, among, is_rule) in _OPTIONS.items():
        rates = [rates[name] for rates in played.options.values() if name in rates]
        offered = sum(rate.n for rate in rates)
        if not rates or offered < 100 or any(rate.events for rate in rates):
            continue
        bound = max(rate.high for rate in rates)
        what = {
            "win": Text("wins offered", "次可胡"),
            "peng": Text("pengs offered", "次可碰"),
            "chi": Text("chis offered", "次可吃"),
            "chis": Text("chis", "次吃牌"),
        }[among]
        named = [(bot, held[name].n) for bot, held in played.options.items() if name in held]
        listed = {
            "en": ", ".join(f"{bot} in {number:,} {what.en}" for bot, number in named),
            "zh": "，".join(f"{bot} {number:,} {what.zh}" for bot, number in named),
        }
        yield Finding(
            "option-never-chosen",
            rule,
            "warning" if is_rule else "note",
            (),
            Text(
                f"No bot ever chose {text.en}: {listed['en']} (at most {bound:.2%} of them, at {played.level:.0%}).",
                f"没有机器人选过“{text.zh}”：{listed['zh']}（上界 {bound:.2%}，置信水平 {played.level:.0%}）。",
            ),
            Text(
                "Either it never pays and the rule is idle, or the bots do not know its worth: try it by hand or "
                "with a stronger bot.",
                "要么它从不合算、此条形同虚设，要么机器人不懂它的价值：请人工试打或换更强的机器人。",
            ),
            "play",
            {"offered": offered, "bots": list(played.options)},
        )


def _dead_hands(played: Played) -> Iterator[Finding]:
    rates = {bot: played.events[bot]["dead"] for bot in played.bots}
    bot = max(rates, key=lambda name: rates[name].events)
    worst = rates[bot]
    if not worst.events:
        return
    share, low, high = worst.events / worst.n, worst.low, worst.high
    yield Finding(
        "dead-hands",
        "2.8",
        "warning" if min(rate.low for rate in rates.values()) > MANY_DEAD else "note",
        (),
        Text(
            f"A hand goes dead in {share:.2%} of games [{low:.2%}, {high:.2%}] with the bot {bot}, the most of "
            f"{len(played.bots)} bots.",
            f"机器人 {bot} 有 {share:.2%} 的局出现死手 [{low:.2%}, {high:.2%}]，为 {len(played.bots)} 种机器人中最多。",
        ),
        Text(
            "Players should know the rule: who must discard and has no free card cannot win any more.",
            "应让玩家知道：该打牌而无牌可打者，本局不能再胡。",
        ),
        "play",
        {name: rate.as_dict() for name, rate in rates.items()},
    )


def _one_sided_money(played: Played) -> Iterator[Finding]:
    for key, rule, text in (
        ("share_wang", "1.3", Text("wang payouts of draw games", "荒庄赔王")),
        ("share_xing", "2.13", Text("xing", "醒钱")),
    ):
        found = played.shares[key]
        if found.value is None or found.interval.low is None or found.interval.low <= MUCH:
            continue
        low, high = found.interval.low, found.interval.high or 1.0
        yield Finding(
            "money-one-sided",
            rule,
            "warning",
            ("draw.wang_payout.unit",) if key == "share_wang" else ("xing.card", "xing.singles"),
            Text(
                f"More than half of all money comes from {text.en}: {found.value:.1%} [{low:.1%}, {high:.1%}] "
                f"(bot {played.judge}).",
                f"一半以上的输赢来自{text.zh}：{found.value:.1%} [{low:.1%}, {high:.1%}]（机器人 {played.judge}）。",
            ),
            Text("Lower it, or raise what a win pays.", "降低此项，或提高胡牌所得。"),
            "play",
            {"value": found.value, "low": low, "high": high, "n": found.n},
        )


def _rarer_pays_less(keys: Mapping[str, Any], played: Played) -> Iterator[Finding]:
    bounds = Bounds(keys)
    events = played.events[played.judge]
    worth = {name: int(keys[f"fan.{name}"]) for name in COLOURS}
    worth |= {name: bounds.special(name) for name in SPECIALS}
    for family in (COLOURS, SPECIALS):
        for rare in family:
            for common in family:
                one, two = events[rare], events[common]
                if not (one.events and one.high < two.low and worth[rare] < worth[common]):
                    continue
                yield Finding(
                    "rarer-pays-less",
                    RULE_OF_NAME[rare],
                    "note",
                    (f"fan.{rare}", f"fan.{common}"),
                    Text(
                        f"{FAN_TEXT[rare].en} is rarer than {FAN_TEXT[common].en} and pays less: {worth[rare]} fan in "
                        f"{one.events:,} of {one.n:,} games, against {worth[common]} in {two.events:,} "
                        f"(bot {played.judge}; the intervals are apart).",
                        f"{FAN_TEXT[rare].zh}比{FAN_TEXT[common].zh}少见，番数反而低：{one.n:,} 局中 "
                        f"{one.events:,} 次、"
                        f"{worth[rare]}番，对 {two.events:,} 次、{worth[common]}番"
                        f"（机器人 {played.judge}，置信区间不重叠）。",
                    ),
                    Text("Give the rarer name the larger factor.", "让更少见的名堂番数更高。"),
                    "play",
                    {"rare": one.as_dict(), "common": two.as_dict()},
                )


def _beaten(played: Played, challengers: Sequence[str]) -> Iterator[Finding]:
    from sim.bots import BOT_WORDS

    for each in played.exploits:
        if each.p >= 1 - played.level or each.low is None or each.low <= 0:
            continue
        is_restricted = each.bot in challengers
        about = BOT_WORDS.get(each.bot, (each.bot, each.bot))
        high = each.high if each.high is not None else each.gain
        yield Finding(
            "exploit",
            "3.9",
            "warning" if is_restricted else "note",
            (),
            Text(
                f"The bot {each.bot} ({about[0]}) beats {each.against}: {each.gain:+.2f} a game "
                f"[{each.low:.2f}, {high:.2f}] in its place, over {each.deals:,} deals.",
                f"机器人 {each.bot}（{about[1]}）胜过 {each.against}：同样的牌、同样的座位每局多得 "
                f"{each.gain:+.2f} [{each.low:.2f}, {high:.2f}]，共 {each.deals:,} 副牌。",
            ),
            Text(
                "Playing without that option pays here: look at what the option costs, and repeat conclusions with "
                "this bot."
                if is_restricted
                else "The usual order of bots does not hold here: repeat conclusions with this bot.",
                "在此玩法中不用那一手反而合算：查查那一手的代价，并用此机器人复核结论。"
                if is_restricted
                else "机器人的强弱次序在此不成立：请用此机器人复核结论。",
            ),
            "play",
            {
                "gain": each.gain,
                "low": each.low,
                "high": each.high,
                "p_adjusted": each.p,
                "deals": each.deals,
            },
        )


def _findings(variant: Variant, played: Played, challengers: Sequence[str]) -> Iterator[Finding]:
    keys: dict[str, Any] = dict(variant.flat())
    fired = list(_never_fired(keys, played))
    yield from fired
    said = {key for finding in fired for key in finding.keys}
    bounds = Bounds(keys)
    if keys["win.wang_limit.mode"] == "by_fan":  # what never binds by the rules alone is said already
        held = range(1, bounds.wangs + 1)
        idle = {number for number in held if bounds.min_fan(number) <= bounds.fans(number)[0]}
        said |= {f"win.wang_limit.min_fan.{number}" for number in idle}
        said |= {"win.wang_limit.mode"} if len(idle) == bounds.wangs else set()
    elif keys["win.wang_limit.special_only_from"] > bounds.wangs:
        said |= {"win.wang_limit.mode", "win.wang_limit.special_only_from"}
    yield from _idle_keys(played, said)
    yield from _unchosen(played)
    yield from _dead_hands(played)
    yield from _one_sided_money(played)
    yield from _rarer_pays_less(keys, played)
    yield from _beaten(played, challengers)
