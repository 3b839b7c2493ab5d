"""Coverage of paired intervals on real games: ``python tests/bench/paired_coverage.py [--games N] [--block B]``.

A run of by_fan against by_wang is cut into blocks; each block's 95 % interval of every metric is compared with the
difference over the whole run. Prints one line a metric and the share of all intervals that hit.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.compare import Side, compare_run, find
from analysis.joint import Features, joint_sums
from analysis.metrics import METRICS
from analysis.sufficient import collect_stats
from sim.run import simulate


def main() -> None:
    """Play, cut, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--block", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    run = simulate(["four_wang", "four_wang+by_wang"], args.games, seed=args.seed, quiet=True)
    one, two = run.variants
    truth = dict(compare_run(run).select("metric", "difference").rows())
    chosen = [item for item in METRICS.values() if item.kind != "quantile" and truth[item.key] is not None]
    features = Features(chosen)
    frames = {label: run.games(label).collect() for label in (one, two)}
    hits: Counter[str] = Counter()
    looks: Counter[str] = Counter()
    for start in range(0, args.games - args.block + 1, args.block):
        rows = {label: frame.slice(start, args.block).lazy() for label, frame in frames.items()}
        sums = joint_sums(features, rows, [(one, two)])
        sides = [Side(label, collect_stats(rows[label], chosen)[label], 4) for label in (one, two)]
        for item in chosen:
            found = find(item, *sides, sums, 0.95)
            low, high = (None, None) if found is None else found.law.interval(0.95)
            if low is not None and high is not None:
                looks[item.key] += 1
                hits[item.key] += low - 1e-12 <= truth[item.key] <= high + 1e-12
    for item in chosen:
        if looks[item.key]:
            print(
                f"{item.key:<24} {item.kind:<8} {hits[item.key] / looks[item.key]:7.1%} of {looks[item.key]}"
            )
    everything = pl.Series([hits[item.key] / looks[item.key] for item in chosen if looks[item.key]])
    print(f"all: {hits.total() / looks.total():.1%} of {looks.total():,}; least {everything.min():.1%}")


if __name__ == "__main__":
    main()
