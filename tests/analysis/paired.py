"""A stand-in for the engine whose laws are known: the same random numbers a game under every variant.

Chance of a draw game is ``DRAW[min_huxi]``; a game drawn under a smaller ``min_huxi`` is drawn under a larger one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sim.rng import DEAL_WORDS, STREAM_DEAL, words
from sim.rows import COLUMN, COUNTERS, FAN_NAMES, NULL, ROW_COLUMNS
from sim.run import simulate
from sim.store import Run
from sim.variant import load_variant

Rows = npt.NDArray[np.int64]

DRAW = {10: 0.05, 12: 0.10, 15: 0.15, 20: 0.30}
"""Draw rate by ``win.min_huxi``."""


def _uniform(seed: int, stream: int, first: int, count: int, width: int) -> npt.NDArray[np.float64]:
    return words(seed, stream, first, count, width) / 2.0**32


def wang_places(deal: Rows, wangs: int) -> Rows:
    """Places of the wangs in the decks that these words shuffle: each is put in at a random place."""
    places = np.empty((len(deal), wangs), dtype=np.int64)
    for wang in range(wangs):
        place = (deal[:, 80 + wang] * (81 + wang)) >> 32
        places[:, :wang] += places[:, :wang] >= place[:, None]
        places[:, wang] = place
    return places


def play(
    keys: Mapping[str, Any], bots: tuple[str, str, str], seed: int, first: int, count: int, session: int
) -> Rows:
    """Rows that keep the books of the rules, with laws that are known."""
    u = _uniform(seed, 7, first, count, 16)
    own = _uniform(seed, 100 + int(keys["win.min_huxi"]), first, count, 8)
    rows = np.full((count, len(ROW_COLUMNS)), NULL, dtype=np.int64)

    def put(name: str, values: Any) -> None:
        rows[:, COLUMN[name]] = values

    put("game", np.arange(first, first + count))
    put("session", np.arange(first, first + count) // session if session else NULL)
    put("dealer", 0)
    put("sitter", 2)
    drawn = u[:, 0] < DRAW[int(keys["win.min_huxi"])]
    role = (u[:, 1] * 3).astype(int)
    winner = np.array([0, 1, 3])[role]
    tun = 1 + np.floor(-np.log1p(-u[:, 2]) * 1.5 + 0.4 * own[:, 0]).astype(int)
    fan = 2 ** np.floor(-np.log1p(-u[:, 3]) * 1.2).astype(int).clip(0, 6)
    score = tun * fan

    def in_win(name: str, values: Any) -> None:
        put(name, np.where(drawn, NULL, values))

    in_win("winner", winner)
    in_win("by", (u[:, 4] * 2).astype(int))
    in_win("huxi", 15 + 3 * (tun - 1) + (u[:, 5] * 3).astype(int))
    for name, values in (("tun", tun), ("fan", fan), ("score", score), ("red_cards", 5), ("wangs_win", 1)):
        in_win(name, values)
    in_win("xing", (u[:, 6] * 4).astype(int))
    in_win("xing_kind", 3)
    for number, name in enumerate(FAN_NAMES):
        put(name, np.where(drawn, 0, u[:, 7] < 0.3 / (1 + number**3)))
    wangs = int(keys["deck.wangs"])
    places = wang_places(words(seed, STREAM_DEAL, first, count, DEAL_WORDS), wangs)
    for seat, (low, high) in zip((0, 1, 3), ((0, 21), (21, 41), (41, 61)), strict=True):
        held = ((places >= low) & (places < high)).sum(axis=1)
        put(f"wangs_dealt_{seat}", held)
        put(f"wangs_final_{seat}", held)
    money = np.zeros((count, 4), dtype=np.int64)
    for seat in (0, 1, 3):
        mine = ~drawn & (winner == seat)
        money[:, seat] += np.where(mine, 2 * score, 0)
        for other in {0, 1, 3} - {seat}:
            money[:, other] -= np.where(mine, score, 0)
    for seat in range(4):
        put(f"score_{seat}", money[:, seat])
        put(f"wang_paid_{seat}", 0)
    put("money_win", np.where(drawn, 0, 2 * score))
    put("money_xing", 0)
    put("money_wang", np.where(drawn, 10, 0))
    for name in COUNTERS:
        put(name, (u[:, 8] * 10 + own[:, 1] * 3).astype(int))
    return rows


def same_games_everywhere(*args: Any) -> Rows:
    """The seed bug: every chunk plays the games from 0 on."""
    keys, bots, seed, first, count, session = args
    rows = play(keys, bots, seed, 0, count, session)
    rows[:, COLUMN["game"]] += first
    return rows


def one_odd_chunk(*args: Any) -> Rows:
    """Other rules in games 3000 to 3999."""
    keys, *rest = args
    if rest[2] == 3000:
        keys = {**keys, "win.min_huxi": 20}
    return play(keys, *rest)


def no_warm_up(*_: Any) -> None:
    """There is nothing to compile."""


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play by :func:`play` instead of the engine."""
    monkeypatch.setattr("sim.run.play_rows", play)
    monkeypatch.setattr("sim.run._warm_up", no_warm_up)


def variants(*least: int, name: str = "two_wang") -> list[Any]:
    """Variants that differ in ``win.min_huxi``, named after it."""
    return [
        load_variant(name, {"win.min_huxi": number}).model_copy(update={"name": f"huxi{number}"})
        for number in least
    ]


def run(out: Path, *least: int, games: int = 10_000, **how: Any) -> Run:
    """A run of :func:`variants`; needs the fixture ``fake_engine``."""
    how = {"jobs": 1, "quiet": True, "chunk": 1000} | how
    return simulate(variants(*least), games, out=out, **how)
