import numba

from gntk import compilation as loops


def test_a_loop_that_keeps_the_order_of_its_sums_may_not_reassociate(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", False)
    assert "reassoc" in loops.compile_loop(len_of_range).targetoptions["fastmath"]
    kept = loops.compile_loop(len_of_range, keep_order=True).targetoptions["fastmath"]
    assert kept == {"contract", "nsz"}


def len_of_range(numbers):
    return len(numbers)
