"""Options of the whole suite."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

# machines are shared and slow at times: a deadline would make tests flake
settings.register_profile(
    "chehuzi", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("chehuzi")


if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # started in the background: Ctrl-C is tested all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden logs and signatures anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
