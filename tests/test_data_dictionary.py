"""docs/data.md and docs/data.zh.md name every column with its type, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import compare, summary
from sim.manifest import Manifest, PartRecord, VariantRecord
from sim.rows import COLUMN_TYPES

DOCS = Path(__file__).parents[1] / "docs"
HEADING = re.compile(r"^##+ [^`\n]*`([^`\n]+)`", re.MULTILINE)

TYPED = {
    "games/<variant>/part-*.parquet": dict(COLUMN_TYPES),
    "summary.parquet": {name: kind.__name__ for name, kind in summary.SCHEMA.items()},
    "compare --csv": {name: kind.__name__ for name, kind in compare.SCHEMA.items()},
}
NAMED = {
    "manifest.json": list(Manifest.model_fields),
    "variants[]": list(VariantRecord.model_fields),
    "parts[]": list(PartRecord.model_fields),
}


def read_tables(page: str) -> dict[str, list[tuple[str, str, str]]]:
    """Name, type and meaning of each line, by the backquoted text in the heading above."""
    parts = HEADING.split((DOCS / page).read_text(encoding="utf-8"))
    tables = {}
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
        rows = [row for row in cells if row[0].startswith("`") and len(row) == 4]
        tables[heading] = [(name, row[1], row[3]) for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    return tables


@pytest.mark.parametrize("page", ["data.md", "data.zh.md"])
def test_every_column_is_there_and_no_other(page: str) -> None:
    tables = read_tables(page)
    assert set(tables) == TYPED.keys() | NAMED.keys()
    for heading, columns in TYPED.items():
        assert [(name, kind) for name, kind, _ in tables[heading]] == list(columns.items()), heading
    for heading, fields in NAMED.items():
        assert sorted(name for name, _, _ in tables[heading]) == sorted(fields), heading
    for rows in tables.values():
        assert all(len(meaning) > 1 for _, _, meaning in rows)


def test_units_of_the_summary_are_named() -> None:
    from analysis.metrics import METRICS

    for page in ("data.md", "data.zh.md"):
        line = next(
            line for line in (DOCS / page).read_text(encoding="utf-8").splitlines() if "| `unit` |" in line
        )
        assert {item.unit for item in METRICS.values()} == set(re.findall(r"`(\w+)`", line)) - {"unit"}
