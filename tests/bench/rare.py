"""How many games strata and splitting save on 王炸王 in four-wang: ``python tests/bench/rare.py [--runs R]``.

Each method is run R times with different seeds. The relative variance a game, n · Var / p², is that of the R results
themselves, not the one that each run claims; a plain run has (1 − p) / p. Seconds are of this machine, one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.rare import Method, rare_event

METHODS: tuple[Method, ...] = ("plain", "strata", "split")


def main() -> None:
    """Run, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variant", default="four_wang")
    parser.add_argument("--event", default="wang_zha_wang")
    parser.add_argument("--games", type=int, default=40_000, help="games a run")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--bots", default="greedy")
    args = parser.parse_args()
    rare_event(args.variant, args.event, 5_000, bots=args.bots, jobs=1)  # compile
    print(
        f"{args.event} in {args.variant}, bots {args.bots}, {args.runs} runs of {args.games:,} games a method"
    )
    print(
        f"{'method':<8}{'1 in':>8}{'± %':>7}{'rel. variance/game':>20}{'claimed':>9}{'fewer games':>13}"
        f"{'µs/game':>9}{'less time':>11}{'covered':>9}"
    )
    results = {}
    for method in METHODS:
        began = time.perf_counter()
        found = [
            rare_event(args.variant, args.event, args.games, method=method, seed=seed, bots=args.bots, jobs=1)
            for seed in range(args.runs)
        ]
        results[method] = found, (time.perf_counter() - began) / sum(each.games for each in found)
    # all runs together, weighed by how sharp their method is
    means = [
        (np.mean([e.chance for e in found]), np.var([e.chance for e in found]))
        for found, _ in results.values()
    ]
    truth = sum(mean / variance for mean, variance in means) / sum(1 / variance for _, variance in means)
    plain = (1 - truth) / truth
    base = plain * results["plain"][1]
    for method, (found, seconds) in results.items():
        chances = np.array([each.chance for each in found])
        games = np.mean([each.games for each in found])
        seen = float(chances.var(ddof=1) / truth**2 * games)
        claimed = float(np.mean([(each.error or 0.0) ** 2 for each in found]) / truth**2 * games)
        spread = float(chances.std(ddof=1)) / chances.mean() / len(chances) ** 0.5
        covered = sum(each.low <= truth <= each.high for each in found)
        print(
            f"{method:<8}{1 / chances.mean():>8.0f}{spread:>7.1%}{seen:>20.0f}{claimed:>9.0f}{plain / claimed:>12.1f}×"
            f"{seconds * 1e6:>9.0f}{base / (claimed * seconds):>10.1f}×{covered:>6}/{len(found)}"
        )


if __name__ == "__main__":
    main()
