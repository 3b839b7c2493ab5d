"""What compiled players say that their options are worth is what they choose by."""

from __future__ import annotations

import pytest
from secrets_of import decisions, params_of

from sim.bots import BOTS
from sim.bots.brain import brain_tables
from sim.bots.decisions import D_WIN
from sim.bots.dispatch import decide
from sim.search import choices_of
from sim.state import DECISION, copy_table
from sim.valuation import own_values


@pytest.mark.parametrize("bot", ["greedy", "tempo", "value", "careful", "expert"])
def test_the_greatest_value_is_chosen(bot: str) -> None:
    params, kinds, compared = params_of("four_wang"), set(), 0
    for table in decisions("four_wang", {}, bot, range(8)):
        before = copy_table(table)
        values = own_values(params, brain_tables(), table, bot)
        for name in ("hand", "seat", "notes", "win", "game"):
            assert (getattr(before, name) == getattr(table, name)).all()
        if table.game[DECISION] == D_WIN:
            assert values is None
            continue
        choices = choices_of(table)
        assert values is not None
        assert len(values) == len(choices)
        choice = int(decide(params, brain_tables(), copy_table(table)))
        told = [value for value in values if value is not None]
        chosen = values[choices.index(choice)]
        kinds.add(int(table.game[DECISION]))
        compared += 1
        assert chosen == max(told), (choice, dict(zip(choices, values, strict=True)))
    assert len(kinds) == 3
    assert compared > 60


def test_others_have_no_values() -> None:
    table = next(iter(decisions("four_wang", {}, "greedy", range(1))))
    for bot in sorted(set(BOTS) - {"greedy", "tempo", "value", "careful", "expert"}):
        assert own_values(params_of("four_wang"), brain_tables(), table, bot) is None
