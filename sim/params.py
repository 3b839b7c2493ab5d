"""A variant compiled for the kernels: ints and small arrays, no names, no pydantic."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim._jit import record
from sim.cover import cover_tables, state_tables
from sim.groups import GROUP_SIZE, GROUP_TYPE, HUXI_TYPES, TYPE_NAMES
from sim.rows import FAN_NAMES

Ints = npt.NDArray[np.int64]

LIMIT_NONE, LIMIT_BY_FAN, LIMIT_BY_WANG = range(3)
WINNER, STAYS, NEXT = range(3)
OWNER, RANDOM = range(2)
SKIP_DISCARD, REPLACEMENT_DRAW = range(2)
XING_FOLLOW, XING_FLIP, XING_NONE = range(3)
DEALER_SIDE, ANY_WINNER, WINNER_ONLY = range(3)

# wang specials, also positions in Params.special_fan; 0 is none
DIAO, DIAO_WANG, CHUANG, CHUANG_WANG, ZHA, ZHA_WANG = range(1, 7)

MAX_REDS = 32

_CODES = {
    "win.wang_limit.mode": {"none": LIMIT_NONE, "by_fan": LIMIT_BY_FAN, "by_wang": LIMIT_BY_WANG},
    "table.dealer_after_win": {"winner": WINNER, "stays": STAYS, "next": NEXT},
    "table.dealer_after_draw": {"stays": STAYS, "next": NEXT},
    "table.first_dealer": {"owner": OWNER, "random": RANDOM},
    "turn.extra_quad": {"skip_discard": SKIP_DISCARD, "replacement_draw": REPLACEMENT_DRAW},
    "turn.peng_to_pao": {"any_draw": 1, "others_draw": 0},
    "xing.card": {"follow": XING_FOLLOW, "flip": XING_FLIP, "none": XING_NONE},
    "xing.payment": {"dealer_side": DEALER_SIDE, "any_winner": ANY_WINNER, "winner_only": WINNER_ONLY},
}


class Rulelike(Protocol):
    """What :func:`compile_params` needs of a variant."""

    def flat(self) -> dict[str, object]:
        """Every dotted key with its value."""
        ...


class Params(Protocol):
    """Rules as the kernels read them; made by :func:`compile_params`. Flags are 0 or 1."""

    wangs: int
    seats: int
    first_dealer: int
    dealer_after_win: int
    dealer_after_draw: int
    heavenly_win: int
    extra_quad: int
    own_draw_lifts_peng: int
    chi_from_upstream_draw: int
    blocks_chi: int
    blocks_peng: int
    own_discard_blocks_chi: int
    min_huxi: int
    forced_first: int
    declare_special: int
    limit: int
    special_only_from: int
    wang_ti: int
    tun_base: int
    tun_step: int
    zimo: int
    special_includes_zimo: int
    xing_card: int
    xing_payment: int
    xing_singles: int
    wang_payout: int
    wang_unit: int
    all_in_one: int
    stake: int
    cap: int
    explicit_wang: int
    """Whether a drawn wang's own group must be looked at (its value or fan may be worse than a plain one)."""
    red_min: int
    huxi: Ints
    """(9, 2): group type, size."""
    min_fan: Ints
    """(5,): least fan by wangs held; all 0 without ``by_fan``."""
    colour_fan: Ints
    """(33,): product of the colour fans by number of red cards."""
    special_fan: Ints
    """(7,): fan of the draw with each wang special; position 0 is a plain own draw."""
    group_huxi: Ints
    """(38,): value of each run and jiao."""
    covers: npt.NDArray[np.int16]
    """(2, 4, 15, 59049): see :mod:`sim.cover`."""
    states: npt.NDArray[np.int32]
    """(59049, 4): digits packed two bits a rank, number of cards, lonely ranks, ranks held."""


_STATES = state_tables()


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"whole number expected, not {value!r}")
    return int(value)


def compile_params(variant: Rulelike) -> Params:
    """Compile a variant for the kernels (kept for the last few variants)."""
    flat = variant.flat()
    return _compile(tuple((key, _frozen(value)) for key, value in flat.items()))


def _frozen(value: object) -> object:
    if isinstance(value, dict):
        return tuple(sorted((int(key), _int(item)) for key, item in value.items()))
    return value


@lru_cache(maxsize=64)
def _compile(items: tuple[tuple[str, object], ...]) -> Params:
    flat = dict(items)

    def number(key: str) -> int:
        return _int(flat[key])

    def code(key: str) -> int:
        return _CODES[key][str(flat[key])]

    huxi = np.array(
        [[number(f"huxi.{name}.{size}") for size in ("small", "large")] for name in TYPE_NAMES[:HUXI_TYPES]],
        dtype=np.int64,
    )
    fans = {name: number(f"fan.{name}") for name in FAN_NAMES}
    red_min = number("fan.red_min")
    colour = np.ones(MAX_REDS + 1, dtype=np.int64)
    for reds in range(MAX_REDS + 1):
        if reds >= red_min:
            colour[reds] *= fans["red"]
        if reds == 1:
            colour[reds] *= fans["one_red"]
        if reds == 0:
            colour[reds] *= fans["black"]
    keep_zimo = fans["zimo"] if flat["fan.special_includes_zimo"] else 1
    specials = [fans["zimo"], *(fans[name] * keep_zimo for name in FAN_NAMES[4:])]
    limit = code("win.wang_limit.mode")
    min_fan = np.zeros(5, dtype=np.int64)
    if limit == LIMIT_BY_FAN:
        table = flat["win.wang_limit.min_fan"]
        for wangs, fan in table:  # type: ignore[attr-defined]
            min_fan[wangs] = fan
    wang_ti = bool(flat["wang.ti"])
    kan_is_wei = bool((huxi[TYPE_NAMES.index("kan")] == huxi[TYPE_NAMES.index("wei")]).all())
    specials_pay = all(specials[i] >= specials[0] for i in (DIAO_WANG, CHUANG_WANG, ZHA_WANG))
    fields: dict[str, int | npt.NDArray[np.generic]] = dict(
        wangs=number("deck.wangs"),
        seats=number("table.seats"),
        first_dealer=code("table.first_dealer"),
        dealer_after_win=code("table.dealer_after_win"),
        dealer_after_draw=code("table.dealer_after_draw"),
        heavenly_win=number("deal.heavenly_win"),
        extra_quad=code("turn.extra_quad"),
        own_draw_lifts_peng=code("turn.peng_to_pao"),
        chi_from_upstream_draw=number("turn.chi_from_upstream_draw"),
        blocks_chi=number("pass.blocks_chi"),
        blocks_peng=number("pass.blocks_peng"),
        own_discard_blocks_chi=number("pass.own_discard_blocks_chi"),
        min_huxi=number("win.min_huxi"),
        forced_first=number("win.forced_first"),
        declare_special=number("win.declare_special"),
        limit=limit,
        special_only_from=number("win.wang_limit.special_only_from"),
        wang_ti=int(wang_ti),
        tun_base=number("tun.base"),
        tun_step=number("tun.step"),
        zimo=fans["zimo"],
        special_includes_zimo=number("fan.special_includes_zimo"),
        xing_card=code("xing.card"),
        xing_payment=code("xing.payment"),
        xing_singles=number("xing.singles"),
        wang_payout=number("draw.wang_payout.enabled"),
        wang_unit=number("draw.wang_payout.unit"),
        all_in_one=number("draw.wang_payout.all_in_one"),
        stake=number("stake"),
        cap=number("cap"),
        explicit_wang=int(not (kan_is_wei and specials_pay)),
        red_min=red_min,
        huxi=huxi,
        min_fan=min_fan,
        colour_fan=colour,
        special_fan=np.array(specials, dtype=np.int64),
        group_huxi=huxi[GROUP_TYPE, GROUP_SIZE],
        covers=cover_tables(huxi, wang_ti),
        states=_STATES,
    )
    params: Params = record(fields)
    return params
