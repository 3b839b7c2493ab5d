"""From a bot's number to its decision: numba can cache calls by number, not function arguments."""

from __future__ import annotations

from sim._jit import kernel
from sim.bots.careful import decide_careful
from sim.bots.expert import decide_closely, decide_expert
from sim.bots.greedy import decide_greedy
from sim.bots.random_bot import decide_random
from sim.bots.restricted import decide_restricted
from sim.bots.tempo import decide_tempo
from sim.bots.value import decide_value
from sim.bots.view import view_of
from sim.bots.weights import EXPERT_ROW, Brain
from sim.params import Params
from sim.state import BOT, DECIDER, DECISIONS, N_DECISIONS, Table

RANDOM_BOT, GREEDY_BOT, TEMPO_BOT, VALUE_BOT, CAREFUL_BOT, EXPERT_BOT = range(6)
FIRST_RESTRICTED = EXPERT_BOT + 1
FIRST_SPARE = FIRST_RESTRICTED + 5
"""From here on the numbers of candidates of a tuning, one a spare row of weights."""


@kernel
def decide(p: Params, brain: Brain, t: Table) -> int:
    """Choice of the seat that decides now, by its bot."""
    seat = t.game[DECIDER]
    view = view_of(t)
    bot = t.seat[seat, BOT]
    choice = 0
    if bot == GREEDY_BOT:
        choice = decide_greedy(p, brain.potential, view)
    elif bot == RANDOM_BOT:
        choice = decide_random(view)
    elif bot == TEMPO_BOT:
        choice = decide_tempo(p, brain, view)
    elif bot == VALUE_BOT:
        choice = decide_value(p, brain, view)
    elif bot == CAREFUL_BOT:
        choice = decide_careful(p, brain, view)
    elif bot == EXPERT_BOT:
        choice = decide_expert(p, brain, view, t)
    elif bot < FIRST_SPARE:
        choice = decide_restricted(p, brain, bot - FIRST_RESTRICTED, view, t)
    else:
        choice = decide_closely(p, brain, EXPERT_ROW + 1 + bot - FIRST_SPARE, view, t)
    t.seat[seat, DECISIONS] += 1
    t.game[N_DECISIONS] += 1
    return choice
