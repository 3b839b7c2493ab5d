"""The run folder: what a manifest may say, who holds a folder, what resuming accepts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import run_fakes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_fakes import FakeVariant, contents, run

from sim import store
from sim.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    Manifest,
    RunError,
    dump_manifest,
    is_safe_label,
    read_manifest,
)
from sim.parts import TEMPORARY, rows_schema, rows_to_frame, write_atomic
from sim.rows import BY_NAMES, COLUMN, NULL, ROW_COLUMNS
from sim.run import make_labels
from sim.store import FolderLock, is_held, open_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small complete run; tests that change it work on a copy."""
    return run(tmp_path_factory.mktemp("run") / "run", games=2500).path


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(finished, tmp_path / "copy"))


def edit(folder: Path, change: Any) -> None:
    data = json.loads((folder / MANIFEST).read_text())
    change(data)
    (folder / MANIFEST).write_text(json.dumps(data))


# --- rows and files ---


def test_rows_keep_their_values_in_narrow_types() -> None:
    rows = run_fakes.play({"win.min_huxi": 15}, ("a", "a", "a"), 1, 0, 500, 0)
    frame = rows_to_frame(rows)
    assert frame.schema == pl.Schema(rows_schema())
    assert frame.columns == list(ROW_COLUMNS)
    for name in ROW_COLUMNS:
        wanted: list[Any] = [None if value == NULL else int(value) for value in rows[:, COLUMN[name]]]
        if name == "by":
            wanted = [None if code is None else BY_NAMES[code] for code in wanted]
        assert frame[name].to_list() == wanted, name
    assert frame["winner"].null_count() > 0


def test_a_value_too_wide_for_its_column_is_an_error() -> None:
    rows = run_fakes.play_too_wide({"win.min_huxi": 15}, ("a", "a", "a"), 1, 0, 5, 0)
    with pytest.raises(OverflowError, match="huxi"):
        rows_to_frame(rows)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "file"
    write_atomic(target, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


# --- labels ---


def test_labels_are_distinct_also_where_case_does_not_count() -> None:
    assert make_labels(["two", "two", "Two", "two-2"]) == ["two", "two-2", "Two-3", "two-2-2"]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("four_wang+by_wang", "four_wang+by_wang"),
        ("永州三王", "永州三王"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("..", "variant_"),
        ("", "variant_"),
        ("con", "variant_con"),
        ("nul.txt", "variant_nul.txt"),
        ("a b\n\x1b[31m", "a_b_31m"),
        ("-rf", "rf"),
    ],
)
def test_labels_are_safe_folder_names(name: str, label: str) -> None:
    assert make_labels([name]) == [label]
    assert is_safe_label(label)


@given(st.lists(st.text(max_size=80), max_size=8))
def test_any_names_make_safe_and_distinct_labels(names: list[str]) -> None:
    labels = make_labels(names)
    assert all(is_safe_label(label) for label in labels)
    assert len({label.casefold() for label in labels}) == len(names)
    assert all(len(label.encode()) < 250 for label in labels)


# --- the manifest ---


def test_manifest_survives_a_round_trip(finished: Path) -> None:
    manifest = read_manifest(finished)
    assert Manifest.model_validate_json(dump_manifest(manifest)) == manifest
    assert dump_manifest(manifest) == (finished / MANIFEST).read_bytes()
    assert manifest.status == "complete"
    assert manifest.done == manifest.total == 5000
    assert [part.count for part in manifest.parts] == [1000, 1000, 500] * 2
    assert manifest.variants[0].flat()["win.wang_limit.min_fan"] == {"1": 2, "2": 4}


def set_in(*steps: Any, value: Any) -> Any:
    def change(data: Any) -> None:
        for step in steps[:-1]:
            data = data[step]
        data[steps[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_in("format", value=2), "format: this program reads run folders of format 1 only"),
        (set_in("seed", value=-1), "seed: "),
        (set_in("seed", value="1"), "seed: "),
        (set_in("seed", value=True), "seed: "),
        (set_in("seed", value=10**400), "seed: "),
        (set_in("games", value=0), "games: "),
        (set_in("games", value=1e3), "games: "),
        (set_in("chunk", value=10**9), "chunk: "),
        (set_in("status", value="done"), "status: "),
        (set_in("bots", value=["a", "b"]), "bots"),
        (set_in("variants", value=[]), "variants: "),
        (set_in("surprise", value=1), "surprise: "),
        (
            set_in("variants", 0, "label", value="../../outside"),
            "variants.0.label: '../../outside' is no safe",
        ),
        (set_in("variants", 0, "label", value="/etc"), "variants.0.label: "),
        (set_in("variants", 0, "label", value="OTHER"), "variants: two have the same label"),
        (set_in("variants", 0, "keys", "x", value=[1]), "variants.0.keys.x"),
        (set_in("variants", 0, "keys", "x", value=10**300), "variants.0.keys.x"),
        (set_in("variants", 0, "digest", value="zz"), "variants.0.digest: "),
        (
            set_in("parts", 0, "file", value="../../../etc/passwd"),
            "parts.0.file: must be 'games/two/part-00000",
        ),
        (set_in("parts", 0, "file", value="/etc/passwd"), "parts.0.file: must be"),
        (set_in("parts", 0, "file", value="games/two/part-00001.parquet"), "parts.0.file: must be"),
        (set_in("parts", 0, "variant", value="nobody\x1b[2J"), "parts.0.variant: no variant 'nobody?[2J'"),
        (set_in("parts", 0, "first", value=10**12), "parts.0.first: "),
        (set_in("parts", 0, "first", value=1), "parts.0.first: "),
        (set_in("parts", 0, "count", value=999), "parts.0.count: "),
        (set_in("parts", 0, "rows", value=999), "parts.0.count: "),
        (set_in("parts", 0, "draw_games", value=1001), "parts.0.draw_games: "),
        (set_in("parts", 0, "sha256", value="A" * 64), "parts.0.sha256: "),
        (set_in("session", value=7), "chunk: 1000 is no multiple of session 7"),
        (lambda data: data["parts"].append(data["parts"][0]), "is listed twice"),
        (lambda data: data["parts"].pop(), "status: complete, but 4500 of 5000"),
        (lambda data: data.pop("seed"), "seed: "),
    ],
)
def test_a_manifest_that_lies_is_refused_in_one_line(copy: Path, change: Any, words: str) -> None:
    edit(copy, change)
    with pytest.raises(RunError) as caught:
        open_run(copy)
    message = str(caught.value)
    assert words in message
    assert message.startswith(str(copy / MANIFEST))
    assert message.isprintable()
    assert len(message) < 500


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"seed": 1' + b"0" * 100_000 + b"}",
        b'{"seed": NaN}',
        b'{"seed": 1e999}',
        b'{"command": ["' + b"\\u0000" * 1000 + b'"]}',
    ],
    ids=range(11),
)
def test_a_manifest_that_is_rubbish_is_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(data)
    with pytest.raises(RunError) as caught:
        open_run(tmp_path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_a_huge_manifest_is_not_read_into_memory(tmp_path: Path) -> None:
    with (tmp_path / MANIFEST).open("wb") as stream:
        stream.truncate(MAX_MANIFEST_BYTES * 100)
    with pytest.raises(RunError, match="larger than"):
        open_run(tmp_path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_a_manifest_is_refused_or_harmless(
    finished: Path, copy: Path, data: st.DataObject
) -> None:
    rubbish = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.just([]), st.just({})
    )
    content = json.loads((finished / MANIFEST).read_text())
    place: Any = content
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        if data.draw(st.booleans()):
            place[key] = data.draw(rubbish)
        else:
            del place[key]
        break
    (copy / MANIFEST).write_text(json.dumps(content))
    refusal = ""
    try:
        opened = open_run(copy)
        for part in opened.parts:
            assert (copy / part.file).resolve().is_relative_to(copy.resolve())
        opened.damage()
        opened._repr_html_()
    except RunError as error:
        refusal = str(error)
    assert refusal.isprintable()


def test_no_folder_no_manifest(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", tmp_path / "a\nb", Path("/dev/null")):
        with pytest.raises(RunError, match=r"no run folder: it has no manifest\.json"):
            open_run(path)
    with pytest.raises(RunError, match="cannot read"):
        open_run("a\0b")


def test_a_link_out_of_the_folder_is_refused(copy: Path, tmp_path: Path) -> None:
    (copy / "games" / "two").rename(tmp_path / "elsewhere")
    (copy / "games" / "two").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="games/two is a link"):
        open_run(copy)


# --- reading ---


def test_games_of_a_run(finished: Path) -> None:
    opened = open_run(finished)
    games = opened.games().collect()
    assert games.columns == ["variant", *ROW_COLUMNS]
    assert games["variant"].dtype == pl.Enum(["two", "other"])
    assert games.drop("variant").schema == pl.Schema(rows_schema())
    for label in ("two", "other"):
        of_one = games.filter(pl.col("variant") == label)
        assert of_one["game"].to_list() == list(range(2500))
        assert opened.games(label).collect().equals(of_one)
    assert (
        not games.filter(variant="two").drop("variant").equals(games.filter(variant="other").drop("variant"))
    )
    with pytest.raises(RunError, match=r"no variant 'three' in .*; it has two, other"):
        opened.games("three")


def test_what_a_run_shows_of_itself(copy: Path) -> None:
    edit(copy, set_in("variants", 0, "title", value={"en": "<script>alert(1)</script>"}))
    opened = open_run(copy)
    shown = opened._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "2,500 of 2,500" in shown
    assert "5,000 of 5,000 games, complete" in repr(opened)
    assert list(opened.variants) == ["two", "other"]
    assert opened.variants["other"].keys["win.min_huxi"] == 12
    assert opened.folder == opened.path == copy


def test_a_folder_with_odd_characters_is_read_literally(copy: Path) -> None:
    odd = copy.rename(copy.with_name("a[0-9]*=1 永州"))
    assert open_run(odd).games().collect().height == 5000


def test_any_flipped_bit_of_a_part_is_found(copy: Path) -> None:
    opened = open_run(copy)
    assert opened.damage() == []
    names = [part.file for part in opened.parts]
    for number, position in ((0, 0), (1, 10_000), (2, -1)):
        data = bytearray((copy / names[number]).read_bytes())
        data[position] ^= 1
        (copy / names[number]).write_bytes(data)
    (copy / names[3]).write_bytes((copy / names[3]).read_bytes()[:-1])
    (copy / names[4]).unlink()
    found = open_run(copy).damage()
    assert [damage.file for damage in found] == names[:5]
    assert "sha256" in found[0].problem
    assert "bytes" in found[3].problem
    assert "No such file" in found[4].problem


def test_a_run_nobody_plays_is_interrupted(copy: Path) -> None:
    edit(copy, set_in("status", value="running"))
    assert open_run(copy).status == "interrupted"
    lock = FolderLock(copy)
    lock.acquire()
    assert open_run(copy).status == "running"
    lock.release()
    assert open_run(copy).status == "interrupted"


# --- the lock ---


def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from sim.store import FolderLock\n"
        "FolderLock(Path(sys.argv[1])).acquire(); print('held', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    lock = FolderLock(tmp_path)
    with pytest.raises(RunError, match=rf"is in use by process {child.pid} on \S+ since \d{{4}}-") as caught:
        lock.acquire()
    assert caught.value.path == tmp_path
    for resume in (False, True):
        with pytest.raises(RunError, match="is in use by process"):
            run(tmp_path, resume=resume)
    child.kill()
    child.wait()
    lock.acquire()  # the system let go; the file that was left does not matter
    assert is_held(tmp_path)
    lock.release()
    assert not is_held(tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- new folders and resuming ---


def test_what_is_there_is_never_overwritten(copy: Path, tmp_path: Path) -> None:
    before = contents(copy)
    with pytest.raises(RunError, match="holds a run already; finish a run with --resume"):
        run(copy, games=10)
    assert contents(copy) == before
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    for resume in (False, True):
        with pytest.raises(RunError):
            run(other, games=10, resume=resume)
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_an_empty_folder_will_do_and_parents_are_made(tmp_path: Path) -> None:
    assert run(tmp_path, games=10).status == "complete"
    assert run(tmp_path / "a" / "b", games=10).status == "complete"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run", tmp_path / ("x" * 300), Path("/proc/run")):
        with pytest.raises(RunError, match="cannot make the folder"):
            run(path, games=10)
    with pytest.raises(RunError, match="cannot"):
        run(tmp_path / "a\0b", games=10, resume=True)


def test_resume_begins_a_run_that_is_not_there(tmp_path: Path) -> None:
    assert run(tmp_path / "new", games=10, resume=True).status == "complete"
    early = tmp_path / "early"  # killed before the first manifest
    (early / "games" / "two").mkdir(parents=True)
    (early / ".lock").write_text("process 1")
    (early / f".manifest.json.0123{TEMPORARY}").write_text("{")
    assert run(early, games=10, resume=True).status == "complete"
    assert contents(early) == contents(tmp_path / "new")
    assert not list(early.glob(".*"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 2}, "seed is 1 there, 2 now"),
        (
            {"bots": ("greedy", "random", "greedy")},
            "bots is greedy,greedy,greedy there, greedy,random,greedy now",
        ),
        ({"chunk": 500}, "chunk is 1000 there, 500 now"),
        ({"session": 10}, "session is 0 there, 10 now"),
        ({"games": 2000}, "games is 2500 there, 2000 now; it may only grow"),
        ({"variants": [FakeVariant("two")]}, "variants is two, other there, two now"),
        (
            {"variants": [FakeVariant("two"), FakeVariant("other", **{"win.min_huxi": 13})]},
            "variant other, win.min_huxi, is 12 there, 13 now",
        ),
        (
            {"variants": [FakeVariant("two", new=True), FakeVariant("other", **{"win.min_huxi": 12})]},
            "variant two, new, is null there, true now",
        ),
    ],
)
def test_resume_refuses_another_run_and_names_the_field(
    copy: Path, change: dict[str, Any], words: str
) -> None:
    before = contents(copy)
    with pytest.raises(RunError) as caught:
        run(copy, **{"games": 2500, "resume": True, **change})
    assert str(caught.value) == f"cannot resume {copy}: {words}"
    assert contents(copy) == before
    assert run(copy, games=2500, resume=True).status == "complete"


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (("source",), r"source \(digest of the code\) is 0123456789abcdef there"),
        (("versions", "polars"), "versions.polars is 0123456789abcdef there"),
        (("variants", 1, "digest"), "variant other, digest, is 0123456789abcdef there"),
    ],
)
def test_resume_refuses_other_code(copy: Path, steps: tuple[Any, ...], words: str) -> None:
    edit(copy, set_in(*steps, value="0123456789abcdef"))
    with pytest.raises(RunError, match=words):
        run(copy, games=2500, resume=True)


def test_resume_plays_only_what_is_missing_or_damaged(copy: Path, finished: Path) -> None:
    names = [part.file for part in open_run(copy).parts]
    (copy / names[1]).unlink()
    torn = (copy / names[3]).read_bytes()[:-100]
    (copy / names[3]).write_bytes(torn)
    flipped = bytearray((copy / names[5]).read_bytes())
    flipped[500] ^= 4
    (copy / names[5]).write_bytes(flipped)
    leftover = copy / "games" / "two" / f".part-00001.parquet.0123{TEMPORARY}"
    leftover.write_bytes(b"half")
    (copy / "summary.csv").write_text("of an earlier state")
    played = []

    def watch(*args: Any) -> Any:
        played.append((args[0]["win.min_huxi"], args[3], args[4]))
        return run_fakes.play(*args)

    run(copy, games=2500, resume=True, player=watch)
    assert played == [(15, 1000, 1000), (12, 0, 1000), (12, 2000, 500)]
    assert contents(copy) == contents(finished)
    assert not leftover.exists()
    assert not (copy / "summary.csv").exists()
    played.clear()
    (copy / "summary.csv").write_text("of the whole run")
    assert run(copy, games=2500, resume=True, player=watch).status == "complete"
    assert played == []
    assert (copy / "summary.csv").exists()


def test_a_run_may_grow(copy: Path, tmp_path: Path) -> None:
    grown = run(copy, games=4000, resume=True)
    whole = run(tmp_path / "whole", games=4000)
    assert contents(grown.path) == contents(whole.path)
    assert [part.count for part in grown.parts] == [1000] * 8
    assert read_manifest(copy).games == 4000


def test_resume_keeps_the_chunk_of_the_folder(copy: Path) -> None:
    assert run(copy, games=2500, resume=True, chunk=None).manifest.chunk == 1000


def test_the_manifest_is_saved_while_playing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.RunFolder, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(store.RunFolder, "SAVE_SHARE", 1e9)
    seen = []

    def watch(*args: Any) -> Any:
        manifest = read_manifest(tmp_path / "run")
        seen.append((manifest.status, len(manifest.parts)))
        return run_fakes.play(*args)

    run(tmp_path / "run", games=4000, player=watch)
    assert {status for status, _ in seen} == {"running"}
    assert [number for _, number in seen] == list(range(8))
