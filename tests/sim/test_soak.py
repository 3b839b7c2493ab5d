"""Long runs keep their memory: a small soak, and what counts as flat. The long one is ``tests/bench/soak.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
from soak import is_flat, resident, soak


def test_growth_is_told_from_noise() -> None:
    assert is_flat([10, 50, 90, 95, 100, 97, 99, 101, 98, 100])
    assert not is_flat([10, 50, 90, 95, 100, 110, 120, 130, 140, 150])
    assert not is_flat([])
    assert resident(2**22 + 1) == 0


@pytest.mark.slow
def test_memory_stays_flat(tmp_path: Path) -> None:
    samples, _ = soak(400_000, tmp_path / "run", seconds=0.25)
    assert len(samples) > 20
    assert is_flat(samples, 0.2), samples
