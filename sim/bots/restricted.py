"""Restricted players: an ``expert`` that lacks one thing, to read what a rule is worth.

``never_chi`` and ``never_peng`` let every such card go; ``at_once`` takes every win; ``never_small`` lets wins of
fewer than ``SMALL_FAN`` fan go; ``blind`` discards any free kind. What is lost by a restriction tells what it
is worth under a variant; a restricted player that does *better* shows a weakness of the standard ones or of the rule.
"""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.decisions import D_CHI, D_DISCARD, D_PENG, D_WIN, PASS, TAKE
from sim.bots.expert import decide_expert
from sim.bots.random_bot import decide_random
from sim.bots.view import View
from sim.bots.weights import Brain
from sim.params import Params
from sim.state import DECISION, W_FAN, Table

SMALL_FAN = 4

NEVER_CHI, NEVER_PENG, AT_ONCE, NEVER_SMALL, BLIND = range(5)


@kernel
def decide_restricted(p: Params, brain: Brain, lack: int, view: View, t: Table) -> int:
    """Choose; see :mod:`sim.bots.decisions` for what the number means. ``lack`` names the restriction."""
    decision = view.game[DECISION]
    if decision == D_WIN and lack == AT_ONCE:
        return TAKE
    if decision == D_WIN and lack == NEVER_SMALL and view.win[W_FAN] < SMALL_FAN:
        return PASS
    if decision == D_CHI and lack == NEVER_CHI:
        return PASS
    if decision == D_PENG and lack == NEVER_PENG:
        return PASS
    if decision == D_DISCARD and lack == BLIND:
        return decide_random(view)
    return decide_expert(p, brain, view, t)
