"""Count all legal continuations of a position with the engine, to be compared with the referee's count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sim.bots.brain import brain_tables
from sim.bots.decisions import D_CHI, D_DISCARD, D_NONE, D_PENG, D_WIN
from sim.bots.dispatch import decide
from sim.cards import KINDS
from sim.engine import advance, apply, is_legal
from sim.gamelog import Player, events_since, start_event
from sim.params import Params
from sim.rules.settle import score_of
from sim.state import DECISION, END, N_OPTIONS, N_SEATS, TOP, WINNER, Table, copy_table
from sim.variant import load_variant

NAMES = {D_WIN: "win?", D_PENG: "peng?", D_CHI: "chi?", D_DISCARD: "discard?"}


def late_position(
    variant: str, overrides: dict[str, Any], bot: str, game: int, wall: int, seed: int = 5
) -> tuple[Params, Table, list[dict[str, Any]]] | None:
    """The first decision with at most ``wall`` cards left, and the log so far; None if the game ends before."""
    rules = load_variant(variant, overrides)
    player = Player(rules, (bot,) * 3, seed)
    player.deal(game)
    p, t = player.params, player.table
    while int(advance(p, t)) != D_NONE:
        if int(t.game[END]) - int(t.game[TOP]) <= wall:
            begun = start_event(rules, p, t, seed, game, (bot,) * 3)
            return p, t, [begun, *events_since(rules, p, t, 0)]
        apply(p, t, decide(p, brain_tables(), t))
    return None


def legal_choices(t: Table) -> Sequence[int]:
    most = KINDS if int(t.game[DECISION]) == D_DISCARD else 2 + int(t.game[N_OPTIONS])
    return [choice for choice in range(most + 1) if is_legal(t, choice)]


def engine_count(p: Params, t: Table, found: Counter[str] | None = None) -> Counter[str]:
    """As :meth:`referee.Explorer.count`, by the engine, from the pending decision of ``t`` on."""
    found = Counter() if found is None else found
    decision = int(t.game[DECISION])
    if decision == D_NONE:
        found["draw_game" if int(t.game[WINNER]) < 0 else "win"] += 1
        found.update({f"seat {seat}": int(score_of(t, seat)) for seat in range(int(t.game[N_SEATS]))})
        return found
    found[NAMES[decision]] += 1
    for choice in legal_choices(t):
        following = copy_table(t)
        apply(p, following, choice)
        advance(p, following)
        engine_count(p, following, found)
    return found
