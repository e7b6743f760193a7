import psutil

from graph_bandit_env import GraphActionBanditVector


def descriptors():
    process = psutil.Process()
    return process.num_fds() if psutil.POSIX else process.num_handles()


def play(env):
    env.reset(seed=0)
    env.step(0)
    if env.render_mode:
        env.render()
    env.close()


def test_closed_environments_leave_only_the_fonts_of_matplotlib_open(small_env):
    files = {file.path for file in psutil.Process().open_files()}
    play(small_env(render_mode="rgb_array"))
    left = {file.path for file in psutil.Process().open_files()} - files
    assert all(path.endswith((".ttf", ".afm")) for path in left)  # matplotlib keeps each open, once
    before = descriptors()
    play(small_env(render_mode="rgb_array"))
    for _ in range(10):
        play(small_env())
        bandits = GraphActionBanditVector(2, num_graphs=3, num_nodes=3)
        bandits.reset(seed=0)
        bandits.close()
    assert descriptors() <= before + 5 * (not psutil.POSIX)  # handles of Windows come and go
