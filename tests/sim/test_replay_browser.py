"""The page in a real browser: keys, mouse, languages, no error and no request."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, find_chromium

from sim.gamelog import Event
from sim.replay import play_log
from sim.replay_html import render_html

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="no Chromium here")

EVIL = "</script><script>window.evil=1</script><img src=x onerror='window.evil=1'>"


@pytest.fixture(scope="module")
def logs() -> list[list[Event]]:
    return list(play_log("four_wang", seed=1, games=range(3)))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def page(shared: Browser, logs: list[list[Event]], tmp_path: Path) -> Iterator[Browser]:
    """The page of three games, fresh; afterwards nothing may have gone wrong on it."""
    file = tmp_path / "replay.html"
    file.write_text(render_html([event for events in logs for event in events], "zh"), encoding="utf-8")
    shared.look(1280)
    shared.open(file.as_uri())
    yield shared
    assert shared.troubles == []
    assert shared.requests == [file.as_uri()]


def choose(page: Browser, field: str, value: str) -> None:
    page.js(f"{field}.value = '{value}'; {field}.dispatchEvent(new Event('change'))")


def step(page: Browser) -> int:
    count: str = page.js("document.getElementById('count').textContent")
    current = page.js(
        "[...document.querySelectorAll('#events button')].findIndex(b => b.hasAttribute('aria-current'))"
    )
    assert (
        current
        == int(count.split(" / ", maxsplit=1)[0])
        == int(page.js("document.getElementById('slider').value"))
    )
    return int(current)


def headline(page: Browser) -> str:
    return str(page.js("document.getElementById('headline').textContent"))


def test_reasons_stand_below_the_table(shared: Browser, logs: list[list[Event]], tmp_path: Path) -> None:
    rows = [[0, EVIL, "+1.0 ± 0.1", "40 %", "", "x"], [1, "打 二", "+0.5 ± 0.1", "30 %", "", "y"]]
    note = {"head": EVIL, "rows": rows, "reason": ["because", EVIL]}
    file = tmp_path / "why.html"
    file.write_text(render_html(logs[0], "zh", [{2: {"zh": note, "en": note}}]), encoding="utf-8")
    shared.look(1280)
    shared.open(file.as_uri())
    count = "document.querySelectorAll('#why tr').length"
    assert shared.js(count) == 0
    shared.press("ArrowRight")
    shared.press("ArrowRight")
    assert shared.js(count) == 2
    assert shared.js("document.querySelector('#why tr.chosen .option').textContent") == "打 二"
    assert shared.js("window.evil === undefined")
    shared.press("ArrowRight")
    assert shared.js(count) == 0
    assert shared.troubles == []


def test_keys_step_through_the_game(page: Browser, logs: list[list[Event]]) -> None:
    last = len(logs[0]) - 1
    assert step(page) == 0
    first = headline(page)
    page.press("ArrowRight")
    page.press("ArrowRight")
    assert step(page) == 2
    assert headline(page) != first
    page.press("ArrowLeft")
    assert step(page) == 1
    page.press("End")
    assert step(page) == last
    page.press("ArrowRight")
    assert step(page) == last, "there is nothing after the end"
    page.press("Home")
    assert step(page) == 0
    assert headline(page) == first


def test_space_plays_and_pauses_also_after_a_click(page: Browser) -> None:
    choose(page, "speed", "10")
    page.click("#next")
    assert step(page) == 1
    page.press(" ")
    page.js("new Promise(done => setTimeout(done, 700))")
    page.press(" ")
    stopped = step(page)
    assert stopped >= 3
    page.js("new Promise(done => setTimeout(done, 400))")
    assert step(page) == stopped


def test_mouse_moves_by_buttons_list_and_slider(page: Browser, logs: list[list[Event]]) -> None:
    page.click("#next")
    assert step(page) == 1
    page.click("#back")
    assert step(page) == 0
    page.click("#events li:nth-child(8) button")
    assert step(page) == 7
    page.click("#slider")
    assert abs(step(page) - len(logs[0]) / 2) < 3
    page.click("#last")
    assert step(page) == len(logs[0]) - 1
    assert page.js("document.getElementById('next').disabled") is True
    page.click("#first")
    assert step(page) == 0


def test_every_step_shows_the_cards_of_the_log(page: Browser, logs: list[list[Event]]) -> None:
    """All cards of the table at each step: the wall left, the card in play and what the seats have."""
    for number in range(len(logs[0])):
        assert step(page) == number
        told = page.js(
            "({cards: document.querySelectorAll('#seats .c').length + document.querySelectorAll('#seats .m').length,"
            " play: document.querySelectorAll('#spot .c:not(.wang)').length,"
            " wall: Number(document.getElementById('wall').textContent)})"
        )
        assert told["cards"] + told["play"] + told["wall"] == 84
        page.press("ArrowRight")


def test_language_switch_keeps_the_place(page: Browser) -> None:
    page.press("ArrowRight")
    page.click("#lang")
    assert step(page) == 1
    assert headline(page).startswith("seat ")
    assert page.js("document.documentElement.lang") == "en"
    assert page.js("document.querySelector('#events button').textContent").endswith("the deal")
    page.click("#lang")
    assert "号" in headline(page)


def test_other_games_by_key_and_list(page: Browser, logs: list[list[Event]]) -> None:
    page.press("]")
    assert page.js("document.getElementById('events').children.length") == len(logs[1])
    page.press("[")
    assert page.js("document.getElementById('events').children.length") == len(logs[0])
    choose(page, "game", "2")
    assert page.js("document.getElementById('events').children.length") == len(logs[2])
    assert step(page) == 0


def test_win_and_payments_are_shown(page: Browser, logs: list[list[Event]]) -> None:
    number = next(n for n, events in enumerate(logs) if events[-2]["type"] == "win")
    for _ in range(number):
        page.press("]")
    page.press("End")
    scores = page.js(
        "[...document.querySelectorAll('.score')].map(e => Number(e.textContent.replace('−', '-')))"
    )
    assert sorted(scores) == sorted(logs[number][-1]["scores"].values())
    page.press("ArrowLeft")
    assert page.js("document.querySelectorAll('#result .meld').length") == 7


def test_wall_can_be_looked_at(page: Browser) -> None:
    assert page.js("document.getElementById('peek').hidden") is True
    page.click("#wall")
    assert page.js("document.querySelectorAll('#peek .m').length") == 23


@pytest.mark.parametrize("dark", [False, True])
def test_phone_has_nothing_beside_the_screen(page: Browser, dark: bool) -> None:
    page.look(390, 844, dark=dark)
    for key in ("Home", "End", "ArrowLeft"):
        page.press(key)
        assert page.js("document.documentElement.scrollWidth") == 390
    page.click("#back")
    low = page.js("document.querySelector('.bar').getBoundingClientRect().bottom")
    assert low <= 845, "the buttons stay in sight"


def test_names_are_text(shared: Browser, logs: list[list[Event]], tmp_path: Path) -> None:
    events = copy.deepcopy(logs[0])
    events[0]["bots"] = [EVIL] * 3
    file = tmp_path / "evil.html"
    file.write_text(render_html(events), encoding="utf-8")
    shared.open(file.as_uri())
    assert shared.js("window.evil === undefined") is True
    assert shared.js("document.querySelector('.bot').textContent") == EVIL
    assert shared.js("document.images.length") == 0
    assert shared.troubles == []
