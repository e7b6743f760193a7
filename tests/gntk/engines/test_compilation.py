import numba

from gntk.engines import compilation as loops


def test_loops_are_compiled_where_no_folder_can_be_written(monkeypatch):
    def cache_needs_a_folder(**options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: ("compiled", function, options)

    monkeypatch.setattr(loops, "njit", cache_needs_a_folder)
    assert loops.compile_loop(len)[:2] == ("compiled", len)


def test_compiled_loops_are_kept_on_disk(monkeypatch):
    monkeypatch.setattr(loops, "njit", lambda **options: lambda function: options)
    assert loops.compile_loop(len)["cache"]


def test_a_loop_that_keeps_the_order_of_its_sums_may_not_reassociate(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", False)
    assert "reassoc" in loops.compile_loop(len_of_range).targetoptions["fastmath"]
    kept = loops.compile_loop(len_of_range, keep_order=True).targetoptions["fastmath"]
    assert kept == {"contract", "nsz"}


def len_of_range(numbers):
    return len(numbers)
