"""A metric with a width: ``draw_rate=0.002`` (absolute) or ``draw_rate=5%`` (of the value)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.metrics import MetricError, metric


@dataclass(frozen=True)
class Target:
    """A width asked of a metric.

    Attributes
    ----------
    key : str
        Metric.
    amount : float
        Positive: in the metric's unit (a share for rates), or a part of its value.
    relative : bool
        Whether ``amount`` is a part of the value.
    """

    key: str
    amount: float
    relative: bool = False

    def width(self, value: float) -> float:
        """Width in the metric's unit, for this value of it."""
        return self.amount * abs(value) if self.relative else self.amount

    def __str__(self) -> str:
        """As it is written on the command line."""
        return f"{self.key}={self.amount * 100:g}%" if self.relative else f"{self.key}={self.amount:g}"


def parse_target(text: str) -> Target:
    """Read ``metric=width``.

    Raises
    ------
    MetricError
        For an unknown metric, or a width that is no positive number.
    """
    key, equals, amount = (part.strip() for part in text.partition("="))
    wrong = MetricError(f"{text!r} must be METRIC=WIDTH, e.g. draw_rate=0.002 or draw_rate=5%")
    if not equals or not key:
        raise wrong
    item = metric(key)
    relative = amount.endswith("%")
    try:
        number = float(amount.removesuffix("%"))
    except ValueError:
        raise wrong from None
    if not math.isfinite(number) or number <= 0:
        raise MetricError(f"{text!r}: a width is a positive number, not {amount}")
    number = number / 100 if relative else number
    if item.unit == "share" and not relative and number >= 1:
        raise MetricError(f"{text!r}: {key} is a share, so its width is below 1 (0.002 are 0.2 points)")
    return Target(item.key, number, relative)


def parse_targets(texts: Sequence[str] | Mapping[str, float]) -> list[Target]:
    """Read several, each metric once.

    Parameters
    ----------
    texts : sequence of str, or mapping
        ``metric=width``, also several in one text separated by commas; or metric to absolute width.

    Raises
    ------
    MetricError
        For what cannot be read, or a metric given twice.
    """
    if isinstance(texts, Mapping):
        texts = [f"{key}={value!r}" for key, value in texts.items()]
    if isinstance(texts, str):
        texts = [texts]
    found: dict[str, Target] = {}
    for text in texts:
        for piece in text.split(","):
            target = parse_target(piece)
            if target.key in found:
                raise MetricError(f"{target.key}: two widths are given, one will do")
            found[target.key] = target
    return list(found.values())
