"""One row a game: the columns, their order, their narrow types, and which may be empty."""

from __future__ import annotations

NULL = -(1 << 62)
"""Marks an empty field in the int64 rows that the engine writes."""

SEATS = 4

FAN_NAMES = (
    "red",
    "one_red",
    "black",
    "zimo",
    "wang_diao",
    "wang_diao_wang",
    "wang_chuang",
    "wang_chuang_wang",
    "wang_zha",
    "wang_zha_wang",
)
"""Rules 4.1 to 4.10, in this order; bit ``i`` of a names mask is ``FAN_NAMES[i]``."""

BY_NAMES = ("own", "other", "deal")
"""Codes 0, 1, 2 of the column ``by``."""

_PER_SEAT = ("wangs_dealt", "wangs_final", "score", "wang_paid")

COUNTERS = (
    "draws",
    "discards",
    "ti",
    "wei",
    "chou_wei",
    "pao",
    "peng",
    "chi",
    "dead",
    "passes",
    "decisions",
    "wall_left",
)

COLUMN_TYPES: dict[str, str] = {
    "game": "Int64",
    "session": "Int64",
    "dealer": "Int8",
    "sitter": "Int8",
    "winner": "Int8",
    "by": "Enum",
    "huxi": "Int16",
    "tun": "Int16",
    "fan": "Int32",
    "score": "Int64",
    "red_cards": "Int8",
    "wangs_win": "Int8",
    **dict.fromkeys(FAN_NAMES, "Boolean"),
    "xing": "Int8",
    "xing_kind": "Int8",
    **{f"{name}_{seat}": "Int8" for name in _PER_SEAT[:2] for seat in range(SEATS)},
    **{f"{name}_{seat}": "Int64" for name in _PER_SEAT[2:] for seat in range(SEATS)},
    "money_win": "Int64",
    "money_xing": "Int64",
    "money_wang": "Int64",
    **dict.fromkeys(COUNTERS, "Int16"),
}
"""Column name to polars type name."""

ROW_COLUMNS = tuple(COLUMN_TYPES)
COLUMN = {name: index for index, name in enumerate(ROW_COLUMNS)}
