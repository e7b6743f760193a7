"""Mutants of one source file, by Cosmic Ray's operators."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators import (
    binary_operator_replacement,
    boolean_replacer,
    break_continue,
    comparison_operator_replacement,
    number_replacer,
    unary_operator_replacement,
    zero_iteration_for_loop,
)

from support import ROOT

BINARY = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul BitOr_BitAnd BitAnd_BitOr BitXor_BitAnd"
COMPARISON = "Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Eq_NotEq NotEq_Eq Is_IsNot IsNot_Is"
UNARY = "USub_UAdd Delete_Invert Delete_Not"
OPERATORS = [
    *(getattr(binary_operator_replacement, f"ReplaceBinaryOperator_{name}") for name in BINARY.split()),
    *(getattr(comparison_operator_replacement, f"ReplaceComparisonOperator_{name}") for name in COMPARISON.split()),
    *(getattr(unary_operator_replacement, f"ReplaceUnaryOperator_{name}") for name in UNARY.split()),
    boolean_replacer.AddNot,
    boolean_replacer.ReplaceTrueWithFalse,
    boolean_replacer.ReplaceFalseWithTrue,
    boolean_replacer.ReplaceAndWithOr,
    boolean_replacer.ReplaceOrWithAnd,
    break_continue.ReplaceBreakWithContinue,
    break_continue.ReplaceContinueWithBreak,
    number_replacer.NumberReplacer,
    zero_iteration_for_loop.ZeroIterationForLoop,
]


@dataclass(frozen=True)
class Mutant:
    """A source file with one change."""

    path: str
    """Of the file, from the root of the repository."""
    lines: range
    """Of the statement that changes, without the body of a compound one; empty outside functions."""
    before: str
    """The changed line as it was."""
    after: str
    source: str
    """Of the whole file, changed."""
    line: int

    @property
    def change(self) -> str:
        """Return the line before and after."""
        return f"{self.before}  ->  {self.after}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"


def lines_since(commit: str) -> dict[str, set[int]]:
    """List the lines of each Python file that are newer than a commit; a file that was moved keeps its old lines."""
    command = ["git", "diff", "--unified=0", "--find-renames=30%", "-l0", commit, "--", "*.py"]
    lines, path = defaultdict[str, set[int]](set), ""
    for line in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            start, count = int(match[1]), int(match[2] or 1)
            lines[path] |= {*range(start, start + count)}
    return lines


def mutants_of(path: str, source: str, keep: Callable[[int], bool] = lambda line: True) -> list[Mutant]:
    """Make every mutant of a file once, in the order of its lines.

    Args:
        path: of the file.
        source: its text.
        keep: called with the line of each change, whether to make it.
    """
    tree, nodes = ast.parse(source), [*ast_nodes(get_ast(source))]
    seen, mutants = {ast.dump(tree)}, []
    skipped, statements = list(_spans_left_alone(tree)), _statements(tree)
    for operator in (kind() for kind in OPERATORS):
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, (place, _) in enumerate(places):
            if any(start <= place < end for start, end in skipped) or not keep(place[0]):
                continue
            changed = mutate_code(source, operator, occurrence)
            try:
                dump = ast.dump(ast.parse(changed))
            except SyntaxError:  # the `*` before an argument is not an operator
                continue
            if dump not in seen:
                seen.add(dump)
                lines = next((span for span in statements if place[0] in span), range(0))
                pairs = zip(source.splitlines(), changed.splitlines(), strict=True)
                before, after = next((old.strip(), new.strip()) for old, new in pairs if old != new)
                mutants.append(Mutant(path, lines, before, after, changed, place[0]))
    return sorted(mutants, key=lambda mutant: mutant.line)


def count_changes(path: str, source: str) -> int:
    """Count the changes that `mutants_of` can make; a few of them give the same source."""
    lines: list[int] = []
    mutants_of(path, source, lambda line: lines.append(line) or False)
    return len(lines)


def _spans_left_alone(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Find signatures, annotations, decorators, what is raised, and `strict`, which only checks what is known."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                kept = node.decorator_list
                yield (node.lineno, node.col_offset), (node.body[0].lineno, node.body[0].col_offset)
            case ast.ClassDef():
                kept = [*node.decorator_list, *(field for field in node.body if isinstance(field, ast.AnnAssign))]
            case ast.AnnAssign():
                kept = [node.annotation]
            case ast.Raise() | ast.keyword(arg="strict"):
                kept = [node]
            case _:
                continue
        yield from (((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)) for part in kept)


def _statements(tree: ast.Module) -> list[range]:
    """List the lines of each statement in a function, the innermost first, without bodies of their own."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    inner = {id(node): node for function in functions for node in ast.walk(function) if isinstance(node, ast.stmt)}
    spans = []
    for node in inner.values():
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            body = getattr(node, "body", None)
            spans.append(range(node.lineno, max(body[0].lineno, node.lineno + 1) if body else node.end_lineno + 1))
    return sorted(spans, key=len)
