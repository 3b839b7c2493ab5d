"""The command line as a newcomer or a full disk meets it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from analysis.cli import main
from sim.bots import BotError
from sim.parts import write_atomic
from sim.players import parse_compiled


@pytest.mark.parametrize("words", [[], ["logs"]])
def test_without_a_command_the_help_is_shown_line_by_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    shown = capsys.readouterr()
    assert stopped.value.code == 0 and shown.err == ""
    assert shown.out.startswith("Usage: chehuzi") and shown.out.count("\n") > 8


def test_a_full_disk_names_the_file_and_keeps_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as failed:
        write_atomic(path, b"new")
    assert failed.value.filename == str(path)
    assert path.read_text() == "old" and [*tmp_path.iterdir()] == [path]

    monkeypatch.setattr("sim.variant.list_presets", lambda: write_atomic(path, b"new"))
    with pytest.raises(SystemExit) as stopped:
        main(["variants"])
    assert stopped.value.code == 1
    assert capsys.readouterr().err == f"chehuzi: {path}: No space left on device\n"


def test_where_only_compiled_bots_play_no_bot_file_is_opened(tmp_path: Path) -> None:
    mark = tmp_path / "opened"
    file = tmp_path / "bot.py"
    file.write_text(f"open({str(mark)!r}, 'w')\nclass Bot:\n    def choose(self, view, options): return 0\n")
    for text in (f"{file}:Bot", "greedy,search,greedy"):
        with pytest.raises(BotError, match="plays step by step"):
            parse_compiled(text)
    assert not mark.exists()
    assert parse_compiled("greedy, expert,random") == ("greedy", "expert", "random")


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ": valid; 200 games played, "), ("zh", "：有效；试打200局，其中荒庄")]
)
def test_a_variant_is_checked_in_both_languages(
    lang: str, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.cli._play_some", lambda variant: (200, 34))
    main(["variants", "check", "two_wang", "--lang", lang])
    shown = capsys.readouterr().out
    assert words in shown and shown.startswith("two_wang") and "34" in shown
