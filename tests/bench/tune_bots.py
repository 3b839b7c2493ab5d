"""Strength of two players against each other, and of candidate weights: what the ladder was tuned with.

    python tests/bench/tune_bots.py two_wang,four_wang expert careful --games 4000
    python tests/bench/tune_bots.py two_wang,four_wang expert expert --try patience=50 --games 8000
    python tests/bench/tune_bots.py two_wang,four_wang tempo greedy --try middle=4 --try middle=10

One ``A`` sits against two ``B`` and the reverse, at every seating of the same deals, with the seed 77 that no report
uses. With ``--try`` A plays its weights but for those named. Printed: the relative share of wins of a seat of A
against one of B, and the difference of score a game, each with a 95 % interval over deals.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from sim import rng
from sim.bots import LADDER, bot_id
from sim.bots.brain import Brain, brain_tables, new_brain
from sim.bots.dispatch import FIRST_SPARE
from sim.bots.weights import LADDER_WEIGHTS, WEIGHT_NAMES
from sim.engine import _play_many
from sim.params import Params, compile_params
from sim.rows import COLUMN, ROW_COLUMNS
from sim.state import new_table
from sim.variant import load_variant

SEED = 77
WINNER = COLUMN["winner"]
SCORES = [COLUMN[f"score_{seat}"] for seat in range(3)]


def play_seats(params: Params, brain: Brain, bots: Sequence[int], count: int) -> np.ndarray:
    """Rows of ``count`` games."""
    rows = np.empty((count, len(ROW_COLUMNS)), dtype=np.int64)
    deals = rng.words(SEED, rng.STREAM_DEAL, 0, count, rng.DEAL_WORDS)
    words = rng.words(SEED, rng.STREAM_BOTS, 0, count, rng.BOT_WORDS)
    _play_many(params, brain, new_table(), deals, words, np.array(bots, dtype=np.int64), 0, 0, rows)
    return rows


def duel(params: Params, brain: Brain, first: int, second: int, count: int) -> dict[str, tuple[float, float]]:
    """Both mixes at every seating: name to (estimate, half width of its 95 % interval)."""
    seats = (0, 1, 3) if params.seats == 4 else (0, 1, 2)
    scores = [COLUMN[f"score_{seat}"] for seat in seats]
    wins = np.zeros((2, count))
    score = np.zeros((2, count))
    seated = np.zeros(2)
    draws = np.zeros(count)
    for mix in ((first, second, second), (second, first, first)):
        for turn in range(3):
            bots = [mix[(role - turn) % 3] for role in range(3)]
            rows = play_seats(params, brain, bots, count)
            draws += rows[:, WINNER] < 0
            for role, seat in enumerate(seats):
                odd = (role - turn) % 3 == 0
                who = 0 if odd == (mix[0] == first) else 1
                seated[who] += 1
                wins[who] += rows[:, WINNER] == seat
                score[who] += rows[:, scores[role]]
    a, b = wins[0].mean() / seated[0], wins[1].mean() / seated[1]
    ratio_parts = (wins[0] / seated[0] - a) / a - (wins[1] / seated[1] - b) / b
    difference = score[0] / seated[0] - score[1] / seated[1]
    root = 1.96 / np.sqrt(count)
    return {
        "wins": (100 * (a / b - 1), 100 * a / b * float(ratio_parts.std()) * root),
        "score": (float(difference.mean()), float(difference.std()) * root),
        "draws": (100 * float(draws.mean()) / 6, 100 * float(draws.std()) / 6 * root),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants")
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--try", dest="tried", action="append", default=[], metavar="WEIGHT=VALUE[,…]")
    parser.add_argument("--pieces", default="", metavar="PIECE=VALUE[,…]")
    options = parser.parse_args(arguments)

    def numbers(text: str) -> dict[str, int]:
        return {name: int(value) for name, value in (part.split("=") for part in text.split(",") if part)}

    for tried in options.tried or [""]:
        brain = brain_tables()
        first = bot_id(options.first)
        if tried or options.pieces:
            own = LADDER_WEIGHTS[max(0, LADDER.index(options.first) - 2)]
            pieces = numbers(options.pieces)
            huxi = {name: value for name, value in pieces.items() if name in WEIGHT_NAMES}
            spare = {**dict.fromkeys(WEIGHT_NAMES, 0), **own, **huxi, **numbers(tried)}
            brain = new_brain({0: spare}, pieces)
            first = FIRST_SPARE
        for variant in options.variants.split(","):
            found = duel(
                compile_params(load_variant(variant)), brain, first, bot_id(options.second), options.games
            )
            shown = "  ".join(f"{name} {value:+.2f} ± {half:.2f}" for name, (value, half) in found.items())
            print(f"{variant:10} {options.first} {tried} against {options.second}: {shown}", flush=True)


if __name__ == "__main__":
    main()
