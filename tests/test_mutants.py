from support.mutants import draw, mutants_of

SOURCE = """
LIMIT: int = 3


def clip(value: int = 4, *, strict: bool = True) -> int:
    if value < LIMIT and not strict:
        raise ValueError(f"at least {3 - 0}")
    return sum(zip([-value], strict=True))
"""


def test_a_mutant_changes_one_sign_comparison_or_constant(tmp_path):
    """Annotations, default values, what is raised and `strict` stay."""
    (tmp_path / "clip.py").write_text(SOURCE, encoding="utf-8")
    mutants = mutants_of("clip.py", SOURCE)
    after = [mutant.source(tmp_path).splitlines()[mutant.line - 1].strip() for mutant in mutants]
    assert {(mutant.line, mutant.name, line) for mutant, line in zip(mutants, after, strict=True)} == {
        (2, "", "LIMIT: int = 4"),
        (2, "", "LIMIT: int = 2"),
        (6, "clip", "if value <= LIMIT and not strict:"),
        (6, "clip", "if value >= LIMIT and not strict:"),
        (6, "clip", "if value < LIMIT and  strict:"),
        (6, "clip", "if not value < LIMIT and not strict:"),
        (6, "clip", "if value < LIMIT or not strict:"),
        (8, "clip", "return sum(zip([+value], strict=True))"),
    }


def test_a_draw_is_of_changes_that_another_checkout_has_and_the_same_for_a_seed():
    here, there = mutants_of("clip.py", SOURCE), mutants_of("moved.py", SOURCE.replace("LIMIT and", "1 and"))
    drawn = draw(here, there, 2, seed=0)
    assert drawn == draw(here, there, 2, seed=0)
    assert {mutant.line for mutant in draw(here, there, None, seed=0)} == {2, 8}
    assert len(drawn) == 2
