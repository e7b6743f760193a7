"""One process at a time plays into a folder."""

import threading

from filelock import FileLock

from graph_bandit_lab.storage.files import is_driven, sole_driver


def test_a_folder_is_driven_while_a_driver_has_its_lock(tmp_path):
    assert not is_driven(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with sole_driver(tmp_path):
        assert is_driven(tmp_path)
    assert not is_driven(tmp_path)


def test_a_driver_that_begins_during_a_look_is_not_refused(tmp_path):
    with sole_driver(tmp_path):
        pass
    look = FileLock(tmp_path / "driver.lock", thread_local=False)
    look.acquire()
    threading.Timer(0.1, lambda: look.release(force=True)).start()
    with sole_driver(tmp_path):
        assert is_driven(tmp_path)


def test_a_lock_that_may_not_be_opened_tells_nothing(tmp_path, monkeypatch):
    (tmp_path / "driver.lock").touch()

    def refuse(*arguments, **named):
        raise PermissionError

    monkeypatch.setattr(FileLock, "acquire", refuse)
    assert is_driven(tmp_path) is None
