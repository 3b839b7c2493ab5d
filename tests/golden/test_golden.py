"""Golden logs: whole games of every preset and bot, compared event by event; and the signature of fixed games.

A change here is a change of play. If it is meant: ``pytest tests/golden --update-golden``, and a line in the changelog.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.bench import signature
from sim._jit import PURE
from sim.bots import BOTS
from sim.gamelog import Player, dump_line
from sim.variant import PRESETS, load_variant

HERE = Path(__file__).parent
SEED = 7
TURNED = [
    ("four_wang", "win.wang_limit.mode=by_wang", 0),
    ("four_wang", "turn.extra_quad=replacement_draw", 0),
    ("three_wang", "table.seats=3", 0),
    ("two_wang", "xing.card=flip", 4),
]
ASKED = {"search": "search:worlds=4:player=greedy:rollout=random", "my_bot": "docs/examples/my_bot.py:MyBot"}
"""Players that are asked in Python, by the name of their golden files."""
CASES = [(name, "", 0, bot) for name in PRESETS for bot in (*sorted(BOTS), *ASKED)]
CASES += [(*turned, bot) for turned in TURNED for bot in ("greedy", "random", "expert")]


def games_of(bot: str) -> range:
    """The planning players are slow as plain Python."""
    return range(4 if bot in ("greedy", "random") else 1)


def lines_of(variant: str, override: str, session: int, bot: str) -> list[str]:
    rules = load_variant(variant, [override] if override else [])
    player = Player(rules, (ASKED.get(bot, bot),) * 3, SEED, session)
    return [dump_line(event) for game in games_of(bot) for event in player.events(game)]


@pytest.mark.parametrize(("variant", "override", "session", "bot"), CASES)
def test_golden_logs(
    variant: str, override: str, session: int, bot: str, update_golden: bool, monkeypatch
) -> None:
    monkeypatch.chdir(HERE.parents[1])
    name = "-".join(
        part for part in (variant, override.replace("=", "-"), f"s{session}" * bool(session), bot) if part
    )
    path = HERE / f"{name}.jsonl"
    played = lines_of(variant, override, session, bot)
    if update_golden:
        path.write_text("\n".join(played) + "\n", encoding="utf-8")
    stored = path.read_text(encoding="utf-8").splitlines()
    for number, (line, kept) in enumerate(zip(played, stored, strict=False), start=1):
        assert json.loads(line) == json.loads(kept), f"{path.name}:{number}"
        assert line == kept
    assert len(played) == len(stored)


SIGNATURES = {"signature.txt": {}, "signature_short.txt": {"games": 20, "planned": 2}}
"""The whole one takes minutes as plain Python: there the short one must do."""


@pytest.mark.parametrize("name", ["signature_short.txt"] if PURE else sorted(SIGNATURES))
def test_signature(name: str, update_golden: bool) -> None:
    path = HERE / name
    found = signature(**SIGNATURES[name])
    if update_golden:
        path.write_text(f"{found}\n", encoding="utf-8")
    assert found == path.read_text(encoding="utf-8").strip()
