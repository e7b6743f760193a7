"""The sentences that users and maintainers read are plain ones (CONTRIBUTING.md)."""

import pytest
from support import ROOT
from support.english import PATTERNS, occurrences, sources


@pytest.mark.parametrize("name", PATTERNS)
def test_no_sentence_has_a_turn_of_phrase_that_is_read_twice(name):
    lines = {
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in sources(ROOT)
        for number, line in occurrences(path.read_text(encoding="utf-8"), PATTERNS[name])
    }
    assert not lines


def test_the_patterns_are_recognised():
    opening = PATTERNS["module docstring begins with What, Which, ..."]
    assert len(list(occurrences('"""Whose turn it is."""\n', opening))) == 1
    text = "x is no graph, played anew beside one of one's own\nthere is no graph here, and it is no longer one\n"
    found = {name for name, pattern in PATTERNS.items() if list(occurrences(text, pattern))}
    assert found == {"is no X", "anew", "beside", "of one's own"}
    assert [number for number, _ in occurrences(text, PATTERNS["is no X"])] == [1]
