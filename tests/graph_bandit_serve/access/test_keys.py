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


@pytest.mark.parametrize("token", ["", "x", "\udcff", "é", "A" * 43])
def test_nothing_else_lets_in(token):
    keys = Keys(True, ServerLimits())
    assert keys.enter(token) is keys.of_session(token) is keys.of_program(token) is None


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


def test_keys_are_new_at_each_start():
    first, second = Keys(True, ServerLimits()), Keys(True, ServerLimits())
    every = [key for keys in (first, second) for key in (keys.link, keys.guest_link, keys.program)]
    assert len(set(every)) == 6
    assert min(map(len, every)) >= 43  # 32 bytes in letters


def test_a_session_ends():
    clock = Clock()
    keys = Keys(False, ServerLimits(session_seconds=10), clock)
    session = keys.enter(keys.link)
    clock.now = 9.9
    assert keys.of_session(session) is Access.MEMBER
    clock.now = 10
    assert keys.of_session(session) is None


def test_guests_take_the_room_of_guests_alone():
    keys = Keys(True, ServerLimits(sessions=2))
    member = keys.enter(keys.link)
    guests = [keys.enter(keys.guest_link) for _ in range(5)]
    assert [keys.of_session(guest) for guest in guests] == [None, None, None, Access.GUEST, Access.GUEST]
    assert keys.of_session(member) is Access.MEMBER


def test_members_are_so_many_too():
    keys = Keys(True, ServerLimits(sessions=2))
    guest = keys.enter(keys.guest_link)
    members = [keys.enter(keys.invite(Access.MEMBER)) for _ in range(4)]
    assert [keys.of_session(member) for member in members] == [None, None, Access.MEMBER, Access.MEMBER]
    assert keys.of_session(guest) is Access.GUEST


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


def test_of_many_invitations_the_first_one_goes():
    keys = Keys(False, ServerLimits(invitations=2))
    tokens = [keys.invite(Access.MEMBER) for _ in range(3)]
    assert [keys.enter(token) is not None for token in tokens] == [False, True, True]
