import pytest

from graph_bandit_serve.access.keys import Access, Keys
from graph_bandit_serve.settings import ServerLimits


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def keys(clock):
    return Keys(True, ServerLimits(session_seconds=10, invitation_seconds=10), lambda: clock[0])


def test_the_link_of_guests_lets_in_often_and_the_others_once(keys):
    sessions = [keys.enter(token) for token in (keys.guest_link, keys.guest_link, keys.link)]
    assert [*map(keys.of_session, sessions)] == [Access.GUEST, Access.GUEST, Access.MEMBER]
    assert keys.enter(keys.link) is None
    assert Keys(False, ServerLimits()).enter("") is None


def test_no_key_stands_for_another(keys):
    session, links = keys.enter(keys.guest_link), [keys.link, keys.guest_link, keys.invite(Access.MEMBER)]
    assert keys.of_program(keys.program) is Access.MEMBER
    assert {*map(keys.of_program, [*links, session]), *map(keys.of_session, [*links, keys.program])} == {None}
    assert keys.enter(keys.program) is keys.enter(session) is None


def test_sessions_and_invitations_end(keys, clock):
    session, first, second = keys.enter(keys.link), keys.invite(Access.MEMBER), keys.invite(Access.MEMBER)
    clock[0] = 9.9
    assert keys.of_session(session) is Access.MEMBER
    assert keys.enter(first) is not None
    clock[0] = 10
    assert keys.of_session(session) is keys.enter(second) is None
