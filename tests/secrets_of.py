"""Tables at a decision, and the same with everything that the deciding seat cannot know dealt anew.

The second is written without :mod:`sim.imagine`: cards change places one by one, so that it cannot share its faults.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from sim import rng
from sim.bots import bot_id
from sim.bots.brain import brain_tables
from sim.bots.decisions import D_CHI, D_WIN
from sim.bots.dispatch import decide
from sim.cards import KINDS, WANG
from sim.engine import PH_CHI, PH_PENG, advance, apply, start
from sim.groups import PAO, WEI
from sim.params import Params, compile_params
from sim.rules.deal import shuffle
from sim.state import (
    CARD,
    DEALT_WANGS,
    DECIDER,
    DECISION,
    DECISIONS,
    END,
    HUXI,
    MELDS,
    N_OPTIONS,
    P_ACTIVE,
    P_DISCARDS,
    P_PASSED,
    P_WANGS,
    PENG_BLOCK,
    PENG_PASSED,
    PHASE,
    REDS,
    TOP,
    WEIS,
    WORD_A,
    WORD_B,
    Table,
    change,
    new_table,
)
from sim.variant import load_variant


@cache
def _params(variant: str, overrides: tuple[tuple[str, Any], ...]) -> Params:
    return compile_params(load_variant(variant, dict(overrides)))


def params_of(variant: str, overrides: dict[str, Any] | None = None) -> Params:
    return _params(variant, tuple((overrides or {}).items()))


def begin(params: Params, table: Table, game: int, bot: str = "greedy", seed: int = 17) -> None:
    words = rng.words(seed, rng.STREAM_DEAL, game, 1, rng.DEAL_WORDS)[0]
    shuffle(words, params.wangs, table.deck)
    luck = rng.words(seed, rng.STREAM_BOTS, game, 1, rng.BOT_WORDS)[0]
    start(params, table, 0, np.array([bot_id(bot)] * 3), luck)


def decisions(
    variant: str, overrides: dict[str, Any], bot: str, games: Iterable[int], seed: int = 17
) -> Iterator[Table]:
    """The table at every decision of some games; it goes on as the bot decides."""
    params, table, brain = params_of(variant, overrides), new_table(), brain_tables()
    for game in games:
        begin(params, table, game, bot, seed)
        while advance(params, table):
            yield table
            apply(params, table, decide(params, brain, table))


def deal_secrets_anew(params: Params, table: Table, seed: int, swaps: int = 150) -> None:
    """Change, in place, whatever the deciding seat does not know: cards, groups face down, notes, random words."""
    luck, seat = random.Random(seed), int(table.game[DECIDER])
    others = [o for o in range(table.hand.shape[0]) if o != seat and table.public[o, P_ACTIVE]]
    shown = 0
    for owner in range(4):
        shown |= int(table.public[owner, P_DISCARDS]) | int(table.public[owner, P_PASSED])
    if table.game[PHASE] in (PH_PENG, PH_CHI):
        shown |= 1 << int(table.game[CARD])
    top, end = int(table.game[TOP]), int(table.game[END])
    _exchange_groups(params, table, others, luck, top, end)
    hands = {owner: [int(count) for count in table.hand[owner]] for owner in others}

    def fits(owner: int, kind: int) -> bool:
        return kind == WANG or hands[owner][kind] < (2 if shown >> kind & 1 else 3)

    for _ in range(swaps):
        owner = luck.choice(others)
        have = [
            k
            for k in range(KINDS + 1)
            if hands[owner][k] > (table.public[owner, P_WANGS] if k == WANG else 0)
        ]
        if not have:
            continue
        given = luck.choice(have)
        if luck.random() < 0.5 and end > top:
            place = luck.randrange(top, end)
            taken = int(table.deck[place])
            if taken != given and fits(owner, taken):
                table.deck[place] = given
                hands[owner][given] -= 1
                hands[owner][taken] += 1
        else:
            partner = next(o for o in others if o != owner)
            have = [
                k
                for k in range(KINDS + 1)
                if hands[partner][k] > (table.public[partner, P_WANGS] if k == WANG else 0)
            ]
            taken = luck.choice(have) if have else given
            if taken != given and fits(owner, taken) and fits(partner, given):
                hands[owner][given] -= 1
                hands[owner][taken] += 1
                hands[partner][taken] -= 1
                hands[partner][given] += 1
    wall = [int(kind) for kind in table.deck[top:end]]
    luck.shuffle(wall)
    table.deck[top:end] = wall
    for owner in others:
        row = table.seat[owner]
        for kind in range(KINDS + 1):
            change(table.hand[owner], row, kind, hands[owner][kind] - int(table.hand[owner, kind]))
        for field in (PENG_BLOCK, PENG_PASSED, WORD_A, WORD_B):
            row[field] = luck.getrandbits(20)
        row[DECISIONS] = luck.randrange(40)
        row[DEALT_WANGS] = luck.randrange(4)
    # left behind by questions to others
    if table.game[DECISION] != D_WIN:
        table.win[:] = luck.randrange(100)
    if table.game[DECISION] != D_CHI:
        table.game[N_OPTIONS] = luck.randrange(5)
        table.options[:] = luck.randrange(30)


def _exchange_groups(
    params: Params, table: Table, others: list[int], luck: random.Random, top: int, end: int
) -> None:
    """Let two groups face down of others exchange their kinds, or one take the kind of cards in the wall."""
    found = [
        (owner, number)
        for owner in others
        for number in range(int(table.seat[owner, MELDS]))
        if table.shown[owner, number, 1] < 0
    ]
    for owner, number in found:
        group_type, kind = (int(value) for value in table.melds[owner, number, :2])
        size = 4 if group_type <= PAO else 3
        places = {
            other: [place for place in range(top, end) if table.deck[place] == other]
            for other in range(KINDS)
        }
        able = [other for other in range(KINDS) if len(places[other]) >= size]
        if not able or luck.random() < 0.3:
            continue
        other = luck.choice(able)
        for place in places[other][:size]:
            table.deck[place] = kind
        table.melds[owner, number, 1] = other
        row = table.seat[owner]
        row[HUXI] += int(params.huxi[group_type, other // 10]) - int(params.huxi[group_type, kind // 10])
        row[REDS] += size * (int(other % 10 in (1, 6, 9)) - int(kind % 10 in (1, 6, 9)))
        if group_type == WEI:
            row[WEIS] = int(row[WEIS]) & ~(1 << kind) | 1 << other
