"""The language of events: what it means, and that it refuses everything else in one clear line."""

from __future__ import annotations

from contextlib import suppress

import polars as pl
import pytest
from synthetic import synthetic

from analysis.events import EventError, parse_event

ROWS = synthetic(3000, seed=4)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("wang_zha", pl.col("wang_zha")),
        ("王炸", pl.col("wang_zha")),
        ("fan >= 8 and not zimo", (pl.col("fan") >= 8) & ~pl.col("zimo")),
        ("not fan >= 8", ~(pl.col("fan") >= 8).fill_null(False)),
        ("1 < fan <= 4", pl.col("fan").is_between(2, 4)),
        ("fan in (2, 8)", pl.col("fan").is_in([2, 8])),
        ("fan not in (2, 8)", ~pl.col("fan").is_in([2, 8]).fill_null(False)),
        ("by == 'own'", pl.col("by").cast(pl.String) == "own"),
        ("by != 'own'", pl.col("by").cast(pl.String) != "own"),
        ("by in ('own', 'deal')", pl.col("by").cast(pl.String).is_in(["own", "deal"])),
        ("winner == None", pl.col("winner").is_null()),
        ("winner is not None", pl.col("winner").is_not_null()),
        ("draw_game or red", pl.col("winner").is_null() | pl.col("red")),
        ("荒庄", pl.col("winner").is_null()),
        ("red + black + one_red == 0", ~(pl.col("red") | pl.col("black") | pl.col("one_red"))),
        ("max(wangs_dealt_0, wangs_dealt_1) == 2", pl.max_horizontal("wangs_dealt_0", "wangs_dealt_1") == 2),
        ("abs(score_0) > 20", pl.col("score_0").abs() > 20),
        ("score_0 < -5", pl.col("score_0") < -5),
        ("(huxi - 15) // 3 == 2", (pl.col("huxi") - 15) // 3 == 2),
        ("True", pl.lit(True)),
    ],
)
def test_meaning(text: str, same: pl.Expr):
    event = parse_event(text)
    found = ROWS.select(a=event.expr, b=same.fill_null(False))
    assert found["a"].null_count() == 0
    assert (found["a"] == found["b"]).all()
    assert text == "True" or 0 < found["a"].sum() < len(ROWS)


def test_an_empty_field_makes_a_comparison_false_whatever_it_asks():
    drawn = ROWS.filter(pl.col("winner").is_null())
    for text in ("fan > 0", "fan <= 0", "fan == 0", "fan != 0", "red", "by != 'own'", "fan + 1 < 3"):
        assert not drawn.select(parse_event(text).expr.alias("a"))["a"].any()


@pytest.mark.parametrize(
    ("text", "wangs", "special"),
    [
        ("wang_zha_wang", 4, "wang_zha_wang"),
        ("wang_zha or wang_zha_wang", 3, "wang_zha"),
        ("wang_zha_wang and fan > 32", 4, "wang_zha_wang"),
        ("wang_diao and wang_chuang_wang", 3, "wang_chuang_wang"),
        ("not wang_zha_wang", 0, None),
        ("wang_zha or fan > 100", 0, None),
        ("wangs_win >= 3", 3, None),
        ("wangs_win > 2 and red", 3, None),
        ("2 <= wangs_final_1", 2, None),
        ("wangs_win <= 3", 0, None),
        ("max(wangs_final_0, wangs_final_1) == 3", 3, None),
        ("max(wangs_final_0, fan) == 3", 0, None),
        ("wangs_final_0 + wangs_final_1 >= 3", 0, None),
        ("wangs_win != 3", 0, None),
        ("wangs_win in (3, 4)", 3, None),
        ("wang_zha_wang == 0", 0, None),
        ("wangs_win == 2 or wangs_dealt_0 >= 3", 2, None),
    ],
)
def test_what_an_event_needs(text: str, wangs: int, special: str | None):
    event = parse_event(text)
    assert (event.wangs_needed, event.special) == (wangs, special)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing is asked for"),
        ("wang_zah", "did you mean wang_zha"),
        ("fann > 3", "did you mean fan"),
        ("fan >", "cannot be read"),
        ("fan", "compare it"),
        ("fan and red", "compare it"),
        ("by > 3", "own, other, deal"),
        ("by == 'self'", "own, other, deal"),
        ("red & black", "'and', 'or', 'not'"),
        ("~red", "not"),
        ("fan ** 2 > 3", "arithmetic"),
        ("fan / 2 > 3", "arithmetic"),
        ("fan // 0 == 1", "division by 0"),
        ("fan < None", "winner == None"),
        ("__import__('os').system('true')", "functions there are min, max and abs"),
        ("fan.__class__ == 3", "not part of the language"),
        ("[x for x in (1, 2)] == 1", "not part of the language"),
        ("(lambda: 1)() == 1", "functions"),
        ("fan == " + "9" * 40, "too large"),
        ("red or " * 200 + "red", "at most 1000 characters"),
        ("fan in ()", "empty"),
        ("fan in 3", "a list is wanted"),
        ("fan\0 > 3", "event"),
    ],
)
def test_refusals(text: str, says: str):
    with pytest.raises(EventError) as caught:
        parse_event(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["(" * 150 + "red" + ")" * 150, "not " * 240 + "red", "-" * 900 + "1 > 0"])
def test_deep_nesting_is_read_or_refused(text: str):
    with suppress(EventError):  # Python's parser sets the limit
        assert ROWS.select(parse_event(text).expr.alias("a")).height > 0
