"""Variant files: what is read, what is refused and with which words, and what differs in words."""

from __future__ import annotations

import json
import pickle
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from strategies import variant_overrides

from sim.variant import (
    KEYS,
    PRESETS,
    VariantError,
    describe,
    differences,
    json_schema,
    list_presets,
    load_variant,
    origins,
    preset_folder,
    rule_of,
)

ROOT = Path(__file__).resolve().parents[2]
WANGS = {"two_wang": 2, "three_wang": 3, "four_wang": 4}


def write(folder: Path, text: str, name: str = "room.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(path: Path | str, *overrides: str) -> list[str]:
    with pytest.raises(VariantError) as caught:
        load_variant(path, overrides)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("name", PRESETS)
def test_presets_hold_the_values_of_the_rules(name: str) -> None:
    flat = load_variant(name).flat()
    assert flat["deck.wangs"] == WANGS[name]
    assert flat["table.first_dealer"] == ("random" if name == "four_wang" else "owner")
    assert flat["win.wang_limit.mode"] == ("by_fan" if name == "four_wang" else "none")
    assert flat["draw.wang_payout.all_in_one"] == (1 if name == "two_wang" else 2)
    assert flat["win.wang_limit.min_fan"] == {1: 2, 2: 4, 3: 8, 4: 16}
    huxi = {
        "ti": (9, 12),
        "pao": (6, 9),
        "wei": (3, 6),
        "kan": (3, 6),
        "peng": (1, 3),
        "two_seven_ten": (3, 6),
        "one_two_three": (3, 6),
        "run": (0, 0),
        "jiao": (0, 0),
    }
    for group, (small, large) in huxi.items():
        assert (flat[f"huxi.{group}.small"], flat[f"huxi.{group}.large"]) == (small, large)
    fans = dict(
        red=2, one_red=3, black=4, zimo=2, wang_diao=4, wang_diao_wang=8, wang_chuang=8,
        wang_chuang_wang=16, wang_zha=16, wang_zha_wang=32, red_min=10, special_includes_zimo=False,
    )  # fmt: skip
    assert {key: flat[f"fan.{key}"] for key in fans} == fans
    rest = {
        "table.seats": 4, "table.dealer_after_win": "winner", "table.dealer_after_draw": "next",
        "deal.heavenly_win": True, "turn.extra_quad": "skip_discard", "turn.peng_to_pao": "any_draw",
        "turn.chi_from_upstream_draw": True, "pass.blocks_chi": True, "pass.blocks_peng": True,
        "pass.own_discard_blocks_chi": True, "win.min_huxi": 15, "win.forced_first": True,
        "win.declare_special": True, "win.wang_limit.special_only_from": 3, "wang.ti": True, "tun.base": 1,
        "tun.step": 3, "xing.card": "follow", "xing.payment": "dealer_side", "xing.singles": 2,
        "draw.wang_payout.enabled": True, "draw.wang_payout.unit": 5, "stake": 1, "cap": 0,
    }  # fmt: skip
    assert {key: flat[key] for key in rest} == rest
    assert len(flat) == len(KEYS) == 2 + len(rest) + len(fans) + 2 * len(huxi) + 3


def test_base_names_every_key_and_presets_only_differences() -> None:
    where = origins("base")
    assert all(place.startswith("variants/base.yaml:") for place in where.values())
    for name in PRESETS:
        own = {key for key, place in origins(name).items() if place.startswith(f"variants/{name}.yaml")}
        flat, base = load_variant(name).flat(), load_variant("base").flat()
        assert own == {key for key in KEYS if flat[key] != base[key]}


def test_every_file_points_editors_at_the_schema() -> None:
    for path in preset_folder().glob("*.yaml"):
        assert path.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=./schema.json\n")


def test_schema_file_is_the_generated_one() -> None:
    stored = json.loads((ROOT / "variants" / "schema.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(json_schema()))


def test_origin_of_an_override() -> None:
    assert origins("four_wang", ["win.min_huxi=18"])["win.min_huxi"] == "--set"
    assert origins("four_wang")["deck.wangs"].startswith("variants/four_wang.yaml:")
    assert origins("four_wang")["stake"].startswith("variants/base.yaml:")


def test_a_file_in_any_folder_extends_a_preset_or_a_neighbour(tmp_path: Path) -> None:
    write(tmp_path, "extends: four_wang\nwin: {min_huxi: 18}\n")
    path = write(tmp_path, "extends: ./room.yaml\nstake: 5\n", "evening.yaml")
    variant = load_variant(path)
    assert variant.name == "evening"
    assert variant.preset == "four_wang"
    assert variant.overrides == {"win.min_huxi": 18, "stake": 5}
    assert variant.flat()["deck.wangs"] == 4


def test_overrides_of_all_kinds() -> None:
    variant = load_variant(
        "three_wang",
        [
            "win.wang_limit.mode=by_wang",
            "huxi.ti.small=10",
            "win.wang_limit.min_fan.2=5",
            "deal.heavenly_win=false",
        ],
    )
    flat = variant.flat()
    assert flat["win.wang_limit.mode"] == "by_wang"
    assert flat["huxi.ti.small"] == 10
    assert flat["win.wang_limit.min_fan"] == {1: 2, 2: 5, 3: 8, 4: 16}
    assert flat["deal.heavenly_win"] is False
    table = load_variant("two_wang", ["win.wang_limit.min_fan={1: 1, 2: 2, 3: 3, 4: 4}"])
    assert table.flat()["win.wang_limit.min_fan"] == {1: 1, 2: 2, 3: 3, 4: 4}
    assert load_variant("four_wang+by_wang").overrides == {"win.wang_limit.mode": "by_wang"}
    assert load_variant("two_wang", {"stake": 3}).flat()["stake"] == 3


def test_all_faults_of_a_file_at_once_each_with_its_line(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "extends: four_wang\n"
        "win:\n"
        "  min_huxy: 3\n"
        "  min_huxi: -3\n"
        "  min_huxi: 4\n"
        "  forced_first: yes\n"
        "fan: {red: 1.5, black: 'x', one_red: 0}\n"
        "xing: {card: folow}\n"
        "table: 3\n"
        "deck: &a {wangs: 9}\n"
        "stake: !!python/object:os.system x\n",
    )
    lines = problems(path)
    expected = [
        (3, "unknown key win.min_huxy, did you mean win.min_huxi?"),
        (4, "at least 0"),
        (5, "given twice (first in line 4)"),
        (6, "write true"),
        (7, "fan.red: '1.5': must be a whole number"),
        (7, "fan.one_red: must be at least 1"),
        (7, "fan.black: must be a whole number"),
        (8, "did you mean follow?"),
        (9, "table: is a section"),
        (10, "anchors and aliases"),
        (11, "tag"),
    ]
    assert len(lines) == len(expected)
    for number, words in expected:
        assert any(line.startswith(f"{path}:{number}: ") and words in line for line in lines), (number, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1\n", "must be a mapping"),
        ("%YAML 1.1\n---\ndeal: {heavenly_win: yes}\n", "directives are not taken"),
        ("deal: {heavenly_win: !!bool 'yes'}\n", "true or false"),
        ("xing: {singles: true}\n", "whole number"),
        ("42\n", "must be a mapping"),
        ("a: [\n", "not valid YAML"),
        ("stake:\n", "stake: has no value"),
        ("stake: [1]\n", "a list is not taken"),
        ("stake: 0x10\n", "plain decimal digits"),
        ("stake: 1e3\n", "whole number"),
        ("stake: 99999999999999999999999\n", "at most 18"),
        ("stake: 1000000\n", "at most 10000"),
        ("stake: true\n", "whole number"),
        ("deal: {heavenly_win: 1}\n", "true or false"),
        ("table: {seats: 5}\n", "one of 3, 4"),
        ("win: {wang_limit: {min_fan: {1: 3, 2: 2}}}\n", "least fan for 1, 2, 3 and 4"),
        ("extends: two_wang\nwin: {wang_limit: {min_fan: {2: 100}}}\n", "must not fall"),
        ("extends: two_wang\nwin: {wang_limit: {min_fan: {9: 100}}}\n", "min_fan"),
        ("<<: {stake: 2}\n", "merge keys"),
        ("deck: {wangs: 0}\nwin: {wang_limit: {mode: by_wang, special_only_from: 1}}\n", "needs wangs"),
        ("extends: tow_wang\n", "did you mean two_wang?"),
        ("extends: ./nowhere.yaml\n", "no file"),
        ("extends: 3\n", "must name a preset"),
        ("extends: ./room.yaml\n", "circle"),
        ("x: " + "[" * 5000, "nested too deeply"),
        ("".join(f"{' ' * i}a:\n" for i in range(150)) + " " * 150 + "1\n", "nested too deeply"),
        ("stake: \x07\n", "control character"),
        ("a: &x {b: &y 1}\nc: *x\n", "anchors"),
        ("? {a: 1}\n: 2\n", "key must be a name"),
        ("".join(f"k{i}: 1\n" for i in range(5000)), "more than 2000 values"),
    ],
)
def test_bad_files_are_explained(tmp_path: Path, text: str, words: str) -> None:
    lines = problems(write(tmp_path, text))
    assert any(words in line for line in lines), lines
    assert all(line.isprintable() for line in lines)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("stake: 2 # é".encode("latin-1"))
    assert "not UTF-8" in problems(tmp_path / "latin.yaml")[0]
    (tmp_path / "huge.yaml").write_bytes(b"#" * 2_000_000)
    assert "larger than" in problems(tmp_path / "huge.yaml")[0]
    (tmp_path / "folder.yaml").mkdir()
    assert "is no file" in problems(tmp_path / "folder.yaml")[0]
    assert "no such file" in problems(tmp_path / "none.yaml")[0]


def test_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    bomb = "a: &a {x: 1}\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} {{p: *{chr(97 + i)}, q: *{chr(97 + i)}}}\n" for i in range(20)
    )
    began = time.perf_counter()
    assert problems(write(tmp_path, bomb))
    assert time.perf_counter() - began < 5


def test_a_chain_of_two_files_that_goes_in_a_circle(tmp_path: Path) -> None:
    write(tmp_path, "extends: ./b.yaml\n", "a.yaml")
    write(tmp_path, "extends: ./a.yaml\n", "b.yaml")
    assert "circle" in problems(tmp_path / "a.yaml")[-1]


def test_faults_of_a_parent_name_the_parent(tmp_path: Path) -> None:
    write(tmp_path, "extends: two_wang\nstake: 0\n", "parent.yaml")
    child = write(tmp_path, "extends: ./parent.yaml\ncap: -1\n", "child.yaml")
    lines = problems(child)
    assert any("parent.yaml:2: stake" in line for line in lines)
    assert any("child.yaml:2: cap" in line for line in lines)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("stak=2", "did you mean stake?"),
        ("stake", "must be key=value"),
        ("stake=1\ncap: 7", "on one line"),
        ("stake=two", "whole number"),
        ("win.wang_limit.mode=by_fam", "did you mean by_fan?"),
        ("win=3", "is a section"),
        ("=3", "unknown key"),
        ("stake=*a", "--set"),
        ("stake=" + "1" * 2000, "longer than"),
        ("stake=[[[[", "not valid YAML"),
    ],
)
def test_bad_overrides_are_explained(override: str, words: str) -> None:
    lines = problems("two_wang", override)
    assert any(line.startswith("--set") and words in line for line in lines), lines


@pytest.mark.parametrize("ref", ["nope", "four_wang+by_luck", "four_wnag", "a\0b", "x" * 5000])
def test_unknown_variants_are_explained(ref: str) -> None:
    (line,) = problems(ref)
    assert len(line) < 600


def test_words_exist_for_every_key_in_both_languages() -> None:
    flat = load_variant("base").flat()
    for key in KEYS:
        en, zh = describe(key, flat[key], "en"), describe(key, flat[key], "zh")
        assert en.endswith(".") and en.isascii(), key
        assert zh.endswith("。") and "{" not in zh, key
        assert rule_of(key)[0].isdigit()


def test_differences_say_the_new_rule_and_the_old() -> None:
    two, four = load_variant("two_wang"), load_variant("four_wang")
    assert differences(two, two) == []
    assert differences(two, four, "zh")[0] == "除80张字牌外另加4张王霸。（原：除80张字牌外另加2张王霸）"
    assert len(differences(two, four)) == 4


def test_digest_is_of_the_rules_not_of_the_name(tmp_path: Path) -> None:
    path = write(tmp_path, "extends: four_wang\ntitle: {en: Mine, zh: 我的}\n")
    assert load_variant(path).digest == load_variant("four_wang").digest
    assert load_variant("four_wang", ["stake=2"]).digest != load_variant("four_wang").digest


def test_titles_in_both_languages() -> None:
    assert [name for name, _ in list_presets()] == list(PRESETS)
    assert all(title["en"] and title["zh"] for _, title in list_presets())


@settings(max_examples=60, deadline=None)
@given(variant_overrides())
def test_any_legal_variant_survives_yaml_pickle_and_override(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, object]
) -> None:
    variant = load_variant("base", changes)
    assert pickle.loads(pickle.dumps(variant)).digest == variant.digest
    path = write(tmp_path_factory.mktemp("v"), variant.to_yaml())
    again = load_variant(path)
    assert again.digest == variant.digest
    assert load_variant(again.preset, again.overrides).digest == variant.digest


def test_a_file_without_extends_is_the_base(tmp_path: Path) -> None:
    assert load_variant(write(tmp_path, "stake: 1\n")).digest == load_variant("base").digest
