"""Hypothesis strategies that several tests use."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def _sizes(group: str, most: int = 15) -> dict[str, Any]:
    return {f"huxi.{group}.{size}": st.integers(0, most) for size in ("small", "large")}


def key_values() -> dict[str, st.SearchStrategy[Any]]:
    """Every dotted key with a strategy over legal values of playable size."""
    flag = st.booleans()
    groups = ("ti", "pao", "wei", "kan", "peng", "two_seven_ten", "one_two_three", "run", "jiao")
    fans = (
        "red", "one_red", "black", "zimo", "wang_diao", "wang_diao_wang", "wang_chuang", "wang_chuang_wang",
        "wang_zha", "wang_zha_wang",
    )  # fmt: skip
    values: dict[str, st.SearchStrategy[Any]] = {
        "deck.wangs": st.integers(0, 4),
        "table.seats": st.sampled_from([3, 4]),
        "table.first_dealer": st.sampled_from(["owner", "random"]),
        "table.dealer_after_win": st.sampled_from(["winner", "stays", "next"]),
        "table.dealer_after_draw": st.sampled_from(["next", "stays"]),
        "deal.heavenly_win": flag,
        "turn.extra_quad": st.sampled_from(["skip_discard", "replacement_draw"]),
        "turn.peng_to_pao": st.sampled_from(["any_draw", "others_draw"]),
        "turn.chi_from_upstream_draw": flag,
        "pass.blocks_chi": flag,
        "pass.blocks_peng": flag,
        "pass.own_discard_blocks_chi": flag,
        "win.min_huxi": st.integers(0, 30),
        "win.forced_first": flag,
        "win.declare_special": flag,
        "win.wang_limit.mode": st.sampled_from(["none", "by_fan", "by_wang"]),
        "win.wang_limit.min_fan": st.lists(st.integers(1, 40), min_size=4, max_size=4).map(
            lambda fans: dict(zip((1, 2, 3, 4), sorted(fans), strict=True))
        ),
        "win.wang_limit.special_only_from": st.integers(2, 5),
        "wang.ti": flag,
        "tun.base": st.integers(0, 5),
        "tun.step": st.integers(1, 6),
        "fan.red_min": st.integers(0, 14),
        "fan.special_includes_zimo": flag,
        "xing.card": st.sampled_from(["follow", "flip", "none"]),
        "xing.payment": st.sampled_from(["dealer_side", "any_winner", "winner_only"]),
        "xing.singles": st.sampled_from([1, 2]),
        "draw.wang_payout.enabled": flag,
        "draw.wang_payout.unit": st.integers(0, 20),
        "draw.wang_payout.all_in_one": st.integers(1, 5),
        "stake": st.integers(1, 10),
        "cap": st.integers(0, 200),
    }
    for group in groups:
        values |= _sizes(group)
    return values | {f"fan.{name}": st.integers(1, 33) for name in fans}


@st.composite
def variant_overrides(draw: st.DrawFn, least: int = 0) -> dict[str, object]:
    """Overrides of ``base`` that make a legal variant: any keys, any legal values."""
    values = key_values()
    names = draw(st.lists(st.sampled_from(sorted(values)), unique=True, min_size=least, max_size=len(values)))
    return {name: draw(values[name]) for name in names}
