"""Playing into a run folder: the same bytes whatever happens on the way."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import run_fakes
from run_fakes import FakeVariant, contents, run

from sim.manifest import RunError, RunInterrupted, read_manifest
from sim.parts import rows_to_frame
from sim.progress import (
    BarProgress,
    PlainProgress,
    QuietProgress,
    Snapshot,
    Speed,
    clock,
    half_width,
    make_progress,
)
from sim.run import _jobs, _plan, default_chunk, simulate
from sim.store import open_run

SCRIPT = Path(run_fakes.__file__)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Parts of a run that nothing happened to."""
    return contents(run(tmp_path_factory.mktemp("whole") / "run").path)


def start(out: Path, jobs: int, player: str, *more: str) -> subprocess.Popen[str]:
    """A run in a session of its own."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(out), str(jobs), player, *more],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def wait_for_parts(out: Path, number: int, child: subprocess.Popen[str]) -> None:
    """Wait until so many parts are on the disk."""
    limit = time.monotonic() + 30
    while len(list(out.glob("games/*/part-*"))) < number:
        assert child.poll() is None, child.communicate()[1]
        assert time.monotonic() < limit, "no progress"
        time.sleep(0.005)


def members(session: int) -> list[int]:
    """Processes of a session that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def wait_until_gone(session: int) -> None:
    limit = time.monotonic() + 10
    while members(session):
        assert time.monotonic() < limit, "processes are left"
        time.sleep(0.05)


# --- the same games ---


@pytest.mark.parametrize("jobs", [2, 3])
def test_jobs_change_no_byte(undisturbed: dict[str, bytes], tmp_path: Path, jobs: int) -> None:
    assert contents(run(tmp_path / "run", jobs=jobs).path) == undisturbed


@pytest.mark.parametrize("chunk", [777, 10_000, None])
def test_chunks_change_no_game(undisturbed: dict[str, bytes], tmp_path: Path, chunk: int | None) -> None:
    games = run(tmp_path / "run", chunk=chunk).games().collect()
    parts = [pl.read_parquet(io.BytesIO(data)) for name, data in undisturbed.items() if "/two/" in name]
    assert games.filter(variant="two").drop("variant").equals(pl.concat(parts))


def test_with_the_engine(tmp_path: Path) -> None:
    from sim.bots import bot_id
    from sim.engine import play_games
    from sim.params import compile_params
    from sim.variant import load_variant

    given: list[Any] = ["two_wang", "four_wang+by_wang", load_variant("two_wang", {"win.min_huxi": 12})]
    asked: dict[str, Any] = {"games": 60, "seed": 5, "chunk": 20, "quiet": True}
    asked["bots"] = ["greedy", "random", "greedy"]
    alone = simulate(given, jobs=1, out=tmp_path / "alone", **asked)
    pool = simulate(given, jobs=2, out=tmp_path / "pool", **asked)
    assert contents(alone.path) == contents(pool.path)
    assert list(alone.variants) == ["two_wang", "four_wang+by_wang", "two_wang-2"]
    assert alone.variants["two_wang-2"].overrides == {"win.min_huxi": 12}
    for label, variant in zip(alone.variants, [load_variant(ref) for ref in given], strict=True):
        numbers = [bot_id(name) for name in asked["bots"]]
        rows = play_games(compile_params(variant), numbers, 5, 0, 60)
        assert alone.games(label).drop("variant").collect().equals(rows_to_frame(rows))
        assert alone.variants[label].digest == variant.digest
    again = simulate(given, jobs=1, out=alone.path, resume=True, **asked)
    assert again.manifest.parts == alone.manifest.parts
    with pytest.raises(RunError, match=r"variant two_wang-2, win\.min_huxi, is 12 there, 15 now"):
        simulate([*given[:2], "two_wang"], out=alone.path, resume=True, **asked)


def test_another_seed_is_another_run(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    other = contents(run(tmp_path / "run", seed=2).path)
    assert other.keys() == undisturbed.keys()
    assert all(other[name] != undisturbed[name] for name in other)


def test_a_small_run_starts_no_workers(
    undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.run.SMALL_RUN", 20_000)
    names = (str(tmp_path), "a", "b")
    assert (
        run(tmp_path / "run", jobs=2, player=run_fakes.play_and_report_threads, bots=names).status
        == "complete"
    )
    assert [path.name for path in tmp_path.glob("threads-*")] == [f"threads-{os.getpid()}"]
    assert contents(tmp_path / "run") == undisturbed
    (tmp_path / f"threads-{os.getpid()}").unlink()
    monkeypatch.setattr("sim.run._POOL_SECONDS", 0.0)
    run(tmp_path / "slow", jobs=2, player=run_fakes.play_and_report_threads, bots=names)
    assert len(list(tmp_path.glob("threads-*"))) in (2, 3)  # one part here, then one or two workers
    assert contents(tmp_path / "slow") == undisturbed


def test_workers_have_one_polars_thread_and_this_process_its_own(tmp_path: Path) -> None:
    before = pl.thread_pool_size()
    run(tmp_path / "run", jobs=2, player=run_fakes.play_and_report_threads, bots=(str(tmp_path), "a", "b"))
    seen = {path.read_text() for path in tmp_path.glob("threads-*")}
    assert seen == {"1"}
    assert os.environ.get("POLARS_MAX_THREADS") is None
    assert pl.thread_pool_size() == before


# --- killed ---


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_at_random_moments_and_resumed(
    undisturbed: dict[str, bytes], tmp_path: Path, jobs: int
) -> None:
    chance = random.Random(jobs)
    out = tmp_path / "run"
    kills = 0
    for _ in range(5):
        child = start(out, jobs, "play_slowly", "often")
        with_manifest = time.monotonic() + 20
        while not (out / "manifest.json").exists() and time.monotonic() < with_manifest:
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.25))
        if child.poll() is None:
            kills += 1
            os.kill(child.pid, signal.SIGKILL)  # the main process alone: its workers must end by themselves
        wait_until_gone(child.pid)
        child.communicate()
        for part in read_manifest(out).parts:  # whatever is recorded is whole
            assert (out / part.file).read_bytes() == undisturbed[part.file]
        assert open_run(out).damage() == []
    assert kills >= 3
    finished = run(out, jobs=jobs, resume=True)
    assert finished.status == "complete"
    assert contents(out) == undisturbed
    assert not list(out.rglob(".*"))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("whole_group", [False, True], ids=["main alone", "terminal"])
def test_interrupted_and_resumed(
    undisturbed: dict[str, bytes], tmp_path: Path, jobs: int, whole_group: bool
) -> None:
    out = tmp_path / "run"
    child = start(out, jobs, "play_slowly")
    wait_for_parts(out, 3, child)
    begin = time.monotonic()
    for _ in range(3):  # a second and a third one change nothing
        if child.poll() is None:
            (os.killpg if whole_group else os.kill)(child.pid, signal.SIGINT)
        time.sleep(0.005)
    said = child.communicate(timeout=20)[1]
    assert child.returncode == 130, said
    assert time.monotonic() - begin < 5
    assert "Traceback" not in said
    assert "KeyboardInterrupt" not in said
    assert f"{out} can be resumed" in said.splitlines()[-1]
    wait_until_gone(child.pid)
    opened = open_run(out)
    assert opened.status == opened.manifest.status == "interrupted"
    assert 0 < opened.manifest.done < opened.manifest.total
    assert opened.games().collect().height == opened.manifest.done
    assert not list(out.rglob(".*"))
    run(out, jobs=jobs, resume=True)
    assert contents(out) == undisturbed


def test_interrupt_in_this_process(tmp_path: Path) -> None:
    def interrupt(*args: Any) -> Any:
        if args[3] == 2000:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return run_fakes.play(*args)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RunInterrupted) as caught:
        run(tmp_path / "run", player=interrupt)
    assert signal.getsignal(signal.SIGINT) is before
    assert caught.value.path == tmp_path / "run"
    assert (caught.value.done, caught.value.total) == (2000, 20_000)
    assert isinstance(caught.value, KeyboardInterrupt)


def test_ctrl_c_while_recording_waits_for_the_record(tmp_path: Path) -> None:
    class Interrupting(QuietProgress):
        def update(self, now: Snapshot) -> None:
            if now.done == 3000:
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(RunInterrupted) as caught:
        run(tmp_path / "run", progress=Interrupting())
    assert caught.value.done == 3000
    late = run(tmp_path / "late", games=1000, variants=[FakeVariant()])

    class TooLate(QuietProgress):
        def update(self, now: Snapshot) -> None:
            if now.done == now.total:
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(RunInterrupted):
        run(tmp_path / "late2", games=1000, variants=[FakeVariant()], progress=TooLate())
    assert contents(tmp_path / "late2") == contents(late.path)


def test_a_callers_own_handler_is_left_alone(tmp_path: Path) -> None:
    def handler(number: int, frame: object) -> None:
        raise AssertionError

    before = signal.signal(signal.SIGINT, handler)
    try:
        seen = []

        def watch(*args: Any) -> Any:
            seen.append(signal.getsignal(signal.SIGINT))
            return run_fakes.play(*args)

        run(tmp_path / "a", games=1000, player=watch)
        assert set(seen) == {handler}
    finally:
        signal.signal(signal.SIGINT, before)


def test_runs_in_a_thread(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    thread = threading.Thread(target=run, args=(tmp_path / "run",))
    thread.start()
    thread.join()
    assert contents(tmp_path / "run") == undisturbed


# --- failing ---


def test_a_killed_worker_ends_the_run_which_can_be_resumed(
    undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with pytest.raises(RunError, match=r"a worker process died \(SIGKILL\(-9\)\).* can be resumed") as caught:
        run(out, jobs=2, player=run_fakes.play_until_killed)
    assert caught.value.path == out
    assert caught.value.status == 1
    assert open_run(out).status == "failed"
    run(out, jobs=2, resume=True)
    assert contents(out) == undisturbed


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_ends_the_run_which_can_be_resumed(
    undisturbed: dict[str, bytes], tmp_path: Path, jobs: int
) -> None:
    out = tmp_path / "run"
    child = start(out, jobs, "play_to_full_disk")
    said = child.communicate(timeout=30)[1]
    assert child.returncode == 2, said
    assert "Traceback" not in said
    assert f"cannot go on in {out}: File too large" in said.splitlines()[-1]
    assert open_run(out).damage() == []
    assert not list(out.rglob(".part*"))
    run(out, jobs=jobs, resume=True)
    assert contents(out) == undisturbed


def test_an_error_of_the_engine_is_passed_on(tmp_path: Path) -> None:
    for jobs in (1, 2):
        out = tmp_path / f"run{jobs}"
        with pytest.raises(OverflowError, match="huxi"):
            run(out, jobs=jobs, player=run_fakes.play_too_wide)
        assert open_run(out).status == "failed"


def test_changed_code_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sim._jit

    digests = iter(["0" * 16, "0" * 16, "f" * 16])
    monkeypatch.setattr(sim._jit, "source_digest", lambda: next(digests))
    with pytest.raises(RunError, match="the code changed during the run"):
        run(tmp_path / "run")
    assert len(open_run(tmp_path / "run").parts) == 1


# --- arguments ---


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"games": 0}, "games: 0 is out of range"),
        ({"games": 1.5}, "games: 1.5 is no whole number"),
        ({"games": True}, "games: True is no whole number"),
        ({"games": 10**13}, "games: 10000000000000 is out of range"),
        ({"seed": -1}, "seed: -1 is out of range"),
        ({"seed": 2**64}, "seed: "),
        ({"chunk": 0}, "chunk: 0 is out of range"),
        ({"session": 3, "chunk": 10, "games": 300}, "chunk: 10 is no multiple of session 3"),
        (
            {"session": 8, "chunk": None, "games": 100},
            "games: 100 is no multiple of session 8; 96 or 104 would be",
        ),
        ({"chunk": 1, "games": 10**6}, "chunk: 1 makes more than 200000 parts"),
        ({"variants": []}, "variants"),
        ({"out": None, "resume": True}, "resume: say which folder"),
    ],
)
def test_bad_arguments(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    out = tmp_path / "run"
    if change.get("variants") == []:
        with pytest.raises(RunError, match="variants: none is given"):
            simulate([])
        return
    with pytest.raises(RunError) as caught:
        run(**{"out": out, **change})
    assert words in str(caught.value)
    assert caught.value.status == 2
    assert not out.exists()


def test_jobs() -> None:
    assert _jobs(3) == 3
    assert 1 <= _jobs(None) <= len(os.sched_getaffinity(0))
    for wrong in (0, -1, 10**6):
        with pytest.raises(RunError, match="jobs: "):
            _jobs(wrong)


def test_default_chunk() -> None:
    for games in (1, 999, 100_000, 10**6, 10**8, 10**10, 10**12):
        for session in (0, 1, 16, 300, 10**6):
            chunk = default_chunk(games, session)
            assert 1 <= chunk <= 10**7
            assert not session or chunk % session == 0
            assert -(-games // chunk) <= 200_000 or games > 10**11
    assert default_chunk(1000) == 1000
    assert default_chunk(100_000) == 4000
    assert default_chunk(10**7) == 100_000


def test_sessions_stay_whole(tmp_path: Path) -> None:
    asked = []

    def watch(*args: Any) -> Any:
        asked.append(args[3:])
        return run_fakes.play(*args)

    games = run(
        tmp_path / "run", games=39_000, session=300, chunk=None, player=watch, variants=[FakeVariant()]
    )
    assert all(first % 300 == 0 and count % 300 == 0 and session == 300 for first, count, session in asked)
    assert games.games().collect()["session"].n_unique() == 130


def test_without_a_folder_rows_live_as_long_as_the_process(tmp_path: Path) -> None:
    frame = run(None, games=100, variants=[FakeVariant()]).games()  # the Run is gone, its rows are not
    assert frame.collect().height == 100
    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import run_fakes\n"
        "print(run_fakes.run(None, games=100).path)"
    )
    path = Path(
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    assert path.name.startswith("chehuzi-run-")
    assert not path.exists()


def test_manifest_tells_how_it_came_about() -> None:
    from sim.manifest import describe_variant

    record = describe_variant(FakeVariant(), "two")
    manifest = _plan(
        [record], 100, ("a", "b", "c"), 2**64 - 1, 0, None, ["chehuzi", "simulate", "x" * 20_000]
    )
    assert manifest.command is not None
    assert len(manifest.command[2]) == 10_000
    assert manifest.versions.keys() == {"python", "numpy", "numba", "polars", "platform"}
    assert manifest.seed == 2**64 - 1
    assert manifest.created.endswith("+00:00")


# --- progress ---


def test_half_width_is_that_of_scipys_wilson_interval() -> None:
    from scipy.stats import binomtest

    for count, n in ((0, 10), (1, 1000), (500, 1000), (120_000, 1_000_000)):
        low, high = binomtest(count, n).proportion_ci(0.95, "wilson")
        assert half_width(count, n) == pytest.approx((high - low) / 2, rel=1e-9)
    assert half_width(0, 0) == 0.5


def test_speed_follows_the_present() -> None:
    speed = Speed(500, now=0.0)
    assert speed.rate() == 0
    for second in range(1, 31):
        speed.add(500 + 100 * second, now=float(second))
    assert speed.rate() == pytest.approx(100)
    for second in range(31, 61):
        speed.add(3500 + 1000 * (second - 30), now=float(second))
    assert speed.rate() == pytest.approx(1000)


def test_clock() -> None:
    assert [clock(s) for s in (0, 59.6, 61, 3600, 90_061)] == ["0:00", "1:00", "1:01", "1:00:00", "25:01:01"]


def test_plain_lines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run(tmp_path / "run", games=3000, progress=PlainProgress(0.0))
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("two: 1,000 of 6,000 games (17%), ")
    assert "games/s" in lines[0]
    assert "left" in lines[0]
    assert " ± " in lines[0]
    assert lines[-1].startswith("other: 6,000 of 6,000 games (100%), ")


def test_few_plain_lines_and_quiet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run(tmp_path / "a", games=3000, progress=make_progress())
    assert len(capsys.readouterr().err.splitlines()) == 1
    run(tmp_path / "b", games=3000, progress=make_progress(quiet=True))
    assert capsys.readouterr().err == ""


def test_plain_lines_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        finished = run(tmp_path / "run", games=3000, progress=PlainProgress(0.0))
        monkeypatch.undo()
        assert finished.status == "complete"
        with pytest.raises(BrokenPipeError):
            stream.close()


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    from rich.console import Console

    stream = io.StringIO()
    bar = BarProgress(Console(file=stream, force_terminal=True, width=140))
    bar.message("[compiling] once")
    run(tmp_path / "run", games=3000, progress=bar)
    shown = stream.getvalue()
    assert "[compiling] once" in shown
    assert "6000/6000" in shown
    assert "games/s" in shown
    assert "draw games" in shown
    bar.close()


def test_the_progress_that_suits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(make_progress(quiet=True), QuietProgress)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert isinstance(make_progress(), PlainProgress)
    leader, follower = os.openpty()
    with os.fdopen(leader, "rb"), os.fdopen(follower, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        assert isinstance(make_progress(), BarProgress)
        monkeypatch.setenv("TERM", "dumb")
        assert isinstance(make_progress(), PlainProgress)
        monkeypatch.undo()


@pytest.mark.parametrize(("widgets", "kind"), [(True, BarProgress), (False, PlainProgress)])
def test_the_progress_that_suits_a_notebook(
    monkeypatch: pytest.MonkeyPatch, widgets: bool, kind: type
) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("sim.progress._jupyter_can_draw", lambda: widgets)
    assert isinstance(make_progress(), kind)


def test_resuming_counts_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(tmp_path / "run", games=3000).path
    run(out, games=5000, resume=True, progress=PlainProgress(0.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("two: 7,000 of 10,000 games (70%)")
    assert len(lines) == 4
