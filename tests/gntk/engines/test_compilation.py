from gntk.engines import compilation as loops


def test_loops_are_compiled_where_no_folder_can_be_written(monkeypatch):
    def cache_needs_a_folder(**options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: ("compiled", function, options)

    monkeypatch.setattr(loops, "njit", cache_needs_a_folder)
    assert loops.compile_loop(len)[:2] == ("compiled", len)
