"""``careful``: as ``value``, and it counts cards.

Looks at how many cards of each kind it has not seen, and prefers the hand that most of them would improve; sets
against a discard that the next player may chi it (not one that he discarded or let pass himself), and that others may
peng or pao it. Some hundred look-ups a decision; strength in ``docs/bots.md``.
"""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.planner import decide_by_plan
from sim.bots.view import View
from sim.bots.weights import CAREFUL_ROW, Brain
from sim.params import Params


@kernel
def decide_careful(p: Params, brain: Brain, view: View) -> int:
    """Choose; see :mod:`sim.bots.decisions` for what the number means."""
    return decide_by_plan(p, brain, CAREFUL_ROW, view)
