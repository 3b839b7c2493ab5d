"""From a bot's number to its decision: numba can cache calls by number, not function arguments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.bots.greedy import decide_greedy
from sim.bots.random_bot import decide_random
from sim.bots.view import view_of
from sim.params import Params
from sim.state import BOT, DECIDER, DECISIONS, N_DECISIONS, Table

RANDOM_BOT, GREEDY_BOT = range(2)


@kernel
def decide(p: Params, potential: npt.NDArray[np.int16], t: Table) -> int:
    """Choice of the seat that decides now, by its bot."""
    seat = t.game[DECIDER]
    view = view_of(t)
    bot = t.seat[seat, BOT]
    choice = 0
    if bot == GREEDY_BOT:
        choice = decide_greedy(p, potential, view)
    else:
        choice = decide_random(view)
    t.seat[seat, DECISIONS] += 1
    t.game[N_DECISIONS] += 1
    return choice
