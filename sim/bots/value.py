"""``value``: as ``tempo``, and it weighs what a win would pay.

Looks also at the colour of its cards: red cards leave a hand that nears black or one red, and stay in one
that nears ten reds, by the expected colour fan of the variant. Kinds of which others lie open go first. Little dearer
than ``tempo``; strength in ``docs/bots.md``.
"""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.planner import decide_by_plan
from sim.bots.view import View
from sim.bots.weights import VALUE_ROW, Brain
from sim.params import Params


@kernel
def decide_value(p: Params, brain: Brain, view: View) -> int:
    """Choose; see :mod:`sim.bots.decisions` for what the number means."""
    return decide_by_plan(p, brain, VALUE_ROW, view)
