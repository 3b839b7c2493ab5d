"""Players that are asked in Python: the search and users' own bots, in runs, logs and sessions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from referee import check_game

from sim import load_variant, simulate
from sim.bots import BotError, bot_id
from sim.bots.brain import brain_tables
from sim.bots.dispatch import decide
from sim.engine import play_games
from sim.gamelog import Player
from sim.logcheck import check_log
from sim.manifest import RunError
from sim.own_bot import Option, OwnBotError, load_bot, options_of, seat_view
from sim.params import compile_params
from sim.players import STEP_BY_STEP, Players, is_compiled, parse_players
from sim.rows import COLUMN
from sim.run import default_chunk
from sim.search import Knobs, Search, parse_knobs
from sim.state import BOT, DECIDER, DECISIONS, N_DECISIONS, Table

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my_bot.py"
QUICK = "search:worlds=4"


def bot_file(folder: Path, body: str, name: str = "bot.py") -> Path:
    """A file with a class ``B`` whose ``choose`` has this body."""
    path = folder / name
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    path.write_text(f"class B:\n    def choose(self, view, options):\n{lines}\n", encoding="utf-8")
    return path


def rows_of(bots: str, variant: str = "two_wang", count: int = 6, first: int = 0, session: int = 0) -> Any:
    loaded = load_variant(variant)
    players = Players(compile_params(loaded), parse_players(bots), loaded.flat())
    return players.play_games(3, first, count, session)


# --- step by step ------------------------------------------------------------------------------------------


class _Compiled:
    """Asks a compiled bot, as if it were Python."""

    def __init__(self, params: Any, name: str) -> None:
        self.params, self.number, self.asked = params, bot_id(name), 0

    def begin(self, game: int) -> None:
        pass

    def choose(self, t: Table) -> int:
        seat = int(t.game[DECIDER])
        self.asked += 1
        t.seat[seat, BOT] = self.number
        choice = int(decide(self.params, brain_tables(), t))
        t.seat[seat, BOT] = STEP_BY_STEP
        t.seat[seat, DECISIONS] -= 1  # the caller counts it
        t.game[N_DECISIONS] -= 1
        return choice


@pytest.mark.parametrize("session", [0, 10])
@pytest.mark.parametrize("variant", ["two_wang", "four_wang"])
def test_played_step_by_step_a_game_is_the_same_game(variant: str, session: int) -> None:
    loaded = load_variant(variant)
    params = compile_params(loaded)
    names = ("greedy", "random", "greedy")
    players = Players(params, names, {})
    stepwise = [_Compiled(params, name) for name in names]
    players.choosers = [stepwise[0], stepwise[1], None]
    players.numbers = np.array([STEP_BY_STEP, STEP_BY_STEP, bot_id("greedy")])
    rows = players.play_games(3, 20, 40, session)
    assert (rows == play_games(params, [bot_id(name) for name in names], 3, 20, 40, session)).all()
    assert min(stepwise[0].asked, stepwise[1].asked) > 100


def test_a_step_by_step_chunk_begins_with_a_session() -> None:
    with pytest.raises(ValueError, match="session"):
        rows_of(QUICK, first=3, session=2)


# --- names -------------------------------------------------------------------------------------------------


def test_names_are_completed() -> None:
    example = load_bot(f"{EXAMPLE}:MyBot")[0]
    assert example.startswith(f"{EXAMPLE}:MyBot@")
    assert parse_players("greedy") == ("greedy",) * 3
    assert parse_players(f"search:worlds=160, {EXAMPLE}:MyBot,search:half=5:worlds=9") == (
        "search",
        example,
        "search:worlds=9:half=5",
    )
    assert parse_knobs("search:surer=1.5:player=random") == Knobs(surer=1.5, player="random")
    assert parse_knobs(Knobs(worlds=7, surer=0.5).name()) == Knobs(worlds=7, surer=0.5)
    assert [is_compiled(("greedy", name, "random")) for name in ("greedy", "search", example)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("greedi", "did you mean 'greedy'.*search, or FILE.py:CLASS"),
        ("greedy,random", "not 2"),
        ("search:depth=3", "no knob"),
        ("search:worlds", "no knob"),
        ("search:worlds=8:worlds=9", "no knob"),
        ("search:worlds=2.5", "whole number from 4"),
        ("search:worlds=0", "whole number from 4"),
        ("search:surer=nan", "from 0 to 100"),
        ("search:player=nobody", "'nobody' is no bot"),
        ("nowhere.py:B", "cannot read nowhere.py"),
        ("nowhere.py", "cannot read nowhere.py"),
    ],
)
def test_wrong_names_are_told(name: str, words: str) -> None:
    with pytest.raises(BotError, match=words) as caught:
        parse_players(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "cls", "words"),
    [
        ("x = 1", "B", "no class 'B'"),
        ("class Be:\n    def choose(self, view, options): ...", "B", "bot.py:Be would be one"),
        ("class B:\n    def choose(self, view, options): ...", "", "named without a class.*bot.py:B would"),
        ("class B:\n    pass", "B", "no method choose"),
        ("class B:\n  def choose(:", "B", r"SyntaxError.*\(line 2\)"),
        ("import sys\nsys.exit(3)", "B", r"SystemExit: 3 \(line 2\)"),
        ("\n\nraise ValueError('two\\nlines')", "B", r"ValueError: two lines \(line 3\)"),
        ("B = 3", "B", "no class 'B'"),
    ],
)
def test_files_without_a_bot_are_told(tmp_path: Path, source: str, cls: str, words: str) -> None:
    path = tmp_path / "bot.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(OwnBotError, match=words) as caught:
        parse_players(f"{path}:{cls}" if cls else str(path))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]  # nothing is left beside the user's file


# --- an own bot in play ------------------------------------------------------------------------------------


def test_an_own_bot_wins_against_chance() -> None:
    rows = rows_of(f"{EXAMPLE}:MyBot,random,random", count=60)
    winners = rows[:, COLUMN["winner"]]
    assert (winners == 0).sum() > 2 * (winners == 1).sum()
    assert (winners == 0).sum() > 2 * (winners == 3).sum()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 99", r"game 0, decision 0 \((discard|win)\): chose 99, which is no option; options are "),
        ("return None", "chose None"),
        ("return True", "chose True"),
        ("return 'discard'", "chose 'discard'"),
        ("return -1", "chose -1"),
        ("return options[0].choice + 0.5", "chose "),
        ("import sim.own_bot as o\nreturn o.Option('win', '一')", "chose win 一, which is no option"),
        ("return 1 / 0", r"choose failed: ZeroDivisionError: division by zero \(line 3\)"),
        ("raise SystemExit", r"choose failed: SystemExit"),
        ("view.hand = ''\nreturn 0", "FrozenInstanceError"),
        ("view.seen['一'] = 4\nreturn 0", "TypeError"),
        ("view.rules['cap'] = 4\nreturn 0", "TypeError"),
        ("view.rules['win.wang_limit.min_fan'][1] = 4\nreturn 0", "TypeError"),
        ("options[0].kind = 'win'\nreturn 0", "FrozenInstanceError"),
    ],
)
def test_a_wrong_choice_is_named(tmp_path: Path, body: str, words: str) -> None:
    path = bot_file(tmp_path, body)
    with pytest.raises(OwnBotError, match=words) as caught:
        rows_of(f"{path}:B")
    assert str(caught.value).startswith(f"{path}:B: game 0, ")
    assert "\n" not in str(caught.value)


def test_a_bot_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text("class B:\n    def __init__(self, x): ...\n    def choose(self, view, options): ...\n")
    with pytest.raises(OwnBotError, match="game 0, it cannot be made without arguments: TypeError"):
        rows_of(f"{path}:B")


def test_every_game_has_a_bot_of_its_own(tmp_path: Path) -> None:
    """What a bot remembers ends with the game, so games do not depend on their neighbours."""
    path = tmp_path / "bot.py"
    path.write_text(
        "class B:\n"
        "    def __init__(self): self.calls = 0\n"
        "    def choose(self, view, options):\n"
        "        assert view.number == self.calls, (view.number, self.calls)\n"
        "        self.calls += 1\n"
        "        return view.random.randrange(len(options))\n"
    )
    together = rows_of(f"{path}:B", count=8)
    apart = np.concatenate([rows_of(f"{path}:B", count=1, first=game) for game in range(8)])
    assert (together == apart).all()
    assert len(np.unique(together[:, COLUMN["decisions"]])) > 3


def test_what_a_bot_prints_does_not_mix_with_the_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = bot_file(tmp_path, "print('thinking')\nreturn 0")
    rows_of(f"{path}:B", count=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "thinking" in err


def test_the_view_agrees_with_the_table() -> None:
    from secrets_of import decisions, params_of

    rules = load_variant("four_wang").flat()
    params = params_of("four_wang")
    kinds: set[str] = set()
    for table in decisions("four_wang", {}, "random", range(12)):
        view, options = seat_view(params, rules, table), options_of(table)
        kinds.add(view.decision)
        assert view.order[0] == view.seat == table.game[DECIDER]
        assert len(view.order) == 3
        assert set(view.others) == set(view.order[1:])
        assert len(view.hand) == int(table.hand[view.seat].sum())
        exposed = sum(len(group.cards) for group in view.groups)
        assert view.owned == len(view.hand) + exposed
        assert view.huxi == sum(group.huxi or 0 for group in view.groups)
        unknown = sum(other.concealed - other.wangs for other in view.others.values()) + view.wall
        for other in view.others.values():
            for group in other.groups:
                assert (group.huxi is None) == (group.cards == "")
                unknown += 0 if group.cards else (4 if group.type == "ti" else 3)
        assert sum(view.hidden.values()) == unknown
        assert min(view.hidden.values()) >= 0
        assert view.rules["deck.wangs"] == 4
        assert len(set(options)) == len(options)
        first = "pass" if view.decision != "discard" else "discard"
        assert options[0].kind == first
        assert {option.kind for option in options} <= {view.decision, "pass"}
        for option in options:
            if option.kind == "chi":
                assert all(option.card in group for group in option.groups)
                assert str(option) == f"chi {option.card}: {' '.join(option.groups)}"
            if option.kind == "win":
                assert option.score == option.tun * option.fan
            if option.kind == "discard":
                assert 1 <= view.held(option.card) <= 2
    assert kinds == {"win", "peng", "chi", "discard"}
    assert Option("pass", "一") == Option("pass", "一", choice=3)


# --- the search in play ------------------------------------------------------------------------------------


def test_the_search_plays_better_than_the_player_it_plays_on_with() -> None:
    """In paired games, by far more than chance: it searches deeply enough to gain."""
    loaded = load_variant("two_wang")
    params = compile_params(loaded)
    played = rows_of("search:worlds=60:surer=1:player=random,random,random", count=60)
    plain = play_games(params, [bot_id("random")] * 3, 3, 0, 60)
    gain = played[:, COLUMN["score_0"]] - plain[:, COLUMN["score_0"]]
    assert gain.mean() > 2.5 * gain.std() / np.sqrt(len(gain))


def test_with_a_high_bar_the_search_is_the_player_itself() -> None:
    params = compile_params(load_variant("four_wang"))
    rows = rows_of("search:worlds=4:surer=100:player=greedy", "four_wang", 5)
    assert (rows == play_games(params, [bot_id("greedy")] * 3, 3, 0, 5)).all()


def test_a_search_depends_on_nothing_but_its_decision() -> None:
    """Not on earlier games, not on games between, not on where a chunk begins."""
    together = rows_of(f"{QUICK},greedy,{QUICK}", count=6)
    apart = np.concatenate([rows_of(f"{QUICK},greedy,{QUICK}", count=2, first=first) for first in (0, 2, 4)])
    assert (together == apart).all()


def test_a_search_leaves_the_table_as_it_is() -> None:
    from secrets_of import decisions, params_of

    from sim.state import copy_table

    search = Search(params_of("four_wang"), Knobs(worlds=4))
    for table in decisions("four_wang", {}, "greedy", range(4)):
        before = copy_table(table)
        search.choose(table)
        for name in ("hand", "seat", "melds", "deck", "seen", "shown", "public", "game", "options", "win"):
            assert (getattr(before, name) == getattr(table, name)).all(), name


@pytest.mark.parametrize("variant", ["two_wang", "three_wang", "four_wang"])
def test_logs_with_searching_and_own_seats_keep_the_rules(variant: str) -> None:
    bots = parse_players(f"{QUICK}:surer=0,{EXAMPLE}:MyBot,greedy")
    player = Player(load_variant(variant), bots, 5, session=4)
    for game in range(8):
        events = player.events(game)
        assert events[0]["bots"] == list(bots)
        assert check_game(events) == [], game
        assert check_log(events) == []


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["two_wang", "three_wang", "four_wang"])
def test_many_logs_with_searching_seats_keep_the_rules(variant: str) -> None:
    player = Player(load_variant(variant), ("search:worlds=8:surer=0",) * 3, 6)
    for game in range(60):
        assert check_game(player.events(game)) == [], game


# --- in runs -----------------------------------------------------------------------------------------------


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*.parquet"))]


def test_jobs_and_interruptions_change_nothing(tmp_path: Path) -> None:
    how: dict[str, Any] = {"bots": f"{QUICK},{EXAMPLE}:MyBot,greedy", "games": 12, "quiet": True, "chunk": 3}
    one = simulate("two_wang", jobs=1, out=tmp_path / "one", **how)
    simulate("two_wang", jobs=2, out=tmp_path / "two", **how)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) == 4
    simulate("two_wang", jobs=1, out=tmp_path / "part", **{**how, "games": 6})
    simulate("two_wang", jobs=1, out=tmp_path / "part", resume=True, **how)
    assert contents(tmp_path / "part") == contents(tmp_path / "one")
    assert one.manifest.bots == parse_players(str(how["bots"]))


def test_a_changed_bot_cannot_be_resumed(tmp_path: Path) -> None:
    path = bot_file(tmp_path, "return 0")
    how: dict[str, Any] = {"bots": f"{path}:B,greedy,greedy", "quiet": True, "jobs": 1, "chunk": 2}
    run = simulate("two_wang", games=2, out=tmp_path / "run", **how)
    bot_file(tmp_path, "return len(options) - 1")
    with pytest.raises(RunError, match=r"bots is .*:B@[0-9a-f]{12},greedy,greedy there, .*:B@"):
        simulate("two_wang", games=4, out=tmp_path / "run", resume=True, **how)
    with pytest.raises(OwnBotError, match="has changed"):
        parse_players(",".join(run.manifest.bots))


def test_slow_players_get_small_parts() -> None:
    assert default_chunk(100, 0, ("greedy", "search", "greedy")) == 4
    assert default_chunk(100, 10, ("greedy", "search", "greedy")) == 10
    assert default_chunk(100, 0, ("greedy",) * 3) == 1000


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "analysis.cli", *words], capture_output=True, text=True, check=False
    )


def test_the_command_names_a_wrong_choice_and_ends_with_2(tmp_path: Path) -> None:
    path = bot_file(tmp_path, "return 50 if view.number == 3 else 0")
    out = str(tmp_path / "run")
    for jobs in ("1", "2"):
        done = command(
            "simulate", "two_wang", "--bots", f"{path}:B", "--games", "6", "--chunk", "3",
            "--jobs", jobs, "--quiet", "--replace", "--out", out,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        assert f"{path}:B: game " in line
        assert "decision 3 (" in line
        assert "chose 50, which is no option" in line


def test_the_command_replays_games_with_all_kinds_of_players() -> None:
    words = ("replay", "two_wang", "--game", "1", "--bots", f"{QUICK},{EXAMPLE}:MyBot,random", "--json")
    done = command(*words)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert check_game(events) == []
    assert command(*words).stdout == done.stdout
