"""The bytes of ``summary.csv``: whatever the jobs, the chunks, a stop on the way, a fresh process, compiled or pure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.summary import write_summary
from sim.run import simulate

ROOT = Path(__file__).resolve().parents[2]
GAMES = 24
CODE = """
import sys
from pathlib import Path
from sim.run import simulate
from analysis.summary import write_summary
write_summary(simulate(["two_wang", "four_wang"], games=int(sys.argv[2]), bots="greedy", seed=7, jobs=1,
                       out=Path(sys.argv[1]), quiet=True))
"""


def summary(
    out: Path, jobs: int = 1, chunk: int | None = None, resume: bool = False, games: int = GAMES
) -> bytes:
    run = simulate(
        ["two_wang", "four_wang"], games=games, bots="greedy", seed=7, jobs=jobs, chunk=chunk, out=out, resume=resume,
        quiet=True,
    )  # fmt: skip
    write_summary(run)
    return (out / "summary.csv").read_bytes()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return summary(tmp_path_factory.mktemp("same") / "run")


@pytest.mark.parametrize(("jobs", "chunk"), [(1, 1), (1, 7), (2, 5), (4, 3)])
def test_jobs_and_chunks(
    plain: bytes, tmp_path: Path, jobs: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.run.SMALL_RUN", 0)  # a run as small as this would start no workers
    assert summary(tmp_path / "run", jobs, chunk) == plain


def test_a_run_that_grew_and_lost_a_part(plain: bytes, tmp_path: Path) -> None:
    assert summary(tmp_path / "run", chunk=6, games=12) != plain
    next((tmp_path / "run").rglob("part-00001.parquet")).unlink()
    assert summary(tmp_path / "run", resume=True) == plain


@pytest.mark.parametrize("pure", ["0", "1"])
def test_a_fresh_process_compiled_and_pure(plain: bytes, tmp_path: Path, pure: str) -> None:
    env = {**os.environ, "NUMBA_DISABLE_JIT": pure, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "5"}
    env |= {"TZ": "Asia/Shanghai", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", CODE, str(tmp_path / "run"), str(GAMES)], check=True, env=env)
    assert (tmp_path / "run" / "summary.csv").read_bytes() == plain
