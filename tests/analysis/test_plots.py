"""Plots: every one from small frames in both languages, text as text, no box for a character, no font no Chinese."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure
from synthetic import synthetic

from analysis import plot_style
from analysis.compare import SCHEMA as COMPARED
from analysis.plot_data import _MAKERS, _SWINGS, _Games, _swing_rows, _table, shares
from analysis.plot_style import FontWarning, chinese_font, look_for, to_svg
from analysis.plots import PLOTS, draw_plots, write_plots
from analysis.summary import summarise

HAN = re.compile(r"[\u4e00-\u9fff]")


def frames(session: int | None = None) -> dict[str, pl.DataFrame]:
    games = {
        "甲 <b>": synthetic(600, 1, wangs=2, session=session),
        "second": synthetic(600, 2, wangs=4, session=session),
    }
    rows = pl.concat([frame.with_columns(variant=pl.lit(label)) for label, frame in games.items()])
    found = {"summary": summarise(rows)}
    held = [
        _Games(label, frame.lazy().with_columns(variant=pl.lit(label)), 0.95)
        for label, frame in games.items()
    ]
    for name, (make, keys) in _MAKERS.items():
        found[name] = _table({"variant": pl.String, **keys}, [row for one in held for row in make(one)])
    swings = [row for one in held for row in _swing_rows(games[one.label].lazy(), one)]
    found["swings"] = pl.DataFrame(swings, schema=_SWINGS, orient="row")
    row = {
        "base": "甲 <b>",
        "variant": "second",
        "difference": 0.02,
        "joint_low": 0.01,
        "joint_high": 0.03,
        "decision": "higher",
    }
    keys_shown = ("draw_rate", "score_dealer", "own_draw_share")
    found["differences"] = pl.DataFrame([row | {"metric": key} for key in keys_shown], schema=COMPARED)
    cells = [
        (
            f"v{x}{y}",
            "win.min_huxi",
            "tun.base",
            x,
            y,
            "draw_rate",
            0.1 * int(y),
            0.1 * int(y) - 0.01,
            0.1 * int(y) + 0.01,
        )
        for x in "12"
        for y in "123"
    ]
    names = ("variant", "x_key", "y_key", "x", "y", "metric", "value", "low", "high")
    found["grid"] = pl.DataFrame(cells, schema=names, orient="row")
    return found


@pytest.fixture(scope="module")
def small() -> dict[str, pl.DataFrame]:
    return frames()


@pytest.fixture(autouse=True)
def no_missing_glyph() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*[Gg]lyph.*")
        yield


@pytest.fixture
def no_font(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(plot_style, "chinese_font", lambda: None)
    return


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_in_both_languages(small: dict[str, pl.DataFrame], name: str, lang: str) -> None:
    if lang == "zh" and chinese_font() is None:
        pytest.skip("no Chinese font here")
    frame, draw = PLOTS[name]
    made = draw(small[frame], lang)
    assert isinstance(made, Figure)
    svg = to_svg(made, prefix=name)
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", svg)
    assert len(texts) > 5
    assert bool(HAN.search("".join(texts).replace("甲", ""))) == (lang == "zh")
    assert "<b>" not in svg
    assert all(found.startswith(f"{name}-") for found in re.findall(r'\bid="([^"]+)"', svg))


def test_without_a_chinese_font_labels_are_english_and_a_note_says_so(
    small: dict[str, pl.DataFrame], no_font: None
) -> None:
    with pytest.warns(FontWarning, match=r"No Chinese font.*chehuzi\[zh\]"):
        plots = dict(draw_plots(small, "zh"))
    assert set(plots) == set(PLOTS)
    for plot in plots.values():
        assert not HAN.search(to_svg(plot))
    assert re.search(r"variant \d", to_svg(plots["outcome"]))
    note = look_for("zh").note
    assert note is not None
    assert "中文字体" in note.zh


def test_the_extra_font_serves_where_the_system_has_none() -> None:
    pytest.importorskip("pylopdf_fonts_zh_cn")
    assert "Noto Sans SC" in str(plot_style._extra_font())


def test_colours_differ_in_grey() -> None:
    def light(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2

    lights = sorted(light(colour) for colour in plot_style.SERIES[:3])
    assert all(after > 1.7 * before for before, after in itertools.pairwise(lights))
    assert len(set(plot_style.MARKERS)) == len(plot_style.SERIES) == len(plot_style.LINES)


def test_themed_svg_has_no_fixed_colour_of_the_palette(small: dict[str, pl.DataFrame]) -> None:
    svg = to_svg(PLOTS["length"][1](small["length"], "en"), themed=True)
    assert "var(--c" in svg
    assert not any(colour in svg for colour in plot_style.DARK)


def test_shares_agree_with_counting(small: dict[str, pl.DataFrame]) -> None:
    games = synthetic(600, 2, wangs=4)
    won = games.filter(pl.col("winner").is_not_null())
    second = small["wins"].filter((pl.col("variant") == "second") & (pl.col("what") == "tun"))
    assert second["share"].sum() == pytest.approx(1)
    for row in second.iter_rows(named=True):
        assert row["share"] == pytest.approx(won.filter(pl.col("tun") == row["value"]).height / won.height)
        assert row["low"] < row["share"] < row["high"]
        assert row["n"] == won.height
    for when in ("dealt", "final"):
        held = small["wangs"].filter((pl.col("variant") == "second") & (pl.col("when") == when))
        assert held["share"].sum() == pytest.approx(1)


def test_hazard_and_curve_belong_together(small: dict[str, pl.DataFrame]) -> None:
    part = small["length"].filter(pl.col("variant") == "second")
    alive = part.filter(pl.col("what") == "alive").sort("card")
    product = 1.0
    for row in part.filter(pl.col("what") == "hazard").sort("card").iter_rows(named=True):
        product *= 1 - row["share"]
        assert alive.filter(pl.col("card") == row["card"])["share"].item() == pytest.approx(product)


def test_sessions_are_the_unit_where_there_are_any() -> None:
    rows = pl.DataFrame(
        {"session": [0] * 50 + [1] * 50 + [2] * 50 + [3] * 50, "x": [1] * 50 + [0] * 100 + [1] * 50}
    )
    event = {"x": (pl.col("x"), pl.lit(1))}
    alone = shares(rows.lazy(), event, 0.95, sessions=False)["x"]
    together = shares(rows.lazy(), event, 0.95, sessions=True)["x"]
    assert alone[0] == together[0] == 0.5
    assert together[2] - together[1] > 3 * (alone[2] - alone[1])
    assert set(PLOTS) == {name for name, _ in draw_plots(frames(session=10), "en")}


def test_files(small: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    some = {"wins": small["wins"], "payouts": small["payouts"].clear()}
    written = write_plots(some, tmp_path / "plots", "en")
    assert [path.name for path in written] == ["wins.svg", "wins.png"]
    svg = written[0].read_text(encoding="utf-8")
    assert "Huxi of a win" in svg
    assert svg == (write_plots(some, tmp_path / "again", "en")[0]).read_text(encoding="utf-8")
    assert written[1].read_bytes().startswith(b"\x89PNG")


def test_language_must_be_known() -> None:
    with pytest.raises(ValueError, match="'fr'"):
        look_for("fr")
