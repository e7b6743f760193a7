"""Draw the molecules that a campaign with two goals measures, and the front that it finds."""

import matplotlib.pyplot as plt
import numpy as np

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_env import from_smiles
from graph_bandit_env.pools.products import example_library, example_values

products = example_library().make(range(0, 47_000, 100))
values = np.array([example_values("qed", products), example_values("tpsa", products)])
pool = from_smiles([product.smiles for product in products], ids=[product.id for product in products])
row_of = {key: row for row, key in enumerate(product.id for product in products)}
campaign = Campaign(pool, goals=[Goal("qed"), Goal("tpsa")])
asked = list(pool.ids[::20])
for _ in range(6):
    for goal, numbers in zip(("qed", "tpsa"), values, strict=True):
        campaign.tell({key: numbers[row_of[key]] for key in asked}, goal=goal)
    asked = [suggestion.id for suggestion in campaign.ask(5)]
measured, front = ([row_of[key] for key in keys] for keys in (campaign.state.views()[0].means(), campaign.front()))
figure, axes = plt.subplots()
axes.plot(*values, ".", color="silver", label="not measured")
axes.plot(*values[:, measured], "o", color="C0", label="measured")
axes.step(*values[:, front], "o-", color="C1", where="pre", label="front")
axes.set(xlabel="qed", ylabel="tpsa", title="Two goals, both to be large")
axes.legend(loc="lower left")
figure.savefig("front.png")
