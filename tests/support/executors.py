"""An executor for tests."""

from concurrent.futures import Future

from graph_bandit_lab.execution.executors import Workers


class Here(Workers):
    """Play in this process, where it does not matter that there are others."""

    slots = 1

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future
