"""What is read back is what was encoded, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.storage.rows import ARRAYS
from graph_bandit_lab.transfer.rounds import decode_rounds, encode_rounds

ANY = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 0.25, 0.5]))


def bits_of(array):
    return None if array is None else (array.dtype.str, array.tobytes())


def contents(rows):
    return [
        (
            [bits_of(row[name]) for name in (*ARRAYS, *FINDINGS)],
            row["diagnostics"] and {name: bits_of(array) for name, array in row["diagnostics"].items()},
        )
        for row in rows
    ]


def read_back(rows):
    named = [
        {**row, "diagnostics": None if row["diagnostics"] is None else list(row["diagnostics"])}
        | dict.fromkeys((*ARRAYS, *FINDINGS))
        for row in rows
    ]
    return decode_rounds(encode_rounds(rows), named)


@st.composite
def repetitions(draw):
    """Ragged ones, of few instances; with or without what was found and diagnostics."""
    length = draw(st.integers(0, 6))
    floats = arrays(np.float64, length, elements=ANY)
    found = draw(st.booleans())
    names = draw(st.one_of(st.none(), st.lists(st.sampled_from(["potential", "dimension"]), unique=True)))
    longer = arrays(np.float64, length + draw(st.integers(0, 1)), elements=ANY)
    return {
        "label": "any",
        "environment": draw(st.sampled_from(["a", "b"])),
        "seed": draw(st.sampled_from([1, 2])),
        "actions": draw(arrays(np.int64, length, elements=st.sampled_from([0, 1, 300, -1]))),
        "rewards": draw(floats),
        "regret": draw(floats),
        **{name: draw(floats) if found else None for name in FINDINGS},
        "diagnostics": None if names is None else {name: draw(longer) for name in names},
    }


@given(st.lists(repetitions(), max_size=5))
def test_any_repetitions_come_back_bit_for_bit(rows):
    assert contents(read_back(rows)) == contents(rows)


def play(environment, seed, policy, noise, means):
    actions = policy.integers(len(means), size=len(noise))
    found = np.maximum.accumulate(means[actions])
    return {
        "label": "any",
        "environment": environment,
        "seed": seed,
        "actions": actions,
        "rewards": means[actions] + noise,
        "regret": means.max() - means[actions],
        **dict(zip(FINDINGS, (means.max() - found, found, (found == means.max()).astype(float)), strict=True)),
        "diagnostics": None,
    }


def bytes_of(rows):
    return sum(array.nbytes for array in encode_rounds(rows).values())


def test_another_agent_on_the_same_noise_costs_no_rewards_even_in_another_environment():
    rng = np.random.default_rng(0)
    noise, agents = 0.01 * rng.normal(size=1000), rng.spawn(4)
    same, other = rng.normal(size=20), rng.normal(size=30)
    rows = [
        play("a", 1, agents[0], noise, same),
        play("a", 1, agents[1], noise, same),
        play("b", 1, agents[2], noise, other),
    ]
    encoded = encode_rounds(rows)
    assert encoded["references"].tolist() == [-1, 0, 0]
    assert len(encoded["reward_residuals"]) <= 2  # bytes a round
    assert contents(read_back(rows)) == contents(rows)
    strange = play("c", 2, agents[3], rng.normal(size=1000), other)
    assert encode_rounds([*rows, strange])["references"].tolist() == [-1, 0, 0, -1]


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("rewards", np.zeros(2, np.float32)),
        ("regret", np.zeros(3)),
        ("actions", np.zeros(2)),
        ("best_found", np.zeros((2, 1))),
    ],
)
def test_arrays_of_another_program_are_refused(name, array):
    rng = np.random.default_rng(0)
    row = play("a", 1, rng, np.zeros(2), np.array([1.0, 2.0])) | {name: array}
    with pytest.raises(ValueError, match=f"Expected `{name}` of any, seed 1"):
        encode_rounds([row])
