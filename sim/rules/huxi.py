"""Chapter 3: huxi of groups, tun."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel
from sim.cards import KINDS, is_red, size_of
from sim.groups import KAN, TI, WEI
from sim.params import Params
from sim.state import KANS, WEIS

Ints = npt.NDArray[np.int64]

NO_LIFT = -100_000


@kernel
def group_value(p: Params, group_type: int, kind: int) -> int:
    """Huxi of a group of equal cards (ti, pao, wei, kan, peng), by type and size (3.1 to 3.7)."""
    return p.huxi[group_type, size_of(kind)]


@kernel
def tun_of(p: Params, huxi: int) -> int:
    """Rule 3.8 tun: base + one for each full step of huxi above the minimum."""
    return p.tun_base + (huxi - p.min_huxi) // p.tun_step


@kernel
def kans_value(p: Params, kans: int) -> int:
    """Huxi of all concealed kans (mask)."""
    total = 0
    for kind in range(KINDS):
        if (kans >> kind) & 1:
            total += p.huxi[KAN, size_of(kind)]
    return total


@kernel
def lift_gain(p: Params, seat: Ints, red: int) -> int:
    """Best gain of lifting one own kan or wei of that colour to a ti by a wang; ``NO_LIFT`` if there is none.

    Under changed tables a lift may lose huxi, so a negative gain is a gain all the same.
    """
    best = NO_LIFT
    for kind in range(KINDS):
        if is_red(kind) == red:
            if (seat[KANS] >> kind) & 1:
                best = max(best, p.huxi[TI, size_of(kind)] - p.huxi[KAN, size_of(kind)])
            if (seat[WEIS] >> kind) & 1:
                best = max(best, p.huxi[TI, size_of(kind)] - p.huxi[WEI, size_of(kind)])
    return best
