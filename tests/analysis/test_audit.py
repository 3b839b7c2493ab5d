"""Audits: planted faults are found, sound variants are not accused, nothing crashes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from strategies import variant_overrides

from analysis.audit import Audit, audit, print_audit
from analysis.audit_play import _options, audit_play, switches
from analysis.audit_rules import (
    SEVERITIES,
    TEXT_TABLE,
    AuditError,
    Bounds,
    Finding,
    audit_rules,
    in_order_of_weight,
    inert_keys,
    read_pay_table,
)
from analysis.cli import app
from sim.engine import play_games
from sim.params import compile_params
from sim.rows import COLUMN, FAN_NAMES, NULL
from sim.rulebook import RULES
from sim.variant import PRESETS, load_variant

NUMBERS = {rule.number for rule in RULES}


def on_paper(variant: str, *overrides: str) -> list[Finding]:
    return audit_rules(load_variant(variant, overrides))


def codes(findings: list[Finding], at_least: str = "warning") -> set[tuple[str, str]]:
    grave = SEVERITIES[: SEVERITIES.index(at_least) + 1]  # type: ignore[arg-type]
    return {(finding.code, finding.rule) for finding in findings if finding.severity in grave}


# --- on paper ----------------------------------------------------------------------------------------------


def test_two_wangs_have_no_wang_zha() -> None:
    assert codes(on_paper("two_wang")) == {
        ("name-impossible", "4.8"),
        ("name-impossible", "4.9"),
        ("name-impossible", "4.10"),
    }


def test_three_wangs_have_no_wang_zha_wang() -> None:
    assert codes(on_paper("three_wang")) == {("name-impossible", "4.10")}


def test_four_wangs_limit_of_one_wang_never_binds() -> None:
    found = [finding for finding in on_paper("four_wang") if finding.severity == "warning"]
    assert [(finding.code, finding.rule) for finding in found] == [("limit-never-binds", "1.10")]
    assert found[0].evidence == {"wangs": 1, "limit": 2, "least_fan": 2}
    assert "自摸已是2番" in found[0].text.zh


@pytest.mark.parametrize("variant", PRESETS)
def test_presets_agree_with_the_table_of_the_text(variant: str) -> None:
    assert not [finding for finding in on_paper(variant) if finding.code == "pay-table"]


@pytest.mark.parametrize(
    ("overrides", "code", "rule"),
    [
        (["fan.special_includes_zimo=true"], "pay-table", "4.5"),
        (["fan.red=3"], "pay-table", "4.1"),
        (["draw.wang_payout.unit=4"], "pay-table", "1.3"),
        (
            ["win.wang_limit.mode=by_wang", "win.wang_limit.special_only_from=5"],
            "limit-without-effect",
            "1.11",
        ),
        (["win.wang_limit.min_fan={1: 1, 2: 2, 3: 2, 4: 2}"], "limit-without-effect", "1.10"),
        (["win.wang_limit.min_fan={1: 200, 2: 200, 3: 200, 4: 200}"], "limit-unreachable", "1.10"),
        (["wang.ti=false"], "name-impossible", "4.9"),
        (["fan.red_min=29"], "name-impossible", "4.1"),
        (["fan.red_min=0"], "names-overlap", "4.1"),
        (["fan.wang_diao=1"], "name-dominated", "4.5"),
        (["fan.wang_chuang_wang=7"], "name-dominated", "4.8"),
        (["win.min_huxi=400"], "win-impossible", "5.1"),
        (["tun.base=0"], "win-pays-nothing", "3.8"),
        (["tun.step=80"], "tun-constant", "3.8"),
        (["cap=100000"], "limit-never-binds", "3.9"),
        (["cap=1"], "cap-flattens", "3.9"),
        (["xing.card=none", "xing.singles=1"], "key-inert", "2.13"),
        (["table.seats=3", "xing.payment=any_winner"], "key-inert", "2.13"),
        (["win.forced_first=false", "win.declare_special=false"], "key-inert", "5.3"),
        (["draw.wang_payout.enabled=false", "draw.wang_payout.unit=9"], "key-inert", "1.3"),
    ],
)
def test_a_planted_fault_is_found(overrides: list[str], code: str, rule: str) -> None:
    assert (code, rule) not in codes(on_paper("four_wang"))
    assert (code, rule) in codes(on_paper("four_wang", *overrides))


def test_a_key_of_the_other_limit_is_idle_only_where_it_is_set() -> None:
    assert "win.wang_limit.special_only_from" in inert_keys(load_variant("four_wang").flat())
    assert ("key-inert", "1.11") not in codes(on_paper("four_wang"))
    assert ("key-inert", "1.11") in codes(on_paper("four_wang", "win.wang_limit.special_only_from=2"))


def test_pay_table_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "room.yaml"
    path.write_text("红胡+自摸: 4\nblack + wang_diao: 20\ndraw: {2: 10}\n", encoding="utf-8")
    table = read_pay_table(path)
    found = audit_rules(load_variant("three_wang"), table)
    (wrong,) = [finding for finding in found if finding.code == "pay-table"]
    assert wrong.evidence == {"names": ["black", "wang_diao"], "actual": 16, "stated": 20}
    for text, part in (
        ("red+zimo: four\n", ":1:"),
        ("rde: 4\n", "no fan name"),
        ("draw: {7: 1}\n", "1 to 4"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(AuditError, match=part):
            read_pay_table(path)


def check_findings(found: list[Finding]) -> None:
    places = [SEVERITIES.index(finding.severity) for finding in found]
    assert all(one <= two for one, two in pairwise(places))
    known = set(load_variant("base").flat())
    for finding in found:
        assert finding.rule in NUMBERS
        assert set(finding.keys) <= known
        assert finding.text.en and finding.text.zh and finding.advice.en and finding.advice.zh
        assert "。" in finding.text.zh and "{" not in finding.text.en + finding.text.zh
    json.dumps([finding.as_dict() for finding in found], allow_nan=False)


@settings(max_examples=40)
@given(overrides=variant_overrides())
def test_paper_audit_of_any_variant(overrides: dict[str, object]) -> None:
    check_findings(audit_rules(load_variant("base", overrides), TEXT_TABLE))


@settings(max_examples=6)
@given(overrides=variant_overrides(least=20))
def test_what_is_said_to_be_impossible_never_happens(overrides: dict[str, object]) -> None:
    variant = load_variant("base", overrides)
    keys = dict(variant.flat())
    bounds = Bounds(keys)
    rows = play_games(compile_params(variant), (0, 1, 1), 5, 0, 300)
    won = rows[rows[:, COLUMN["winner"]] != NULL]
    for name in FAN_NAMES:
        if bounds.why_impossible(name):
            assert not won[:, COLUMN[name]].any(), name
    low, high = bounds.fan
    fan, tun, held = (won[:, COLUMN[name]] for name in ("fan", "tun", "wangs_win"))
    assert ((fan >= low) & (fan <= high)).all()
    assert ((tun >= bounds.tun[0]) & (tun <= bounds.tun[1])).all()
    assert (won[:, COLUMN["huxi"]] <= bounds.most_huxi).all()
    for wangs in range(bounds.wangs + 1):
        least, most = bounds.fans(wangs)
        some = fan[held == wangs]
        assert ((some >= least) & (some <= most)).all()


def other_value(key: str, value: object) -> object:
    if isinstance(value, bool):
        return not value
    if key == "win.wang_limit.min_fan":
        return {1: 3, 2: 5, 3: 9, 4: 20}
    if key == "win.wang_limit.mode":
        return "by_fan"
    if key == "xing.payment":
        return "winner_only" if value != "winner_only" else "any_winner"
    assert isinstance(value, int)
    return 3 - value if key == "xing.singles" else value % 4 + 1


def check_inert(overrides: dict[str, object], games: int) -> None:
    """Keys said to be without effect change no game."""
    variant = load_variant("base", overrides)
    flat = dict(variant.flat())
    base = play_games(compile_params(variant), (1, 1, 1), 3, 0, games)
    for key in inert_keys(flat):
        if key == "fan.red_min":  # it still decides a name without worth
            continue
        changed = load_variant("base", {**overrides, key: other_value(key, flat[key])})
        if key not in inert_keys(dict(changed.flat())):
            continue  # another factor may meet the fan limit
        rows = play_games(compile_params(changed), (1, 1, 1), 3, 0, games)
        assert (rows == base).all(), key


@settings(max_examples=4)
@given(overrides=variant_overrides(least=10))
def test_an_inert_key_changes_no_game(overrides: dict[str, object]) -> None:
    check_inert(overrides, 60)


@pytest.mark.slow
@settings(max_examples=60)
@given(overrides=variant_overrides(least=5))
def test_inert_keys_of_many_variants(overrides: dict[str, object]) -> None:
    check_inert(overrides, 400)


# --- in play -----------------------------------------------------------------------------------------------


def test_a_dead_rule_is_found_in_play() -> None:
    # neither can be ruled out on paper: six quads of red cards make 24, and bounds of payments are generous
    variant = load_variant("two_wang", ["cap=700", "fan.red_min=24"])
    played = audit_play(variant, ("greedy",), games=600, seed=3)
    idle = {finding.evidence["key"] for finding in played.findings if finding.code == "key-idle"}
    assert "cap" in idle
    fired = {key for finding in played.findings if finding.code == "never-fired" for key in finding.keys}
    assert "fan.red" in fired
    busy = ("turn.chi_from_upstream_draw", "pass.blocks_chi", "xing.card", "fan.zimo", "wang.ti")
    assert all(played.keys[key].events > 0 for key in busy)
    assert not idle & set(busy)
    check_findings(in_order_of_weight(played.findings))


@pytest.mark.slow
def test_few_games_make_a_note_and_many_a_warning() -> None:
    variant = load_variant("two_wang", ["fan.red_min=24"])
    few = audit_play(variant, ("greedy",), games=200, seed=3)
    many = audit_play(variant, ("greedy",), games=9_200, seed=3, jobs=1)
    of = [
        {finding.severity for finding in played.findings if finding.keys == ("fan.red",)}
        for played in (few, many)
    ]
    assert of == [{"note"}, {"warning"}]


def test_every_key_is_switched_or_known_to_be_idle() -> None:
    flat = dict(load_variant("four_wang", ["cap=50"]).flat())
    switched = {key.removesuffix(f".{key[-1]}") if "min_fan" in key else key for key, _ in switches(flat)}
    assert set(flat) - switched - set(inert_keys(flat)) == {"deck.wangs", "table.seats", "stake", "tun.base"}
    for _, tries in switches(flat):
        for switch in tries:
            load_variant("four_wang", {"cap": 50, **switch})  # legal


def test_options_agree_with_the_logs() -> None:
    from sim.gamelog import Player

    variant = load_variant("four_wang")
    counts = _options(variant, "random", 4, 30)
    player = Player(variant, ("random",) * 3, 4)
    events = [event for game in range(30) for event in player.events(game)]
    kinds = [event["type"] for event in events]
    assert counts["chi"] == kinds.count("chi") > 0
    assert counts["peng"] == kinds.count("peng") > 0
    assert counts["win"] == kinds.count("win") > 0
    passed = [event["option"] for event in events if event["type"] == "pass"]
    assert [counts[f"pass_{name}"] for name in ("win", "peng", "chi")] == [
        passed.count(name) for name in ("win", "peng", "chi")
    ]
    assert (
        counts["chi_bi"] == sum(event["type"] == "chi" and len(event["groups"]) > 1 for event in events) > 0
    )


def test_an_exploit_is_found() -> None:
    """A challenger far better than the standard bot: greedy among random ones."""
    played = audit_play(load_variant("two_wang"), ("random",), ("greedy",), games=1_500, seed=2)
    (exploit,) = [finding for finding in played.findings if finding.code == "exploit"]
    assert exploit.severity == "warning" and "greedy" in exploit.text.en
    worse = audit_play(load_variant("two_wang"), ("greedy",), ("random",), games=500, seed=2)
    assert not [finding for finding in worse.findings if finding.code == "exploit"]
    assert not worse.exploits  # the random bot is no challenger


def test_jobs_change_nothing() -> None:
    variant = load_variant("three_wang")
    one = audit_play(variant, ("greedy",), games=400, jobs=1)
    two = audit_play(variant, ("greedy",), games=400, jobs=2)
    assert one.as_dict() == two.as_dict()
    assert one.findings == two.findings


@settings(max_examples=1)
@given(overrides=variant_overrides(least=25))
def test_audit_of_any_variant(overrides: dict[str, object]) -> None:
    found = audit(load_variant("base", overrides), 60, bots="random,greedy", jobs=1)
    check_findings(list(found.findings))
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.slow
@settings(max_examples=40)
@given(overrides=variant_overrides(least=5))
def test_audit_of_many_variants(overrides: dict[str, object]) -> None:
    found = audit(load_variant("base", overrides), 100, jobs=1)
    check_findings(list(found.findings))
    for lang in ("en", "zh"):
        print_audit(found, lang)


# --- the command -------------------------------------------------------------------------------------------


def test_command_on_paper() -> None:
    result = CliRunner().invoke(app, ["audit", "four_wang", "--games", "0", "--lang", "zh"])
    assert result.exit_code == 0
    assert "警告 1.10" in result.output and "只看规则" in result.output
    strict = CliRunner().invoke(app, ["audit", "four_wang", "--games", "0", "--strict"])
    assert strict.exit_code == 1
    clean = ["--set", "win.wang_limit.mode=none", "--strict", "--games", "0"]
    assert CliRunner().invoke(app, ["audit", "four_wang", *clean]).exit_code == 0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_command_in_play(lang: str) -> None:
    args = ["audit", "two_wang", "--games", "300", "--bots", "random,greedy", "--lang", lang]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert {"en": "Sources of all money", "zh": "全部输赢的来源"}[lang] in result.output
    assert "nan" not in result.output.lower().replace("finance", "")


def test_command_json() -> None:
    result = CliRunner().invoke(app, ["audit", "two_wang", "--games", "200", "--bots", "greedy", "--json"])
    document = json.loads(result.stdout)
    assert {finding["rule"] for finding in document["findings"]} >= {"4.8", "4.9", "4.10"}
    money = document["played"]["money"]["share_win"]
    assert money["low"] < money["value"] < money["high"] and money["n"] == 200
    for rate in document["played"]["games_changed_by_key"].values():
        assert 0 <= rate["low"] <= rate["high"] <= 1 and rate["n"] == 200


def test_bots_are_taken_from_the_list() -> None:
    from sim import bots

    found = audit(load_variant("two_wang"), 0)
    assert isinstance(found, Audit) and found.played is None
    assert set(getattr(bots, "RESTRICTED", ())) <= set(bots.BOTS)


def test_bad_pay_table_is_one_line() -> None:
    result = CliRunner().invoke(app, ["audit", "two_wang", "--games", "0", "--pay-table", "no/such.yaml"])
    assert isinstance(result.exception, AuditError) and "no such file" in str(result.exception)
