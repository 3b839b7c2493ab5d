"""Writes ``docs/licences.md``: every package that chehuzi needs to run, its version here and its licence."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Licences of what chehuzi runs on

chehuzi itself: MIT. The packages below are installed by their own makers' names and are not part of this repository.
Written by `make licences` from what is installed; direct dependencies are in bold.

| package | version | licence |
|---|---|---|
"""


def licence(found: Distribution) -> str:
    """What a package says of its licence, in a few words."""
    data = found.metadata
    named = [
        text.rpartition(" :: ")[2]
        for text in data.get_all("Classifier") or []
        if text.startswith("License :: ")
    ]
    text = data.get("License-Expression") or ", ".join(named) or (data.get("License") or "").strip()
    return text.splitlines()[0][:80] if text else "not stated"


def needs(found: Distribution) -> list[str]:
    """Names of what a package needs without any extra."""
    plain = [text for text in found.requires or [] if "extra ==" not in text and "win32" not in text]
    return [re.split(r"[\s<>=!~;\[(]", text, maxsplit=1)[0] for text in plain]


def main() -> int:
    """Write the list."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    direct = {text.partition(">=")[0].lower() for text in project["dependencies"]}
    seen: dict[str, Distribution] = {}
    open_names = sorted(direct)
    while open_names:
        name = open_names.pop().lower()
        if name not in seen:
            try:
                seen[name] = distribution(name)
            except PackageNotFoundError:  # only for other systems or Pythons
                continue
            open_names += needs(seen[name])
    rows = [
        f"| {f'**{name}**' if name in direct else name} | {seen[name].version} | {licence(seen[name])} |"
        for name in sorted(seen)
    ]
    (ROOT / "docs" / "licences.md").write_text(HEAD + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
