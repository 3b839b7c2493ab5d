"""Hostile input: whatever is in a file or an argument, one clear line and exit status 2, no traceback.

``DOORS`` lists the places where something untrusted comes in; a new reader is one line more there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.cli import app, main
from sim.manifest import MANIFEST, dump_manifest, hash_file, read_manifest
from sim.run import simulate

ROOT = Path(__file__).resolve().parents[2]
NOT_A_FIXTURE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile") / "run"
    simulate(["two_wang"], games=40, chunk=20, seed=5, jobs=1, out=out, quiet=True)
    return out


def tell(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command; anything but an exit is a failure."""
    capsys.readouterr()
    try:
        main(list(args))
        status = 0
    except SystemExit as stop:
        status = int(stop.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err


def in_order(status: int, out: str, err: str, allowed: tuple[int, ...]) -> None:
    assert status in allowed, (status, out, err)
    assert "Traceback" not in err
    assert all(line.isprintable() and len(line) < 2000 for line in err.split("\n")), err
    if status == 2:
        assert err.strip() or out.strip()


# --- the doors: name, file to start from, command, exit statuses that are in order ---

SEED_LOG = ROOT / "tests" / "golden" / "two_wang-greedy.jsonl"
SEED_QUERIES = ROOT / "tests" / "data" / "hands.jsonl"
TUNE = ROOT / "docs" / "examples" / "tune_draw_rate.yaml"
Door = tuple[str, Callable[[], bytes], Callable[[str], list[str]], tuple[int, ...]]
DOORS: list[Door] = [
    (
        "room.yaml",
        (ROOT / "variants" / "base.yaml").read_bytes,
        lambda file: ["variants", "show", file],
        (0, 2),
    ),
    (
        "log.jsonl",
        lambda: b"".join(SEED_LOG.read_bytes().splitlines(True)[:12]),
        lambda file: ["replay", file, "--check", "--lang", "en"],
        (1, 2),
    ),
    (
        "hands.jsonl",
        lambda: b"".join(SEED_QUERIES.read_bytes().splitlines(True)[:2]),
        lambda file: ["hand", "--batch", file],
        (0, 2),
    ),
    # A spec that happens to stay legal would be searched: a folder that cannot be made stops that.
    ("spec.yaml", TUNE.read_bytes, lambda file: ["tune", file, "--quiet", "--out", "/dev/null/x"], (2,)),
]

RUBBISH = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        [
            b"\0", b"\x1b[2J", b'"\\e[31m\\a"', b"\xff\xfe", b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"- " * 3000,
            b"? " * 3000, b"9" * 5000, b"-1e999", b"NaN", b"&a [*a, *a]", b"<<: *a", b"!!python/object:os.system x",
            b"%YAML 1.1\n", b"extends: ../../../../etc/passwd\n", b"extends: /dev/zero\n", b"\xe2\x80\xae", b"null",
            b'"\\ud800"', b"\r\n", b"'", b'"', b": ", b"true", b"1.5", b"[]", b"{}",
        ]
    ),
)  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn, seed: bytes) -> bytes:
    """A file with some of it cut out, doubled, overwritten or replaced by rubbish."""
    data = seed
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.sampled_from([0, 1, 2, 8, 40, 400]))
        new = draw(st.one_of(RUBBISH, st.just(b""), st.just(data[at : at + length] * 2)))
        data = data[:at] + new + data[at + length :]
    return data


def break_a_door(door: Door, data: st.DataObject, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, seed, command, allowed = door
    content = data.draw(st.one_of(RUBBISH, spoilt(seed())))
    (folder / name).write_bytes(content)
    in_order(*tell(capsys, *command(str(folder / name))), allowed)


@pytest.mark.parametrize("door", DOORS, ids=[door[0] for door in DOORS])
@settings(max_examples=20, deadline=None, suppress_health_check=NOT_A_FIXTURE)
@given(data=st.data())
def test_spoilt_files(
    door: Door, data: st.DataObject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_a_door(door, data, tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS, ids=[door[0] for door in DOORS])
@settings(max_examples=3000, deadline=None, derandomize=False, suppress_health_check=NOT_A_FIXTURE)
@given(data=st.data())
def test_very_many_spoilt_files(
    door: Door, data: st.DataObject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_a_door(door, data, tmp_path, capsys)


@settings(max_examples=60, deadline=None, suppress_health_check=NOT_A_FIXTURE)
@given(
    st.one_of(
        st.text(max_size=60),
        st.tuples(
            st.sampled_from(["stake", "win.min_huxi", "win.wang_limit.min_fan", "xing.card", "title.en", "win", "é"]),
            st.one_of(st.text(max_size=40), st.sampled_from(["[" * 900, "{1: 2}", '"\\e[31m"', "9" * 999, "*a"])),
        ).map("=".join),
    )
)  # fmt: skip
def test_any_override(capsys: pytest.CaptureFixture[str], override: str) -> None:
    in_order(*tell(capsys, "variants", "show", "two_wang", "--set", override), (0, 2))


@settings(max_examples=60, deadline=None, suppress_health_check=NOT_A_FIXTURE)
@given(
    st.one_of(st.text(max_size=60), st.text("一二七十壹贰王sbw0123456789 ,", max_size=60)),
    st.text(max_size=8),
    st.text("碰吃提偎跑:一二七十壹王", max_size=8),
)
def test_any_hand(capsys: pytest.CaptureFixture[str], cards: str, winning: str, meld: str) -> None:
    in_order(*tell(capsys, "hand", "--table", meld, "--win", winning, "--", cards), (0, 2))


# --- what is big, deep, or has an end that never comes ---


@pytest.mark.parametrize("name", ["room.yaml", "hands.jsonl", "log.jsonl", MANIFEST])
def test_a_huge_file_is_refused_without_being_held(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tracemalloc

    with (tmp_path / name).open("wb") as stream:
        stream.write(b"a")
        stream.truncate(120 << 20)
    command = {
        "room.yaml": ["variants", "check"], "hands.jsonl": ["hand", "--batch"], "log.jsonl": ["replay", "--check"],
        MANIFEST: ["compare"],
    }[name]  # fmt: skip
    target = tmp_path if name == MANIFEST else tmp_path / name
    tell(capsys, "variants")  # what is imported is no part of the measure
    tracemalloc.start()
    status, out, err = tell(capsys, *command, str(target))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    in_order(status, out, err, (2,))
    assert most < (100 << 20 if name == MANIFEST else 20 << 20)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"k{number}: {{a: 1}}\n" for number in range(6000)),
        "a: " + "x: " * 30_000,
        "- " * 45_000,
        "#\n" * 49_000 + "stake: 0\n",
        "a: &a {x: 1}\n" + "b: *a\n" * 12_000,
        "? " * 45_000,
        "'" + "''" * 45_000,
        '"' + "\\n" * 45_000,
    ],
)
def test_a_long_variant_file_is_refused_after_few_events(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ruamel.yaml import YAML

    taken = 0
    parse = YAML.parse

    def counting(self: YAML, stream: object) -> object:
        nonlocal taken
        for event in parse(self, stream):
            taken += 1
            yield event

    monkeypatch.setattr(YAML, "parse", counting)
    (tmp_path / "room.yaml").write_text(text)
    in_order(*tell(capsys, "variants", "show", str(tmp_path / "room.yaml")), (2,))
    assert taken < 10_000


def test_a_title_cannot_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for escape in ("\\e[2J", "\\a", "\\u202e", "\\x7f"):
        (tmp_path / "room.yaml").write_text(f'title: {{en: "{escape}x", zh: y}}\n')
        status, _, err = tell(capsys, "variants", "show", str(tmp_path / "room.yaml"))
        assert status == 2
        assert "room.yaml:1: title.en: control character" in err


def test_a_bad_extends_hides_no_other_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for parent in ("nowhere", "./nowhere.yaml", "3", "./room.yaml", "/dev/zero", "../" * 40 + "etc/passwd"):
        (tmp_path / "room.yaml").write_text(f"extends: {parent}\nstake: 0\nwin: {{min_huxy: 1}}\n")
        status, _, err = tell(capsys, "variants", "show", str(tmp_path / "room.yaml"))
        assert status == 2
        assert "room.yaml:2: stake: must be at least 1" in err
        assert "room.yaml:3: unknown key win.min_huxy" in err
        assert len(err.splitlines()) >= 3


# --- run folders ---


@settings(max_examples=30, deadline=None, suppress_health_check=NOT_A_FIXTURE)
@given(data=st.data())
def test_spoilt_parts_and_manifests(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject
) -> None:
    run = tmp_path / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(finished, run)
    manifest = read_manifest(run)
    if data.draw(st.booleans()):
        file = run / MANIFEST
        file.write_bytes(data.draw(spoilt(file.read_bytes())))
    else:
        file = run / manifest.parts[0].file
        file.write_bytes(data.draw(spoilt(file.read_bytes())))
        if data.draw(st.booleans()):  # recorded as if it had been written so
            part = manifest.parts[0].model_copy(
                update={"sha256": hash_file(file), "bytes": file.stat().st_size}
            )
            again = manifest.model_copy(update={"parts": [part, *manifest.parts[1:]]})
            (run / MANIFEST).write_bytes(dump_manifest(again))
    status, out, err = tell(capsys, "verify", str(run), "--sample", "2", "--lang", "en")
    in_order(status, out, err, (0, 1))
    in_order(*tell(capsys, "strata", str(run)), (0, 1, 2))


def test_no_code_is_run_that_a_run_folder_names(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    bot = tmp_path / "bot.py"
    bot.write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Bot:\n    def choose(self, view, options): ...\n"
    )
    manifest = read_manifest(run).model_copy(update={"bots": (f"{bot}:Bot",) * 3})
    (run / MANIFEST).write_bytes(dump_manifest(manifest))
    status, out, _ = tell(capsys, "verify", str(run), "--lang", "en")
    assert status == 0
    assert "no code is run that a run folder names" in out
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("value", [None, True, 5, -1, "2", {"1": 2}])
def test_a_manifest_whose_rules_cannot_be(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], value: object
) -> None:
    for key in ("deck.wangs", "win.min_huxi", "turn.extra_quad"):
        run = Path(shutil.copytree(finished, tmp_path / f"run-{key}"))
        content = json.loads((run / MANIFEST).read_text())
        if value is None:
            del content["variants"][0]["keys"][key]
        else:
            content["variants"][0]["keys"][key] = value
        (run / MANIFEST).write_text(json.dumps(content))
        status, out, err = tell(capsys, "verify", str(run))
        in_order(status, out, err, (1,))
        in_order(*tell(capsys, "compare", str(run)), (1, 2))


def test_the_command_line_has_these_doors() -> None:
    assert {"variants", "hand", "replay", "compare", "verify", "tune", "strata"} <= set(app.commands)
