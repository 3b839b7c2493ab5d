"""Rare events: the chance of an event as "1 in N" from far fewer games than plain play needs.

By strata: the wangs are dealt on purpose, with exact weights, and most games go where the event happens. By
splitting: games are run to a level that lies on the way to the event, and those that reach it are played on from
there many times, each with a fresh wall. Both are unbiased whatever the levels and however the games are spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from analysis import intervals as ci
from analysis.events import WANGS_OF, Event, parse_event
from analysis.exact import Stratum, wang_strata
from analysis.metrics import FAN_TEXT, Text
from analysis.strata import (
    StrataError,
    announce_compiling,
    default_jobs,
    in_order,
    make_tasks,
    play_tasks,
    whole_shares,
    zero_bound,
)
from sim.rows import FAN_NAMES

if TYPE_CHECKING:
    from sim.variant import Variant

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Method = Literal["auto", "plain", "strata", "split"]
METHODS = ("auto", "plain", "strata", "split")

REPLICATES = 32
"""Independent repetitions of a splitting run: their spread is the error."""
PILOT_SHARE = 0.05
FLOOR = 0.2
LEAST_GAMES = 5_000
PAYS = 1.1
"""Games are spread unevenly only if that makes the variance smaller by this factor."""
SELDOM = 1 / 300
"""Splitting is chosen for events less frequent than this; by wangs alone, ten times less frequent."""
CHECKS = 16
"""Games of each stratum in which the event is taken to be impossible."""
_PILOT = 1 << 39  # number of the pilot's replicate


class RareError(ValueError):
    """What cannot be estimated, and why."""


@dataclass(frozen=True)
class Way:
    """Levels on the way to an event.

    Attributes
    ----------
    levels : tuple of int
        Targets of :meth:`sim.strata.Split.begin` and ``go_on``, ascending.
    special : int
        Number of the wang special that the last level is ready for, or 0.
    held : int
        Wangs held before the winning card.
    """

    levels: tuple[int, ...]
    special: int
    held: int


@dataclass(frozen=True)
class RareResult:
    """The chance of an event.

    Attributes
    ----------
    event : str
        The expression.
    label, digest : str
        The variant and its hash.
    bots : tuple of str
    seed : int
    method : str
        ``plain``, ``strata`` or ``split``.
    chance : float
    low, high : float
        Confidence interval; ``low`` is 0 where the event was not seen, and ``high`` then one-sided.
    level : float
        Its confidence.
    games : int
        All games: pilots, checks, and every game played on from a level counted as a whole one.
    events : int
        Games in which the event was seen (they do not weigh the same).
    error : float or None
        Standard error of ``chance``.
    factor : float or None
        Games that a plain run needs for the same error, divided by ``games``.
    levels : tuple of int
        Levels of the splitting.
    ready : bool
        Whether the last level is a hand that lacks the winning card only, not a number of wangs.
    """

    event: str
    label: str
    digest: str
    bots: tuple[str, ...]
    seed: int
    method: str
    chance: float
    low: float
    high: float
    level: float
    games: int
    events: int
    error: float | None
    factor: float | None
    levels: tuple[int, ...] = ()
    ready: bool = False

    @property
    def one_in(self) -> float | None:
        """N of "1 in N"; None where the event was not seen."""
        return 1 / self.chance if self.chance > 0 else None


def way_to(event: Event, wangs: int) -> Way | None:
    """Levels for an event in a deck with ``wangs`` wangs; None where it has no natural ones.

    A wang special is reached by a hand that lacks the winning card only ("ready"); where that hand holds every
    wang of the deck, or no special is asked for, by the number of wangs.
    """
    if event.special is not None:
        need = WANGS_OF[event.special]
        held = need - 1 if event.special.endswith("_wang") else need
        if held < wangs:
            special = FAN_NAMES.index(event.special) - FAN_NAMES.index("wang_diao") + 1
            return Way((held + 1,), special, held)
    if event.wangs_needed >= 2:
        return Way((event.wangs_needed,), 0, event.wangs_needed)
    return None


def is_possible(stratum: Stratum, event: Event) -> bool:
    """Whether a player can come to hold the wangs that the event needs."""
    return max(stratum[:3]) + stratum[3] >= event.wangs_needed


@dataclass(frozen=True)
class _Job:
    """What all methods need."""

    event: Event
    keys: dict[str, object]
    bots: tuple[str, str, str]
    seed: int
    jobs: int
    wangs: int
    level: float


def hits(rows: NDArray[np.int64], event: Event) -> NDArray[np.bool_]:
    """Which games show the event.

    Parameters
    ----------
    rows : ndarray of int64, shape (games, len(ROW_COLUMNS))
    event : Event

    Returns
    -------
    ndarray of bool, shape (games,)
    """
    from sim.parts import rows_to_frame

    if not len(rows):
        return np.zeros(0, dtype=np.bool_)
    found = rows_to_frame(rows).select(event.expr.alias("event"))["event"]
    if len(found) != len(rows):  # an event of constants only
        found = pl.repeat(found.item(), len(rows), eager=True)
    return found.to_numpy()


def rare_event(
    variant: str | Path | Variant,
    event: str,
    games: int = 100_000,
    *,
    method: Method = "auto",
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    level: float = 0.95,
) -> RareResult:
    """Estimate the chance of an event in a game that stands alone.

    Parameters
    ----------
    variant : str, Path or Variant
    event : str
        See :func:`analysis.events.parse_event`.
    games : int
        Games to play in all; a game played on from a level counts as one.
    method : {"auto", "plain", "strata", "split"}
        ``auto``: strata, or splitting where a pilot by strata sees the event seldom and it has levels.
    bots : str
        One bot, or dealer,next,third.
    seed : int
        0 to 2**64 - 1.
    jobs : int, optional
        Processes; they change no digit.
    overrides : sequence of str
        ``key=value``.
    level : float
        Confidence level.

    Returns
    -------
    RareResult

    Raises
    ------
    EventError
        For an expression that is no event.
    RareError
        Too few games, splitting without levels, an event that can never happen.

    Examples
    --------
    >>> rare_event("four_wang", "wang_zha_wang", 50_000).one_in  # doctest: +SKIP
    1390.5
    """
    from sim.players import parse_compiled
    from sim.variant import load_variant

    wanted = parse_event(event)
    if games < LEAST_GAMES:
        raise RareError(f"games: {games} are too few, at least {LEAST_GAMES} are needed")
    if method not in METHODS:
        raise RareError(f"method is {', '.join(METHODS)}, not {method!r}")
    if not 0.0 < level < 1.0:
        raise RareError(f"level is a share between 0 and 1, such as 0.95, not {level}")
    loaded = load_variant(variant, overrides) if isinstance(variant, str | Path) else variant
    keys = dict(loaded.flat())
    wangs = int(str(keys["deck.wangs"]))
    if wanted.wangs_needed > wangs:
        raise RareError(
            f"{wanted.text}: one player must hold {wanted.wangs_needed} wangs; the deck of {loaded.name} has {wangs}"
        )
    job = _Job(wanted, keys, parse_compiled(bots), seed, default_jobs(games, jobs), wangs, level)
    way = way_to(wanted, wangs)
    if method == "split" and way is None:
        raise RareError(f"{wanted.text}: there are no levels on the way to it; use --method strata")
    found = _plain(job, games) if method == "plain" else _by_strata(job, games, way, method)
    return RareResult(
        event=wanted.text,
        label=loaded.name,
        digest=loaded.digest,
        bots=job.bots,
        seed=seed,
        level=level,
        games=found.games,
        method=found.method,
        chance=found.chance,
        low=found.low,
        high=found.high,
        events=found.events,
        error=found.error,
        factor=_factor(found.chance, found.error, found.games),
        levels=way.levels if way is not None and found.method == "split" else (),
        ready=way is not None and way.special > 0,
    )


@dataclass(frozen=True)
class _Found:
    method: str
    chance: float
    low: float
    high: float
    games: int
    events: int
    error: float | None


def _factor(chance: float, error: float | None, games: int) -> float | None:
    """Games of a plain run with the same error, over the games played."""
    if not error:
        return None
    return chance * (1 - chance) / error**2 / games


# --- plain and by strata ----------------------------------------------------------------------------------

_CHUNK = 8_192


def _play_plain(keys: dict[str, object], bots: Sequence[str], seed: int, first: int, count: int) -> Any:
    from sim.bots import bot_id
    from sim.engine import play_games
    from sim.parts import compile_keys

    return play_games(compile_keys(keys), [bot_id(name) for name in bots], seed, first, count)


def _plain(job: _Job, games: int) -> _Found:
    calls = (
        (job.keys, job.bots, job.seed, first, min(_CHUNK, games - first)) for first in range(0, games, _CHUNK)
    )
    events = sum(int(hits(rows, job.event).sum()) for rows in in_order(_play_plain, calls, job.jobs))
    chance = events / games
    interval = ci.rate_interval(events, games, job.level)
    error = math.sqrt(chance * (1 - chance) / games) if events else None
    return _Found("plain", chance, interval.low or 0.0, interval.high or 1.0, games, events, error)


@dataclass(frozen=True)
class _Counts:
    strata: list[Stratum]
    weights: FloatArray
    games: IntArray
    events: IntArray


def _count(job: _Job, strata: list[Stratum], first: Sequence[int], games: Sequence[int]) -> IntArray:
    """Games with the event, by stratum."""
    number = {stratum: index for index, stratum in enumerate(strata)}
    events = np.zeros(len(strata), dtype=np.int64)
    for stratum, rows in play_tasks(job.keys, job.bots, job.seed, make_tasks(strata, first, games), job.jobs):
        events[number[stratum]] += int(hits(rows, job.event).sum())
    return events


def _check_impossible(job: _Job, strata: list[Stratum]) -> int:
    """Play a few games of the strata that are left out; how many."""
    if not strata:
        return 0
    events = _count(job, strata, [0] * len(strata), [CHECKS] * len(strata))
    if events.any():
        bad = strata[int(events.argmax())]
        raise RareError(
            f"{job.event.text}: happened with the wangs dealt {bad}, where it was taken to be "
            "impossible; use --method plain"
        )
    return CHECKS * len(strata)


def _pooled(strata: Sequence[Stratum], weights: FloatArray, chances: FloatArray) -> FloatArray:
    """Chance of the event in each stratum, from a pilot: hands that mirror each other are taken together.

    ``chances`` are the parts of the event's chance by stratum. A tenth of the overall rate is added everywhere:
    a stratum without event is not forgotten.
    """
    keys = [(*sorted(stratum[:3]), stratum[3]) for stratum in strata]
    chance: dict[tuple[int, ...], float] = {}
    weight: dict[tuple[int, ...], float] = {}
    for key, part, share in zip(keys, chances, weights, strict=True):
        chance[key] = chance.get(key, 0.0) + float(part)
        weight[key] = weight.get(key, 0.0) + float(share)
    rates = np.array([chance[key] / weight[key] for key in keys])
    rates += 0.1 * float(weights @ rates) / float(weights.sum())
    return rates


def _shares(weights: FloatArray, rates: FloatArray) -> FloatArray:
    """Neyman's shares W √(p (1 − p)) over a floor; in proportion to W where that is nearly as good."""
    flat: FloatArray = weights / weights.sum()
    spread = weights * np.sqrt(rates * (1 - np.minimum(rates, 1.0)))
    if spread.sum() <= 0:
        return flat
    shares: FloatArray = FLOOR * flat + (1 - FLOOR) * spread / spread.sum()
    return shares if (spread**2 / flat).sum() > PAYS * (spread**2 / shares).sum() else flat


def _by_strata(job: _Job, games: int, way: Way | None, method: Method) -> _Found:
    law = {stratum: float(chance) for stratum, chance in wang_strata(job.wangs).items()}
    strata = [stratum for stratum in law if is_possible(stratum, job.event)]
    used = _check_impossible(job, [stratum for stratum in law if not is_possible(stratum, job.event)])
    weights = np.array([law[stratum] for stratum in strata])
    if method == "split":
        assert way is not None
        return _split(job, games, used, strata, weights, weights / weights.sum(), way)
    pilot = max(round(games * PILOT_SHARE), 20 * len(strata))
    first = whole_shares(weights, pilot, 20)
    parts = weights * _count(job, strata, [0] * len(strata), first.tolist()) / first
    used += pilot
    shares = _shares(weights, _pooled(strata, weights, parts))
    if method == "auto" and way is not None and parts.sum() < (SELDOM if way.special else SELDOM / 10):
        return _split(job, games, used, strata, weights, shares, way)
    spread = whole_shares(shares, games - used, 20)
    events = _count(job, strata, first.tolist(), spread.tolist())
    return _stratified(job, _Counts(strata, weights, spread, events), games)


def _stratified(job: _Job, counts: _Counts, games: int) -> _Found:
    """Σ W k / n with the Wilson interval of its effective number of games."""
    n = counts.games.astype(np.float64)
    chance = float(counts.weights @ (counts.events / n))
    events = int(counts.events.sum())
    if events == 0:
        return _Found("strata", 0.0, 0.0, zero_bound(counts.weights, n, job.level), games, 0, None)
    rates = counts.events / n
    added = chance / (n + 1)
    smoothed = np.where((counts.events > 0) & (rates < 1), rates, added)
    terms = counts.weights**2 * smoothed * (1 - smoothed) / n
    variance = float(terms.sum())
    freedom = max(1.0, variance**2 / float((terms**2 / np.maximum(n - 1, 1)).sum()))
    size = chance * (1 - chance) / variance if chance < 1 else float(n.sum())
    point = float(special.stdtrit(freedom, 0.5 + job.level / 2))
    low, high = ci.wilson(chance * size, size, point)
    return _Found("strata", chance, low, high, games, events, math.sqrt(variance))


# --- splitting --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replicate:
    """One splitting run.

    Attributes
    ----------
    chance : float
        Unbiased estimate.
    games, events : int
        Games run, and those that showed the event.
    origins : float array, shape (strata,)
        Part of ``chance`` that comes from each stratum.
    cells : list of (float, int)
        Weight and number of games of each stratum, then of each later stage.
    """

    chance: float
    games: int
    events: int
    origins: FloatArray
    cells: list[tuple[float, int]]


def split_once(
    keys: dict[str, object],
    bots: Sequence[str],
    seed: int,
    replicate: int,
    event: Event | str,
    strata: Sequence[Stratum],
    weights: Sequence[float],
    games: Sequence[int],
    later: int,
    way: Way,
) -> Replicate:
    """Run one replicate of splitting.

    Parameters
    ----------
    keys : dict
        The variant by its dotted keys.
    bots : sequence of str
        Dealer, next, third.
    seed, replicate : int
        Of the random numbers.
    event : Event or str
    strata, weights, games : sequences of equal length
        Strata, their chances, and the games dealt of each.
    later : int
        Games of each later stage: fixed effort.
    way : Way
        The levels.

    Notes
    -----
    A game of stratum h weighs W / n. Those that reach the level pass their weights on: ``later`` games begin at
    states chosen in proportion to weight, each weighing an equal part of the sum. The estimate is the weight of
    all games that ended with the event, at whatever stage, so that an event which misses a level still counts.
    """
    from sim.bots import bot_id
    from sim.parts import compile_keys
    from sim.strata import TO_THE_END, Split

    wanted = parse_event(event) if isinstance(event, str) else event
    numbers = np.asarray(games, dtype=np.int64)
    origin = np.repeat(np.arange(len(strata)), numbers)
    weight = (np.asarray(weights, dtype=np.float64) / np.maximum(numbers, 1))[origin]
    split = Split(compile_keys(keys), [bot_id(name) for name in bots], seed, replicate, way.special, way.held)
    targets = [*way.levels, TO_THE_END]
    origins = np.zeros(len(strata))
    cells = [(float(w), int(n)) for w, n in zip(weights, numbers, strict=True)]
    seen, run = 0, len(origin)
    reached = split.begin(np.asarray(strata, dtype=np.int64)[origin], targets[0])
    for target in [*targets[1:], None]:
        ended = hits(reached.rows, wanted)
        which = reached.ends[ended]
        np.add.at(origins, origin[which], weight[which])
        seen += len(which)
        if target is None or not len(reached.hits):
            break
        passed = weight[reached.hits]
        picks = split.pick(passed, later)
        origin = origin[reached.hits][picks]
        weight = np.full(later, passed.sum() / later)
        cells.append((float(passed.sum()), later))
        run += later
        reached = split.go_on(reached.states, picks, target)
    return Replicate(float(origins.sum()), run, seen, origins, cells)


def _split(
    job: _Job,
    games: int,
    used: int,
    strata: list[Stratum],
    weights: FloatArray,
    shares: FloatArray,
    way: Way,
) -> _Found:
    """A pilot replicate to spread the deals, then the replicates."""
    stages = len(way.levels) + 1
    least = 4

    def plan(shares: FloatArray, budget: int) -> tuple[list[int], int]:
        dealt = max(budget // stages, least * len(strata))
        return whole_shares(shares, dealt, least).tolist(), max(1, (budget - dealt) // (stages - 1))

    dealt, later = plan(shares, max(round(games * PILOT_SHARE), 2 * least * len(strata)))
    common = (job.keys, job.bots, job.seed)
    pilot = split_once(*common, _PILOT, job.event, strata, weights.tolist(), dealt, later, way)
    used += pilot.games
    if pilot.events:
        shares = _shares(weights, _pooled(strata, weights, pilot.origins))
    dealt, later = plan(shares, max((games - used) // REPLICATES, stages * least * len(strata)))
    calls = (
        (*common, number, job.event.text, strata, weights.tolist(), dealt, later, way)
        for number in range(REPLICATES)
    )
    done = list(in_order(split_once, calls, job.jobs))
    played = used + sum(each.games for each in done)
    events = sum(each.events for each in done)
    values = np.array([each.chance for each in done])
    chance = float(values.mean())
    if events == 0:
        return _Found("split", 0.0, 0.0, _unseen(done, job.level), played, 0, None)
    error = float(values.std(ddof=1)) / math.sqrt(REPLICATES)
    # On the logarithm: a chance is positive, and the spread grows with it.
    spread = math.exp(ci.t_point(job.level, REPLICATES - 1) * error / chance)
    return _Found("split", chance, chance / spread, min(1.0, chance * spread), played, events, error)


def _unseen(done: Sequence[Replicate], level: float) -> float:
    """Upper bound when no game of any stage has shown the event; the weights of later stages are estimates."""
    length = max(len(each.cells) for each in done)
    weights, games = np.zeros(length), np.zeros(length)
    for each in done:
        for place, (weight, number) in enumerate(each.cells):
            weights[place] += weight / len(done)
            games[place] += number
    return min(1.0, zero_bound(weights, games, level))


# --- words ------------------------------------------------------------------------------------------------

_WORDS: dict[str, Text] = {
    "seen": Text("{what}: 1 in {one_in} games", "{what}：{one_in} 局一次"),
    "interval": Text("[{least}–{most}], {level:g} %", "[{least}–{most}]，置信水平 {level:g}%"),
    "unseen": Text(
        "{what}: not seen in {games:,} games; rarer than 1 in {most}, at {level:g} %",
        "{what}：{games:,} 局中未出现；少于 {most} 局一次，置信水平 {level:g}%",
    ),
    "plain": Text(
        "plain run of {games:,} games, {events:,} with the event", "普通模拟 {games:,} 局，出现 {events:,} 次"
    ),
    "strata": Text(
        "wang strata, {games:,} games, {events:,} with the event, relative error {error:.1%}",
        "按王霸分布分层，共 {games:,} 局，出现 {events:,} 次，相对误差 {error:.1%}",
    ),
    "split": Text(
        "wang strata and splitting at “{levels}”, {games:,} games, {events:,} with the event, relative error "
        "{error:.1%}",
        "按王霸分布分层，并在“{levels}”处分裂，共 {games:,} 局，出现 {events:,} 次，相对误差 {error:.1%}",
    ),
    "factor": Text(
        "a plain run would need {plain} games for the same error: {factor:.1f} times as many",
        "普通模拟要 {plain} 局才有同样误差：{factor:.1f} 倍",
    ),
    "tail": Text(
        "{variant} #{digest}, bots {bots}, seed {seed}", "{variant} #{digest}，机器人 {bots}，种子 {seed}"
    ),
    "ready": Text("lacks the winning card only", "只差胡的那张"),
    "wangs": Text("{n} wangs in one hand", "一家有 {n} 张王"),
}


def _big(value: float, lang: str) -> str:
    if value < 1e4:
        return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
    steps = ((1e8, "亿"), (1e4, "万")) if lang == "zh" else ((1e9, "G"), (1e6, "M"), (1e3, "k"))
    for size, name in steps:
        if value >= size:
            return f"{float(f'{value / size:.3g}'):g}{name}"
    return f"{value:,.0f}"


def describe(found: RareResult, lang: str = "en") -> str:
    """The result in words, three or four lines."""
    known = FAN_TEXT.get(found.event)
    what = f"{known[lang]} ({found.event})" if known else found.event
    level = found.level * 100
    if found.one_in is None:
        head = _WORDS["unseen"][lang].format(
            what=what, games=found.games, most=_big(1 / found.high, lang), level=level
        )
        lines = [head]
    else:
        head = _WORDS["seen"][lang].format(what=what, one_in=_big(found.one_in, lang))
        least = _big(1 / found.high, lang)
        most = _big(1 / found.low, lang) if found.low > 0 else "∞"
        lines = [f"{head} {_WORDS['interval'][lang].format(least=least, most=most, level=level)}"]
        levels = [
            _WORDS["ready" if found.ready and number == found.levels[-1] else "wangs"][lang].format(n=number)
            for number in found.levels
        ]
        lines.append(
            _WORDS[found.method][lang].format(
                games=found.games,
                events=found.events,
                error=(found.error or 0.0) / found.chance,
                levels=" → ".join(levels),
            )
        )
        if found.factor is not None and found.method != "plain":
            lines.append(
                _WORDS["factor"][lang].format(
                    plain=_big(found.factor * found.games, lang), factor=found.factor
                )
            )
    bots = ",".join(found.bots) if len(set(found.bots)) > 1 else found.bots[0]
    lines.append(
        _WORDS["tail"][lang].format(variant=found.label, digest=found.digest[:8], bots=bots, seed=found.seed)
    )
    return "\n".join(lines)


def document(found: RareResult) -> dict[str, Any]:
    """The result for JSON."""
    return {
        "event": found.event,
        "variant": found.label,
        "digest": found.digest,
        "bots": list(found.bots),
        "seed": found.seed,
        "method": found.method,
        "chance": found.chance,
        "low": found.low,
        "high": found.high,
        "level": found.level,
        "one_in": found.one_in,
        "games": found.games,
        "events": found.events,
        "standard_error": found.error,
        "plain_games_factor": found.factor,
        "levels": list(found.levels),
    }


def rare_command(
    variant: str,
    event: str,
    games: int,
    *,
    method: Method = "auto",
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    level: float = 0.95,
    as_json: bool = False,
    lang: str = "en",
    file: IO[str] | None = None,
) -> int:
    """``chehuzi rare``: print the chance of an event; exit status."""
    import json

    announce_compiling(lang)
    found = rare_event(
        variant,
        event,
        games,
        method=method,
        bots=bots,
        seed=seed,
        jobs=jobs,
        overrides=overrides,
        level=level,
    )
    text = json.dumps(document(found), ensure_ascii=False, indent=1) if as_json else describe(found, lang)
    print(text, file=file)
    return 0


__all__ = [
    "RareError",
    "RareResult",
    "Replicate",
    "StrataError",
    "describe",
    "hits",
    "is_possible",
    "rare_command",
    "rare_event",
    "split_once",
    "way_to",
]
