"""Players: policies by number, each a short module with its idea and cost."""

from __future__ import annotations

import difflib

LADDER = ("random", "greedy", "tempo", "value", "careful", "expert")
"""The compiled players, from the weakest to the strongest."""

RESTRICTED = ("never_chi", "never_peng", "at_once", "never_small", "blind")
"""Experts that lack one thing each."""

BOTS: dict[str, int] = {name: number for number, name in enumerate(LADDER + RESTRICTED)}
"""Name to number; the numbers are those of :mod:`sim.bots.dispatch`."""

BOT_WORDS: dict[str, tuple[str, str]] = {
    "random": ("wins when it can, else uniform over the legal options", "能胡就胡，其余随机"),
    "greedy": ("takes and keeps what makes most groups and huxi", "哪样成门子、胡息多就怎么打"),
    "tempo": ("the shortest way to seven groups and enough huxi", "最快凑齐七门子和起胡胡息"),
    "value": ("as tempo, and weighs what a win would pay", "同 tempo，还看名堂大小"),
    "careful": ("as value, counts unseen cards and does not feed the others", "同 value，会记牌、不放张"),
    "expert": (
        "as careful, counts its waits exactly and may decline a small win",
        "同 careful，算准听张，小胡可放",
    ),
    "never_chi": ("an expert that never chis", "从不吃牌的 expert"),
    "never_peng": ("an expert that never pengs", "从不碰牌的 expert"),
    "at_once": ("an expert that takes every win", "有胡必胡的 expert"),
    "never_small": ("an expert that never wins below 4 fan", "不足四番不胡的 expert"),
    "blind": ("an expert that discards at random", "乱打牌的 expert"),
}


class BotError(ValueError):
    """An unknown bot or a wrong number of them; the message says what would be right."""


def bot_id(name: str) -> int:
    """Number of a bot.

    Raises
    ------
    BotError
        If there is no such bot.
    """
    if name in BOTS:
        return BOTS[name]
    close = difflib.get_close_matches(name, BOTS, n=1)
    hint = f", did you mean {close[0]!r}?" if close else ""
    raise BotError(f"--bots: {name!r} is no bot{hint} (bots are {', '.join(BOTS)})")


def split_seats(text: str) -> list[str]:
    """Three names, of dealer, next and third, from ``"a"`` or ``"a,b,c"``; not yet looked at.

    Raises
    ------
    BotError
        If the number is neither one nor three.
    """
    names = [part.strip() for part in text.split(",")]
    if len(names) == 1:
        names = names * 3
    if len(names) != 3:
        raise BotError(f"--bots: one name, or three as dealer,next,third; not {len(names)}")
    return names


def parse_bots(text: str) -> tuple[str, str, str]:
    """``"a"`` for all seats or ``"a,b,c"`` for dealer, next and third, each a compiled bot.

    Raises
    ------
    BotError
        If the number is neither one nor three, or a name is unknown.
    """
    first, second, third = split_seats(text)
    for name in (first, second, third):
        bot_id(name)
    return first, second, third
