"""Soak: very many games in one run, with the memory of all its processes sampled; ``soak.py [GAMES [FOLDER]]``.

Prints one line a sample and, last, whether memory stayed flat: the largest sum of the second half of the run may be at
most a tenth above the largest of the first half, warm-up left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
WARM_UP = 0.2  # share of the samples in which tables are made and workers start


def family(root: int) -> list[int]:
    """A process and all that it started."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def resident(pid: int) -> int:
    """Bytes of a process that lie in memory and are its own; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * PAGE


def is_flat(samples: list[int], slack: float = 0.1) -> bool:
    """Whether the later samples stay within ``slack`` of the earlier ones."""
    steady = samples[int(len(samples) * WARM_UP) :]
    middle = len(steady) // 2
    return middle > 0 and max(steady[middle:]) <= (1 + slack) * max(steady[:middle])


def soak(games: int, folder: Path, jobs: int = 2, seconds: float = 2.0) -> tuple[list[int], float]:
    """Play and sample; (bytes of all processes together at each sample, seconds that it took)."""
    command = [
        sys.executable, "-c",
        "import sys; from sim import simulate\n"
        "if __name__ == '__main__':\n"
        "    games, jobs = int(sys.argv[1]), int(sys.argv[2])\n"
        "    run = simulate("
        "'four_wang', games, seed=9, jobs=jobs, out=sys.argv[3], quiet=True)\n"
        "    print(run)",
        str(games), str(jobs), str(folder),
    ]  # fmt: skip
    begin = time.monotonic()
    child = subprocess.Popen(command)
    samples = []
    while child.poll() is None:
        time.sleep(seconds)
        total = sum(resident(pid) for pid in family(child.pid))
        if total:
            samples.append(total)
    if child.returncode:
        raise SystemExit(f"the run ended with {child.returncode}")
    return samples, time.monotonic() - begin


def main() -> int:
    """Soak, tell, exit 1 when memory grew."""
    games = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    with tempfile.TemporaryDirectory() as spare:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else f"{spare}/run")
        samples, seconds = soak(games, folder)
    steady = samples[int(len(samples) * WARM_UP) :]
    middle = len(steady) // 2
    first, second = max(steady[:middle], default=0), max(steady[middle:], default=0)
    flat = is_flat(samples)
    print(
        f"{games:,} games in {seconds:,.0f} s ({games / seconds:,.0f} a second), {len(samples)} samples; most memory "
        f"of all processes in the first half {first / 1e6:,.0f} MB, in the second {second / 1e6:,.0f} MB: "
        f"{'flat' if flat else 'it GREW'}"
    )
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
