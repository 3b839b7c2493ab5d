"""The replay as text, and what the command does with games and logs."""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

from sim import VariantError, load_variant
from sim.board import Board
from sim.bots import BotError
from sim.cards import FACES, is_red, parse_cards
from sim.gamelog import Event, Player, dump_line
from sim.logread import LogError
from sim.params import compile_params
from sim.replay import log_lines, play_log, replay_command, step_through
from sim.replay_frames import GameView, view_game, win_steps
from sim.replay_html import embed, game_data, render_html
from sim.replay_text import WIDTH, TextReplay, render_text
from sim.replay_words import FANS, OPTIONS, REASONS, ROLES, TYPES, describe
from sim.rows import FAN_NAMES

LONG = {"turn.extra_quad": "replacement_draw", "win.wang_limit.mode": "by_wang", "xing.payment": "any_winner"}


@cache
def player(variant: str = "four_wang", overrides: str = "{}") -> Player:
    return Player(load_variant(variant, json.loads(overrides)), ("greedy", "greedy", "random"), 3)


@cache
def game(number: int = 0, variant: str = "four_wang", overrides: str = "{}") -> list[Event]:
    return player(variant, overrides).events(number)


@cache
def view(number: int = 0, variant: str = "four_wang", overrides: str = "{}") -> GameView:
    return view_game(game(number, variant, overrides))


def won(variant: str = "four_wang") -> int:
    return next(n for n in range(50) if game(n, variant)[-2]["type"] == "win")


# --- the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("overrides", ["{}", json.dumps(LONG), '{"table.seats": 3}'])
@pytest.mark.parametrize("variant", ["two_wang", "four_wang"])
def test_board_keeps_every_card_and_counts_as_the_engine_does(variant: str, overrides: str) -> None:
    """The board follows the events alone; at the end it must be the engine's table."""
    from sim.state import HUXI, MELDS, OWNED, P_ACTIVE, QUADS

    source = player(variant, overrides)
    wangs = source.params.wangs
    for number in range(25):
        events = source.events(number)
        board = Board.of_start(events[0], source.params)
        for event in events[1:]:
            board.apply(event)
            assert not board.odd, event
            everything = [kind for hand in board.hands.values() for kind in hand] + board.wall
            everything += [kind for melds in board.melds.values() for meld in melds for kind in meld.cards]
            everything += [kind for pile in board.piles.values() for kind, _ in pile]
            if board.card is not None and board.card.kind != 20:
                everything.append(board.card.kind)
            assert sorted(everything) == sorted([*range(20)] * 4 + [20] * wangs)
        source.deal(number)
        source.players.play(source.table, number)
        table = source.table
        for seat in range(4):
            if table.public[seat, P_ACTIVE]:
                row = table.seat[seat]
                assert board.exposed_huxi(seat) == row[HUXI]
                assert len(board.melds[seat]) == row[MELDS]
                assert board.owned(seat) == row[OWNED]
                assert board.quota(seat) == 20 + max(0, int(row[QUADS]) - 1)
                assert [board.hands[seat].count(kind) for kind in range(21)] == list(table.hand[seat])


def test_board_gives_replacement_draws_to_the_hand() -> None:
    hands = {
        "0": "一一一一二二二二三三四四五五六六七七八八九",
        "1": "壹" * 4 + "贰" * 4 + "叁叁肆肆伍伍陆陆柒柒捌捌",
    }
    variant = load_variant("two_wang", {"turn.extra_quad": "replacement_draw"})
    start = {
        "type": "start",
        "hands": {**hands, "3": "十"},
        "wall": "玖拾九",
        "dealer": 0,
        "sitter": 2,
        "seats": 4,
    }
    board = Board.of_start(start, compile_params(variant))
    for seat, cards in (("0", "一二"), ("1", "壹贰")):
        for card in cards:
            board.apply({"type": "ti", "seat": int(seat), "card": card, "from": "deal", "base": "deal"})
    board.apply({"type": "draw", "seat": 0, "card": "玖", "hidden": True})
    board.apply({"type": "draw", "seat": 1, "card": "拾", "hidden": True})
    assert [board.owned(0), board.owned(1)] == [22, 21]
    assert board.card is None
    board.apply({"type": "draw", "seat": 1, "card": "九"})
    assert board.card is not None
    assert board.owned(1) == 21


def test_board_carries_on_through_nonsense() -> None:
    events = copy.deepcopy(game())
    board = Board.of_start(events[0], compile_params(load_variant("four_wang")))
    for kind in ("peng", "pao", "wei", "ti", "discard", "draw"):
        board.apply({"type": kind, "seat": 1, "card": "玖", "base": "wei", "from": "draw", "open": True})
    board.apply({"type": "chi", "seat": 1, "card": "一", "groups": ["一五九"]})
    assert board.odd


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_line_is_wider_than_100_columns(lang: str, ascii: bool) -> None:
    for number in range(12):
        for frame in render_text(game(number, "two_wang", json.dumps(LONG)), lang, ascii):
            for line in frame.split("\n"):
                assert cell_len(line) <= WIDTH, line
                assert line == line.rstrip()


def test_english_in_ascii_is_ascii() -> None:
    for number in range(8):
        for frame in render_text(game(number), "en", ascii=True):
            assert frame.isascii()


def test_colours_add_nothing_but_escape_codes() -> None:
    plain = list(render_text(game(), "zh"))
    coloured = list(render_text(game(), "zh", color=True))
    assert [re.sub("\x1b\\[[0-9;]*m", "", frame) for frame in coloured] == plain
    assert "\x1b[31m二" in "".join(coloured)
    assert not re.search("\x1b\\[31m[一三四五六八九]", "".join(coloured))
    assert "\x1b" not in "".join(plain)


def test_one_frame_an_event_with_all_that_is_known() -> None:
    events = game()
    frames = list(render_text(events, "zh"))
    assert len(frames) == len(events)
    for number, (event, frame) in enumerate(zip(events, frames, strict=True)):
        assert f"第 {number} 步" in frame
        assert describe(event, "zh") in frame
    first = frames[0]
    for role in ("庄家", "下家", "上家", "醒家"):
        assert role in first
    assert " ".join(events[0]["wall"]) in first
    assert "greedy" in first
    assert "random" in first


def test_hands_are_sorted_small_before_large_wang_last() -> None:
    for frame in view(2).frames:
        for seat in frame.seats:
            assert list(seat.hand) == sorted(seat.hand)
    text = next(iter(render_text(game(2), "zh")))
    hand = next(line for line in text.split("\n") if "手牌" in line).split("手牌")[1]
    shown = [FACES.index(char) for char in hand if char in FACES]
    dealer = str(game(2)[0]["dealer"])
    assert shown == sorted(parse_cards(game(2)[0]["hands"][dealer]))


def test_offers_tell_what_was_possible_and_what_was_chosen() -> None:
    states = {"passed": 0, "taken": 0, "open": 0}
    for number in range(12):
        shown = view(number)
        for frame in shown.frames:
            for offer in frame.offers:
                states[offer.state] += 1
            event = frame.event
            if event["type"] == "pass" and event["card"]:
                assert any(
                    (o.seat, o.option, o.state) == (event["seat"], event["option"], "passed")
                    for o in frame.offers
                )
            if event["type"] in ("peng", "chi", "pao", "discard"):
                assert any(
                    (o.seat, o.option, o.state) == (event["seat"], event["type"], "taken")
                    for o in frame.offers
                )
            if event["type"] in ("chi", "discard"):
                [offer] = [o for o in frame.offers if o.option == event["type"] and o.state == "taken"]
                assert offer.choices
                assert offer.chosen
                assert event["type"] == "chi" or offer.chosen in offer.choices
    assert min(states.values()) > 10


def test_face_down_groups_are_marked() -> None:
    for number in range(20):
        for frame, text in zip(view(number).frames, render_text(game(number), "zh"), strict=True):
            hidden = [meld for seat in frame.seats for meld in seat.melds if meld.hidden]
            assert text.count("[") - text.count("[可选") == len(hidden)
            assert all(meld.type in ("ti", "wei") for meld in hidden)


def test_win_is_told_from_huxi_to_payments() -> None:
    number = won()
    events, shown = game(number), view(number)
    win, end = events[-2], events[-1]
    replayed = TextReplay(shown, "zh")
    text = replayed.frame(len(events) - 2)
    for group in win["groups"]:
        assert f"{TYPES['zh'][group['type']]} {group['faces']}" in text
    for name in win["names"]:
        assert FANS["zh"][name] in text
    assert f"= {win['score']}（囤 × 番）" in text
    text = replayed.frame(len(events) - 1)
    for payer, payee, amount, reason in end["transfers"]:
        assert f"{payer}号 付 {payee}号 {amount}（{REASONS['zh'][reason]}）" in text
    for seat, score in end["scores"].items():
        assert f"{seat}号 {score:+d}" in text


def test_steps_of_a_win_add_up() -> None:
    """Each line of the reckoning is a true equation."""
    seen = 0
    for variant in ("two_wang", "three_wang", "four_wang"):
        for number in range(25):
            events = game(number, variant)
            if events[-2]["type"] != "win":
                continue
            seen += 1
            for line in win_steps(load_variant(variant), events[-2], "zh"):
                sides = re.sub("[^0-9+−×/=()]", "", line.split("（")[0].split("单醒")[-1])
                left, _, right = sides.replace("−", "-").replace("×", "*").rpartition("=")
                if left:
                    assert int(eval(left)) == int(right), line
    assert seen > 20


def test_a_fault_is_shown_where_it_is() -> None:
    events = copy.deepcopy(game(won()))
    events[-2]["huxi"] += 3
    frames = list(render_text(events, "zh"))
    assert ["违规" in frame for frame in frames].index(True) == len(events) - 2
    assert "应为" in frames[-2]


def test_every_word_is_there_in_both_languages() -> None:
    for table in (ROLES, TYPES, FANS, OPTIONS, REASONS):
        assert set(table["zh"]) == set(table["en"])
    assert set(FANS["zh"]) == set(FAN_NAMES)
    for number in range(20):
        for event in game(number):
            assert re.search("[\u4e00-\u9fff]", describe(event, "zh"))
            assert re.search("[a-z]{3}", describe(event, "en"))
            assert describe(event, "en", ascii=True).isascii()


def test_control_characters_in_names_do_not_reach_the_terminal() -> None:
    events = copy.deepcopy(game())
    events[0]["bots"] = ["\x1b]0;x\x07", "a\nb", "\u202e"]
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", "".join(render_text(events, "zh")))


def test_unknown_language_or_log_without_start() -> None:
    with pytest.raises(ValueError, match="zh or en"):
        list(render_text(game(), "fr"))
    with pytest.raises(LogError):
        list(render_text(game()[1:]))
    with pytest.raises(LogError, match="variant"):
        list(render_text([{**game()[0], "variant": "nonsense"}]))


# --- step by step --------------------------------------------------------------------------------


def stepped(answers: Sequence[str]) -> tuple[list[str], bool]:
    """Which of five frames are shown for these answers, and whether the next game is wanted."""
    waiting = list(answers)

    def read(prompt: str) -> str:
        assert "q" in prompt
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    out = io.StringIO()
    goes_on = step_through(["f0", "f1", "f2", "f3", "f4"], out, read)
    return out.getvalue().split(), goes_on


@pytest.mark.parametrize(
    ("answers", "shown", "goes_on"),
    [
        (["", "", "q"], "f0 f1 f2", False),
        (["", "b", "b", "q"], "f0 f1 f0 f0", False),
        (["3", "", ""], "f0 f3 f4", True),
        (["99", "b", "Q"], "f0 f4 f3", False),
        (["what", "n"], "f0 f0", True),
        ([], "f0", False),
    ],
)
def test_steps(answers: list[str], shown: str, goes_on: bool) -> None:
    assert stepped(answers) == (shown.split(), goes_on)


# --- the command ---------------------------------------------------------------------------------


def run(source: str, games: range | None = None, **options: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = replay_command(source, games, out=out, err=err, **options)  # type: ignore[arg-type]
    return status, out.getvalue(), err.getvalue()


def written(path: Path, *logs: list[Event]) -> str:
    path.write_text("".join(dump_line(event) + "\n" for events in logs for event in events), encoding="utf-8")
    return str(path)


def test_command_prints_the_game_log() -> None:
    status, out, err = run("four_wang", range(2, 4), seed=3, bots="greedy,greedy,random", as_json=True)
    assert (status, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [*game(2), *game(3)]
    status, again, _ = run("four_wang", range(3, 4), seed=3, bots="greedy,greedy,random", as_json=True)
    assert out.endswith(again)


def test_command_takes_overrides_and_sessions() -> None:
    _, out, _ = run("two_wang", range(3), overrides=["win.min_huxi=21"], session=3, as_json=True)
    starts = [json.loads(line) for line in out.splitlines() if '"start"' in line]
    assert all(start["overrides"] == {"win.min_huxi": 21} for start in starts)
    games = list(play_log("two_wang", games=range(3), seed=1, session=3, overrides={"win.min_huxi": 21}))
    assert [events[0] for events in games] == starts
    assert len({start["dealer"] for start in starts}) > 1


def test_command_shows_games_on_a_pipe() -> None:
    status, out, _ = run("four_wang", range(1), seed=3, bots="greedy,greedy,random", step=None)
    assert status == 0
    assert out == "".join(frame + "\n\n" for frame in render_text(game(), "zh"))


def test_command_steps_and_stops() -> None:
    answers = iter(["", "n", "q"])
    _, out, _ = run("four_wang", range(5), step=True, read=lambda _: next(answers), lang="en")
    assert re.findall("step ([0-9]+) of", out) == ["0", "1", "0"]


def test_command_judges_a_log(tmp_path: Path) -> None:
    faulty = copy.deepcopy(game(won()))
    faulty[-2]["score"] += 1
    source = written(tmp_path / "log.jsonl", game(0), faulty, game(1))
    status, out, _ = run(source, check_only=True, lang="en")
    assert status == 1
    line = len(game(0)) + len(faulty) - 1
    assert f"line {line}: score of win is" in out
    assert "3 games, 1 of them break a rule" in out
    status, out, _ = run(source, as_json=True)
    told = json.loads(out)
    assert status == told["broken"] == 1
    assert [len(entry["complaints"]) for entry in told["games"]] == [0, 1, 0]
    assert told["games"][1]["complaints"][0]["line"] == line
    assert told["games"][1]["complaints"][0]["rule"] == "3.9"
    status, out, _ = run(source, range(1, 2), lang="zh")
    assert status == 0
    assert "没有违规" in out
    assert "第 0 步" in out


def test_command_refuses_bad_input(tmp_path: Path) -> None:
    source = written(tmp_path / "log.jsonl", game(0))
    with pytest.raises(LogError, match="no game in 7:9"):
        run(source, range(7, 9), lang="en")
    (tmp_path / "bad.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(LogError, match="line 1: no UTF-8"):
        run(str(tmp_path / "bad.jsonl"))
    (tmp_path / "long.jsonl").write_bytes(b" " * 2_000_000)
    with pytest.raises(LogError, match="line 1: more than"):
        run(str(tmp_path / "long.jsonl"))
    with pytest.raises(FileNotFoundError):
        run(str(tmp_path / "none.jsonl"))
    with pytest.raises(VariantError):
        run("nonsense")
    with pytest.raises(BotError):
        run("four_wang", bots="nobody")


def test_log_lines_take_a_byte_order_mark() -> None:
    assert list(log_lines(io.BytesIO("\ufeffa\nb".encode()))) == ["a\n", "b"]


# --- the page ------------------------------------------------------------------------------------

EVIL = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>&'\"\u2028\u2029"


def data_of(page: str) -> dict[str, object]:
    block = page.split('<script type="application/json" id="data">')[1].split("</script>", maxsplit=1)[0]
    found: dict[str, object] = json.loads(block)
    return found


def test_page_is_one_file_with_all_games() -> None:
    page = render_html([*game(0), *game(1)], "en")
    assert page.startswith("<!DOCTYPE html>")
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["'](?!data:)""", page)
    assert not re.findall(r"url\(|@import|https?:|//[a-z]", page)
    assert "@DATA@" not in page
    data = data_of(page)
    assert data["lang"] == "en"
    assert [len(one["frames"]) for one in data["games"]] == [len(game(0)), len(game(1))]  # type: ignore[attr-defined]


def test_page_is_the_same_every_time() -> None:
    assert render_html(game(0)) == render_html(copy.deepcopy(game(0)))


def test_names_cannot_end_the_data_block() -> None:
    events = copy.deepcopy(game())
    events[0]["bots"] = [EVIL, EVIL, EVIL]
    page = render_html(events)
    assert "alert(1)</" not in page
    assert page.count("</script>") == render_html(game()).count("</script>")
    assert "<!--" not in page
    assert data_of(page)["games"][0]["bots"].count(EVIL) == 3  # type: ignore[index]


def test_embed_keeps_the_value() -> None:
    value = {"a": [EVIL, 1, None, "一"]}
    text = embed(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


def test_page_data_is_the_view() -> None:
    number = won()
    shown = view(number)
    data = game_data(shown, number)
    for frame, told in zip(shown.frames, data["frames"], strict=True):
        assert told["wall"] == frame.wall_left
        for seat, row in zip(frame.seats, told["seats"], strict=True):
            assert parse_cards(row["hand"]) == list(seat.hand)
            assert [meld[1] for meld in row["melds"]] == [
                "".join(FACES[k] for k in m.cards) for m in seat.melds
            ]
    assert len(data["frames"][-2]["win"]["groups"]) == 7
    assert data["frames"][-1]["scores"] == game(number)[-1]["scores"]


def test_red_kinds_of_the_script_are_those_of_the_rules() -> None:
    page = render_html(game())
    red = re.search('RED = "(.*?)"', page)
    assert red is not None
    assert sorted(red[1]) == sorted(FACES[kind] for kind in range(20) if is_red(kind))


def test_page_of_too_many_games_or_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 games"):
        render_html([])
    status, out, err = run("four_wang", range(2), page=tmp_path / "replay.html", lang="en")
    assert (status, out) == (0, "")
    assert "2 games" in err
    assert "<!DOCTYPE html>" in (tmp_path / "replay.html").read_text(encoding="utf-8")
