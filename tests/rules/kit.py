"""Scripted games: chosen hands and wall, chosen moves, and the events that come of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sim.bots.decisions import D_CHI, D_DISCARD, D_PENG, D_WIN, PASS, TAKE
from sim.cards import FACES, KINDS, WANG, parse_cards
from sim.engine import D_NONE, advance, apply, is_legal, start
from sim.explain import answer_query
from sim.gamelog import read_events
from sim.groups import GROUP_KINDS
from sim.params import compile_params
from sim.state import CARD, DECIDER, N_OPTIONS, Table, new_table
from sim.variant import Variant, load_variant

Event = dict[str, Any]


def judged(
    hand: str,
    table: Sequence[str] = (),
    win: str | None = None,
    draw: str | None = None,
    variant: str | Variant = "two_wang",
    **keys: object,
) -> dict[str, Any]:
    """Answer to a hand query; keyword ``win__min_huxi=18`` overrides ``win.min_huxi``."""
    from sim.explain import judge, lay_out

    if win is not None and draw is None:
        draw = "own"
    rules = load_variant(variant, {name.replace("__", "."): value for name, value in keys.items()})
    return judge(lay_out(rules, hand, table, win, draw))


def asked(query: Mapping[str, Any]) -> dict[str, Any]:
    return dict(answer_query(query))


@dataclass
class Script:
    """Choices by seat: what is taken, and the discards in order; everything else is passed."""

    takes: set[tuple[str, int]] = field(default_factory=set)
    """Of ("win" | "peng" | "chi", seat)."""
    discards: dict[int, str] = field(default_factory=dict)
    chi: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    """(seat, card) to the groups to lay, each as sorted text; else the first option."""
    used: dict[int, int] = field(default_factory=dict)

    def choose(self, decision: int, t: Table) -> int:
        seat = int(t.game[DECIDER])
        if decision == D_DISCARD:
            return self._discard(seat, t)
        name = {D_WIN: "win", D_PENG: "peng", D_CHI: "chi"}[decision]
        if (name, seat) not in self.takes:
            return PASS
        return TAKE if decision != D_CHI else 1 + self._option(seat, t)

    def _discard(self, seat: int, t: Table) -> int:
        wanted = parse_cards(self.discards.get(seat, ""))
        place = self.used.get(seat, 0)
        self.used[seat] = place + 1
        if place < len(wanted):
            return wanted[place]
        return next(kind for kind in range(KINDS - 1, -1, -1) if 0 < t.hand[seat, kind] <= 2)

    def _option(self, seat: int, t: Table) -> int:
        groups = self.chi.get((seat, FACES[int(t.game[CARD])]))
        if groups is None:
            return 0
        wanted = sorted("".join(sorted(group)) for group in groups)
        for number in range(int(t.game[N_OPTIONS])):
            if sorted("".join(sorted(group)) for group in option_groups(t, number)) == wanted:
                return number
        raise AssertionError(f"no option {groups}")


def option_groups(t: Table, number: int) -> list[str]:
    """Groups of a chi option as texts."""
    size = int(t.options[number, 0])
    return ["".join(FACES[int(k)] for k in GROUP_KINDS[int(t.options[number, 1 + i])]) for i in range(size)]


def fill(hands: Mapping[int, str], wall: str, wangs: int, order: Sequence[int]) -> list[int]:
    """A deck with the given cards in the given places; the rest so that no hand gets a third alike by chance."""
    left = [kind for kind in range(KINDS) for _ in range(4)] + [WANG] * wangs
    dealt = {seat: parse_cards(hands.get(seat, "")) for seat in order}
    top = parse_cards(wall)
    for kind in [*top, *(kind for cards in dealt.values() for kind in cards)]:
        left.remove(kind)
    left = [kind for kind in left if kind != WANG] + [kind for kind in left if kind == WANG]
    room = {seat: (21 if place == 0 else 20) - len(dealt[seat]) for place, seat in enumerate(order)}
    rest: list[int] = []
    given = {seat: set(dealt[seat]) for seat in order}

    def may_take(seat: int, kind: int) -> bool:
        """A filler is no wang, nothing that the hand was given, nothing that the wall was given."""
        return dealt[seat].count(kind) < 2 and kind != WANG and kind not in given[seat] and kind not in top

    for kind in left:
        fitting = [s for s in order if room[s] > 0 and may_take(s, kind)]
        seat = max(fitting, key=lambda s: room[s], default=None)
        if seat is None:
            rest.append(kind)
        else:
            dealt[seat].append(kind)
            room[seat] -= 1
    assert not any(room.values()), "the hands cannot be filled without a third alike; give more cards"
    return [kind for seat in order for kind in dealt[seat]] + top + rest


def playing_order(seats: int, dealer: int) -> list[int]:
    order, seat = [], dealer
    for _ in range(3):
        order.append(seat)
        seat = (seat + 1) % seats
        if seats == 4 and seat == (dealer + 2) % 4:
            seat = (seat + 1) % seats
    return order


def play(
    hands: Mapping[int, str],
    wall: str,
    script: Script | None = None,
    variant: str = "two_wang",
    dealer: int = 0,
    **keys: object,
) -> tuple[list[Event], Table]:
    """Play a scripted game; its events without ``start``, and the table at the end."""
    rules = load_variant(variant, {name.replace("__", "."): value for name, value in keys.items()})
    p = compile_params(rules)
    t = new_table(log=True)
    deck = fill(hands, wall, int(p.wangs), playing_order(int(p.seats), dealer))
    t.deck[: len(deck)] = deck
    start(p, t, dealer, np.zeros(3, dtype=np.int64), np.zeros(8, dtype=np.int64))
    given = script or Script()
    moves = Script(given.takes, given.discards, given.chi)  # a script may be played more than once
    while True:
        decision = int(advance(p, t))
        if decision == D_NONE:
            return read_events(rules, p, t), t
        choice = moves.choose(decision, t)
        assert is_legal(t, choice), (decision, int(t.game[DECIDER]), choice)
        apply(p, t, choice)


def of_type(events: Sequence[Event], *types: str) -> list[Event]:
    return [event for event in events if event["type"] in types]


def scores(events: Sequence[Event]) -> list[int]:
    return [value for _, value in sorted(events[-1]["scores"].items())]
