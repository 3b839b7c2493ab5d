"""``chehuzi audit``: what is wrong with a variant, on paper and in play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text as RichText

from analysis.audit_play import _EVENTS, _OPTIONS, CHUNK, Played, Rate, audit_play
from analysis.audit_rules import (
    SEVERITIES,
    TEXT_TABLE,
    Finding,
    PayTable,
    audit_rules,
    in_order_of_weight,
    inert_keys,
    read_pay_table,
)
from analysis.metrics import METRICS, Text
from analysis.seatings import bot_list, ladder, restricted
from analysis.strata import announce_compiling
from analysis.tables import WIDTH, make_console

if TYPE_CHECKING:
    from sim.variant import Variant


@dataclass(frozen=True)
class Audit:
    """Result of an audit.

    Attributes
    ----------
    variant : Variant
    findings : tuple of Finding
        The gravest first, then by rule.
    played : Played or None
        None where nothing was played.
    """

    variant: Variant
    findings: tuple[Finding, ...]
    played: Played | None

    @property
    def faults(self) -> int:
        """Findings that are more than a note."""
        return sum(finding.severity != "note" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        flat: dict[str, Any] = dict(self.variant.flat())
        return {
            "variant": self.variant.name,
            "digest": self.variant.digest,
            "findings": [finding.as_dict() for finding in self.findings],
            "keys_without_effect": {
                key: {"en": reason.en, "zh": reason.zh} for key, reason in inert_keys(flat).items()
            },
            "played": self.played.as_dict() if self.played is not None else None,
        }


def audit(
    variant: Variant,
    games: int = 10_000,
    *,
    bots: str | Sequence[str] | None = None,
    pay_table: PayTable | None = TEXT_TABLE,
    seed: int = 1,
    jobs: int | None = None,
    level: float = 0.95,
) -> Audit:
    """Audit a variant.

    Parameters
    ----------
    variant : Variant
    games : int
        Deals a bot; 0: the rules only.
    bots : str or sequence of str, optional
        Bots; all compiled ones by default. Restricted ones among them are challengers only.
    pay_table : PayTable or None
        What wins are said to pay; None: not compared.
    seed, jobs : int
    level : float
        Confidence level.

    Returns
    -------
    Audit

    Raises
    ------
    sim.bots.BotError, analysis.seatings.SeatingError
        For bots that cannot be played.
    """
    known = restricted()
    chosen = bot_list(bots, least=1) if bots is not None else tuple(dict.fromkeys((*ladder(), *known)))
    standard = tuple(name for name in chosen if name not in known) or chosen
    challengers = tuple(name for name in chosen if name not in standard)
    found = audit_rules(variant, pay_table)
    played = None
    if games > 0:
        played = audit_play(variant, standard, challengers, games, seed=seed, jobs=jobs, level=level)
        found += played.findings
    return Audit(variant, tuple(in_order_of_weight(found)), played)


# --- words ------------------------------------------------------------------------------------------------

_WORDS: dict[str, Text] = {
    "error": Text("error", "错误"),
    "warning": Text("warning", "警告"),
    "note": Text("note", "提示"),
    "do": Text("→ {}", "→ {}"),
    "none": Text("Nothing found.", "没有发现问题。"),
    "head": Text("Audit of {name} #{digest}", "{name} 审查 #{digest}"),
    "total": Text(
        "{errors} errors, {warnings} warnings, {notes} notes", "错误 {errors}，警告 {warnings}，提示 {notes}"
    ),
    "static": Text("From the rules alone; nothing was played.", "只看规则，没有实测。"),
    "played": Text(
        "{games:,} deals with each of the bots {bots}, seed {seed}; intervals {level:.0%}.",
        "机器人 {bots} 各打 {games:,} 局，种子 {seed}；置信水平 {level:.0%}。",
    ),
    "money": Text("Sources of all money (bot {bot})", "全部输赢的来源（机器人 {bot}）"),
    "events": Text("Seldom or never, per game", "少见或从未出现（每局）"),
    "keys": Text(
        "Keys that matter least: games changed by switching them (bot {bot})",
        "最不起作用的规则项：改动后不同的局（机器人 {bot}）",
    ),
    "options": Text("Options taken, of those offered", "选择率（占可选次数）"),
    "exploits": Text(
        "In the place of one of three {bot}: money a game more", "顶替三个 {bot} 之一：每局多得"
    ),
    "fan": Text("Greatest fan seen: {}.", "见到的最大番数：{}。"),
}


def _share(rate: Rate) -> str:
    if not rate.n:
        return "–"
    if not rate.events:
        return f"< {rate.high:.2%}"
    return f"{rate.events / rate.n:.2%} [{rate.low:.2%}, {rate.high:.2%}]"


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    table.min_width = WIDTH - 10
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    return table


def _tables(played: Played, lang: str) -> list[Table]:
    found = []
    money = _table(_WORDS["money"][lang].format(bot=played.judge), ("", "%"))
    for key, each in played.shares.items():
        if each.value is not None:
            low, high = each.interval.low or 0.0, each.interval.high or 0.0
            money.add_row(METRICS[key].name[lang], f"{each.value:.2%} [{low:.2%}, {high:.2%}]")
    found.append(money)
    events = _table(_WORDS["events"][lang], ("", *played.bots))
    for name, (rule, text, _) in _EVENTS.items():
        rates = [played.events[bot][name] for bot in played.bots]
        if any(rate.events for rate in rates) and min(rate.events for rate in rates) < 0.02 * played.games:
            events.add_row(f"{rule} {text[lang]}", *map(_share, rates))
    found.append(events)
    keys = _table(_WORDS["keys"][lang].format(bot=played.judge), ("", "%"))
    for key, rate in sorted(played.keys.items(), key=lambda item: item[1].events)[:12]:
        keys.add_row(key, _share(rate))
    found.append(keys)
    options = _table(_WORDS["options"][lang], ("", *played.bots))
    for name, (rule, text, _, _) in _OPTIONS.items():
        rows = [rates.get(name) for rates in played.options.values()]
        options.add_row(f"{rule} {text[lang]}", *("–" if rate is None else _share(rate) for rate in rows))
    found.append(options)
    if played.exploits:
        head = _WORDS["exploits"][lang].format(bot=played.exploits[0].against)
        exploits = _table(head, ("", "", "p"))
        for item in played.exploits:
            ends = ("–" if end is None else f"{end:.2f}" for end in (item.low, item.high))
            p = "< 0.0001" if item.p < 1e-4 else f"{item.p:.4f}"
            exploits.add_row(item.bot, f"{item.gain:+.2f} [{', '.join(ends)}]", p)
        found.append(exploits)
    return found


def print_audit(found: Audit, lang: str = "en", file: IO[str] | None = None) -> None:
    """Print the findings, then the tables behind them."""
    width = max(WIDTH, 40 + 24 * len(found.played.bots) if found.played else 0)
    console = make_console(file, width, markup=False)
    name = found.variant.words(lang)
    console.print(
        _WORDS["head"][lang].format(name=name, digest=found.variant.digest[:8]), style="bold", soft_wrap=True
    )
    numbers = {level: sum(item.severity == level for item in found.findings) for level in SEVERITIES}
    console.print(
        _WORDS["total"][lang].format(
            errors=numbers["error"], warnings=numbers["warning"], notes=numbers["note"]
        )
    )
    console.print()
    styles = {"error": "bold red", "warning": "yellow", "note": "cyan"}
    for item in found.findings:
        line = RichText(f"{_WORDS[item.severity][lang]} {item.rule} ", style=styles[item.severity])
        line.append(item.text[lang], style="default")
        console.print(line, soft_wrap=not console.is_terminal)
        console.print(
            "  " + _WORDS["do"][lang].format(item.advice[lang]),
            style="dim",
            soft_wrap=not console.is_terminal,
        )
    if not found.findings:
        console.print(_WORDS["none"][lang])
    console.print()
    played = found.played
    if played is None:
        console.print(_WORDS["static"][lang])
        return
    facts = {
        "games": played.games,
        "bots": ", ".join(played.bots),
        "seed": played.seed,
        "level": played.level,
    }
    console.print(_WORDS["played"][lang].format(**facts))
    greatest = ", ".join(f"{bot} {fan}" for bot, fan in played.most_fan.items())
    console.print(_WORDS["fan"][lang].format(greatest))
    for table in _tables(played, lang):
        console.print(table)


def audit_command(
    variant: str,
    games: int,
    *,
    bots: str | None = None,
    pay_table: str = "text",
    seed: int = 1,
    jobs: int | None = None,
    overrides: Sequence[str] = (),
    strict: bool = False,
    as_json: bool = False,
    lang: str = "en",
) -> int:
    """``chehuzi audit``: print the audit; exit status (1 with ``strict`` and anything above a note)."""
    import json

    from sim.variant import load_variant

    loaded = load_variant(variant, overrides)
    table = {"text": TEXT_TABLE, "none": None}[pay_table] if pay_table in ("text", "none") else None
    if pay_table not in ("text", "none"):
        table = read_pay_table(pay_table)
    if games:
        announce_compiling(lang)
    found = audit(loaded, games, bots=bots, pay_table=table, seed=seed, jobs=jobs)
    if as_json:
        print(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        print_audit(found, lang)
    return 1 if strict and found.faults else 0


__all__ = ["CHUNK", "Audit", "audit", "audit_command", "print_audit"]
