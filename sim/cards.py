"""The cards: 20 kinds and the wang, how they are written and read.

Kinds 0 to 9 are small 一 to 十, 10 to 19 large 壹 to 拾; 20 is the wang. ``kind ^`` is never used: the same
rank of the other size is :func:`other_size`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sim._jit import kernel

KINDS = 20
WANG = 20
NO_CARD = -1
RANKS = 10

FACES = "一二三四五六七八九十壹贰叁肆伍陆柒捌玖拾王"
ASCII_FACES = tuple([f"s{i}" for i in range(1, 11)] + [f"b{i}" for i in range(1, 11)] + ["w"])

RED_RANKS = (1, 6, 9)  # 2, 7 and 10, counted from 0
RED_MASK = sum(1 << rank | 1 << (rank + RANKS) for rank in RED_RANKS)
"""Rule 1.1 deck: bit ``kind`` is set for the red kinds, 2, 7 and 10 of both sizes."""

_BY_TEXT = {face: kind for kind, face in enumerate(FACES)} | {
    face: kind for kind, face in enumerate(ASCII_FACES)
}
_TOKEN = re.compile(r"[sSbB](?:10|[1-9])(?![0-9])|[wW]|[^\s,，、]")


class CardError(ValueError):
    """A text that is no card text; the message says where and what would be right."""


def parse_cards(text: str) -> list[int]:
    """Read cards from Chinese faces or ASCII (``s1``…``s10``, ``b1``…``b10``, ``w``), spaces and commas between.

    Returns
    -------
    list of int
        Kinds in the order of the text.

    Raises
    ------
    CardError
        For the first piece that is no card.
    """
    cards = []
    for match in _TOKEN.finditer(text):
        token = match.group().lower()
        kind = _BY_TEXT.get(token)
        if kind is None:
            shown = token if token.isprintable() else repr(token)
            raise CardError(
                f"{shown!r} at position {match.start() + 1} is no card; cards are {FACES} or s1…s10, b1…b10, w"
            )
        cards.append(kind)
    return cards


def show_cards(kinds: Iterable[int], ascii: bool = False) -> str:
    """Write cards as one string: Chinese faces, or with ``ascii`` tokens with spaces between."""
    if ascii:
        return " ".join(ASCII_FACES[kind] for kind in kinds)
    return "".join(FACES[kind] for kind in kinds)


def card_name(kind: int, ascii: bool = False) -> str:
    """One card."""
    return ASCII_FACES[kind] if ascii else FACES[kind]


@kernel
def is_red(kind: int) -> int:
    """1 for a red kind (2, 7, 10 of either size), else 0."""
    return (RED_MASK >> kind) & 1


@kernel
def size_of(kind: int) -> int:
    """0 for small, 1 for large."""
    return 1 if kind >= RANKS else 0


@kernel
def other_size(kind: int) -> int:
    """The kind of the same rank in the other size."""
    return kind - RANKS if kind >= RANKS else kind + RANKS
