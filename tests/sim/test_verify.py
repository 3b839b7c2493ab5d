"""``chehuzi verify``: a flipped bit anywhere is found and named; so is a row that is wrong under a right hash."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from analysis.cli import app
from analysis.summary import write_summary
from analysis.verify import verify
from sim.manifest import MANIFEST, RunError, dump_manifest, hash_file, read_manifest
from sim.run import simulate
from sim.verify import verify_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("verify") / "run"
    run = simulate(
        ["two_wang", "four_wang"], games=240, chunk=60, session=4, seed=5, jobs=1, out=out, quiet=True
    )
    write_summary(run)
    return out


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_a_whole_run_has_no_findings(finished: Path) -> None:
    result = verify(finished, sample=40)
    assert result.ok and result.findings == ()
    assert (result.parts, result.rows, result.replayed) == (8, 480, 80)


def test_a_flipped_bit_anywhere_is_found_and_named(run: Path) -> None:
    dice = random.Random(1)
    files = sorted(path for path in run.rglob("*") if path.is_file())
    assert len(files) == 11
    for path in files:
        kept = path.read_bytes()
        for _ in range(12 if path.name == MANIFEST else 4):
            bit = dice.randrange(8 * len(kept))
            data = bytearray(kept)
            data[bit // 8] ^= 1 << bit % 8
            path.write_bytes(data)
            try:
                found = {finding.file for finding in verify(run, sample=0).findings}
            except RunError as error:  # a manifest that cannot be read names itself
                found = {path.name} if path.name in str(error) else set()
            assert path.relative_to(run).as_posix() in found, (path, bit)
        path.write_bytes(kept)
    assert verify(run, sample=0).ok


def _forge(run: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> str:
    """Change the rows of a part and record it as if it had been written so."""
    manifest = read_manifest(run)
    part = manifest.parts[1]
    path = run / part.file
    rows = change(pl.read_parquet(path))
    rows.write_parquet(path)
    new = part.model_copy(update={"sha256": hash_file(path), "bytes": path.stat().st_size})
    parts = [manifest.parts[0], new, *manifest.parts[2:]]
    (run / MANIFEST).write_bytes(dump_manifest(manifest.model_copy(update={"parts": parts})))
    return part.file


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("games", lambda rows: rows.with_columns(pl.col("game").replace(70, 71))),
        ("games", lambda rows: rows.reverse()),
        ("games", lambda rows: rows.with_columns(pl.lit(3, dtype=pl.Int64).alias("session"))),
        ("rows", lambda rows: rows.head(50)),
        ("transfers", lambda rows: rows.with_columns(pl.col("score_0") + 1)),
        ("wangs", lambda rows: rows.with_columns(pl.col("wangs_final_0") + 3)),
        ("wangs", lambda rows: rows.with_columns(pl.col("wangs_dealt_0") + 3)),
        ("rows", lambda rows: rows.with_columns(pl.lit(None, dtype=pl.Int8).alias("winner"))),
        ("replay", lambda rows: rows.with_columns(pl.col("chi") + 1)),
    ],
)
def test_wrong_rows_under_a_right_hash(
    run: Path, kind: str, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    file = _forge(run, change)
    findings = verify_run(run, sample=240).findings
    assert (file, kind) in {(finding.file, finding.kind) for finding in findings}


def test_a_missing_part_a_stranger_and_a_false_summary(run: Path) -> None:
    manifest = read_manifest(run)
    (run / manifest.parts[0].file).unlink()
    (run / "notes.txt").write_text("mine")
    found = {(finding.file, finding.kind) for finding in verify_run(run, sample=10).findings}
    assert found == {(manifest.parts[0].file, "hash"), ("notes.txt", "stranger")}


def test_command(finished: Path, run: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    good = runner.invoke(app, ["verify", str(finished), "--sample", "8", "--lang", "zh"])
    assert good.exit_code == 0 and "没有发现问题" in good.output
    (run / "summary.csv").write_text("variant\n")
    bad = runner.invoke(app, ["verify", str(run), "--json", "--sample", "0"])
    shown = json.loads(bad.stdout)
    assert not shown["ok"] and [finding["file"] for finding in shown["findings"]] == ["summary.csv"]
    with pytest.raises(RunError, match="no run folder"):
        verify(tmp_path)
