import registry
from agents.beliefs import compose
from agents.beliefs.rules import UpperConfidenceBound
from agents.kernel import KernelSettings
from benchmarks.sweeps.forgetting import Command, forgets_the_oldest


def test_the_oldest_graphs_are_forgotten():
    env = registry.make_environment(num_graphs=3, num_nodes=4, resample_graphs="round", horizon=100)
    agent = compose("oldest", forgets_the_oldest, KernelSettings, UpperConfidenceBound)(memory=10)
    observation, _ = env.reset(seed=0)
    agent.reset(observation, seed=0)
    played = []
    for _ in range(11):
        action = agent.select_action(observation)
        before = observation
        observation, reward, *_ = env.step(action)
        agent.update(before, action, reward)
        played.append(reward)
    agent.select_action(observation)  # one too many: the oldest two go, a tenth of the memory more than needed
    assert agent.history.means[agent.history.seen].tolist() == played[2:]


def test_both_ways_play_the_same_instances():
    _, *rows = Command(memory=100, horizon=4, seeds=2, rewards=("linear",)).compare()
    for row in rows:
        assert row[2] == row[3]  # nothing is forgotten in four rounds
        assert row[4] == "+0.0 [+0.0, +0.0]"
