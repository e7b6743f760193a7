"""The table of typed results: exactly what was typed, read as `suggest` reads it, and no formula."""

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_bandit_campaign import CampaignState, Entry, Measurement, Suggestion
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.operations.typed import TypedResults, take_out


@pytest.fixture
def command(tmp_path):
    return SuggestSettings(pool=tmp_path / "p.csv", out=tmp_path / "o.csv", maximize=("logp",), noise="sd")


IDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
FORMULAS = st.sampled_from(["=1+1", "+m", "-m", "@SUM(A1)", "'=x", "''=x", "＝x", '"', ","])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(IDS | FORMULAS, min_size=1, max_size=4, unique=True), st.floats(-1e9, 1e9))
def test_what_is_typed_is_read_back_by_its_id(command, ids, value):
    typed = TypedResults(command)
    typed.add([Entry(name, f"{value!r}", noise="0.1") for name in ids])
    with typed.written():
        again = TypedResults(command)
    assert [row.identifier for _, row in again.remove(ids)] == ids
    assert again.rows == []
    cells = [line.partition(",")[0].strip('"') for line in typed.path.read_text(encoding="utf-8").splitlines()[1:]]
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@＝")]
    typed.path.unlink()


def test_the_table_is_as_it_was_if_the_rest_fails(command):
    typed = TypedResults(command)
    typed.add([Entry("m1", "1")])
    for before in (None, b"id,logp\nm0,2\n"):
        if before is not None:
            typed.path.write_bytes(before)
        with contextlib.suppress(KeyboardInterrupt), typed.written():
            assert b"m1,1" in typed.path.read_bytes()
            raise KeyboardInterrupt
        assert (typed.path.read_bytes() if typed.path.exists() else None) == before


def test_what_is_taken_out_is_pending_again_if_it_was_suggested(command):
    typed = TypedResults(command)
    rows = typed.add([Entry("a", "1"), Entry("b", "failed"), Entry("z", "2")])
    measured = (Measurement("a", 1.0, 1), Measurement("z", 2.0, 0), Measurement("a", 3.0, 0))
    state = CampaignState("random", True, 0, measured, ("b",), (), ((Suggestion("a"), Suggestion("b")),))
    assert take_out(state, rows) == ([measured[2]], [], ["b"])
    assert take_out(state, rows[2:]) == ([measured[0], measured[2]], ["b"], [])
