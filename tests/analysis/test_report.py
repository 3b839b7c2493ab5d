"""Reports: every part there, numbers those of the summary, both languages, quiet in a real browser."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, find_chromium

from analysis.cli import main
from analysis.metrics import METRICS
from analysis.report import Facts, Page, facts_of, page_of, render_csv, render_html, target_of, write_report
from analysis.report_words import WORDS
from analysis.summary import summarise
from analysis.tables import format_cell
from sim.run import simulate
from sim.store import Run

EVIL = "<img src=x onerror='window.evil=1'>|</script>"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("report") / "run"
    return simulate(["two_wang", "four_wang"], games=600, jobs=1, quiet=True, out=folder)


@pytest.fixture(scope="module")
def facts(run: Run) -> Facts:
    return facts_of([run.path], question=EVIL)


@pytest.fixture(scope="module")
def pages(facts: Facts) -> dict[str, Page]:
    return {lang: page_of(facts, lang) for lang in ("en", "zh")}


@pytest.fixture(scope="module")
def document(pages: dict[str, Page], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render_html(list(pages.values())), encoding="utf-8")
    return file


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_says_what_the_summary_says(pages: dict[str, Page], run: Run, lang: str) -> None:
    page = pages[lang]
    cells = {name: values for name, *values in page.key.rows}
    summary = {(row["variant"], row["metric"]): row for row in summarise(run).iter_rows(named=True)}
    expected = [
        format_cell(summary[label, "draw_rate"], METRICS["draw_rate"], lang) for label in run.variants
    ]
    assert cells[METRICS["draw_rate"].name[lang]] == expected
    assert cells[WORDS["games"][lang]] == ["600", "600"]
    assert len(page.answer) == 3 and all(re.search(r"\d", sentence) for sentence in page.answer)
    assert len(page.findings) >= 10
    ((name, sentences),) = page.rules
    assert "four_wang" in name and len(sentences) == 4
    headings = [row[0] for row in page.par.rows if len(row) == 1]
    assert headings == [
        WORDS[f"par_{part}"][lang] for part in ("frequency", "transfers", "volatility", "draws")
    ]
    assert all(len(row) in (1, 3) for row in page.par.rows)
    assert any(row[0] == WORDS["quantile"][lang].format(percent="99") for row in page.par.rows)
    assert {plot for plot, *_ in page.plots} == {
        *("outcome", "differences", "scores", "names", "wangs", "payouts", "wins", "length", "swings")
    }
    assert all(re.search(r"\d", caption) for *_, caption in page.plots)
    told = dict(page.provenance)
    assert told[WORDS["p_seed"][lang]] == "1" and "simulate" in told[WORDS["p_command"][lang]]
    assert all(record.digest[:16] in told[WORDS["p_hashes"][lang]] for record in run.variants.values())
    if lang == "zh":
        words = [
            *page.answer,
            *page.findings,
            *sentences,
            *headings,
            *(caption for *_, caption in page.plots),
        ]
        assert all(re.search(r"[一-鿿]", text) for text in words)


def test_files_are_beside_each_other_and_csv_opens_in_a_spreadsheet(
    facts: Facts, run: Run, tmp_path: Path
) -> None:
    text = render_csv(facts)
    assert text.startswith("\ufeff") and "荒庄率" in text
    rows = list(csv.DictReader(io.StringIO(text[1:])))
    assert len(rows) == 2 * len(METRICS)
    draw = next(row for row in rows if row["metric"] == "draw_rate")
    assert float(draw["low"]) < float(draw["value"]) < float(draw["high"])
    written = write_report([run.path], tmp_path, "zh", question=EVIL)
    assert [path.name for path in written] == ["run-report.html", "run-report.md", "run-report.csv"]
    markdown = written[1].read_text(encoding="utf-8")
    assert all(f"## {WORDS[key]['zh']}" in markdown for key in WORDS if key.startswith("h_"))
    page = written[0].read_text(encoding="utf-8")
    assert '<article lang="zh">' in page and '<article lang="en">' not in page and "<nav>" not in page
    assert target_of([run.path], None) == run.path.resolve().parent / "run-report.html"


def test_nothing_comes_from_outside_and_nothing_gets_in(document: Path) -> None:
    page = document.read_text(encoding="utf-8")
    assert EVIL not in page and "&lt;img src=x" in page
    addresses = set(re.findall(r"""(?:src|href)=["']([^"'#][^"']*)""", page)) - {"data:,"}
    assert addresses <= {"x"}  # that of the escaped question
    assert "@import" not in page and not re.search(r"url\((?!#)", page)
    assert page.count("<svg") == 18 and page.count("<text") > 100
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["nowhere"], "nowhere"), (["{run}", "--out", "report.pdf"], ".html")],
)
def test_bad_input_is_one_line(
    arguments: list[str],
    words: str,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["report", *(argument.format(run=run.path) for argument in arguments)])
    assert stopped.value.code == 2
    message = capsys.readouterr().err.strip()
    assert words in message and len(message.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if find_chromium() is None:
        pytest.skip("no Chromium here")
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_in_a_browser_at_desktop_and_phone_width(
    browser: Browser, document: Path, width: int, dark: bool
) -> None:
    browser.look(width, dark=dark)
    browser.open(document.as_uri())
    visible = "[...document.querySelectorAll('h2')].filter(e => e.offsetParent).map(e => e.textContent)"
    for lang in ("en", "zh"):
        browser.click(f"nav button[data-lang={lang}]")
        assert browser.js("document.documentElement.lang") == lang
        assert browser.js(visible) == [text[lang] for key, text in WORDS.items() if key.startswith("h_")]
        assert browser.js("document.title") == WORDS["title"][lang].format(
            names=("two_wang, four_wang" if lang == "en" else "two_wang、four_wang")
        )
        shown = f"[...document.querySelectorAll('article[lang={lang}] figure svg')]"
        sizes = browser.js(f"{shown}.map(e => e.getBoundingClientRect()).map(r => [r.width, r.height])")
        assert len(sizes) == 9 and all(w > 250 and h > 100 for w, h in sizes)
        assert browser.js("document.documentElement.scrollWidth") <= width
        ink = browser.js(f"getComputedStyle({shown}[0].querySelector('text')).fill")
        assert ink == ("rgb(230, 234, 240)" if dark else "rgb(28, 36, 48)")
    assert browser.js("window.evil") is None
    assert browser.troubles == []
    assert browser.requests == [document.as_uri()]
