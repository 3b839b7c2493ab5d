"""The same ``summary.csv`` everywhere: Pythons, oldest and newest dependencies, jobs, chunks, compiled and pure.

``matrix.py`` makes an environment in ``build/matrix`` for every Python that it finds (3.11 and newer), with the newest
dependencies, and one of the oldest Python with the lower bounds of ``pyproject.toml``; ``matrix.py PYTHON…`` takes
environments that are there. One line a run; exit 1 when two hashes differ, or an environment fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "matrix"
GAMES = 240
CODE = """
import hashlib, sys, tempfile
from pathlib import Path
def main():
    from analysis.summary import write_summary
    from sim import simulate
    jobs, chunk, resume = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "resumed"
    with tempfile.TemporaryDirectory() as folder:
        how = dict(seed=7, bots="greedy,random,expert", chunk=chunk, out=Path(folder) / "run", quiet=True)
        variants = ["two_wang", "four_wang"]
        if resume:
            simulate(variants, games=chunk, jobs=1, **how)
        run = simulate(variants, games=int(sys.argv[4]), jobs=jobs, resume=resume, **how)
        write_summary(run)
        print(hashlib.sha256((run.path / "summary.csv").read_bytes()).hexdigest())
if __name__ == "__main__":
    main()
"""
WAYS = [  # name, jobs, chunk, how, pure
    ("jobs 1", 1, 240, "whole", False),
    ("jobs 2, chunk 40", 2, 40, "whole", False),
    ("jobs 4, chunk 7", 4, 7, "whole", False),
    ("resumed, chunk 60", 1, 60, "resumed", False),
    ("pure", 1, 240, "whole", True),
]


def bounds() -> list[str]:
    """Every dependency at its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [re.sub(r">=.*", "==", text) + text.partition(">=")[2] for text in project["dependencies"]]


def newest() -> list[str]:
    """Every dependency as it comes."""
    return [text.partition("==")[0] for text in bounds()]


def environment(python: str, name: str, packages: list[str]) -> str | None:
    """Python of a new environment with these packages; None where they cannot be had."""
    folder = FOLDER / name
    made = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        if subprocess.run([str(made), "-m", "pip", "install", "-q", *packages], check=False).returncode:
            print(f"{name}: cannot be installed")
            return None
        (folder / ".installed").touch()
    return str(made)


def environments() -> tuple[dict[str, str], bool]:
    """Name to Python of all that can be made here, and whether all were made."""
    found: dict[str, str | None] = {}
    for minor in range(11, 20):
        python = shutil.which(f"python3.{minor}")
        works = python and not subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode
        if python and works:
            if not found:
                found[f"3.{minor}-oldest"] = environment(python, f"3.{minor}-oldest", bounds())
            found[f"3.{minor}-newest"] = environment(python, f"3.{minor}-newest", newest())
    return {name: python for name, python in found.items() if python}, None not in found.values()


def run(python: str, jobs: int, chunk: int, how: str, pure: bool) -> str:
    """Hash of the summary, or the last line of what went wrong."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1" if pure else "0"}
    command = [python, "-c", CODE, str(jobs), str(chunk), how, str(GAMES)]
    if jobs > 1:  # workers import the main module: it must be a file
        script = FOLDER / "cell.py"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(CODE)
        command[1:3] = [str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"


def main() -> int:
    """All environments, all ways."""
    given = {python: python for python in sys.argv[1:]}
    pythons, whole = (given, True) if given else environments()
    seen = set()
    for name, python in pythons.items():
        for way, *how in WAYS:
            found = run(python, *how)
            seen.add(found)
            print(f"{name:<16} {way:<18} {found[:100]}", flush=True)
    print("all the same" if len(seen) == 1 else f"{len(seen)} different results")
    return 0 if len(seen) == 1 and whole else 1


if __name__ == "__main__":
    sys.exit(main())
