import itertools
import sys
import time
import types

import numpy as np
import pytest

from benchmarks.attack import inputs
from benchmarks.attack.attempts import Attempt, attack_area


@pytest.fixture
def area(monkeypatch):
    """Return a function that makes a module with these attempts."""

    def make(attack):
        module = types.ModuleType("benchmarks.attack.made_up")
        module.attack = attack
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return "made_up"

    return make


def test_attempts_are_counted_by_kind_with_their_faults(area):
    def attack(generator, folder):
        assert folder.is_dir()
        yield from (Attempt("a"), Attempt("b", "lost"), Attempt("a", "hung"), Attempt("b"))

    score = attack_area(area(attack), seed=0, seconds=60)
    assert score.tried == {"a": 2, "b": 2}
    assert score.faults == {"b": ["lost"], "a": ["hung"]}


def test_equal_seeds_make_equal_attempts(area):
    def attack(generator, folder):
        yield from (Attempt(str(number)) for number in generator.integers(10**9, size=5))

    name = area(attack)
    assert attack_area(name, 3, 60) == attack_area(name, 3, 60) != attack_area(name, 4, 60)


def test_an_area_without_end_is_stopped(area):
    def attack(generator, folder):
        yield from (Attempt(str(number)) for number in itertools.count() if time.sleep(0.01) is None)

    assert 1 <= len(attack_area(area(attack), 0, 0.1).tried) < 100


def test_the_first_attempts_with_nonsense_are_survived(tmp_path):
    attempts = list(itertools.islice(inputs.attack(np.random.default_rng(0), tmp_path), 60))
    assert [attempt for attempt in attempts if attempt.fault] == []
