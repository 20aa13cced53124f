"""The mutants of a module: its text with one change each, by cosmic-ray's operators and a few more.

It needs `cosmic-ray`, which no test of the suite needs: docs/mutants.md says how to run it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.provider import OperatorProvider
from parso.tree import NodeOrLeaf

SWAPS = {
    "Lt": ("LtE", "GtE"),
    "LtE": ("Lt", "Gt"),
    "Gt": ("GtE", "LtE"),
    "GtE": ("Gt", "Lt"),
    "Eq": ("NotEq",),
    "NotEq": ("Eq",),
    "Is": ("IsNot",),
    "IsNot": ("Is",),
}
"""Of a comparison its other bound and its opposite."""

OPERATORS = (
    *(f"ReplaceComparisonOperator_{a}_{b}" for a, others in SWAPS.items() for b in others),
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul",
                     "BitAnd_BitOr", "BitOr_BitAnd", "Pow_Mul")
    ),
    "ReplaceUnaryOperator_USub_UAdd",
    "ReplaceUnaryOperator_Delete_Not",
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ZeroIterationForLoop",
)  # fmt: skip

OTHER_VERDICTS = {
    "COMPLIANT": ("UNKNOWN", "EXEMPT"),
    "EXEMPT": ("COMPLIANT", "UNKNOWN"),
    "APPROACHING": ("COMPLIANT", "UNSURE"),
    "UNSURE": ("VIOLATION", "COMPLIANT"),
    "VIOLATION": ("UNSURE", "COMPLIANT"),
    "UNKNOWN": ("COMPLIANT", "UNSURE"),
}

INERT = ("frozen", "kw_only")
"""What a struct is kept from, which changes no verdict."""

OTHER_CALLS = {"min": "max", "max": "min", "all": "any", "any": "all"}


@dataclass(frozen=True, slots=True)
class Mutant:
    line: int
    operator: str
    was: str
    now: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Each change of the module but those of annotations, which do not run."""
    seen = {source}
    inert = _annotations(source)
    for line, name, changed in (*_of_cosmic_ray(source), *_of_judges(source)):
        if changed in seen or (name.startswith("ReplaceBinary") and line in inert):
            continue
        if source.splitlines()[line - 1].lstrip().startswith("@dataclass"):
            continue  # frozen and slots keep a value from being changed, and change no verdict
        seen.add(changed)
        try:
            compile(changed, "mutant", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        both = zip(source.splitlines(), changed.splitlines(), strict=False)
        at, was, now = next((n, a.strip(), b.strip()) for n, (a, b) in enumerate(both, 1) if a != b)
        if any(now == was.replace(f"{one}=True", f"{one}=False") for one in INERT):
            continue
        yield Mutant(at, name, was, now, changed)


def _of_cosmic_ray(source: str) -> Iterator[tuple[int, str, str]]:
    """What cosmic-ray's operators do to each node, on a tree that is parsed once."""
    starts = [0]
    for text in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    nodes = list(ast_nodes(get_ast(source)))
    for name in OPERATORS:
        operator = OperatorProvider()[name]()
        for node in nodes:
            for index, _ in enumerate(operator.mutation_positions(node)):
                line, column = node.get_start_pos_of_prefix()
                start = starts[line - 1] + column
                end = start + len(node.get_code())
                before = [(one, dict(_parts(one))) for one in ast_nodes(node)]
                changed = operator.mutate(node, index)
                code = "" if changed is None else changed.get_code()
                for one, parts in before:
                    for part, value in parts.items():
                        setattr(one, part, value)
                yield node.start_pos[0], name, source[:start] + code + source[end:]


def _parts(node: NodeOrLeaf) -> Iterator[tuple[str, object]]:
    """What an operator may change of a node."""
    if hasattr(node, "value"):
        yield "value", node.value
    if hasattr(node, "children"):
        yield "children", list(node.children)


def _annotations(source: str) -> set[int]:
    """The lines of annotations."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        one = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(one, ast.expr):
            found.update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    return found


def _of_judges(source: str) -> Iterator[tuple[int, str, str]]:  # noqa: PLR0912 -- a case a change
    """Changes that a judge invites and cosmic-ray does not make: another verdict, a condition or
    a statement that is gone, `in` and `not in`, the greatest for the least."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    raw = source.encode()

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def put(start: int, end: int, text: str) -> str:
        spare = "\n" * (raw[start:end].count(b"\n") - text.count("\n"))
        return (raw[:start] + text.encode() + raw[end:]).decode() + spare

    def text(node: ast.expr | ast.stmt) -> str:
        start, end = span(node)
        return raw[start:end].decode()

    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.If(test=test) if raw[span(node)[0] :].startswith(b"elif"):
                yield node.lineno, "NotElif", put(*span(test), f"(not ({text(test)}))")
            case ast.comprehension(ifs=tests):
                for test in tests:
                    yield test.lineno, "NotWhere", put(*span(test), f"(not ({text(test)}))")
            case ast.Attribute(value=ast.Name(id="Verdict"), attr=was):
                for verdict in OTHER_VERDICTS.get(was, ()):
                    yield node.lineno, "OtherVerdict", put(*span(node), f"Verdict.{verdict}")
            case ast.Compare(ops=[ast.In()], left=left, comparators=[right]):
                yield node.lineno, "NotIn", put(*span(node), f"({text(left)} not in {text(right)})")
            case ast.Compare(ops=[ast.NotIn()], left=left, comparators=[right]):
                yield node.lineno, "In", put(*span(node), f"({text(left)} in {text(right)})")
            case ast.BoolOp(values=values):
                for value in values:
                    rest = [f"({text(one)})" for one in values if one is not value]
                    word = " and " if isinstance(node.op, ast.And) else " or "
                    yield node.lineno, "DropCondition", put(*span(node), f"({word.join(rest)})")
            case ast.Call(func=ast.Name(id=name)) if name in OTHER_CALLS:
                yield node.lineno, "OtherCall", put(*span(node.func), OTHER_CALLS[name])
            case ast.AugAssign(op=ast.Add()):
                whole = text(node)
                yield node.lineno, "Subtract", put(*span(node), whole.replace("+=", "-=", 1))
                yield node.lineno, "DropStatement", put(*span(node), "pass")
            case ast.Expr(value=ast.Call()):
                yield node.lineno, "DropStatement", put(*span(node), "pass")
