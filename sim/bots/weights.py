"""What the planning players weigh, and how much: one row of numbers a player.

All values of a hand are in 960ths of a complete group (16 times the units of :mod:`sim.bots.plan`). The numbers were
tuned by ``tests/bench/tune_bots.py`` on deals of their own (seed 77), never on those that reports use.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sim.bots.plan import PIECES

Ints = npt.NDArray[np.int64]

WEIGHT_NAMES = (
    "cross",  # one card of each size of a rank: two kinds make a jiao of them
    "middle",  # huxi short of a win up to which the middle level of the plans is taken
    "huxi_0",  # a point of huxi of a group laid down, at each level of the plans
    "huxi_1",
    "huxi_2",
    "seen",  # letting a kind go of which others lie open
    "colour",  # a change of the expected colour fan by its whole value
    "look",  # share, in 64ths, of what an unseen card would add on average: in discards
    "claim_look",  # and in claims
    "top",  # candidates for which that is worked out
    "margin",  # how far behind the best a candidate may be to be looked at, in 16ths of a sixtieth
    "chi_risk",  # the next player may chi the discard
    "peng_risk",  # another player may peng it
    "pao_risk",  # another player may hold three of it
    "near",  # groups may be missing this much, in sixtieths, for exact waits to be counted
    "wait",  # an expected score of one from the waits
    "patience",  # a win is declined if waiting on is worth that many hundredths of it; 0 never
    "reluctant",  # what a claim must bring to be made
)
(
    W_CROSS,
    W_MIDDLE,
    W_HUXI_0,
    W_HUXI_1,
    W_HUXI_2,
    W_SEEN,
    W_COLOUR,
    W_LOOK,
    W_CLAIM_LOOK,
    W_TOP,
    W_MARGIN,
    W_CHI_RISK,
    W_PENG_RISK,
    W_PAO_RISK,
    W_NEAR,
    W_WAIT,
    W_PATIENCE,
    W_RELUCTANT,
) = range(len(WEIGHT_NAMES))

TEMPO_ROW, VALUE_ROW, CAREFUL_ROW, EXPERT_ROW = range(4)
SPARE_ROWS = 4
"""Rows for candidates of a tuning; no player of the ladder reads them."""

_TEMPO = {
    "cross": 20,
    "middle": 7,
    "reluctant": 100,
    **{name: PIECES[name] for name in ("huxi_0", "huxi_1", "huxi_2")},
}
_VALUE = {**_TEMPO, "seen": 10, "colour": 400}
_CAREFUL = {
    **_VALUE,
    "look": 48,
    "claim_look": 16,
    "top": 4,
    "margin": 400,
    "chi_risk": 10,
    "peng_risk": 4,
    "pao_risk": 4,
}
_EXPERT = {**_CAREFUL, "near": 62, "wait": 3000, "patience": 300}

LADDER_WEIGHTS: tuple[dict[str, int], ...] = (_TEMPO, _VALUE, _CAREFUL, _EXPERT)


class Brain(Protocol):
    """What the compiled players know besides their view; made by :func:`sim.bots.brain.new_brain`."""

    potential: npt.NDArray[np.int16]
    """(2, 59049): see :mod:`sim.bots.potential`."""
    plans: npt.NDArray[np.int16]
    """(3, 2, 59049, 16): see :mod:`sim.bots.plan`."""
    weights: Ints
    """(4 + SPARE_ROWS, len(WEIGHT_NAMES))"""


def weight_row(values: dict[str, int]) -> Ints:
    """One row from names and values; what is not named is 0.

    Raises
    ------
    KeyError
        For a name that is none of ``WEIGHT_NAMES``.
    """
    row = np.zeros(len(WEIGHT_NAMES), dtype=np.int64)
    for name, value in values.items():
        if name not in WEIGHT_NAMES:
            raise KeyError(f"{name!r} is no weight (weights are {', '.join(WEIGHT_NAMES)})")
        row[WEIGHT_NAMES.index(name)] = value
    return row


def weight_table(spare: dict[int, dict[str, Any]] | None = None) -> Ints:
    """All rows, shape (4 + SPARE_ROWS, len(WEIGHT_NAMES)); spare rows are the expert's but for what ``spare`` says."""
    rows = [weight_row(values) for values in LADDER_WEIGHTS]
    for number in range(SPARE_ROWS):
        rows.append(weight_row({**_EXPERT, **(spare or {}).get(number, {})}))
    return np.stack(rows)
