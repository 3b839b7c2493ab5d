"""Chapter 4: fan and their names; the limits of 1.10 and 1.11."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.params import Params
from sim.rows import FAN_NAMES
from sim.state import C_FAN, C_ONLY_SPECIAL, C_WANGS

Ints = npt.NDArray[np.int64]

BY_OWN, BY_OTHER, BY_DEAL = range(3)

RED_BIT = 1 << FAN_NAMES.index("red")
ONE_RED_BIT = 1 << FAN_NAMES.index("one_red")
BLACK_BIT = 1 << FAN_NAMES.index("black")
ZIMO_BIT = 1 << FAN_NAMES.index("zimo")
FIRST_SPECIAL = FAN_NAMES.index("wang_diao")


@kernel
def draw_fan(p: Params, by: int) -> int:
    """Rule 4.4 zimo: an own draw or a heavenly win multiplies, another's draw does not."""
    return 1 if by == BY_OTHER else p.zimo


@kernel
def fan_of(p: Params, win: Ints, special: int, reds: int) -> int:
    """Product of the factors; a wang special stands in place of zimo (4.1 to 4.10)."""
    return p.colour_fan[reds] * (p.special_fan[special] if special > 0 else win[C_FAN])


@kernel
def within_limit(p: Params, win: Ints, special: int, fan: int) -> int:
    """Whether an arrangement may be won with under the wang limit (1.10, 1.11)."""
    if win[C_ONLY_SPECIAL] and special == 0:
        return 0
    return 1 if fan >= p.min_fan[min(win[C_WANGS], 4)] else 0


@kernel
def names_mask(p: Params, by: int, special: int, reds: int) -> int:
    """Which names the scored arrangement has, bit i for ``FAN_NAMES[i]`` (4.1 to 4.10)."""
    names = 0
    if reds >= p.red_min:
        names |= RED_BIT
    if reds == 1:
        names |= ONE_RED_BIT
    if reds == 0:
        names |= BLACK_BIT
    if special > 0:
        names |= 1 << (FIRST_SPECIAL + special - 1)
    if by != BY_OTHER and (special == 0 or p.special_includes_zimo):
        names |= ZIMO_BIT
    return names
