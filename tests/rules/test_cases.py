"""The worked answers: 260 hands with the right value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.explain import answer_query
from sim.handlab import answer_batch

CASES = Path(__file__).resolve().parents[1] / "data" / "hands.jsonl"
QUERIES = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def test_all_are_there() -> None:
    assert len(QUERIES) == 260
    assert sum(query["expect"] is not None for query in QUERIES) == 156


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query["id"])
def test_worked_answer(query: dict) -> None:
    answer, right = answer_query(query), query["expect"]
    assert answer["win"] is (right is not None)
    if right:
        assert {key: answer[key] for key in ("score", "tun", "fan", "huxi")} == {
            key: right[key] for key in ("score", "tun", "fan", "huxi")
        }
        assert sorted(answer["names"]) == sorted(right["names"])
        assert len(answer["groups"]) == 7
        assert sum(group["huxi"] for group in answer["groups"]) == right["huxi"]


def test_batch_answers_in_order_and_keeps_fields() -> None:
    lines = [json.loads(line) for line, good in answer_batch(CASES) if good]
    assert [line["id"] for line in lines] == [query["id"] for query in QUERIES]
