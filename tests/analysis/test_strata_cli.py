"""``simulate --strata``: the option is the command ``strata`` under the name of the main job."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from analysis import cli


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, ["simulate", *args], standalone_mode=False)
    if isinstance(result.exception, SystemExit):
        return int(result.exception.code or 0), result.stdout
    if result.exception is not None:
        return cli._report(result.exception), str(result.exception)
    return 0, result.stdout


def test_simulate_strata_prints_estimates_and_the_variance_gained() -> None:
    code, out = run("two_wang", "--strata", "--games", "6000", "--jobs", "1", "--lang", "en")
    assert code == 0
    assert "draw-game rate" in out
    assert "variance gained" in out
    code, out = run("two_wang", "--strata", "--games", "6000", "--jobs", "1", "--json")
    assert code == 0
    assert json.loads(out)


@pytest.mark.parametrize("more", [["--session", "4"], ["--resume"], ["--until", "draw_rate=0.1"]])
def test_simulate_strata_goes_alone(more: list[str]) -> None:
    code, words = run("two_wang", "--strata", "--games", "600", *more)
    assert code == 2
    assert "--strata forces single deals" in words
