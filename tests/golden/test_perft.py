"""All legal continuations of fixed late positions: the engine's count, the referee's and the stored one agree.

Decisions of each kind, endings of each kind and the sum of every seat's scores over all of them. The referee knows
nothing of the engine: it follows the log to the position and goes on by the rules alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from perft import engine_count, late_position
from referee import Explorer

FILE = Path(__file__).parent / "perft.txt"
WALL = 4
POSITIONS: list[tuple[str, dict[str, Any], int]] = [
    ("two_wang", {}, 5),
    ("two_wang", {"pass.blocks_chi": False, "turn.peng_to_pao": "others_draw"}, 1),
    ("three_wang", {}, 29),
    ("three_wang", {"table.seats": 3, "xing.card": "flip", "win.forced_first": False}, 0),
    ("four_wang", {}, 0),
    ("four_wang", {"win.wang_limit.mode": "by_wang"}, 0),
]


def named(variant: str, overrides: dict[str, Any], game: int) -> str:
    return " ".join(
        [variant, *(f"{key}={json.dumps(value)}" for key, value in overrides.items()), f"game {game}"]
    )


def stored() -> dict[str, dict[str, int]]:
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return {name: json.loads(counts) for name, _, counts in (line.partition(": ") for line in lines)}


@pytest.mark.parametrize(("variant", "overrides", "game"), POSITIONS)
def test_all_continuations(variant: str, overrides: dict[str, Any], game: int, update_golden: bool) -> None:
    position = late_position(variant, overrides, "random", game, WALL)
    assert position is not None
    p, t, events = position
    found = dict(sorted(engine_count(p, t).items()))
    judged = Explorer(events).count()
    assert {name: judged[name] for name in found} == found
    assert not {name: count for name, count in judged.items() if count and name not in found}
    name = named(variant, overrides, game)
    if update_golden:
        lines = stored() | {name: found}
        text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in sorted(lines.items()))
        FILE.write_text(text, encoding="utf-8")
    assert found == stored()[name]


def test_nothing_else_is_stored() -> None:
    assert set(stored()) == {named(*position) for position in POSITIONS}
    assert all(counts["win"] + counts["draw_game"] > 500 for counts in stored().values())


def test_a_missing_choice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A referee that overlooks one chi option counts otherwise."""
    position = late_position("four_wang", {}, "random", 0, WALL)
    assert position is not None
    p, t, events = position
    whole = Explorer.chi_options

    def one_less(self: Explorer, seat: int, card: int) -> Any:
        options = whole(self, seat, card)
        return options[1:] if self.exploring else options

    monkeypatch.setattr(Explorer, "chi_options", one_less)
    assert Explorer(events).count()["chi?"] != engine_count(p, t)["chi?"]
