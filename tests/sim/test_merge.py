"""``simulate --shard i/n`` and ``merge``: the bytes of one machine, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.cli import app
from analysis.summary import write_summary
from sim.manifest import RunError, read_manifest
from sim.merge import merge_runs
from sim.run import simulate

GAMES = {"games": 700, "chunk": 100, "seed": 3, "jobs": 1, "quiet": True}


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    for place in (1, 2, 3):
        simulate(["two_wang", "four_wang"], out=folder / str(place), shard=f"{place}/3", **GAMES)
    return folder


def test_merged_shards_are_the_run_of_one_machine(shards: Path, tmp_path: Path) -> None:
    whole = simulate(["two_wang", "four_wang"], out=tmp_path / "whole", **GAMES)
    write_summary(whole)
    merged = merge_runs([shards / "3", shards / "1", shards / "2"], tmp_path / "merged")
    write_summary(merged)
    assert merged.status == "complete" and merged.manifest.shard is None
    names = sorted(path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*.*"))
    assert len(names) == 14 + 3
    for name in names:
        if name.name != "manifest.json":
            assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "merged" / name).read_bytes(), name
    assert merged.parts == whole.parts


def test_a_shard_knows_its_share_and_can_be_resumed(shards: Path, tmp_path: Path) -> None:
    manifest = read_manifest(shards / "1")
    assert manifest.shard == "1/3" and manifest.done == manifest.total == 2 * 300
    assert [part.first for part in manifest.parts if part.variant == "two_wang"] == [0, 300, 600]
    copy = Path(shutil.copytree(shards / "1", tmp_path / "copy"))
    (copy / manifest.parts[2].file).unlink()
    with pytest.raises(RunError, match="not as recorded"):
        merge_runs([copy, shards / "2", shards / "3"], tmp_path / "merged")
    again = simulate(["two_wang", "four_wang"], out=copy, shard="1/3", resume=True, **GAMES)
    assert again.parts == tuple(manifest.parts)
    with pytest.raises(RunError, match="shard is 1/3 there, 2/3 now"):
        simulate(["two_wang", "four_wang"], out=copy, shard="2/3", resume=True, **GAMES)


def test_what_is_refused(shards: Path, tmp_path: Path) -> None:
    other = simulate(["two_wang", "four_wang"], out=tmp_path / "other", shard="2/3", **{**GAMES, "seed": 4})
    whole = simulate("two_wang", out=tmp_path / "whole", **GAMES)
    for folders, words in (
        (["1", "2"], "shard 3/3 is missing"),
        (["1", "2", "2"], "is shard 2/3 again"),
        (["1", other.path, "3"], "of another run: seed is 3 there, 4 here"),
        (["1", whole.path], "is a whole run, no shard"),
    ):
        with pytest.raises(RunError, match=words):
            merge_runs([shards / name for name in folders], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
    for text in ("0/3", "4/3", "x", "1/0", "1/3/5", "-1/3"):
        with pytest.raises(RunError, match="i/n with"):
            simulate("two_wang", out=tmp_path / "bad", shard=text, **GAMES)
    with pytest.raises(RunError, match="cannot be shared among 9"):
        simulate("two_wang", out=tmp_path / "bad", shard="1/9", **GAMES)


def test_command(shards: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    done = CliRunner().invoke(app, ["merge", *(str(shards / n) for n in "123"), "--out", str(out), "--csv"])
    assert done.exit_code == 0
    assert done.stdout.encode() == (out / "summary.csv").read_bytes()
