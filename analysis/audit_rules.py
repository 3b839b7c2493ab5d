"""Faults that a variant has on paper: names that cannot occur, limits that never bind, keys without effect.

Nothing is played here. Every bound is sound: what is said to be impossible is impossible, and what is said to be
possible at most need not be reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from analysis.events import WANGS_OF
from analysis.metrics import FAN_TEXT, Text
from sim.groups import TYPE_NAMES
from sim.rows import FAN_NAMES
from sim.variant import Variant, rule_of
from sim.variant_model import KEYS

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""``error``: the variant cannot work as written. ``warning``: a rule is dead, or contradicts another or a stated
table. ``note``: worth knowing, perhaps wanted."""

RULE_OF_NAME = {name: f"4.{number}" for number, name in enumerate(FAN_NAMES, start=1)}
COLOURS = ("red", "one_red", "black")
SPECIALS = FAN_NAMES[4:]
HARDER = (
    ("wang_diao", "wang_diao_wang"),
    ("wang_chuang", "wang_chuang_wang"),
    ("wang_zha", "wang_zha_wang"),
    ("wang_diao", "wang_chuang"),
    ("wang_chuang", "wang_zha"),
)
"""Of each pair the second name asks for more than the first: another wang, or the same with a wang drawn."""

RED_CARDS = 24
MOST_CARDS = 26
"""Six quads and the pair."""
MOST_XING = 4


class AuditError(ValueError):
    """A pay table that cannot be read; the message says where and what would be right."""


@dataclass(frozen=True)
class Finding:
    """One fault of a variant, or something worth knowing.

    Attributes
    ----------
    code : str
        What kind of finding, such as ``name-impossible``.
    rule : str
        Number of the rule.
    severity : {"error", "warning", "note"}
    keys : tuple of str
        Dotted keys that it is about.
    text, advice : Text
        What is so, and what to do.
    proof : {"rules", "play"}
        Follows from the rules alone, or was seen in games.
    evidence : dict
        The numbers behind it.
    """

    code: str
    rule: str
    severity: Severity
    keys: tuple[str, ...]
    text: Text
    advice: Text
    proof: Literal["rules", "play"] = "rules"
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As it stands in the JSON document."""
        return {
            "code": self.code,
            "rule": self.rule,
            "severity": self.severity,
            "keys": list(self.keys),
            "text": {"en": self.text.en, "zh": self.text.zh},
            "advice": {"en": self.advice.en, "zh": self.advice.zh},
            "proof": self.proof,
            "evidence": dict(self.evidence),
        }


# --- bounds -----------------------------------------------------------------------------------------------


class Bounds:
    """What a variant's wins can be worth, at least and at most.

    Parameters
    ----------
    flat : mapping
        Every dotted key with its value.
    """

    def __init__(self, flat: Mapping[str, Any]) -> None:
        self.flat = flat
        self.wangs: int = flat["deck.wangs"]
        self.most_reds = min(MOST_CARDS, RED_CARDS + self.wangs)
        colours = [self.colour(reds) for reds in range(self.most_reds + 1)]
        self.least_colour, self.most_colour = min(colours), max(colours)

    def colour(self, reds: int) -> int:
        """Product of the colour factors with so many red cards."""
        factor = 1
        if reds >= self.flat["fan.red_min"]:
            factor *= self.flat["fan.red"]
        if reds == 1:
            factor *= self.flat["fan.one_red"]
        if reds == 0:
            factor *= self.flat["fan.black"]
        return factor

    def special(self, name: str) -> int:
        """Factor of a wang special, 自摸 included where it multiplies too."""
        zimo = self.flat["fan.zimo"] if self.flat["fan.special_includes_zimo"] else 1
        return int(self.flat[f"fan.{name}"] * zimo)

    def why_impossible(self, name: str) -> Text | None:
        """Why a fan name cannot occur; None where nothing is known against it."""
        if name == "red" and self.flat["fan.red_min"] > self.most_reds:
            most, least = self.most_reds, self.flat["fan.red_min"]
            return Text(
                f"a win has at most {most} red cards, {least} are asked for",
                f"胡牌最多{most}张红字，而要求{least}张",
            )
        if name not in SPECIALS:
            return None
        need = WANGS_OF[name]
        if need > self.wangs:
            return Text(
                f"it takes {need} wangs, the deck has {self.wangs}",
                f"需要{need}张王，而整副牌只有{self.wangs}张",
            )
        if name.startswith("wang_zha") and not self.flat["wang.ti"]:
            return Text("wangs may not make four alike (wang.ti)", "王不能凑成四张（wang.ti）")
        if self.flat["win.wang_limit.mode"] == "by_fan":
            limit = self.min_fan(need)
            most = self.special(name) * self.most_colour
            if most < limit:
                return Text(
                    f"with {need} wangs a win needs {limit} fan, and it reaches {most} at most",
                    f"有{need}张王须满{limit}番才可胡，而它最多{most}番",
                )
        return None

    def min_fan(self, wangs: int) -> int:
        """Least fan that the fan limit asks of a holder of so many wangs."""
        return int(self.flat["win.wang_limit.min_fan"][wangs])

    def fans(self, wangs: int) -> tuple[int, int]:
        """Least and greatest fan of a winner who holds so many wangs, limits aside."""
        draws = [self.special(name) for name in SPECIALS if self._makes(name, wangs)]
        draws.append(self.flat["fan.zimo"])
        if wangs == 0:
            draws.append(1)  # on another's draw
        return min(draws) * self.least_colour, max(draws) * self.most_colour

    def _makes(self, name: str, wangs: int) -> bool:
        return WANGS_OF[name] <= wangs and (self.flat["wang.ti"] or not name.startswith("wang_zha"))

    @property
    def fan(self) -> tuple[int, int]:
        """Least and greatest fan of any win."""
        found = [self.fans(wangs) for wangs in range(self.wangs + 1)]
        return min(low for low, _ in found), max(high for _, high in found)

    @property
    def most_huxi(self) -> int:
        """No win has more huxi."""

        def most(*groups: str) -> int:
            return max(int(self.flat[f"huxi.{g}.{size}"]) for g in groups for size in ("small", "large"))

        three, quad = most(*TYPE_NAMES[2:9]), most("ti", "pao")
        return max(7 * three, *(quads * quad + (6 - quads) * three for quads in range(1, 7)))

    @property
    def tun(self) -> tuple[int, int]:
        """Least and greatest tun of a win."""
        base, step = self.flat["tun.base"], self.flat["tun.step"]
        return base, base + max(0, self.most_huxi - self.flat["win.min_huxi"]) // step

    @property
    def payment(self) -> tuple[int, int]:
        """Least win money, and greatest win and xing money, from one payer to one payee, before the cap."""
        (low_tun, high_tun), (low_fan, high_fan) = self.tun, self.fan
        xing = 0 if self.flat["xing.card"] == "none" else MOST_XING * self.flat["xing.singles"]
        stake = self.flat["stake"]
        return stake * low_tun * low_fan, stake * (high_tun + xing) * high_fan


# --- keys without effect ----------------------------------------------------------------------------------


def inert_keys(flat: Mapping[str, Any]) -> dict[str, Text]:
    """Keys whose value cannot matter beside the others, with the reason.

    Parameters
    ----------
    flat : mapping
        Every dotted key with its value.
    """
    found: dict[str, Text] = {}

    def inert(reason: Text, *keys: str) -> None:
        for key in keys:
            found.setdefault(key, reason)

    wangs, mode = flat["deck.wangs"], flat["win.wang_limit.mode"]
    payout = tuple(f"draw.wang_payout.{key}" for key in ("enabled", "unit", "all_in_one"))
    limits = tuple(f"win.wang_limit.{key}" for key in ("mode", "min_fan", "special_only_from"))
    if wangs == 0:
        reason = Text("the deck has no wangs", "整副牌没有王霸")
        inert(reason, *limits, *payout, "wang.ti", "win.declare_special", "fan.special_includes_zimo")
        inert(reason, *(f"fan.{name}" for name in SPECIALS))
    bounds = Bounds(flat)
    for name in FAN_NAMES:
        why = bounds.why_impossible(name)
        if why:
            inert(Text(f"the name cannot occur: {why.en}", f"此名堂不可能出现：{why.zh}"), f"fan.{name}")
    if mode != "by_fan":
        inert(Text(f"win.wang_limit.mode is {mode}", f"win.wang_limit.mode 为 {mode}"), limits[1])
    if mode != "by_wang":
        inert(Text(f"win.wang_limit.mode is {mode}", f"win.wang_limit.mode 为 {mode}"), limits[2])
    if not flat["win.forced_first"]:
        reason = Text(
            "win.forced_first is false: any win comes first already",
            "win.forced_first 为 false：本来就先问胡",
        )
        inert(reason, "win.declare_special")
    if flat["xing.card"] == "none":
        inert(Text("there is no xing (xing.card)", "不计醒（xing.card）"), "xing.payment", "xing.singles")
    if flat["table.seats"] == 3:
        reason = Text(
            "with three seats nobody sits out: all xing goes to the winner",
            "三人三座没有醒家：醒钱全归胡家",
        )
        inert(reason, "xing.payment")
    if not flat[payout[0]]:
        inert(Text("draw games pay nothing", "荒庄不赔王"), *payout[1:])
    elif flat[payout[1]] == 0:
        inert(Text("a wang costs 0 in a draw game", "荒庄每张王赔0"), payout[0], payout[2])
    if flat["fan.zimo"] == 1:
        inert(Text("自摸 multiplies by 1", "自摸只有1番"), "fan.special_includes_zimo")
    if bounds.why_impossible("red"):
        inert(Text("no win has so many red cards", "没有胡牌有这么多红字"), "fan.red_min")
    elif flat["fan.red"] == 1:
        inert(Text("红胡 multiplies by 1: only the name changes", "红胡只有1番：只影响名称"), "fan.red_min")
    return {key: found[key] for key in KEYS if key in found}


# --- the stated pay table ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class PayTable:
    """What a text says that wins pay.

    Attributes
    ----------
    source : Text
        Where it stands.
    fans : dict
        Names that meet, to the stated product.
    draw : dict
        Number of wangs held in a draw game, to what each of the two other players without a wang gets.
    """

    source: Text
    fans: Mapping[frozenset[str], int]
    draw: Mapping[int, int]


TEXT_TABLE = PayTable(
    Text("the rule text of two and three wangs", "双王、三王规则原文"),
    {
        frozenset((colour, draw)): factor * times
        for colour, factor in (("red", 4), ("one_red", 6), ("black", 8))
        for draw, times in (("zimo", 1), ("wang_diao", 2), ("wang_chuang", 4))
    },
    {1: 5, 2: 10},
)
"""“红胡”自摸 4, 单王吊 8, 双王吊 16; 点朱 6, 12, 24; 黑胡 8, 16, 32; 荒庄 one wang 5, two wangs 10."""

_ALIASES = {text.zh: name for name, text in FAN_TEXT.items()}


def read_pay_table(path: str | Path) -> PayTable:
    """Read a pay table: ``red+zimo: 4`` a line (names in English or Chinese), ``draw: {1: 5}`` for draw games.

    Raises
    ------
    AuditError
        For a file that cannot be read, an unknown name, or a value that is no positive whole number.
    """
    from sim.variant_yaml import parse, read_text

    shown = str(path)
    text, fault = read_text(Path(path), shown)
    if fault:
        raise AuditError(str(fault))
    layer = parse(text, shown)
    if layer.problems:
        raise AuditError("\n".join(str(problem) for problem in layer.problems))
    fans: dict[frozenset[str], int] = {}
    draw: dict[int, int] = {}
    for key, entry in layer.entries.items():
        where = f"{shown}:{entry.line}: {key[:60]}"
        if not isinstance(entry.value, int) or isinstance(entry.value, bool) or entry.value < 0:
            raise AuditError(f"{where}: must be a whole number, e.g. red+zimo: 4")
        section, _, number = key.partition(".")
        if section == "draw":
            if number not in ("1", "2", "3", "4"):
                raise AuditError(f"{where}: draw takes numbers of wangs 1 to 4, e.g. draw: {{1: 5, 2: 10}}")
            draw[int(number)] = entry.value
            continue
        names = [_ALIASES.get(part.strip(), part.strip()) for part in key.split("+")]
        for name in names:
            if name not in FAN_NAMES:
                known = ", ".join(FAN_NAMES)
                raise AuditError(f"{where}: {name[:40]!r} is no fan name; names are {known}")
        if sum(name in SPECIALS for name in names) > 1:
            raise AuditError(f"{where}: a win has one wang special at most")
        fans[frozenset(names)] = entry.value
    if not fans and not draw:
        raise AuditError(f"{shown}: states nothing; e.g. red+zimo: 4")
    return PayTable(Text(shown, shown), fans, draw)


def _name(name: str, lang: str) -> str:
    text = FAN_TEXT[name]
    return text.zh if lang == "zh" else f"{text.en} ({text.zh})"


def _names(names: frozenset[str], lang: str) -> str:
    ordered = [name for name in FAN_NAMES if name in names]
    return "、".join(_name(n, lang) for n in ordered) if lang == "zh" else " and ".join(
        _name(n, lang) for n in ordered
    )  # fmt: skip


def _against_table(flat: Mapping[str, Any], bounds: Bounds, table: PayTable) -> Iterator[Finding]:
    for names, stated in table.fans.items():
        special = next((name for name in names if name in SPECIALS), None)
        if special in ("wang_zha", "wang_zha_wang") and not flat["wang.ti"]:
            continue
        if any(bounds.why_impossible(name) for name in names):
            continue
        actual = 1
        for name in names:
            if name == special:
                actual *= bounds.special(name)
            elif name != "zimo" or special is None:
                actual *= flat[f"fan.{name}"]
        if actual == stated:
            continue
        keys = tuple(f"fan.{name}" for name in FAN_NAMES if name in names)
        if special is not None and flat["fan.special_includes_zimo"]:
            keys += ("fan.special_includes_zimo",)
        yield Finding(
            "pay-table",
            RULE_OF_NAME[special or next(name for name in FAN_NAMES if name in names)],
            "warning",
            keys,
            Text(
                f"{_names(names, 'en')} together pay {actual} fan; {table.source.en} says {stated}.",
                f"{_names(names, 'zh')}合计{actual}番，而{table.source.zh}为{stated}番。",
            ),
            Text(
                "Change the factor, or tell the players that the stated table no longer holds "
                "(--pay-table FILE checks against your own, none against nothing).",
                "改番数，或向玩家说明原表作废（--pay-table 文件 可换成自己的表，none 则不核对）。",
            ),
            evidence={"names": sorted(names), "actual": actual, "stated": stated},
        )
    if not flat["draw.wang_payout.enabled"]:
        return
    for held, stated in table.draw.items():
        if held > bounds.wangs:
            continue
        times = flat["draw.wang_payout.all_in_one"] if held == bounds.wangs else 1
        actual = flat["draw.wang_payout.unit"] * held * times
        if actual == stated:
            continue
        yield Finding(
            "pay-table",
            "1.3",
            "warning",
            ("draw.wang_payout.unit", "draw.wang_payout.all_in_one"),
            Text(
                f"A holder of {held} wang{'s' * (held > 1)} pays {actual} in a draw game; {table.source.en} says "
                f"{stated}.",
                f"荒庄时有{held}张王赔{actual}，而{table.source.zh}为{stated}。",
            ),
            Text(
                "Change unit or all_in_one, or tell the players that the stated table no longer holds.",
                "改 unit 或 all_in_one，或向玩家说明原表作废。",
            ),
            evidence={"wangs": held, "actual": actual, "stated": stated},
        )


# --- checks -----------------------------------------------------------------------------------------------


def _impossible_names(flat: Mapping[str, Any], bounds: Bounds) -> Iterator[Finding]:
    if bounds.wangs == 0:
        yield Finding(
            "no-wangs",
            "1.4",
            "note",
            ("deck.wangs",),
            Text(
                "The deck has no wangs: rules 1.3, 1.10, 1.11 and 4.5 to 4.10 say nothing here.",
                "整副牌没有王霸：1.3、1.10、1.11 与 4.5 至 4.10 各条都不起作用。",
            ),
            Text("Leave them out of the rules you print.", "印给玩家的规则里可删去这些条。"),
        )
    for name in FAN_NAMES:
        why = bounds.why_impossible(name)
        if why is None or (bounds.wangs == 0 and name in SPECIALS):
            continue
        need = WANGS_OF.get(name, 0)
        advice = Text(
            "Take the name out of the rules of this variant, or change what forbids it.",
            "从本玩法的规则里去掉此名堂，或改掉使它不可能的规定。",
        )
        if need > bounds.wangs:
            advice = Text(
                f"Take the name out of the rules of this variant, or play with {need} wangs.",
                f"从本玩法的规则里去掉此名堂，或改用{need}张王。",
            )
        yield Finding(
            "name-impossible",
            RULE_OF_NAME[name],
            "warning",
            ("fan.red", "fan.red_min") if name == "red" else (f"fan.{name}",),
            Text(
                f"{_name(name, 'en')} cannot occur: {why.en}.", f"{_name(name, 'zh')}不可能出现：{why.zh}。"
            ),
            advice,
            evidence={"wangs_needed": need, "wangs": bounds.wangs},
        )


def _fan_limit(flat: Mapping[str, Any], bounds: Bounds) -> Iterator[Finding]:
    table = "win.wang_limit.min_fan"
    binds = False
    for wangs in range(1, bounds.wangs + 1):
        limit, (least, most) = bounds.min_fan(wangs), bounds.fans(wangs)
        zimo = flat["fan.zimo"]
        binds = binds or limit > least
        if limit <= least:
            because = (
                f"its holder wins on an own draw only, which already is {zimo} fan"
                if least == zimo
                else f"no win of its holder has less than {least} fan"
            )
            grund = f"有王只能自摸，自摸已是{zimo}番" if least == zimo else f"有王者胡牌不会少于{least}番"
            yield Finding(
                "limit-never-binds",
                "1.10",
                "warning",
                (table,),
                Text(
                    f"The limit for {wangs} wang{'s' * (wangs > 1)} ({limit} fan) never binds: {because}.",
                    f"{wangs}张王须{limit}番的限制永远不起作用：{grund}。",
                ),
                Text(
                    f"Say so to the players, or ask for at least {least + 1} fan with {wangs} "
                    f"wang{'s' * (wangs > 1)}; as it is, the line can go.",
                    f"若要它起作用，{wangs}张王至少要{least + 1}番；否则此条可以删去。",
                ),
                evidence={"wangs": wangs, "limit": limit, "least_fan": least},
            )
        elif limit > most:
            yield Finding(
                "limit-unreachable",
                "1.10",
                "error",
                (table,),
                Text(
                    f"Nobody with {wangs} wang{'s' * (wangs > 1)} can win: {limit} fan are asked for, "
                    f"{most} is the most there is.",
                    f"有{wangs}张王者不可能胡：须{limit}番，而最多只有{most}番。",
                ),
                Text(f"Ask for at most {most} fan, or raise the factors.", f"最多要求{most}番，或提高番数。"),
                evidence={"wangs": wangs, "limit": limit, "most_fan": most},
            )
    if bounds.wangs and not binds:
        yield Finding(
            "limit-without-effect",
            "1.10",
            "warning",
            ("win.wang_limit.mode",),
            Text(
                "by_fan is the same as no limit: none of its numbers ever binds.",
                "按番限胡形同虚设：各王数的限制都不起作用。",
            ),
            Text("Set win.wang_limit.mode to none, or raise min_fan.", "改为不限胡，或提高最低番数。"),
        )


def _limits(flat: Mapping[str, Any], bounds: Bounds) -> Iterator[Finding]:
    mode = flat["win.wang_limit.mode"]
    if mode == "by_fan":
        yield from _fan_limit(flat, bounds)
    first = flat["win.wang_limit.special_only_from"]
    if mode == "by_wang" and bounds.wangs and first > bounds.wangs:
        yield Finding(
            "limit-without-effect",
            "1.11",
            "warning",
            ("win.wang_limit.mode", "win.wang_limit.special_only_from"),
            Text(
                f"by_wang is the same as no limit: it begins at {first} wangs, the deck has {bounds.wangs}.",
                f"按王限胡形同虚设：{first}张王起才限制，而整副牌只有{bounds.wangs}张。",
            ),
            Text(
                f"Begin at {bounds.wangs} wangs or fewer, or set win.wang_limit.mode to none.",
                f"改为{bounds.wangs}张王或更少起限制，或改为不限胡。",
            ),
            evidence={"from": first, "wangs": bounds.wangs},
        )
    if flat["win.min_huxi"] > bounds.most_huxi:
        most, least = bounds.most_huxi, flat["win.min_huxi"]
        yield Finding(
            "win-impossible",
            "5.1",
            "error",
            ("win.min_huxi",),
            Text(
                f"Nobody can win: {least} huxi are asked for, no hand has more than {most}.",
                f"没有人能胡：须{least}胡息，而最多只有{most}胡息。",
            ),
            Text(f"Ask for at most {most} huxi.", f"起胡胡息最多定为{most}。"),
            evidence={"min_huxi": least, "most_huxi": most},
        )
    elif flat["win.min_huxi"] == 0:
        yield Finding(
            "limit-never-binds",
            "5.1",
            "note",
            ("win.min_huxi",),
            Text("Any seven groups win: no huxi are asked for.", "七方门子即可胡，不要求胡息。"),
            Text("Ask for some huxi if that is not meant.", "若非本意，请定起胡胡息。"),
        )


def _dominated(flat: Mapping[str, Any], bounds: Bounds) -> Iterator[Finding]:
    zimo = flat["fan.zimo"]
    possible = [name for name in FAN_NAMES if bounds.why_impossible(name) is None]
    for name in COLOURS:
        if name in possible and flat[f"fan.{name}"] == 1:
            yield _no_worth(name, Text("it multiplies by 1", "只有1番"))
    if zimo == 1:
        yield _no_worth("zimo", Text("it multiplies by 1", "只有1番"))
    for name in SPECIALS:
        if name not in possible:
            continue
        worth = bounds.special(name)
        reason = Text(f"it pays {worth} fan, an own draw {zimo}", f"它{worth}番，而自摸{zimo}番")
        if worth < zimo:
            yield Finding(
                "name-dominated",
                RULE_OF_NAME[name],
                "warning",
                (f"fan.{name}", "fan.zimo"),
                Text(
                    f"{_name(name, 'en')} pays less than a plain own draw: {reason.en}, which it stands in for.",
                    f"{_name(name, 'zh')}不如普通自摸：{reason.zh}，且不另计自摸。",
                ),
                Text(f"Make it more than {zimo} fan.", f"定为{zimo}番以上。"),
                evidence={"factor": worth, "zimo": zimo},
            )
        elif worth == zimo:
            yield _no_worth(name, reason)
    for easy, hard in HARDER:
        if easy in possible and hard in possible and bounds.special(hard) < bounds.special(easy):
            low, high = bounds.special(hard), bounds.special(easy)
            yield Finding(
                "name-dominated",
                RULE_OF_NAME[hard],
                "warning",
                (f"fan.{hard}", f"fan.{easy}"),
                Text(
                    f"{_name(hard, 'en')} asks for more than {_name(easy, 'en')} and pays less: {low} against "
                    f"{high} fan.",
                    f"{_name(hard, 'zh')}比{_name(easy, 'zh')}更难，番数反而更少：{low}番对{high}番。",
                ),
                Text(f"Make it at least {high} fan.", f"至少定为{high}番。"),
                evidence={"factor": low, "easier": high},
            )
    if flat["fan.red_min"] <= 1:
        least = flat["fan.red_min"]
        yield Finding(
            "names-overlap",
            "4.1",
            "warning",
            ("fan.red_min",),
            Text(
                f"红胡 from {least} red cards on: {'every win' if least == 0 else 'every win but a black one'} is "
                "red, and 一点朱 always meets 红胡.",
                f"红字满{least}张即算红胡：{'每胡' if least == 0 else '除黑胡外'}都是红胡，一点朱必同时是红胡。",
            ),
            Text("Ask for more red cards (the texts: 10).", "提高红字张数（原文为10张）。"),
        )


def _no_worth(name: str, reason: Text) -> Finding:
    return Finding(
        "name-worthless",
        RULE_OF_NAME[name],
        "note",
        (f"fan.{name}",),
        Text(f"{_name(name, 'en')} adds nothing: {reason.en}.", f"{_name(name, 'zh')}白叫：{reason.zh}。"),
        Text("Raise its factor or leave the name out.", "提高番数，或去掉此名堂。"),
    )


def _payments(flat: Mapping[str, Any], bounds: Bounds) -> Iterator[Finding]:
    if flat["win.min_huxi"] > bounds.most_huxi:
        return
    (least_tun, most_tun), (least, most), cap = bounds.tun, bounds.payment, flat["cap"]
    if least_tun == 0:
        yield Finding(
            "win-pays-nothing",
            "3.8",
            "warning",
            ("tun.base",),
            Text(
                f"A win with {flat['win.min_huxi']} huxi is 0 tun and pays nothing.",
                f"刚够{flat['win.min_huxi']}胡息算0囤，胡了也没有钱。",
            ),
            Text("Set tun.base to 1 or more.", "tun.base 定为1以上。"),
        )
    if most_tun == least_tun:
        yield Finding(
            "tun-constant",
            "3.8",
            "warning",
            ("tun.step",),
            Text(
                f"Every win is {least_tun} tun: huxi beyond the least never make a step of {flat['tun.step']}.",
                f"每胡都是{least_tun}囤：多出的胡息永远凑不满{flat['tun.step']}。",
            ),
            Text("Make tun.step smaller.", "减小 tun.step。"),
            evidence={"most_huxi": bounds.most_huxi, "step": flat["tun.step"]},
        )
    if cap == 0:
        low, high = bounds.fan
        yield Finding(
            "fan-uncapped",
            "3.9",
            "note",
            ("cap",),
            Text(
                f"Payments have no cap: factors multiply up to {high} fan, and one payer could owe up to {most} "
                "for one win (a bound that no deal need reach).",
                f"胡钱不封顶：番数累乘最多{high}番，一家一胡最多可付{most}（上界，未必达到）。",
            ),
            Text(
                "Set cap if players cannot bear that; the played part below says how much is seen.",
                "若玩家承受不了，可设 cap；实际出现多少见下面的实测部分。",
            ),
            evidence={"most_fan": high, "least_fan": low, "most_payment": most, "most_tun": most_tun},
        )
    elif cap >= most:
        yield Finding(
            "limit-never-binds",
            "3.9",
            "warning",
            ("cap",),
            Text(
                f"The cap of {cap} never binds: no win pays more than {most}.",
                f"封顶{cap}永远不起作用：一家最多付{most}。",
            ),
            Text("Lower the cap, or leave it out.", "降低封顶，或去掉。"),
            evidence={"cap": cap, "most_payment": most},
        )
    elif cap <= least:
        yield Finding(
            "cap-flattens",
            "3.9",
            "warning",
            ("cap",),
            Text(
                f"The cap of {cap} makes every win pay the same: the least win is already worth {least}. Tun, fan "
                "names and xing have no effect.",
                f"封顶{cap}使每胡付的钱都一样：最小的胡已值{least}。囤数、名堂、醒都不起作用。",
            ),
            Text(f"Raise the cap well above {least}.", f"封顶应远高于{least}。"),
            evidence={"cap": cap, "least_payment": least},
        )


_HUXI_ORDER = (("ti", "pao"), ("pao", "wei"), ("wei", "peng"), ("pao", "kan"), ("kan", "peng"))


def _huxi_order(flat: Mapping[str, Any]) -> Iterator[Finding]:
    from sim.groups import TYPE_ZH

    for size, zh in (("small", "小字"), ("large", "大字")):
        for more, less in _HUXI_ORDER:
            high, low = flat[f"huxi.{more}.{size}"], flat[f"huxi.{less}.{size}"]
            if high >= low:
                continue
            chinese = [TYPE_ZH[TYPE_NAMES.index(name)] for name in (more, less)]
            yield Finding(
                "huxi-order",
                rule_of(f"huxi.{more}.{size}"),
                "note",
                (f"huxi.{more}.{size}", f"huxi.{less}.{size}"),
                Text(
                    f"A {size} {more} counts {high} huxi, less than a {size} {less} ({low}).",
                    f"{zh}{chinese[0]}算{high}胡息，反而少于{zh}{chinese[1]}（{low}）。",
                ),
                Text(
                    f"If that is not meant, make it {low} or more: a compulsory step then never loses huxi.",
                    f"若非本意，请定为{low}以上，免得强制动作反而亏胡息。",
                ),
            )


def _text_of_draw(flat: Mapping[str, Any]) -> Iterator[Finding]:
    payout = flat["draw.wang_payout.enabled"] and flat["draw.wang_payout.unit"]
    if flat["deck.wangs"] == 2 and payout and flat["draw.wang_payout.all_in_one"] == 1:
        yield Finding(
            "text-contradicts-itself",
            "1.3",
            "note",
            ("draw.wang_payout.all_in_one",),
            Text(
                "The text doubles what a holder of all wangs pays, and says that two wangs pay 10 times; with two "
                "wangs in the deck both hold only if the 10 is the doubled amount. The variant pays 10.",
                "原文既说所有王在一家翻倍给左右家，又说两张王赔10倍；双王时只有把10倍当作翻倍后的数才不矛盾。本玩法赔10倍。",
            ),
            Text(
                "Agree on it before playing; all_in_one: 2 would pay 20.",
                "开局前说定；若 all_in_one 为 2 则赔20倍。",
            ),
        )


def _inert(variant: Variant, flat: Mapping[str, Any], said: set[str]) -> Iterator[Finding]:
    for key, reason in inert_keys(flat).items():
        if key in variant.overrides and key not in said:
            yield Finding(
                "key-inert",
                rule_of(key),
                "warning",
                (key,),
                Text(
                    f"{key} is set and has no effect: {reason.en}.",
                    f"设定了 {key}，但不起作用：{reason.zh}。",
                ),
                Text("Leave the key out, or change what makes it idle.", "去掉此键，或改掉使它失效的规定。"),
                evidence={"value": flat[key]},
            )


def audit_rules(variant: Variant, table: PayTable | None = TEXT_TABLE) -> list[Finding]:
    """Find what is wrong with a variant on paper.

    Parameters
    ----------
    variant : Variant
    table : PayTable or None
        What a text says that wins pay; None: no such check.

    Returns
    -------
    list of Finding
        The gravest first, then by rule.
    """
    flat: dict[str, Any] = dict(variant.flat())
    bounds = Bounds(flat)
    found = [*_impossible_names(flat, bounds), *_limits(flat, bounds), *_dominated(flat, bounds)]
    if table is not None:
        found += _against_table(flat, bounds, table)
    found += [*_payments(flat, bounds), *_huxi_order(flat), *_text_of_draw(flat)]
    said = {key for finding in found if finding.code != "pay-table" for key in finding.keys}
    found += _inert(variant, flat, said)
    return in_order_of_weight(found)


def in_order_of_weight(findings: list[Finding]) -> list[Finding]:
    """Sort findings: the gravest first, then by rule number."""

    def place(finding: Finding) -> tuple[int, list[int]]:
        return SEVERITIES.index(finding.severity), [int(part) for part in finding.rule.split(".")]

    return sorted(findings, key=place)
