"""The tables and weights of the compiled players, as the one argument that kernels take."""

from __future__ import annotations

from functools import cache
from typing import Any

from sim._jit import record
from sim.bots.plan import plan_tables
from sim.bots.potential import potential_tables
from sim.bots.weights import Brain, weight_table

__all__ = ["Brain", "brain_tables", "new_brain"]


def new_brain(spare: dict[int, dict[str, Any]] | None = None, pieces: dict[str, int] | None = None) -> Brain:
    """Tables and weights of all players.

    Parameters
    ----------
    spare : dict, optional
        Weights of the spare rows, by their number, where they differ from the expert's.
    pieces : dict, optional
        Values of parts where they differ from :data:`sim.bots.plan.PIECES`.
    """
    fields: dict[str, Any] = {
        "potential": potential_tables(),
        "plans": plan_tables(pieces),
        "weights": weight_table(spare),
    }
    made: Brain = record(fields)
    return made


@cache
def brain_tables() -> Brain:
    """What the players of the ladder use: made once a process."""
    return new_brain()
