import pytest

from graph_bandit_serve.access.keys import Access, Keys
from graph_bandit_serve.settings import ServerLimits


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_first_link_lets_in_once():
    keys = Keys(False, ServerLimits())
    session = keys.enter(keys.link)
    assert keys.of_session(session) is Access.MEMBER
    assert keys.enter(keys.link) is None
    assert keys.of_session(session) is Access.MEMBER


def test_the_link_of_guests_lets_in_often_and_is_there_if_asked_for():
    keys = Keys(True, ServerLimits())
    first, second = keys.enter(keys.guest_link), keys.enter(keys.guest_link)
    assert first != second
    assert keys.of_session(first) is keys.of_session(second) is Access.GUEST
    assert Keys(False, ServerLimits()).enter("") is None


def test_no_key_stands_for_another():
    keys = Keys(True, ServerLimits())
    session = keys.enter(keys.guest_link)
    assert keys.of_program(keys.program) is Access.MEMBER
    for key in (keys.link, keys.guest_link, session):
        assert keys.of_program(key) is None
    for key in (keys.link, keys.guest_link, keys.program):
        assert keys.of_session(key) is None
    for key in (keys.program, session):
        assert keys.enter(key) is None


def test_a_session_ends():
    clock = Clock()
    keys = Keys(False, ServerLimits(session_seconds=10), clock)
    session = keys.enter(keys.link)
    clock.now = 9.9
    assert keys.of_session(session) is Access.MEMBER
    clock.now = 10
    assert keys.of_session(session) is None


@pytest.mark.parametrize("access", list(Access))
def test_an_invitation_lets_in_once_as_it_says(access):
    keys = Keys(False, ServerLimits())
    token = keys.invite(access)
    assert keys.of_session(token) is keys.of_program(token) is None
    assert keys.of_session(keys.enter(token)) is access
    assert keys.enter(token) is None
    assert keys.of_session(keys.enter(keys.link)) is Access.MEMBER  # the first link stays


def test_an_invitation_ends():
    clock = Clock()
    keys = Keys(False, ServerLimits(invitation_seconds=10), clock)
    first, second = keys.invite(Access.MEMBER), keys.invite(Access.MEMBER)
    clock.now = 9.9
    assert keys.enter(first) is not None
    clock.now = 10
    assert keys.enter(second) is None
