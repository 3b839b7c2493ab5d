"""The game 永州扯胡子, and the machine that plays it many times.

``from sim import load_variant, simulate`` is all that most scripts need. Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.manifest import RunError, RunInterrupted
    from sim.run import Run, open_run, simulate
    from sim.variant import Variant, VariantError, load_variant

__all__ = [
    "Run",
    "RunError",
    "RunInterrupted",
    "Variant",
    "VariantError",
    "load_variant",
    "open_run",
    "simulate",
]

_HOMES = {
    "Run": "sim.run",
    "RunError": "sim.manifest",
    "RunInterrupted": "sim.manifest",
    "open_run": "sim.run",
    "simulate": "sim.run",
    "Variant": "sim.variant",
    "VariantError": "sim.variant",
    "load_variant": "sim.variant",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'sim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
