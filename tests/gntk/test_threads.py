import pytest
import torch

from gntk import one_thread


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@one_thread()
def threads_inside():
    return torch.get_num_threads()


def test_one_thread_computes_inside_and_as_many_as_before_afterwards(two_threads):
    assert threads_inside() == 1
    assert torch.get_num_threads() == 2
