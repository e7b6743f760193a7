"""Look at the campaigns of a folder, and start the jobs that change them: the page, REST and MCP ask here."""

from __future__ import annotations

from pathlib import Path

import msgspec

from graph_bandit_serve.access.keys import NAME, PERSON
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.campaigns.uploads import Uploads, WrongError, kind_of
from graph_bandit_serve.operations import OPERATIONS, Asked
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Job, Jobs

FUNCTIONS = "graph_bandit_serve.work.operations:FUNCTIONS"
SENT = "upload:"


class UnknownError(LookupError):
    """There is not what somebody asks for; the message says what is."""


class NotYoursError(ValueError):
    """Somebody wants to stop a job of somebody else."""


class Service:
    """The campaigns of a folder, to look at and to change.

    Args:
        folder: the folder.
        shelf: the campaigns in it.
        uploads: files that people sent.
        jobs: do what takes long, or reads what strangers sent.
        limits: the limits.
    """

    def __init__(
        self, folder: CampaignFolder, shelf: Shelf, uploads: Uploads, jobs: Jobs, limits: ServerLimits
    ) -> None:
        self.folder, self.shelf, self.uploads, self.jobs = folder, shelf, uploads, jobs
        self._limits = limits

    @classmethod
    def of(cls, root: Path, jobs: Jobs, limits: ServerLimits) -> Service:
        """Return the service of a folder."""
        folder = CampaignFolder(root, limits)
        return cls(folder, Shelf(folder, limits), Uploads(folder.root, limits), jobs, limits)

    def tables(self) -> dict[str, object]:
        """Return the tables of the folder, which can be pools or hold results."""
        listing = self.folder.list_tables()
        return {"tables": [file.name for file in listing.files], "is_cut": listing.is_cut}

    def campaign(self, key: str) -> FoundFile:
        """Return the file of a campaign.

        Raises:
            UnknownError: if there is none.
        """
        file = self.folder.find(key)
        if file is None:
            raise UnknownError("Expected the id of a campaign of this folder. The list of campaigns has them.")
        return file

    def start(self, name: str, asked: Asked, campaign: str = "", version: str = "") -> Job:
        """Start a job; jobs that change one campaign run one after the other, and so do those of one person.

        Args:
            name: name of the operation.
            asked: its arguments.
            campaign: key of the campaign; empty: the operation is about the folder.
            version: digest that the campaign's file is to have; empty: any.

        Raises:
            UnknownError: if there is no such campaign or table.
            BusyError: a ValueError, if too many jobs wait.
            WrongError: a ValueError, if an argument is not what a file can keep.
        """
        place = {"path": str(self.campaign(campaign).path), "version": version} if campaign else {}
        operation, fields, person = OPERATIONS[name], asked.model_dump(), PERSON.get()
        try:
            msgspec.json.encode(fields)
        except (UnicodeEncodeError, RecursionError) as error:
            raise WrongError("Expected whole characters and few brackets. Got others.") from error
        if fields.get("by") == "":
            fields["by"] = NAME.get()
        if name == "new":
            files = [[path, f"pool{kind_of(path)}"][: 1 + sent] for path, sent in [self.table(fields["pool"])]]
            for number, (path, sent) in enumerate(map(self.table, fields["measured"]), start=1):
                files.append([path, f"results-{number}{kind_of(path)}"][: 1 + sent])
            fields |= {"pool": files[0], "measured": files[1:]}
        else:
            fields |= {key: self.table(fields[key])[0] for key in ("table", "pool") if key in fields}
        arguments = {"root": str(self.folder.root), **place, **fields}
        holds = [f"{person}{' looks' * operation.looks}", *[campaign] * operation.changes]
        seconds = self._limits.look_seconds if operation.looks else None
        holds = [*filter(None, holds)]
        return self.jobs.start(name, arguments, holds, seconds, campaign, person, asked.model_dump())

    def table(self, name: str) -> tuple[str, bool]:
        """Return the path of a table, and whether somebody sent it.

        Args:
            name: its place in the folder, or `upload:TOKEN`. It is looked up, and never opened as a path.

        Raises:
            UnknownError: if there is no such table.
        """
        if name.startswith(SENT):
            upload = self.uploads.find(name.removeprefix(SENT))
            if upload is not None:
                return str(upload.path), True
            raise UnknownError("Expected a file that was sent, and not used since. Send it again.")
        file = self.folder.find_table(name)
        if file is None:
            raise UnknownError("Expected a table of this folder, by its place in it, or one that was sent.")
        return str(file.path), False

    def stop(self, job_id: str) -> Job | None:
        """Stop a job of who asks; None if there is none.

        Raises:
            NotYoursError: a ValueError, if somebody else has started it.
        """
        job = self.jobs.get(job_id)
        if job is not None and job.person != PERSON.get():
            raise NotYoursError("Expected a job of yours. Somebody else has started this one, and can stop it.")
        return self.jobs.stop(job_id)
