"""Statistics of simulated games: reads runs, never touches a card.

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.metrics import METRICS, Metric
    from analysis.sufficient import SufficientStats
    from analysis.summary import summarise, write_summary
    from analysis.tables import print_table, render_table

_HOMES = {
    "METRICS": "analysis.metrics",
    "Metric": "analysis.metrics",
    "SufficientStats": "analysis.sufficient",
    "print_table": "analysis.tables",
    "render_table": "analysis.tables",
    "summarise": "analysis.summary",
    "write_summary": "analysis.summary",
}

__all__ = [
    "METRICS",
    "Metric",
    "SufficientStats",
    "print_table",
    "render_table",
    "summarise",
    "write_summary",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
