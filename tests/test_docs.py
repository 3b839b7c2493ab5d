"""The documents: no dead link, English and Chinese linked to each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\(([^)\s]+)\)")


def targets(page: Path) -> list[str]:
    """Files that a page links to, without anchors."""
    found = [link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
    return [link for link in found if link and "://" not in link]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in targets(page) if not (page.parent / link).exists()] == []


def test_languages_are_linked() -> None:
    for page in DOCS.glob("*.zh.md"):
        english = page.with_name(page.name.replace(".zh.md", ".md"))
        assert english.name in targets(page), page.name
        assert page.name in targets(english), english.name
