"""Random words: raw Philox4x64 output, one row a game, so that game ``i`` never depends on its neighbours.

NumPy keeps the raw stream of a bit generator stable over versions, but not what ``Generator`` makes of it;
so only raw words are taken and the shuffle is our own (:func:`sim.rules.deal.shuffle`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim._jit import kernel

STREAM_DEAL = 0
STREAM_BOTS = 1
STREAM_STRATA = 2

DEAL_WORDS = 88
"""32-bit words a deal may use: 79 for the shuffle, one a wang, one for the first dealer, rounded up."""
BOT_WORDS = 8
"""32-bit words a game for the bots: two a role."""

_WORDS_PER_BLOCK = 8  # a Philox block is four 64-bit words


def words(seed: int, stream: int, first: int, count: int, width: int) -> npt.NDArray[np.int64]:
    """Words of games ``first`` to ``first + count - 1``.

    Parameters
    ----------
    seed : int
        0 to 2**64 - 1.
    stream : int
        Which of the independent streams.
    first, count : int
        The games.
    width : int
        32-bit words a game, a multiple of 8.

    Returns
    -------
    ndarray of int64, shape (count, width)
        Each 0 to 2**32 - 1.
    """
    if width % _WORDS_PER_BLOCK:
        raise ValueError("width must be a multiple of 8")
    blocks = width // _WORDS_PER_BLOCK
    generator = np.random.Philox(key=np.array([seed, stream], dtype=np.uint64))
    generator.advance(first * blocks)
    raw = generator.random_raw(count * blocks * 4).astype("<u8")
    return raw.view("<u4").astype(np.int64).reshape(count, width)


@kernel
def mix(value: int) -> int:
    """Scatter a 32-bit integer over 32 bits (multiply and shift, constants below 2**31 so that int64 holds it)."""
    value = value & 0xFFFFFFFF
    value = ((value ^ (value >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    value = ((value ^ (value >> 15)) * 0x6C8E9CF5) & 0xFFFFFFFF
    return value ^ (value >> 16)


@kernel
def below(word_a: int, word_b: int, number: int, bound: int) -> int:
    """Integer in 0..bound-1 for decision ``number`` of a bot whose game words are ``word_a`` and ``word_b``.

    One decision more or less does not shift the others: each is hashed from its own number.
    """
    value = mix(word_a + 0x9E3779B9 * (number + 1))
    value = mix(value ^ word_b)
    return (value * bound) >> 32
