"""``chehuzi verify``: the checks of :mod:`sim.verify`, and the summary against one made anew."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from analysis.summary import write_summary
from sim.store import SUMMARIES, open_run
from sim.verify import Finding, Verification, verify_run

WORDS = {
    "en": {
        "ok": "{parts:,} parts, {rows:,} rows, {replayed:,} games played again: nothing wrong",
        "bad": "{parts:,} parts, {rows:,} rows, {replayed:,} games played again: {n} findings",
        "skipped": "no games played again: {why}",
        "status": "the run is {status}",
    },
    "zh": {
        "ok": "{parts:,} 个分块、{rows:,} 行、重打 {replayed:,} 局：没有发现问题",
        "bad": "{parts:,} 个分块、{rows:,} 行、重打 {replayed:,} 局：发现 {n} 处问题",
        "skipped": "没有重打：{why}",
        "status": "运行状态：{status}",
    },
}


def check_summary(path: Path) -> list[Finding]:
    """The stored summary, byte by byte, against the one that the parts give."""
    run = open_run(path)
    stored = {name: (path / name).read_bytes() for name in SUMMARIES if (path / name).is_file()}
    if not stored or run.manifest.status != "complete":
        return []
    with tempfile.TemporaryDirectory() as folder:
        write_summary(run, folder=folder)
        return [
            Finding(name, "hash", "is not the summary of these games")
            for name, data in stored.items()
            if (Path(folder) / name).read_bytes() != data
        ]


def verify(path: str | Path, sample: int = 200) -> Verification:
    """All checks of a run folder; see :func:`sim.verify.verify_run`."""
    result = verify_run(path, sample)
    if any(finding.kind != "stranger" for finding in result.findings):
        return result  # a summary of damaged parts says nothing new
    return replace(result, findings=(*result.findings, *check_summary(Path(path))))


def verdict(result: Verification, lang: str) -> list[str]:
    """What is printed: one line a finding, then one line of what was looked at."""
    words = WORDS[lang]
    lines = [f"{finding.file}: {finding.kind}: {finding.problem}" for finding in result.findings]
    if result.skipped:
        lines.append(words["skipped"].format(why=result.skipped))
    if result.status != "complete":
        lines.append(words["status"].format(status=result.status))
    counts = {"parts": result.parts, "rows": result.rows, "replayed": result.replayed}
    lines.append(words["ok" if result.ok else "bad"].format(n=len(result.findings), **counts))
    return lines
