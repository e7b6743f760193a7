from support.mutants.changes import mutants_of

SOURCE = """
LIMIT: int = 3


def clip(value: int = 4, *, strict: bool = True) -> int:
    if value < LIMIT and not strict:
        raise ValueError(f"at least {3 - 0}")
    return sum(zip([-value], strict=True))
"""


def test_a_mutant_changes_one_sign_comparison_or_constant():
    """Annotations, default values, what is raised and `strict` stay."""
    found = mutants_of("clip.py", SOURCE)
    assert [(mutant.line, mutant.after) for mutant in found] == [
        (2, "LIMIT: int = 4"),
        (2, "LIMIT: int = 2"),
        (6, "if value <= LIMIT and not strict:"),
        (6, "if value >= LIMIT and not strict:"),
        (6, "if value < LIMIT and  strict:"),
        (6, "if not value < LIMIT and not strict:"),
        (6, "if value < LIMIT or not strict:"),
        (8, "return sum(zip([+value], strict=True))"),
    ]
    assert [mutant.lines for mutant in found[1:3]] == [range(0), range(6, 7)]
