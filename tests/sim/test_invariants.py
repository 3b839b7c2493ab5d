"""What must hold after every move of every game, driven by Hypothesis through the engine's own steps."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sim import rng
from sim._jit import PURE
from sim.bots.decisions import D_CHI, D_DISCARD, D_NONE
from sim.cards import KINDS, WANG
from sim.engine import advance, apply, is_legal, start
from sim.groups import GROUP_KINDS, PAO, PENG
from sim.params import compile_params
from sim.rules.deal import ORDINARY, shuffle
from sim.rules.settle import score_of
from sim.state import (
    CODE,
    DEAD,
    DECIDER,
    END,
    FREE,
    KANS,
    MELDS,
    N_OPTIONS,
    N_SEATS,
    OWNED,
    PAIRS,
    POW3,
    QUADS,
    TOP,
    WINNER,
    new_table,
)
from sim.variant import load_variant

VARIANTS = [
    ("two_wang", {}),
    ("three_wang", {"table.seats": 3}),
    ("four_wang", {"win.wang_limit.mode": "none"}),
    ("four_wang", {"turn.extra_quad": "replacement_draw"}),
]


def meld_cards(table, seat: int, number: int) -> list[int]:
    group_type, what = int(table.melds[seat, number, 0]), int(table.melds[seat, number, 1])
    if group_type <= PENG:
        return [what] * (4 if group_type <= PAO else 3)
    return [int(kind) for kind in GROUP_KINDS[what]]


class GameMachine(RuleBasedStateMachine):
    """One game, its choices made by Hypothesis."""

    @initialize(which=st.sampled_from(VARIANTS), game=st.integers(0, 10**6))
    def deal(self, which: tuple[str, dict[str, object]], game: int) -> None:
        self.p = compile_params(load_variant(*which))
        self.t = new_table()
        words = rng.words(9, rng.STREAM_DEAL, game, 1, rng.DEAL_WORDS)[0]
        shuffle(words, self.p.wangs, self.t.deck)
        self.full = Counter(int(kind) for kind in self.t.deck[: ORDINARY + self.p.wangs])
        start(self.p, self.t, 0, np.zeros(3, dtype=np.int64), np.zeros(8, dtype=np.int64))
        self.dealt_melds = dict.fromkeys(range(4), 0)
        self.piles: Counter[int] = Counter()
        self.kans: dict[int, set[int]] = {}
        self.decision = int(advance(self.p, self.t))

    def over(self) -> bool:
        return self.decision == D_NONE

    @precondition(lambda self: hasattr(self, "t"))
    @rule(data=st.data())
    def choose(self, data: st.DataObject) -> None:
        t = self.t
        if self.over():  # a step that does nothing: a machine without a rule to run would be thrown away
            return
        if self.decision == D_DISCARD:
            seat = int(t.game[DECIDER])
            choice = data.draw(st.sampled_from([k for k in range(KINDS) if 0 < t.hand[seat, k] <= 2]))
            assert t.seat[seat, OWNED] > 20 + max(0, t.seat[seat, QUADS] - 1)
        elif self.decision == D_CHI:
            choice = data.draw(st.integers(0, int(t.game[N_OPTIONS])))
        else:
            choice = data.draw(st.sampled_from([0, 0, 0, 1]))
        assert is_legal(t, choice)
        assert not is_legal(t, 99)
        apply(self.p, t, choice)
        self.decision = int(advance(self.p, t))

    @precondition(lambda self: hasattr(self, "t"))
    @invariant()
    def cards_are_conserved(self) -> None:
        """Hands, groups, wall and what lies dead are the deck; the dead never hold a wang."""
        t = self.t
        held: Counter[int] = Counter()
        for seat in range(4):
            held.update({kind: int(t.hand[seat, kind]) for kind in range(KINDS + 1) if t.hand[seat, kind]})
            for number in range(int(t.seat[seat, MELDS])):
                held.update(meld_cards(t, seat, number))
        held.update(int(kind) for kind in t.deck[int(t.game[TOP]) : int(t.game[END])])
        dead = self.full - held
        assert not held - self.full
        assert dead[WANG] == 0
        assert sum(held.values()) + sum(dead.values()) == sum(self.full.values())

    @precondition(lambda self: hasattr(self, "t"))
    @invariant()
    def kans_are_never_broken(self) -> None:
        """A concealed kan stays, or becomes a quad of the same kind."""
        for seat in range(4):
            now = {kind for kind in range(KINDS) if self.t.hand[seat, kind] == 3}
            quads = {
                int(self.t.melds[seat, n, 1])
                for n in range(int(self.t.seat[seat, MELDS]))
                if self.t.melds[seat, n, 0] <= PAO
            }
            assert self.kans.get(seat, set()) <= now | quads
            self.kans[seat] = now

    @precondition(lambda self: hasattr(self, "t"))
    @invariant()
    def quotas_are_kept(self) -> None:
        """Nobody owns more than his quota + 1, the living only while a discard is due."""
        for seat in range(4):
            row = self.t.seat[seat]
            quota = 20 + max(0, int(row[QUADS]) - 1)
            assert row[OWNED] <= quota + 1 or row[DEAD]

    @precondition(lambda self: hasattr(self, "t"))
    @invariant()
    def sums_and_masks_follow_the_cards(self) -> None:
        t = self.t
        for seat in range(4):
            row, hand = t.seat[seat], t.hand[seat]
            free = [kind for kind in range(KINDS) if 0 < hand[kind] <= 2]
            assert row[FREE] == sum(int(hand[kind]) for kind in free)
            assert row[CODE] == sum(int(hand[kind]) * int(POW3[kind]) for kind in free)
            assert row[KANS] == sum(1 << kind for kind in range(KINDS) if hand[kind] == 3)
            assert row[PAIRS] == sum(1 << kind for kind in range(KINDS) if hand[kind] == 2)
            melds = sum(len(meld_cards(t, seat, number)) for number in range(int(row[MELDS])))
            assert row[OWNED] == int(hand.sum()) + melds

    @precondition(lambda self: hasattr(self, "t") and self.over())
    @invariant()
    def money_sums_to_zero_and_a_draw_game_leaves_no_wang(self) -> None:
        t = self.t
        assert sum(int(score_of(t, seat)) for seat in range(int(t.game[N_SEATS]))) == 0
        if t.game[WINNER] < 0:
            assert t.game[TOP] == t.game[END]
            assert sum(int(t.hand[seat, WANG]) for seat in range(4)) == self.p.wangs


TestGame = GameMachine.TestCase
TestGame.settings = settings(max_examples=3 if PURE else 20, stateful_step_count=60, deadline=None)
