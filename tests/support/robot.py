"""A program that works on campaigns by REST, asked without a network; the jobs run in processes, as in a server."""

import csv
import io
import json
import re

from support.molecules import some_molecules
from support.served import serve_app

JSON = ("content-type", "application/json")
MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))


def table(*rows):
    """A table as a file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


POOL = table(("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True))


class Robot:
    """A program, and the folder that it works on."""

    def __init__(self, folder, jobs):
        self.folder, self.served = folder, serve_app(folder, jobs=jobs)

    def post(self, path, content, *headers):
        body = json.dumps(content).encode()
        return self.served.ask(f"/api/v1{path}", "POST", [JSON, *headers], body=body)

    def send(self, name, content):
        pairs = [("content-type", "application/octet-stream")]
        return self.served.ask("/api/v1/uploads", "POST", pairs, query=f"name={name}", body=content)

    def done(self, path, content, *headers):
        """Return what came of a job that is done."""
        answer = self.post(path, content, *headers)
        assert answer.status in (200, 202), answer.text
        job = answer.json()
        while job["status"] in ("waiting", "running"):
            job = self.get(f"/jobs/{job['id']}", query="wait=10").json()
        assert job["status"] == "done", job
        return job["result"]

    def get(self, path, *headers, query=""):
        return self.served.ask(f"/api/v1{path}", headers=headers, query=query)

    def start(self, **changes):
        """Start a campaign of a pool that is sent, and return its id."""
        upload = self.send("molecules.csv", POOL).json()["table"]
        settings = {"maximize": ["logp"], "n": 3, **changes}
        self.done("/campaigns", {"name": "One", "pool": upload, "settings": settings})
        return self.get("/campaigns").json()["campaigns"][0]["id"]

    def last(self, campaign):
        view = self.get(f"/campaigns/{campaign}").json()
        return [suggestion["id"] for suggestion in view["rounds"][-1]["suggestions"]]

    def version(self, campaign):
        return self.get(f"/campaigns/{campaign}").json()["version"]

    def page(self, path, query=""):
        return self.served.ask(path, query=query)

    def submit(self, path, fields=(), files=()):
        """Send a form as a browser does, and return the page that it leads to."""
        limit = "a-limit-of-forms"
        parts = [(f'name="{name}"', text.encode()) for name, text in fields]
        parts += [(f'name="{name}"; filename="{called}"', content) for name, called, content in files]
        body = b"".join(
            f"--{limit}\r\ncontent-disposition: form-data; {head}\r\n\r\n".encode() + content + b"\r\n"
            for head, content in parts
        )
        body += f"--{limit}--\r\n".encode()
        kind = ("content-type", f"multipart/form-data; boundary={limit}")
        answer = self.served.ask(path, "POST", [kind], body=body)
        return self.follow(answer)

    def follow(self, answer):
        """Follow redirections, and wait for jobs."""
        while answer.status == 303:
            place = answer.headers["location"]
            if job := re.fullmatch(r"/jobs/(.+)", place):
                while self.get(f"/jobs/{job[1]}", query="wait=15").json()["status"] in ("waiting", "running"):
                    pass  # the machine is busy
            path, _, query = place.partition("?")
            answer = self.page(path, query)
        return answer
