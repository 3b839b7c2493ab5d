"""Rule numbers: document, homes in the code and tests agree."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

from sim.rulebook import RULES, UNSETTLED, document, rule
from sim.variant import KEYS
from sim.variant_model import Rules

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = (
    [f"1.{n}" for n in range(1, 14)]
    + [f"2.{n}" for n in range(1, 14)]
    + [f"3.{n}" for n in range(1, 10)]
    + [f"4.{n}" for n in range(1, 11)]
    + [f"5.{n}" for n in range(1, 4)]
)


@lru_cache
def functions() -> dict[str, ast.FunctionDef]:
    found = {}
    for path in sorted((ROOT / "sim").rglob("*.py")):
        module = path.relative_to(ROOT / "sim").with_suffix("").as_posix().replace("/", ".")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found[f"{module}.{node.name}"] = node
    return found


@lru_cache
def rule_tests() -> set[str]:
    return {
        node.name
        for path in (ROOT / "tests" / "rules").glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def field_description(dotted: str) -> str:
    model: type = Rules
    *sections, last = dotted.split(".")
    for section in sections:
        model = model.model_fields["pass_" if section == "pass" else section].annotation
    return model.model_fields[last].description or ""


def test_every_number_once() -> None:
    assert [entry.number for entry in RULES] == EXPECTED
    assert rule("2.9").name == "chi"
    with pytest.raises(KeyError):
        rule("9.9")


def test_every_key_belongs_to_a_rule() -> None:
    named = {key for entry in RULES for key in entry.keys}
    assert named == set(KEYS)
    assert {key for _, _, key in UNSETTLED if key} <= set(KEYS)


@pytest.mark.parametrize(("lang", "name"), [("en", "rules.md"), ("zh", "rules.zh.md")])
def test_documents_are_the_generated_ones(lang: str, name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert text == document(lang)
    assert re.findall(r"^### (\d+\.\d+) ", text, re.M) == EXPECTED


@pytest.mark.parametrize("entry", RULES, ids=lambda entry: entry.number)
def test_marks_say_the_same_in_both_languages(entry) -> None:
    english, chinese = entry.mark("en"), entry.mark("zh")
    assert re.findall(r"\b[SEJ]\b", chinese) == re.findall(r"\b[SEJ]\b", english)
    assert not re.search(r"[a-z]", chinese)
    assert len(chinese) == 1 or re.search(r"[一-鿿]", chinese)


@pytest.mark.parametrize("entry", RULES, ids=lambda entry: entry.number)
def test_each_rule_has_one_home_with_a_body(entry) -> None:
    begins = re.compile(rf"Rule {re.escape(entry.number)}\b(?!\.)")
    homes = [
        name
        for name, node in functions().items()
        if begins.match(ast.get_docstring(node) or "") and not name.startswith("rulebook.")
    ]
    homes += [f"schema:{key}" for key in _all_fields() if begins.match(field_description(key))]
    assert homes == [entry.home]
    if not entry.home.startswith("schema:"):
        body = functions()[entry.home].body[1:]
        real = [node for node in body if not isinstance(node, ast.Pass)]
        assert real, f"{entry.home} does nothing"


def _all_fields() -> list[str]:
    groups = sorted({key.rpartition(".")[0] for key in KEYS if key.startswith("huxi.")})
    return [key for key in KEYS if not key.startswith("huxi.")] + groups


@pytest.mark.parametrize("entry", RULES, ids=lambda entry: entry.number)
def test_each_rule_has_a_test_named_after_it(entry) -> None:
    wanted = f"test_{entry.number.replace('.', '_')}_{entry.name}"
    assert any(name.startswith(wanted) for name in rule_tests()), wanted
