"""What all tests share: with SLEDWARDEN_NO_SKIP=1 a skip is a failure.

A test may skip for want of a system program on somebody's desk. Where that variable is set, every
program was installed, so a skip means that something was not tried.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("SLEDWARDEN_NO_SKIP") != "1" or not report.skipped:
        return
    if hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"{reason}; SLEDWARDEN_NO_SKIP=1 makes a skip a failure"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report
