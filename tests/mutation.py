"""Mutation testing of one module: `python tests/mutation.py MODULE TESTS... [--json FILE]`.

Run by hand, as docs/mutants.md says. The tests are collected once, and run once with each line of
the module that they pass noted. Each mutant then lives in a fork of that process, which runs the
tests that pass its line and stops at the first that fails. A change in a function is put into the
living function. A change outside of functions, or in what runs while the tests are collected, is
tried with all modules of ours imported anew.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import math
import os
import resource
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]

CPU_S = 8
"""What a mutant may cost beside the tests themselves; one that never ends is killed."""

QUIET = ["-q", "-x", "-s", "-n", "0", "-p", "no:cacheprovider", "--timeout=0", "--tb=no"]


@dataclass(frozen=True, slots=True)
class Outcome:
    module: str
    line: int
    operator: str
    was: str
    now: str
    is_killed: bool


def functions(code: types.CodeType, path: str = "") -> Iterator[tuple[str, types.CodeType]]:
    """The functions of a module and of its classes, by their dotted names."""
    for one in code.co_consts:
        if not isinstance(one, types.CodeType):
            continue
        name = f"{path}{one.co_name}"
        if one.co_flags & 0x02:  # CO_NEWLOCALS: a function, not the body of a class
            yield name, one
        else:
            yield from functions(one, f"{name}.")


def bodies(source: str) -> set[int]:
    """The lines that are inside of a function."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            found.update(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return found


def statements(source: str) -> dict[int, set[int]]:
    """By line all lines of its statement; of an `if` or a `for` those of its head."""
    found: dict[int, set[int]] = {}
    for node in ast.walk(ast.parse(source)):  # outer ones first
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = (body[0].lineno - 1) if body else (node.end_lineno or node.lineno)
            lines = set(range(node.lineno, max(last, node.lineno) + 1))
            found.update(dict.fromkeys(lines, lines))
    return found


class Session:
    """A pytest plugin that runs the collected tests once for each mutant."""

    def __init__(
        self, module: str, tests: list[str], report: Path | None, again: Path | None, is_anew: bool
    ) -> None:
        self.is_anew = is_anew
        self.module, self.tests, self.report = module, tests, report
        self.again = None if again is None else _survivors(again)
        self.path = str(ROOT / module)
        self.source = Path(self.path).read_text()
        self.statements = statements(self.source)
        self.bodies = bodies(self.source)
        self.at_import: set[int] = set()
        self.code = dict(functions(compile(self.source, self.path, "exec", dont_inherit=True)))
        self.name = module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        self.passed: dict[str, set[int]] = {}
        self.cost_s: dict[str, float] = {}
        self.failed = False
        self.outcomes: list[Outcome] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    def _run(self, items: list[pytest.Item]) -> bool:
        """Whether a test fails."""
        self.failed = False
        for n, item in enumerate(items):
            following = items[n + 1] if n + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return True
        return False

    def _traced(self, lines: set[int]) -> Callable[..., object]:
        def trace(frame: types.FrameType, event: str, value: object) -> object:
            if frame.f_code.co_filename != self.path:
                return None
            lines.add(frame.f_lineno)
            return trace

        return trace

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        sys.settrace(self._traced(self.at_import))
        try:
            return (yield)
        finally:
            sys.settrace(None)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return True
        for item in session.items:
            lines = self.passed[item.nodeid] = set()
            started = time.process_time()
            sys.settrace(self._traced(lines))
            try:
                is_red = self._run([item])
            finally:
                sys.settrace(None)
            if is_red:
                sys.exit(f"{item.nodeid}: fails without a mutant: make it pass first")
            self.cost_s[item.nodeid] = time.process_time() - started
        same = Mutant(0, "", "", "", self.source)
        if self._in_a_fork(lambda: self._living(same, session.items)):
            sys.exit(f"{self.module}: the tests fail when they are run twice")
        if self._in_a_fork(lambda: self._anew(same)):
            sys.exit(f"{self.module}: the tests fail when all is imported anew")
        every = [
            one
            for one in mutants(self.source)
            if self.again is None or (one.operator, one.was, one.now) in self.again
        ]
        for n, mutant in enumerate(every, 1):
            killed = self._is_killed(session, mutant)
            done = Outcome(
                self.module, mutant.line, mutant.operator, mutant.was, mutant.now, killed
            )
            self.outcomes.append(done)
            if not killed:
                print(f"{self.module}:{mutant.line}: {mutant.operator}\n"
                      f"  - {mutant.was}\n  + {mutant.now}", flush=True)  # fmt: skip
            if n % 25 == 0:
                print(f"... {self.module}: {n} of {len(every)}", file=sys.stderr, flush=True)
            if self.report is not None:
                self.report.write_text(json.dumps([asdict(one) for one in self.outcomes], indent=1))
        return True

    def _is_killed(self, session: pytest.Session, mutant: Mutant) -> bool:
        lines = self.statements.get(mutant.line, {mutant.line})
        if mutant.line in self.bodies:
            items = [one for one in session.items if self.passed[one.nodeid] & lines]
            items.sort(key=lambda one: self.cost_s[one.nodeid])
            if items and self._in_a_fork(lambda: self._living(mutant, items)):
                return True
            if not self.is_anew and not self.at_import & lines:
                return False
        return self._in_a_fork(lambda: self._anew(mutant))

    def _in_a_fork(self, run: Callable[[], bool]) -> bool:
        """Whether it is killed; one that dies, or never ends, is."""
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            used = resource.getrusage(resource.RUSAGE_SELF)
            spent = int(used.ru_utime + used.ru_stime)
            most = spent + CPU_S + math.ceil(sum(self.cost_s.values()))
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
            try:
                os._exit(1 if run() else 0)
            except BaseException:  # noqa: BLE001 -- whatever it dies of, a test has seen it
                os._exit(1)
        _, status = os.waitpid(child, 0)
        return status != 0

    def _living(self, mutant: Mutant, items: list[pytest.Item]) -> bool:
        """The tests with the changed code put into the functions as they are."""
        new = dict(functions(compile(mutant.source, self.path, "exec", dont_inherit=True)))
        for name, code in new.items():
            if self.code.get(name) != code:
                place: object = sys.modules[self.name]
                for part in name.split("."):
                    place = vars(place)[part]
                function = getattr(place, "fget", None) or getattr(place, "__func__", place)
                function = getattr(function, "__wrapped__", function)
                function.__code__ = code
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("firmware"):
                for one in vars(module).values():
                    if hasattr(one, "cache_clear"):
                        one.cache_clear()
        return self._run(items)

    def _anew(self, mutant: Mutant) -> bool:
        """The tests with every module of ours imported anew, the mutant among them."""
        for name, module in list(sys.modules.items()):
            place = getattr(module, "__file__", None)
            if place and Path(place).is_relative_to(ROOT) and name != "__main__":
                del sys.modules[name]
        sys.meta_path.insert(0, Planted(self.name, self.path, mutant.source))
        return pytest.main([*QUIET, *self.tests]) != 0


def _survivors(file: Path) -> set[tuple[str, str, str]]:
    """What survived in an earlier run."""
    told = json.loads(file.read_text())
    return {(one["operator"], one["was"], one["now"]) for one in told if not one["is_killed"]}


class Planted:
    """Imports the mutant in the place of its module."""

    def __init__(self, name: str, path: str, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self.source, self.path, "exec", dont_inherit=True), vars(module))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/mutation.py", description=__doc__)
    parser.add_argument("module", help="for example firmware/rules/base.py")
    parser.add_argument("tests", nargs="+", help="test files; further arguments are for pytest")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each outcome there")
    parser.add_argument("--again", type=Path, metavar="FILE", help="only what survived in that")
    parser.add_argument("--anew", action="store_true", help="try what survives with all anew")
    arguments, others = parser.parse_known_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    every = [*arguments.tests, *others]
    plugin = Session(arguments.module, every, arguments.json, arguments.again, arguments.anew)
    pytest.main([*QUIET, *plugin.tests], plugins=[plugin])
    alive = sum(not one.is_killed for one in plugin.outcomes)
    print(f"{arguments.module}: {len(plugin.outcomes)} mutants, {alive} survive")
    return 0 if plugin.outcomes and alive == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
