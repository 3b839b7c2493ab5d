"""Explained play: options valued from what the seat knows, played on as the players would, told in words."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from referee import check_game
from rich.cells import cell_len
from scipy import stats

from sim import load_variant
from sim.gamelog import Event, Player, dump_line
from sim.logcheck import check_log
from sim.players import parse_players
from sim.replay import explain_events, replay_command
from sim.whatif import Decision, Estimate, Game, Valued, WhatIfError, estimate
from sim.whatif_words import WORDS, explain_lines, facts, option_text, verdict, whatif_lines

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my_bot.py"
MIXED = ("greedy", "random", "greedy")


@cache
def log(game: int = 0, variant: str = "four_wang", bots: tuple[str, str, str] = MIXED) -> list[Event]:
    return Player(load_variant(variant), bots, 7).events(game)


@cache
def asked(number: int = 0, variant: str = "four_wang", worlds: int = 20) -> tuple[Game, tuple[Decision, ...]]:
    game = Game(log(number, variant), worlds)
    return game, tuple(game.decisions())


# --- played on -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["two_wang", "four_wang"])
def test_the_option_that_was_chosen_gives_the_game_that_was_played(variant: str) -> None:
    for number in range(4):
        game, decisions = asked(number, variant)
        for decision in decisions[::3]:
            outcome = game.play_on(decision.event, decision.chosen)
            assert outcome.events == log(number, variant)
            assert {str(seat): score for seat, score in outcome.scores.items()} == outcome.events[-1][
                "scores"
            ]


def test_searches_and_own_bots_go_on_as_they_would_have(tmp_path: Path) -> None:
    """Also a bot that remembers what it was asked."""
    path = tmp_path / "bot.py"
    path.write_text(
        "class B:\n"
        "    def __init__(self): self.asked = []\n"
        "    def choose(self, view, options):\n"
        "        self.asked.append(len(options))\n"
        "        return (sum(self.asked) + view.random.randrange(3)) % len(options)\n"
    )
    bots = parse_players(f"{path}:B,search:worlds=4:surer=0,random")
    events = Player(load_variant("two_wang"), bots, 3, session=3).events(4)
    assert Game(events, 20).replaced == [bots[0]], "a log must not run code"
    game = Game(events, 20, own_bots=True)
    assert game.replaced == []
    for decision in game.decisions()[::2]:
        assert game.play_on(decision.event, decision.chosen).events == events


def test_another_option_gives_another_game_by_the_rules() -> None:
    differing = 0
    for number in range(3):
        game, decisions = asked(number)
        for decision in decisions[::4]:
            place = (decision.chosen + 1) % len(decision.options)
            outcome = game.play_on(decision.event, place)
            assert outcome.events[: decision.event] == log(number)[: decision.event]
            assert outcome.events[decision.event] != log(number)[decision.event]
            assert check_game(outcome.events) == []
            assert check_log(outcome.events) == []
            differing += outcome.scores != game.play_on(decision.event, decision.chosen).scores
    assert differing > 3


def test_unknown_players_are_replaced_and_named() -> None:
    events = [{**log()[0], "bots": ["Li", "greedy", "gone.py:B"], "seed": None, "game": None}, *log()[1:]]
    game = Game(events, 20)
    assert game.replaced == ["Li", "gone.py:B"]
    decision = game.decisions()[0]
    outcome = game.play_on(decision.event, decision.chosen)
    text = "\n".join(whatif_lines(game, decision, [outcome], "en"))
    assert "Li, gone.py:B" in text


# --- values ----------------------------------------------------------------------------------------------


def test_every_choice_of_a_log_is_explained() -> None:
    for number in range(3):
        _, decisions = asked(number)
        by_event = {decision.event: decision for decision in decisions}
        for place, event in enumerate(log(number)):
            if event["type"] in ("pass", "peng", "chi"):
                assert place in by_event
            if place in by_event:
                decision = by_event[place]
                assert decision.seat == event["seat"]
                chosen = decision.options[decision.chosen].option
                assert chosen.kind == event["type"]
                assert chosen.card == event["card"]
                if event["type"] == "chi":
                    assert sorted(map(sorted, chosen.groups)) == sorted(map(sorted, event["groups"]))
                assert decision.options[decision.best].score.mean == max(
                    valued.score.mean for valued in decision.options
                )
                assert decision.options[decision.chosen].gain == Estimate(0.0, 0.0)


def test_values_are_those_of_the_seats_knowledge() -> None:
    """Winning is worth the score that is won; shares of a world's ends add up; more worlds, shorter intervals."""
    wins = 0
    for number in range(6):
        _, decisions = asked(number)
        for decision in decisions:
            for valued in decision.options:
                assert abs(valued.wins.mean + valued.losses.mean + valued.draws.mean - 1) < 1e-9
                if valued.option.kind == "win":
                    wins += 1
                    assert valued.wins == Estimate(1.0, 0.0)
                    assert valued.score.mean > 0
    assert wins > 2
    few, many = asked()[1], Game(log(), 320).decisions()
    ratios = [
        two.options[0].score.half / one.options[0].score.half
        for one, two in zip(few, many, strict=True)
        if one.options[0].score.half
    ]
    assert 0.15 < np.median(ratios) < 0.4  # a quarter


def test_intervals_are_students() -> None:
    for number in (20, 50, 200):
        values = np.random.default_rng(number).normal(3, 2, number)
        found = estimate(values)
        low, high = stats.t.interval(0.95, number - 1, values.mean(), stats.sem(values))
        assert found.mean == pytest.approx(values.mean())
        assert found.half == pytest.approx((high - low) / 2, rel=1e-3)


def test_the_players_own_values_are_shown() -> None:
    bots = parse_players(f"{EXAMPLE}:MyBot,greedy,greedy")
    game = Game(Player(load_variant("two_wang"), bots, 3).events(1), 20, own_bots=True)
    shown = 0
    for decision in game.decisions():
        own = [valued.own for valued in decision.options]
        if decision.player != bots[0] and decision.view.decision == "win":
            assert own == [None] * len(own)
        else:
            shown += decision.player == bots[0]
            assert own[decision.chosen] == max(value for value in own if value is not None)
            assert "own value" in "\n".join(explain_lines(decision, game.params, "en"))
    assert shown > 2


# --- words -----------------------------------------------------------------------------------------------


def decided(gains: list[tuple[float, float]], chosen: int) -> Decision:
    """A decision with these gains (mean and half-width) over the chosen option."""
    decision = next(d for d in asked()[1] if len(d.options) >= len(gains))
    options = tuple(
        Valued(old.option, Estimate(mean, 1.0), Estimate(mean, half), old.wins, old.losses, old.draws)
        for old, (mean, half) in zip(decision.options, gains, strict=False)
    )
    best = max(range(len(gains)), key=lambda place: gains[place][0])
    return Decision(9, 0, "x", decision.view, options, chosen, best, 20, "greedy")


@pytest.mark.parametrize(
    ("gains", "key"),
    [
        ([(0, 0), (-3, 1)], "only"),
        ([(0, 0), (-1, 2)], "as_good"),
        ([(0, 0), (3, 1)], "better"),
        ([(0, 0), (1, 2)], "maybe"),
        ([(0, 0), (0, 0)], "equal"),
        ([(0, 0), (1.1, 1), (-5, 1), (-5, 1)], "maybe"),  # sure alone, not among three
    ],
)
def test_the_verdict_says_no_more_than_is_known(gains: list[tuple[float, float]], key: str) -> None:
    decision = decided(gains, 0)
    for lang in ("zh", "en"):
        other = option_text(decision.options[1].option, lang)
        told = verdict(decision, lang)
        sentence = WORDS[lang][key].split("{")[0] or WORDS[lang][key].split("}")[1].split("{")[0]
        assert told[0].startswith(sentence) or sentence in told[0]
        assert other in told[0]


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_lines_fit_and_are_in_one_alphabet(lang: str, ascii: bool) -> None:
    for number in range(3):
        game, decisions = asked(number, "two_wang")
        for decision in decisions:
            for line in explain_lines(decision, game.params, lang, ascii):
                assert cell_len(line) <= 100, line
                if ascii and lang == "en":
                    assert line.replace("±", "+").replace("×", "x").isascii(), line


def test_facts_are_facts() -> None:
    """What is said about a discard, against the hand itself."""
    said: set[str] = set()
    words = WORDS["en"]
    for number in range(6):
        game, decisions = asked(number)
        for decision in decisions:
            view = decision.view
            for valued in decision.options:
                told = facts(view, valued.option, game.params, "en")
                said.update(text.split(" ")[0] for text in told)
                if valued.option.kind != "discard":
                    continue
                card = str(valued.option.card)
                assert (words["pair"].format(card * 2) in told) == (view.held(card) == 2)
                assert (words["out"] in told) == (view.hidden[card] == 0)
                if words["next"] in told:
                    following = view.others[view.order[1]]
                    assert card in following.passed | following.discarded
    assert {"breaks", "goes", "nothing", "groups", "huxi:", "keeps"} <= said


def test_every_word_is_there_in_both_languages() -> None:
    assert set(WORDS["zh"]) == set(WORDS["en"])


# --- the command -----------------------------------------------------------------------------------------


def run(source: str, games: range | None = None, **options: Any) -> str:
    out = io.StringIO()
    assert replay_command(source, games, out=out, err=io.StringIO(), step=False, **options) == 0
    return out.getvalue()


def test_explain_adds_to_the_text_and_to_the_log(tmp_path: Path) -> None:
    how: dict[str, Any] = {"seed": 7, "bots": ",".join(MIXED), "lang": "en"}
    plain, told = (
        run("four_wang", range(1), **how),
        run("four_wang", range(1), explain=True, worlds=20, **how),
    )
    lines = told.splitlines()
    assert [line for line in plain.splitlines() if line not in lines] == []
    assert told.count(" decides: 20 worlds") == len(asked()[1])
    logged = run("four_wang", range(1), explain=True, worlds=20, as_json=True, **how)
    events = [json.loads(line) for line in logged.splitlines()]
    assert events == explain_events(log(), 20)
    assert [{k: v for k, v in event.items() if k != "meta"} for event in events] == log()
    assert check_game(events) == []
    assert sum("meta" in event for event in events) == len(asked()[1])
    first = next(event["meta"]["explained"] for event in events if "meta" in event)
    assert set(first["reason"]) == {"zh", "en"}
    assert first["options"][0]["score"]["half_width"] > 0
    path = tmp_path / "log.jsonl"
    path.write_text("".join(dump_line(event) + "\n" for event in events), encoding="utf-8")
    assert "keeps the rules" in run(str(path), check_only=True, lang="en")
    assert run(str(path), explain=True, worlds=20, lang="en").startswith(told.rstrip("\n"))


def test_what_if_tells_of_all_options_or_of_one(tmp_path: Path) -> None:
    decision = asked()[1][0]
    how: dict[str, Any] = {"seed": 7, "bots": ",".join(MIXED), "worlds": 20, "what_if": decision.event}
    text = run("four_wang", range(1), lang="en", **how)
    assert text.count("seat 0 ") >= len(decision.options)
    assert "(as it was)" in text
    document = json.loads(run("four_wang", range(1), as_json=True, **how))
    assert [each["option"] for each in document["on_this_deck"]] == list(range(len(decision.options)))
    other = (decision.chosen + 1) % len(decision.options)
    document = json.loads(run("four_wang", range(1), as_json=True, option=other, **how))
    assert [each["option"] for each in document["on_this_deck"]] == [decision.chosen, other]
    assert check_game(document["on_this_deck"][1]["log"]) == []
    assert document["on_this_deck"][0]["log"] == log()
    assert document["options"][other]["gain"]["half_width"] > 0
    assert "It goes on:" in run("four_wang", range(1), lang="en", option=other, **how)
    path = tmp_path / "log.jsonl"
    path.write_text("".join(dump_line(event) + "\n" for event in log()), encoding="utf-8")
    assert run(str(path), lang="en", worlds=20, what_if=decision.event) == text


def test_the_page_shows_the_reasons(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("four_wang", range(2), seed=7, bots=",".join(MIXED), explain=True, worlds=20, page=page)
    text = page.read_text(encoding="utf-8")
    data = json.loads(text.split('id="data"')[1].split(">", 1)[1].split("</script>")[0])
    for number in range(2):
        frames = data["games"][number]["frames"]
        decisions = {decision.event: decision for decision in asked(number)[1]}
        assert {place for place, frame in enumerate(frames) if "why" in frame} == set(decisions)
        for place, decision in decisions.items():
            for lang in ("zh", "en"):
                why = frames[place]["why"][lang]
                assert why["reason"] == verdict(decision, lang)
                assert [row[1] for row in why["rows"] if row[0]] == [
                    option_text(decision.options[decision.chosen].option, lang)
                ]


def test_a_log_runs_no_code(tmp_path: Path) -> None:
    """A log may come from anywhere; the file that it names is not even opened."""
    bot, mark = tmp_path / "evil.py", tmp_path / "mark"
    bot.write_text(f"open({str(mark)!r}, 'w')\nclass B:\n    def choose(self, v, o): return 0\n")
    path = tmp_path / "log.jsonl"
    events = [{**log()[0], "bots": [f"{bot}:B", "greedy", "greedy"]}, *log()[1:]]
    path.write_text("".join(dump_line(event) + "\n" for event in events), encoding="utf-8")
    event = asked()[1][0].event
    run(str(path), explain=True, worlds=20)
    run(str(path), explain=True, worlds=20, page=tmp_path / "page.html")
    assert f"{bot}:B" in run(str(path), what_if=event, worlds=20, lang="en")
    assert not mark.exists()


def test_wrong_questions_are_answered() -> None:
    game, decisions = asked()
    with pytest.raises(WhatIfError, match="event 0 is no decision of this game; near ones are"):
        game.at(0)
    with pytest.raises(WhatIfError, match="options 0 to"):
        game.play_on(decisions[0].event, 50)
    with pytest.raises(WhatIfError, match="one game"):
        run("four_wang", range(2), what_if=3, lang="en")
    with pytest.raises(WhatIfError, match="no decision"):
        run("four_wang", range(1), what_if=900, lang="en")
