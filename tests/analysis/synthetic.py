"""Made-up game rows that keep the rules' books: scores sum to zero, fan is the product of its names.

They are drawn from laws that are known, so that tests can compare intervals with the truth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from sim.rows import BY_NAMES, COLUMN_TYPES, FAN_NAMES

FACTORS = dict(zip(FAN_NAMES, (2, 3, 4, 2, 4, 8, 8, 16, 16, 32), strict=True))
SCHEMA: dict[str, Any] = {
    name: pl.Enum(BY_NAMES) if kind == "Enum" else getattr(pl, kind) for name, kind in COLUMN_TYPES.items()
}


def synthetic(
    n: int,
    seed: int = 1,
    *,
    seats: int = 4,
    wangs: int = 4,
    draw_rate: float = 0.1,
    role_rates: tuple[float, float, float] = (0.4, 0.3, 0.3),
    rotate: bool = False,
    session: int | None = None,
) -> pl.DataFrame:
    """Rows of ``n`` games; columns and types as in ``sim.rows``.

    Parameters
    ----------
    n, seed : int
        Games, and seed of the numpy generator.
    seats : {3, 4}
        Seats at the table.
    wangs : int
        Wangs in the deck.
    draw_rate : float
        Chance of a draw game.
    role_rates : three floats
        Chances of dealer, next and third among the games won.
    rotate : bool
        Deal from a random seat instead of seat 0.
    session : int, optional
        Games a session; without it every game stands alone.
    """
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {"game": np.arange(n)}
    columns["session"] = None if session is None else np.arange(n) // session
    dealer = rng.integers(seats, size=n) if rotate else np.zeros(n, dtype=np.int64)
    columns["dealer"] = dealer
    columns["sitter"] = (dealer + 2) % 4 if seats == 4 else None
    role_seat = np.stack([dealer, (dealer + 1) % seats, (dealer + seats - 1) % seats], axis=1)

    drawn = rng.random(n) < draw_rate
    won = ~drawn
    role = rng.choice(3, p=role_rates, size=n)
    winner = role_seat[np.arange(n), role]
    wall = 19 + wangs
    dealt = rng.multivariate_hypergeometric([21, 20, 20, wall], wangs, size=n)
    final = dealt[:, :3].copy()
    # Each wang of the wall is drawn by someone; when the game is won early, some stay in the wall.
    for _ in range(wangs):
        left = wangs - final.sum(axis=1)
        takes = (left > 0) & (drawn | (rng.random(n) < 0.5))
        final[np.flatnonzero(takes), rng.integers(3, size=n)[takes]] += 1
    held = np.where(won, final[np.arange(n), role], 0)

    own = (held > 0) | (rng.random(n) < 0.5)
    heavenly = won & (role == 0) & (rng.random(n) < 0.01)
    own |= heavenly
    by = np.where(heavenly, 2, np.where(own, 0, 1))
    names = {name: np.zeros(n, dtype=bool) for name in FAN_NAMES}
    colour = rng.choice(4, p=(0.7, 0.22, 0.05, 0.03), size=n)
    for code, name in enumerate(("red", "one_red", "black"), start=1):
        names[name] = won & (colour == code)
    special = won & (held > 0) & ~heavenly & (rng.random(n) < 0.3)
    wang_draw = rng.random(n) < 0.3
    for least, name in ((1, "wang_diao"), (2, "wang_chuang"), (3, "wang_zha")):
        names[name] = special & ~wang_draw & (np.minimum(held, 3) == least)
        names[f"{name}_wang"] = special & wang_draw & (np.minimum(held - 1, 3) == least)
    any_special = np.any([names[name] for name in FAN_NAMES[4:]], axis=0)
    names["zimo"] = won & own & ~any_special
    fan = np.prod([np.where(names[name], FACTORS[name], 1) for name in FAN_NAMES], axis=0)
    huxi = 15 + np.minimum(rng.geometric(0.25, size=n) - 1, 60)
    tun = 1 + (huxi - 15) // 3
    score = tun * fan
    xing = np.where(heavenly, 1, rng.choice(5, p=(0.3, 0.4, 0.2, 0.08, 0.02), size=n))

    # Money by role: dealer, next, third, sitter.
    money = np.zeros((n, 4), dtype=np.int64)
    single = xing * fan
    xing_total = np.zeros(n, dtype=np.int64)
    for code in range(3):
        mine = won & (role == code)
        for other in range(3):
            if other == code:
                continue
            if seats == 3:
                extra, sitter = 2 * single, 0 * single
            elif code == 0:
                extra, sitter = single, single  # dealer wins: the sitter's single is on top
            else:
                extra, sitter = (2 * single if other != 0 else single), 0 * single
            pay = np.where(mine, score + extra + sitter, 0)
            money[:, other] -= pay
            money[:, code] += pay - np.where(mine, sitter, 0)
            money[:, 3] += np.where(mine, sitter, 0)
            xing_total += np.where(mine, extra + sitter, 0)
        if seats == 4 and code != 0:
            money[:, 3] -= np.where(mine, single, 0)
            money[:, code] += np.where(mine, single, 0)
            xing_total += np.where(mine, single, 0)
    win_total = np.where(won, 2 * score, 0)
    paid = np.zeros((n, 4), dtype=np.int64)
    for code in range(3):
        whole = np.where((final[:, code] == wangs) & (wangs > 0), 2, 1)
        for other in range(4):
            if other == code or (other == 3 and (code == 0 or seats == 3)):
                continue
            without = np.ones(n, dtype=bool) if other == 3 else final[:, other] == 0
            factor = np.ones(n, dtype=np.int64) if other == 3 else whole
            pay = np.where(drawn & without, 5 * final[:, code] * factor, 0)
            money[:, code] -= pay
            money[:, other] += pay
            paid[:, code] += pay

    columns["winner"] = np.where(won, winner, -1)
    columns["by"] = by
    for name, values in (("huxi", huxi), ("tun", tun), ("fan", fan), ("score", score)):
        columns[name] = values
    columns["red_cards"] = rng.integers(0, 15, size=n)
    columns["wangs_win"] = held
    columns |= names
    columns["xing"] = xing
    columns["xing_kind"] = rng.integers(20, size=n)
    seat_of = [*role_seat.T] + ([(dealer + 2) % 4] if seats == 4 else [])
    for name, by_role in (
        ("wangs_dealt", dealt),
        ("wangs_final", final),
        ("score", money),
        ("wang_paid", paid),
    ):
        for seat in range(4):
            values = np.full(n, -(10**6))
            for code, where in enumerate(seat_of):
                if not (code == 3 and name.startswith("wangs")):
                    values = np.where(where == seat, by_role[:, code], values)
            columns[f"{name}_{seat}"] = pl.Series(values).replace(-(10**6), None)
    columns["money_win"] = win_total
    columns["money_xing"] = xing_total
    columns["money_wang"] = paid.sum(axis=1)
    draws = np.where(drawn, wall, np.where(heavenly, 0, rng.binomial(wall, 0.55, size=n)))
    columns["draws"] = draws
    columns["discards"] = draws // 2 + rng.integers(0, 5, size=n)
    for name, mean in (
        ("ti", 0.3),
        ("wei", 1.5),
        ("chou_wei", 0.1),
        ("pao", 0.6),
        ("peng", 1.2),
        ("chi", 4.0),
    ):
        columns[name] = rng.poisson(mean, size=n)
    columns["dead"] = (rng.random(n) < 0.01).astype(np.int64)
    columns["passes"] = rng.poisson(5.0, size=n)
    columns["decisions"] = columns["passes"] + columns["peng"] + columns["chi"] + columns["discards"]
    columns["wall_left"] = wall - draws

    frame = pl.DataFrame(
        {name: values for name, values in columns.items() if values is not None}
    ).with_columns(
        *(pl.lit(None).alias(name) for name, values in columns.items() if values is None),
        pl.Series("by", [BY_NAMES[code] for code in by]),
        pl.col("winner").replace(-1, None),
    )
    in_win = ["by", "huxi", "tun", "fan", "score", "red_cards", "wangs_win", "xing", "xing_kind"]
    frame = frame.with_columns(pl.when(pl.col("winner").is_not_null()).then(pl.col(in_win)))
    return frame.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
