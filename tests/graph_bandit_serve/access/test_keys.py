import pytest

from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.settings import ServerLimits


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def keys(clock):
    return Keys(ServerLimits(session_seconds=10, invitation_seconds=10), lambda: clock[0])


def test_a_link_lets_in_once_and_no_key_stands_for_another(keys):
    links = [keys.link, keys.invite("Ann")]
    sessions = [*map(keys.enter, links)]
    assert [*map(keys.name_of, sessions)] == ["", "Ann"]
    assert {*map(keys.enter, (*links, *sessions, keys.program, ""))} == {None}
    assert {*map(keys.name_of, (*links, keys.program, ""))} == {None}
    assert [*map(keys.is_program, (keys.program, *links, *sessions))] == [True, False, False, False, False]


def test_sessions_and_invitations_end(keys, clock):
    session, first, second = keys.enter(keys.link), keys.invite(), keys.invite()
    clock[0] = 9.9
    assert keys.name_of(session) == ""
    assert keys.enter(first) is not None
    clock[0] = 10
    assert keys.name_of(session) is keys.enter(second) is None
