"""How many games the same deals save: ``python tests/bench/pairing.py [--games N] [--seed S] [--bots B]``.

Three pairs of variants, the draw rate and some more metrics. The factor is computed from variances of deals, and seen
once more without any formula: the scatter of differences over blocks of 100 deals, paired against unpaired.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.compare import compare_run
from sim.run import simulate
from sim.store import Run

PAIRS = (("four_wang", "four_wang+by_wang"), ("four_wang", "three_wang"), ("three_wang", "two_wang"))
METRICS = ("draw_rate", "win_rate_dealer", "score_dealer", "fan_mean", "tun_mean", "draws")
WIDTH = 0.001
BLOCK = 100


def drawn(run: Run, label: str) -> np.ndarray:
    """1 for every draw game of a variant."""
    found = run.games(label).select(pl.col("winner").is_null()).collect()["winner"]
    return found.to_numpy().astype(float)


def scatter(one: np.ndarray, two: np.ndarray) -> float:
    """Variance of the difference of two rates over blocks of deals."""
    blocks = len(one) // BLOCK * BLOCK
    return float((two - one)[:blocks].reshape(-1, BLOCK).mean(axis=1).var(ddof=1))


def main() -> None:
    """Play, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bots", default="greedy")
    args = parser.parse_args()
    labels = list(dict.fromkeys(label for pair in PAIRS for label in pair))
    how = {"bots": args.bots, "quiet": True}
    run = simulate(labels, args.games, seed=args.seed, **how)
    other = simulate(labels, args.games, seed=args.seed + 1, **how)
    found = compare_run(run, metrics=METRICS, against="all")
    print(
        f"{args.games:,} deals, bots {args.bots}, seed {args.seed} (unpaired: second variant with seed {args.seed + 1})"
    )
    for one, two in PAIRS:
        print(f"\n{one} against {two}")
        rows = found.filter((pl.col("base") == one) & (pl.col("variant") == two))
        for row in rows.iter_rows(named=True):
            print(
                f"  {row['metric']:<16} {row['base_value']:>9.4f} {row['value']:>9.4f}"
                f"  correlation {row['correlation']:.3f}  games saved × {row['reduction']:.2f}"
            )
        base, paired, apart = drawn(run, one), drawn(run, two), drawn(other, two)
        seen = scatter(base, apart) / scatter(base, paired)
        need = [
            1.96**2 * variance / WIDTH**2 for variance in ((paired - base).var(), base.var() + apart.var())
        ]
        print(
            f"  draw rate ± {WIDTH * 100:g} points: {need[0]:,.0f} deals paired, {need[1]:,.0f} unpaired"
            f"; scatter over blocks of {BLOCK}: × {seen:.2f} (± {seen * 2 * (4 / (args.games / BLOCK)) ** 0.5:.2f})"
        )


if __name__ == "__main__":
    main()
