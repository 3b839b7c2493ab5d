"""Players: policies by number, each a short module with its idea and cost."""

from __future__ import annotations

import difflib

BOTS: dict[str, int] = {"random": 0, "greedy": 1}
"""Name to number; the numbers are those of :mod:`sim.bots.dispatch`."""

BOT_WORDS: dict[str, tuple[str, str]] = {
    "random": ("wins when it can, else uniform over the legal options", "能胡就胡，其余随机"),
    "greedy": ("takes and keeps what makes most groups and huxi", "哪样成门子、胡息多就怎么打"),
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


def parse_bots(text: str) -> tuple[str, str, str]:
    """``"a"`` for all seats or ``"a,b,c"`` for dealer, next and third.

    Raises
    ------
    BotError
        If the number is neither one nor three, or a name is unknown.
    """
    names = [part.strip() for part in text.split(",")]
    if len(names) == 1:
        names = names * 3
    if len(names) != 3:
        raise BotError(f"--bots: one name, or three as dealer,next,third; not {len(names)}")
    for name in names:
        bot_id(name)
    return names[0], names[1], names[2]
