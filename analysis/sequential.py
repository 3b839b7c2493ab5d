"""Decisions that may be looked at after every chunk: confidence sequences, and a verdict with declared error.

Looking again and again at an ordinary interval until it excludes a bound goes wrong far more often than its level
says. A confidence sequence holds at all sample sizes at once, so one may stop whenever it decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from scipy import special

from analysis import intervals as ci
from analysis.metrics import Metric, Text, metric
from analysis.strata import announce_compiling, default_jobs, in_order
from analysis.sufficient import SufficientStats, collect_stats

if TYPE_CHECKING:
    from sim.variant import Variant

Verdict = Literal["above", "below", "undecided"]

CHUNK = 2_000
LEAST_GAMES = 2_000
"""Means are not looked at before: their confidence sequence is an asymptotic one."""
LEAST_EVENTS = 100
"""Nor before so many games had a numerator other than 0."""
IN_PROCESS = 50_000
"""Games played in this process before others are started."""


class DecideError(ValueError):
    """A question that cannot be decided; the message says what would be right."""


# --- confidence sequences ---------------------------------------------------------------------------------


def tuning(alpha: float, games: float) -> float:
    """Prior weight (in games) with which a mixture's boundary is tightest at about ``games``.

    Notes
    -----
    games / (−2 ln α + ln(1 − 2 ln α)), the approximation of Howard et al. (2021, section 3.5) for a
    normal mixture.
    """
    logarithm = -2.0 * math.log(alpha)
    return games / (logarithm + math.log1p(logarithm))


def log_evidence(events: float, n: float, rate: float, weight: float, centre: float) -> float:
    """Logarithm of a beta-binomial mixture's likelihood ratio against ``rate``.

    Parameters
    ----------
    events, n : float
        Trials with the event, and all.
    rate : float
        The hypothesis, strictly between 0 and 1.
    weight, centre : float
        Half of the mixture is Beta(weight · centre, weight · (1 − centre)), which is quick for rates near
        ``centre``; the other half is Beta(½, ½), which is good for rates far from it.

    Returns
    -------
    float
        ln Σ ½ B(a + k, b + n − k) / B(a, b) − k ln p − (n − k) ln(1 − p). If ``rate`` is true its exponential is
        a martingale of mean 1, so by Ville it ever reaches 1/α with chance at most α.
    """
    marginal = -math.inf
    for a, b in ((weight * centre, weight * (1.0 - centre)), (0.5, 0.5)):
        part = float(special.betaln(a + events, b + n - events) - special.betaln(a, b))
        marginal = float(np.logaddexp(marginal, part - math.log(2.0)))
    return marginal - events * math.log(rate) - (n - events) * math.log1p(-rate)


def rate_sequence(
    events: int, n: int, alpha: float, weight: float = 1.0, centre: float = 0.5
) -> tuple[float, float]:
    """Confidence sequence of a rate: all rates whose evidence against is less than 1/α.

    Parameters
    ----------
    events, n : int
        Trials with the event so far, and all.
    alpha : float
        Chance that the sequence ever leaves the true rate out.
    weight, centre : float
        See :func:`log_evidence`; they must be chosen beforehand.

    Returns
    -------
    tuple of float
        Lower and upper end.
    """
    if n == 0:
        return 0.0, 1.0
    limit = -math.log(alpha)
    share = events / n

    def end(inside: float, outside: float) -> float:
        """Bisect between a rate that is kept and one that is not (or an end of the range)."""
        for _ in range(100):
            middle = (inside + outside) / 2
            if not 0.0 < middle < 1.0 or middle in (inside, outside):
                break
            if log_evidence(events, n, middle, weight, centre) < limit:
                inside = middle
            else:
                outside = middle
        return outside

    tiny = 1e-15
    start = min(max(share, tiny), 1.0 - tiny)
    low = 0.0 if events == 0 else end(start, 0.0)
    high = 1.0 if events == n else end(start, 1.0)
    return low, high


def mean_half_width(deviation: float, n: float, alpha: float, tuned: float) -> float:
    """Half-width of an asymptotic confidence sequence of a mean.

    Parameters
    ----------
    deviation : float
        Sample standard deviation.
    n : float
        Observations so far.
    alpha : float
        Chance, in the limit, that the sequence ever leaves the mean out.
    tuned : float
        Sample size at which it is tightest.

    Notes
    -----
    s √( 2 (n ρ² + 1) / (n² ρ²) · ln( √(n ρ² + 1) / α ) ) with ρ² = (−2 ln α + ln(1 − 2 ln α)) / tuned
    (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024).
    """
    rho = 1.0 / tuning(alpha, tuned)
    grown = n * rho + 1.0
    return deviation * math.sqrt(2.0 * grown / (n * n * rho) * math.log(math.sqrt(grown) / alpha))


# --- questions --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """Is a metric above (or below) a bound?

    Attributes
    ----------
    item : Metric
    sign : str
        ``>``, ``>=``, ``<`` or ``<=``; equality matters for quantiles only.
    bound : float
        In the unit of the metric; rates between 0 and 1.
    """

    item: Metric
    sign: str
    bound: float

    @property
    def text(self) -> str:
        """``draw_rate > 0.15``."""
        return f"{self.item.key} {self.sign} {self.bound:g}"

    @property
    def above(self) -> bool:
        """Whether "above" is the claim."""
        return self.sign.startswith(">")


_QUESTION = re.compile(
    r"\s*(?P<key>\w+)\s*(?P<sign>[<>＜＞]=?)\s*(?P<number>[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(?P<percent>[%％]?)\s*"
)


def parse_question(text: str) -> Question:
    """Read ``metric > number`` or ``metric < number``; shares may be written ``15%``.

    Raises
    ------
    DecideError
        When it is no question, or can never be decided.
    MetricError
        For an unknown metric.
    """
    match = _QUESTION.fullmatch(text) if len(text) <= 200 else None
    if match is None:
        raise DecideError(f'decide: {text[:60]!r} is no question; ask as in "draw_rate > 0.15"')
    item = metric(match["key"])
    bound = float(match["number"])
    if match["percent"]:
        if item.unit != "share":
            raise DecideError(f"decide: {item.key} is no share; write the number without %")
        bound /= 100
    if not math.isfinite(bound):
        raise DecideError(f"decide: {match['number']} is too large")
    if item.kind == "spread":
        raise DecideError(
            f"decide: {item.key} is a spread; rates, means, ratios and quantiles can be decided"
        )
    if item.unit == "share" and not 0 < bound < 1:
        hint = f"; did you mean {bound:g}%?" if 1 <= bound < 100 else ""
        raise DecideError(f"decide: {item.key} lies between 0 and 1, so {bound:g} decides nothing{hint}")
    if item.lowest is not None and bound < item.lowest:
        raise DecideError(f"decide: {item.key} is never below {item.lowest:g}")
    return Question(item, match["sign"].translate({0xFF1C: "<", 0xFF1E: ">"}), bound)


@dataclass(frozen=True)
class Look:
    """What is known after some chunks.

    Attributes
    ----------
    verdict : str
        ``above`` or ``below`` the bound, or ``undecided``.
    value : float or None
        Estimate of the metric; None where nothing was counted.
    low, high : float or None
        Confidence sequence of the metric. None for a quantile, whose share is what is bounded.
    n : int
        Games (or wins, draw games) behind it.
    """

    verdict: Verdict
    value: float | None
    low: float | None
    high: float | None
    n: int


def look(stats: SufficientStats, question: Question, alpha: float, tuned: float) -> Look:
    """Judge what has been played so far.

    Parameters
    ----------
    stats : SufficientStats
        The complete chunks, in order from the first.
    question : Question
    alpha : float
        Chance of a wrong verdict, however often one looks.
    tuned : float
        Number of games at which the sequence shall be tightest; chosen beforehand.

    Notes
    -----
    A rate: the beta-binomial sequence, exact at every n. A quantile: it is above c just when less than its
    share of the values lie at or below c, which is a rate. A mean N/D: the sequence of the mean of N − c·D, whose sign
    says on which side of c the mean is.
    """
    item, bound = question.item, question.bound
    table = stats.features(item)
    counts = table["count"].to_numpy()
    columns = [table[f"f{i}"].to_numpy() for i in range(len(item.features))]
    n = int(counts.sum())
    if n == 0:
        return Look("undecided", None, None, None, 0)
    if item.kind == "rate":
        events = int((columns[0] * counts).sum())
        low, high = rate_sequence(events, n, alpha, tuning(alpha, tuned), bound)
        return Look(_side(low, high, bound), events / n, low, high, n)
    if item.kind == "quantile":
        assert item.share is not None
        share = item.share[0] / item.share[1]
        # "> c" and "<= c" ask for the values up to c, "< c" and ">= c" for those before c
        before = columns[0] <= bound if question.sign in (">", "<=") else columns[0] < bound
        events = int(counts[before].sum())
        low, high = rate_sequence(events, n, alpha, tuning(alpha, tuned), share)
        side = _side(low, high, share)
        value = float(ci.value_at_rank(columns[0], counts, ci.quantile_rank(n, item.share)))
        return Look(_OPPOSITE[side], value, None, None, n)  # many before it: the quantile is no greater
    return _look_mean(columns, counts, question, alpha, tuned, stats.games)


_OPPOSITE: dict[Verdict, Verdict] = {"above": "below", "below": "above", "undecided": "undecided"}


def _look_mean(
    columns: Sequence[Any], counts: Any, question: Question, alpha: float, tuned: float, games: int
) -> Look:
    scale, bound = question.item.scale, question.bound
    top, bottom = (column.astype(np.float64) for column in columns)
    mean_top, mean_bottom = float(counts @ top) / games, float(counts @ bottom) / games
    value = mean_top / mean_bottom / scale
    n = int(counts.sum())
    # a few games with a numerator say nothing about its spread
    if games < LEAST_GAMES or int(counts[top != 0].sum()) < LEAST_EVENTS:
        return Look("undecided", value, None, None, n)
    # Per game N − value·D, over all games (0 where D is): the influence of a game on the ratio, times mean D.
    residual = top - value * scale * bottom
    deviation = math.sqrt(float(counts @ residual**2) / games) / mean_bottom / scale
    at_bound = top - bound * scale * bottom
    centre = float(counts @ at_bound) / games
    spread = math.sqrt(max(0.0, float(counts @ at_bound**2) / games - centre**2))
    half = mean_half_width(spread, games, alpha, tuned)
    shown = mean_half_width(deviation, games, alpha, tuned)
    verdict: Verdict = "undecided"
    if spread > 0 and abs(centre) > half:
        verdict = "above" if centre > 0 else "below"
    return Look(verdict, value, value - shown, value + shown, n)


def _side(low: float, high: float, bound: float) -> Verdict:
    if low > bound:
        return "above"
    return "below" if high < bound else "undecided"


# --- playing until it is decided --------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """A verdict with what belongs beside it.

    Attributes
    ----------
    question : Question
    answer : bool or None
        Whether the claim holds; None when undecided.
    look : Look
        The last look.
    games : int
        Games played.
    most : int
        Greatest number allowed.
    alpha : float
        Declared chance of a wrong verdict.
    label, digest : str
        The variant and its hash.
    bots : tuple of str
    seed : int
    """

    question: Question
    answer: bool | None
    look: Look
    games: int
    most: int
    alpha: float
    label: str
    digest: str
    bots: tuple[str, ...]
    seed: int


def _play(keys: dict[str, object], bots: Sequence[str], seed: int, first: int, count: int) -> Any:
    from sim.bots import bot_id
    from sim.engine import play_games
    from sim.parts import compile_keys

    return play_games(compile_keys(keys), [bot_id(name) for name in bots], seed, first, count)


def decide(
    variant: str | Path | Variant,
    question: str,
    alpha: float = 0.01,
    *,
    most: int = 1_000_000,
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    overrides: Sequence[str] = (),
) -> Decision:
    """Play games, chunk by chunk in order, until a question is decided.

    Parameters
    ----------
    variant : str, Path or Variant
    question : str
        ``metric > number`` or ``metric < number``.
    alpha : float
        Chance of a wrong verdict, at most, whatever the true value and however long it takes.
    most : int
        Games after which it is given up.
    bots : str
        One bot, or dealer,next,third.
    seed : int
        0 to 2**64 - 1.
    jobs : int, optional
        Processes; they change no digit.
    overrides : sequence of str
        ``key=value``.

    Returns
    -------
    Decision

    Raises
    ------
    DecideError
        For no question, or an alpha outside (0, 0.5).

    Examples
    --------
    >>> decide("four_wang", "draw_rate > 0.15").answer  # doctest: +SKIP
    False
    """
    from sim.parts import rows_to_frame
    from sim.players import parse_compiled
    from sim.variant import load_variant

    asked = parse_question(question)
    if not 0.0 < alpha < 0.5:
        raise DecideError(f"alpha is a chance between 0 and 0.5, such as 0.01, not {alpha}")
    if most < CHUNK:
        raise DecideError(f"max: at least {CHUNK} games are wanted, not {most}")
    loaded = load_variant(variant, overrides) if isinstance(variant, str | Path) else variant
    keys = dict(loaded.flat())
    if asked.item.needs_wangs and keys["deck.wangs"] == 0:
        raise DecideError(f"decide: {asked.item.key} does not apply to {loaded.name}, a deck without wangs")
    names = parse_compiled(bots)
    stats = SufficientStats.empty()
    tuned = tuned_for(most)
    last = Look("undecided", None, None, None, 0)
    played = 0
    for rows in _games(keys, names, seed, most, jobs):
        frame = rows_to_frame(rows).lazy().with_columns(variant=pl.lit(loaded.name))
        found = collect_stats(frame, [asked.item])[loaded.name]
        stats = found if played == 0 else stats + found
        played += len(rows)
        last = look(stats, asked, alpha, tuned)
        if last.verdict != "undecided":
            break
    answer = None if last.verdict == "undecided" else (last.verdict == "above") == asked.above
    return Decision(asked, answer, last, played, most, alpha, loaded.name, loaded.digest, names, seed)


def _games(
    keys: dict[str, object], bots: Sequence[str], seed: int, most: int, jobs: int | None
) -> Iterator[Any]:
    """Chunks of games in order; other processes are started only when many are needed."""
    calls = [(keys, bots, seed, first, count) for first, count in chunks(most)]
    soon = [call for call in calls if call[3] < IN_PROCESS]
    yield from in_order(_play, soon, 1)
    yield from in_order(_play, calls[len(soon) :], default_jobs(most, jobs))


def tuned_for(most: int) -> float:
    """Games at which the sequences are tightest: fixed by the maximum alone, so before anything is seen."""
    return min(20_000.0, most / 5)


def chunks(most: int) -> Iterator[tuple[int, int]]:
    """First game and number of each chunk; they grow with what has been played, so looks stay few."""
    first = 0
    while first < most:
        count = min(max(CHUNK, first // 8 // CHUNK * CHUNK), 50_000, most - first)
        yield first, count
        first += count


# --- words ------------------------------------------------------------------------------------------------

_WORDS: dict[str, Text] = {
    ">": Text("above", "高于"),
    "<": Text("below", "低于"),
    ">=": Text("at least", "不低于"),
    "<=": Text("at most", "不高于"),
    "yes": Text("Yes", "是"),
    "no": Text("No", "否"),
    "ask": Text("Is “{name}” ({key}) {side} {bound}?", "“{name}”（{key}）{side} {bound} 吗？"),
    "decided": Text(
        "{answer}: it is {side} {bound}; {value} after {games:,} games",
        "{answer}：{side} {bound}；{games:,} 局后为 {value}",
    ),
    "undecided": Text(
        "Undecided after {games:,} games, the maximum: {value}",
        "{games:,} 局（上限）之后仍无定论：{value}",
    ),
    "error": Text(
        "Chance of a wrong verdict at most {alpha:g} %, however often one looks{kind}.",
        "无论看多少次，误判概率不超过 {alpha:g}%{kind}。",
    ),
    "asymptotic": Text(" (in the limit of many games)", "（局数多时的极限意义下）"),
    "tail": Text(
        "{variant} #{digest}, bots {bots}, seed {seed}", "{variant} #{digest}，机器人 {bots}，种子 {seed}"
    ),
    "unknown": Text("not seen", "未出现"),
}


def _shown(number: float, item: Metric) -> str:
    return f"{number * 100:.4g} %" if item.unit == "share" else f"{number:.4g}"


def describe(found: Decision, lang: str = "en") -> str:
    """The verdict in words, three lines."""
    item = found.question.item
    bound = _shown(found.question.bound, item)
    asked_side = _WORDS[found.question.sign][lang]
    value = _WORDS["unknown"][lang] if found.look.value is None else _shown(found.look.value, item)
    if found.look.low is not None and found.look.high is not None:
        value += f" [{_shown(found.look.low, item)}, {_shown(found.look.high, item)}]"
    lines = [_WORDS["ask"][lang].format(name=item.name[lang], key=item.key, side=asked_side, bound=bound)]
    if found.answer is None:
        lines.append(_WORDS["undecided"][lang].format(games=found.games, value=value) + _stop(lang))
    else:
        lines.append(
            _WORDS["decided"][lang].format(
                answer=_WORDS["yes" if found.answer else "no"][lang],
                side=_WORDS[_true_side(found)][lang],
                bound=bound,
                value=value,
                games=found.games,
            )
            + _stop(lang)
        )
    kind = "" if item.kind in ("rate", "quantile") else _WORDS["asymptotic"][lang]
    bots = ",".join(found.bots) if len(set(found.bots)) > 1 else found.bots[0]
    error = _WORDS["error"][lang].format(alpha=found.alpha * 100, kind=kind)
    tail = _WORDS["tail"][lang].format(
        variant=found.label, digest=found.digest[:8], bots=bots, seed=found.seed
    )
    return "\n".join([*lines, error, tail])


def _true_side(found: Decision) -> str:
    """The sign that holds: the one asked, or its opposite (for a mean equality does not matter)."""
    sign = found.question.sign
    if found.answer:
        return sign
    opposite = {">": "<=", "<=": ">", "<": ">=", ">=": "<"}[sign]
    return opposite if found.question.item.kind == "quantile" else opposite[0]


def _stop(lang: str) -> str:
    return "." if lang == "en" else "。"


def document(found: Decision) -> dict[str, Any]:
    """The verdict for JSON."""
    return {
        "question": found.question.text,
        "metric": found.question.item.key,
        "bound": found.question.bound,
        "answer": found.answer,
        "verdict": found.look.verdict,
        "value": found.look.value,
        "low": found.look.low,
        "high": found.look.high,
        "alpha": found.alpha,
        "n": found.look.n,
        "games": found.games,
        "most": found.most,
        "variant": found.label,
        "digest": found.digest,
        "bots": list(found.bots),
        "seed": found.seed,
    }


def decide_command(
    variant: str,
    question: str,
    *,
    alpha: float = 0.01,
    most: int = 1_000_000,
    bots: str = "greedy",
    seed: int = 1,
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    as_json: bool = False,
    lang: str = "en",
    file: IO[str] | None = None,
) -> int:
    """``chehuzi decide``: print the verdict; exit status 0 decided (yes or no), 1 undecided."""
    import json

    announce_compiling(lang)
    found = decide(variant, question, alpha, most=most, bots=bots, seed=seed, jobs=jobs, overrides=overrides)
    text = json.dumps(document(found), ensure_ascii=False, indent=1) if as_json else describe(found, lang)
    print(text, file=file)
    return 1 if found.answer is None else 0
