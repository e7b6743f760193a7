"""Read the campaigns of a folder, and start the jobs that change them, on behalf of pages, REST and MCP."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException

from graph_bandit_serve.access.keys import NAME, PERSON
from graph_bandit_serve.campaigns.folder import CampaignFolder
from graph_bandit_serve.campaigns.listing import Shelf
from graph_bandit_serve.campaigns.uploads import Uploads, kind_of
from graph_bandit_serve.operations import OPERATIONS, Asked
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Job, Jobs

FUNCTIONS = "graph_bandit_serve.work.operations:FUNCTIONS"
SENT = "upload:"


class Service:
    """Access to the campaigns of a folder.

    Args:
        root: the folder.
        jobs: queue for operations that are slow or read untrusted files.
        limits: the limits.
    """

    def __init__(self, root: Path, jobs: Jobs, limits: ServerLimits) -> None:
        self.folder, self.jobs, self._limits = CampaignFolder(root, limits), jobs, limits
        self.shelf, self.uploads = Shelf(self.folder, limits), Uploads(self.folder.root, limits)

    def tables(self) -> dict[str, object]:
        """Return the tables of the folder, to be used as pools or results."""
        tables, is_cut = self.folder.list_tables()
        return {"tables": [*tables], "is_cut": is_cut}

    def start(self, name: str, asked: Asked, campaign: str = "", version: str = "") -> Job:
        """Start a job. Jobs that change the same campaign run one at a time, as do the jobs of one person.

        Args:
            name: name of the operation.
            asked: arguments of the operation.
            campaign: key of the campaign. Empty for an operation on the folder.
            version: expected digest of the campaign's file. If empty, any version is accepted.

        Raises:
            HTTPException: 404 or 422 if there is no such campaign or table, or 503 if too many jobs wait.
        """
        place = {"path": str(self.shelf.read(campaign).file.path), "version": version} if campaign else {}
        operation, fields, person = OPERATIONS[name], asked.model_dump(), PERSON.get()
        if fields.get("by") == "":
            fields["by"] = NAME.get()
        if name == "new":
            files = [[path, f"pool{kind_of(path)}"][: 1 + sent] for path, sent in [self.table(fields["pool"])]]
            for number, (path, sent) in enumerate(map(self.table, fields["measured"]), start=1):
                files.append([path, f"results-{number}{kind_of(path)}"][: 1 + sent])
            fields |= {"pool": files[0], "measured": files[1:]}
        else:
            fields |= {key: self.table(fields[key])[0] for key in ("table", "pool") if key in fields}
        holds = [f"{person}{' looks' * operation.looks}", *[campaign] * (operation.changes and bool(campaign))]
        seconds = self._limits.look_seconds if operation.looks else None
        arguments = {"root": str(self.folder.root), **place, **fields}
        return self.jobs.start(name, arguments, holds, seconds, campaign, person)

    def table(self, name: str) -> tuple[str, bool]:
        """Return the path of a table, and True if it was uploaded.

        Args:
            name: its path in the folder, or `upload:TOKEN`. The name is looked up and never opened as a path.

        Raises:
            HTTPException: 404, if there is no such table.
        """
        is_sent = name.startswith(SENT)
        path = self.uploads.find(name.removeprefix(SENT)) if is_sent else self.folder.list_tables()[0].get(name)
        if path is None:
            raise HTTPException(404, "Expected a table of this folder, by its place in it, or one that was just sent.")
        return str(path), is_sent

    def stop(self, job_id: str) -> Job | None:
        """Stop a job of the sender, and return it, or None if there is none.

        Raises:
            HTTPException: 403, if another person has started it.
        """
        job = self.jobs.get(job_id)
        if job is not None and job.person != PERSON.get():
            raise HTTPException(403, "Expected one of your own jobs. Only the person who started this job can stop it.")
        return self.jobs.stop(job_id)
