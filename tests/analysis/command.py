"""Calling the command line in tests as a user would."""

from __future__ import annotations

import pytest

from analysis.cli import main


def call(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    status = 0
    try:
        main([str(arg) for arg in args])
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err
