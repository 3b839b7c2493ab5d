"""``tempo``: the shortest way to seven groups and the huxi that a win needs.

Looks at its own hand, with how many groups it still has to make (:mod:`sim.bots.plan`): a part that no group is left
for is worth nothing. Weighs huxi by how many are missing. Takes every win. Twenty-odd look-ups a decision, about a
third of the speed of ``greedy``; strength in ``docs/bots.md``.
"""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.planner import decide_by_plan
from sim.bots.view import View
from sim.bots.weights import TEMPO_ROW, Brain
from sim.params import Params


@kernel
def decide_tempo(p: Params, brain: Brain, view: View) -> int:
    """Choose; see :mod:`sim.bots.decisions` for what the number means."""
    return decide_by_plan(p, brain, TEMPO_ROW, view)
