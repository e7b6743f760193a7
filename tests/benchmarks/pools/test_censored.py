"""Players that know of some results only on which side of a number they lie."""

import numpy as np
import pytest
from support.molecules import some_molecules

from benchmarks.pools.players import CENSORINGS, make_player, needs_molecules
from benchmarks.pools.screening import Screen, play

MOLECULES = some_molecules()


@pytest.mark.parametrize("name", CENSORINGS)
def test_no_result_beyond_the_number_is_told(name, monkeypatch):
    player, told, bounds = make_player(f"{name}-ucb"), {}, {}
    update, update_bounds = player._agent.update, player._agent.update_bounds

    def see(observation, actions, rewards):
        told.update(zip(actions.tolist(), rewards.tolist(), strict=True))
        update(observation, actions, rewards)

    def see_bounds(observation, actions, values, above):
        assert above is name.startswith("strong")
        bounds.update(zip(actions.tolist(), values.tolist(), strict=True))
        update_bounds(observation, actions, values, above)

    monkeypatch.setattr(player._agent, "update", see)
    monkeypatch.setattr(player._agent, "update_bounds", see_bounds)
    order = play(Screen(MOLECULES, MOLECULES.targets, start=8, batch=4, rounds=3), player, 1).order[:16]
    strong, values = name.startswith("strong"), MOLECULES.targets
    limit = np.quantile(values, 0.7 if strong else 0.3)
    beyond = {k for k in order.tolist() if (values[k] > limit if strong else values[k] < limit)}
    assert beyond
    exact = {k: values[k] for k in order.tolist() if k not in beyond}
    assert bounds == (dict.fromkeys(beyond, limit) if name.endswith("bounds") else {})
    assert told == exact | (dict.fromkeys(beyond, limit) if name.endswith("numbers") else {})


def test_such_players_need_molecules_and_take_settings_of_their_agent():
    assert needs_molecules("weak_bounds-ei")
    assert make_player("strong_dropped-ei:short_list=7")._agent.settings.short_list == 7


def test_unknown_ones_are_refused():
    with pytest.raises(ValueError, match="Unknown agent"):
        make_player("weak_guessed-ucb")
