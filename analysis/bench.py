"""How fast the engine plays, by variant and bots, and one signature of fixed games."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Sequence
from typing import Any

PRESETS = ("two_wang", "three_wang", "four_wang")
SIGNATURE_GAMES = 500
SIGNATURE_SEED = 20_260_101
FAST_BOTS = ("random", "greedy")
SLOW_GAMES = 60  # of players that are asked in Python


def signature(games: int = SIGNATURE_GAMES, planned: int = SIGNATURE_GAMES // 20) -> str:
    """One hash over fixed games of every preset and bot: it changes when, and only when, play or money change.

    Parameters
    ----------
    games : int
        Games a preset of each quick bot.
    planned : int
        Games a preset of each other bot.

    Returns
    -------
    str
        Sixteen hex digits; the same on every machine, compiled or as plain Python.
    """
    from sim.bots import BOTS
    from sim.engine import play_games
    from sim.params import compile_params
    from sim.variant import load_variant

    digest = hashlib.sha256()
    for name in PRESETS:
        params = compile_params(load_variant(name))
        for bot in sorted(BOTS):
            number = BOTS[bot]
            count = games if bot in FAST_BOTS else planned
            rows = play_games(params, (number,) * 3, SIGNATURE_SEED, 0, count)
            digest.update(rows.astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def measure(variant: str, bots: Sequence[str], games: int, repeats: int = 3) -> dict[str, Any]:
    """Time playing ``games`` games on one core, rows included, files not.

    Returns
    -------
    dict
        ``games_per_second`` (the median of ``repeats``), the least and greatest, ``decisions_per_second``,
        ``microseconds_per_game``.
    """
    from sim.engine import warm_up
    from sim.params import compile_params
    from sim.players import Players
    from sim.players import warm_up as warm_up_players
    from sim.rows import COLUMN
    from sim.variant import load_variant

    loaded = load_variant(variant)
    params = compile_params(loaded)
    players = Players(params, bots, loaded.flat())
    if not players.compiled:
        games = min(games, SLOW_GAMES)
    warm_up(params)
    warm_up_players(params, bots)
    rates, decisions = [], 0
    for repeat in range(repeats):
        began = time.perf_counter()
        rows = players.play_games(seed=repeat, first=0, count=games)
        rates.append(games / (time.perf_counter() - began))
        decisions = int(rows[:, COLUMN["decisions"]].sum())
    rates.sort()
    middle = rates[len(rates) // 2]
    return {
        "variant": variant,
        "bots": ",".join(bots) if len(set(bots)) > 1 else bots[0],
        "games": games,
        "games_per_second": round(middle),
        "least": round(rates[0]),
        "greatest": round(rates[-1]),
        "decisions_per_second": round(middle * decisions / games),
        "microseconds_per_game": round(1e6 / middle, 2),
    }


def bench(games: int = 20_000, bots: Sequence[str] = ("greedy", "random")) -> dict[str, Any]:
    """Measure every preset with every bot of the list: in all seats, or one that is asked in Python against two greedy.

    Returns
    -------
    dict
        ``machine``, ``signature`` and ``results``, a list of :func:`measure`.
    """
    from sim.players import is_compiled

    seats = [(bot,) * 3 if is_compiled([bot]) else (bot, "greedy", "greedy") for bot in bots]
    results = [measure(variant, names, games) for variant in PRESETS for names in seats]
    return {
        "machine": {
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "signature": signature(),
        "results": results,
    }


def print_bench(report: dict[str, Any], lang: str = "en") -> None:
    """Print a bench report as a table."""
    from rich.console import Console
    from rich.table import Table

    heads = {
        "en": ("variant", "bots", "games/s", "least–greatest", "decisions/s", "µs a game"),
        "zh": ("玩法", "机器人", "局/秒", "最慢–最快", "决策/秒", "微秒/局"),
    }[lang]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < 2 else "right")
    for row in report["results"]:
        table.add_row(
            row["variant"],
            row["bots"],
            f"{row['games_per_second']:,}",
            f"{row['least']:,}–{row['greatest']:,}",
            f"{row['decisions_per_second']:,}",
            f"{row['microseconds_per_game']:.1f}",
        )
    console = Console(highlight=False)
    console.print(table)
    text = {"en": "signature of fixed games:", "zh": "固定牌局签名："}[lang]
    console.print(f"{text} {report['signature']}")
