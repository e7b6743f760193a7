"""A robot asks `graph-bandit serve` what to measure next and tells it what came out, by REST, round after round.

Here the server is started first and the assay is computed; a real robot gets address and key of a server that runs.

python examples/robot.py --rounds 5
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import Request, urlopen

from rdkit import Chem
from rdkit.Chem.QED import qed

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()

ENDS = ("O", "N", "F", "Cl", "C#N", "OC", "C(=O)O", "C(=O)N", "c1ccccc1", "c1ccncc1")
POOL = {f"m{k}": f"{'C' * (1 + k // 10)}{ENDS[k % 10]}" for k in range(80)}


def assay(identifier: str) -> float:
    """Measure a molecule: how much it is like a drug, from 0 to 1."""
    return float(qed(Chem.MolFromSmiles(POOL[identifier])))


class Server:
    """A server, by its address and the key that it prints."""

    def __init__(self, address: str, key: str) -> None:
        self.address, self.headers = address, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def ask(self, path: str, content: object = None) -> dict:
        """Send a request, wait until its job is done, and return the answer."""
        body = None if content is None else json.dumps(content).encode()
        request = Request(f"{self.address}/api/v1{path}", body, self.headers)  # noqa: S310 - the address is printed
        with urlopen(request) as answer:  # noqa: S310 - as above
            job = json.load(answer)
        while job.get("status") in ("waiting", "running"):
            job = self.ask(f"/jobs/{job['id']}?wait=10")
        return job


with tempfile.TemporaryDirectory() as folder:
    with open(Path(folder, "pool.csv"), "w", newline="") as file:
        csv.writer(file).writerows([("id", "smiles"), *POOL.items()])
    command = [sys.executable, "-m", "graph_bandit_cli", "serve", folder, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - it is ours
        printed = ""
        while "Bearer" not in printed:
            printed += process.stdout.readline()
        server = Server(re.search(r"http://[^/]+", printed)[0], re.search(r"Bearer (\S+)", printed)[1])
        settings = {"maximize": ["score"], "n": 4}
        answer = server.ask("/new", {"name": "robot", "pool": "pool.csv", "settings": settings})
        campaign = server.ask("/campaigns")["campaigns"][0]["id"]
        best = 0.0
        for _ in range(arguments.rounds):
            told = answer["result"]["answer"]
            results = [{"id": name, "value": assay(name)} for name in told["suggested"]]
            server.ask(f"/campaigns/{campaign}/tell", {"results": results})
            best = max(best, *(result["value"] for result in results))
            print(f"round {told['round']}: {', '.join(told['suggested'])}; the best so far scores {best:.2f}")
            answer = server.ask(f"/campaigns/{campaign}/ask", {})
        process.terminate()
reached = sum(assay(name) > best for name in POOL)
print(f"{reached} of the {len(POOL)} molecules score better")
