"""Colour the atoms of two suggested molecules by what they add to the score: blue atoms help, orange ones hurt."""

import tempfile
from pathlib import Path

from graph_bandit_campaign import Place, SuggestSettings, draw_molecule, explain, suggest
from graph_bandit_env.pools.products import example_library, example_values

products = example_library().make(range(0, 47_000, 120))
lines = [f"{each.id},{each.smiles}" for each in products]
results = [f"{line},{value}" for line, value in zip(lines, example_values("qed", products[:60]), strict=False)]
with tempfile.TemporaryDirectory() as folder:
    pool, measured, out = (Path(folder) / name for name in ("pool.csv", "measured.csv", "next.csv"))
    pool.write_text("\n".join(["id,smiles", *lines]))
    measured.write_text("\n".join(["id,smiles,qed", *results]))
    suggest(SuggestSettings(pool=pool, measured=(measured,), out=out, maximize=("qed",), n=2))
    place = Place(out.with_suffix(".campaign.json"))
    first, second = explain(place, [suggestion.id for suggestion in place.open()[1].rounds[-1]])
drawings = [draw_molecule(each.smiles, (420, 300), each.atoms["qed"]) for each in (first, second)]
white = '<rect width="100%" height="100%" fill="white"/>'
right = drawings[1].replace("<svg", '<svg x="420"', 1)
start = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 300" width="840" height="300">'
Path("atoms.svg").write_text(f"{start}{white}{drawings[0]}{right}</svg>\n")
