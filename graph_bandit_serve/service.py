"""Look at the campaigns of a folder, and change them: pages, REST and MCP ask here, and jobs do it."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec

from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.campaigns.uploads import Uploads, kind_of
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Job, Jobs

OPERATIONS = "graph_bandit_serve.work.operations:OPERATIONS"
SENT = "upload:"
FOLDER = ""
"""Stands for the key of a campaign in jobs that are not about one."""


LOOKS = "looks at "
"""Begins the key of a campaign in jobs that change nothing."""


class UnknownError(LookupError):
    """There is not what somebody asks for; the message says what is."""


class KeyUsedError(ValueError):
    """A key of a request was used for another one."""


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
        self._limits, self._lock = limits, threading.Lock()
        self._asked: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def campaign(self, key: str) -> FoundFile:
        """Return the file of a campaign.

        Raises:
            UnknownError: if there is none.
        """
        file = self.folder.find(key)
        if file is None:
            raise UnknownError("Expected the id of a campaign of this folder. The list of campaigns has them.")
        return file

    def do(
        self, campaign: str, operation: str, arguments: Mapping[str, object], version: str = "", request: str = ""
    ) -> Job:
        """Start a job about a campaign; jobs about one campaign run one after the other.

        Args:
            campaign: key of the campaign.
            operation: name of the operation, of `work.operations`.
            arguments: its arguments but for `place`.
            version: digest that the campaign's file is to have; empty: any.
            request: key of the request; the same one again gets the same job. Empty: there is none.

        Raises:
            UnknownError: if there is no such campaign.
            KeyUsedError: a ValueError, if something else was asked under this key.
            BusyError: a ValueError, if too many jobs wait.
        """
        place = {"root": str(self.folder.root), "path": str(self.campaign(campaign).path), "version": version}
        return self._start(campaign, operation, {"place": place, **arguments}, request)

    def look(self, campaign: str, operation: str, arguments: Mapping[str, object]) -> Job:
        """Start a job that changes nothing, and so need not wait for others; arguments and errors as of `do`.

        Args:
            campaign: key of the campaign.
            operation: as in `do`.
            arguments: as in `do`.
        """
        place = {"root": str(self.folder.root), "path": str(self.campaign(campaign).path), "version": ""}
        return self._start(f"{LOOKS}{campaign}", operation, {"place": place, **arguments})

    def accept(self, campaign: str, table: str, version: str = "", request: str = "") -> Job:
        """Start a job that takes in a table of results that was sent; arguments and errors as of `do`.

        Args:
            campaign: key of the campaign.
            table: the table, `upload:TOKEN`.
            version: as in `do`.
            request: as in `do`.
        """
        file = self.campaign(campaign)
        start = f"{file.path.name.removesuffix('.campaign.json')}.results-"
        path = self.table(table)[0]
        numbers = (int(text) for other in file.path.parent.glob(f"{start}*") if (text := _number(other.name, start)))
        name = f"{start}{max(numbers, default=1) + 1}{kind_of(path)}"
        return self.do(campaign, "accept", {"table": path, "name": name}, version, request)

    def read_pool(self, pool: str, smiles: str = "smiles", id: str | None = None, sheet: str | None = None) -> Job:  # noqa: A002
        """Start a job that looks at a pool.

        Args:
            pool: a table of the folder by its place, or `upload:TOKEN`.
            smiles: column of the SMILES.
            id: column of the names; None: `id`, if there is one.
            sheet: sheet of a workbook; None: the first.

        Raises:
            UnknownError: if there is no such table.
            BusyError: a ValueError, if too many jobs wait.
        """
        arguments = {"path": self.table(pool)[0], "smiles": smiles, "id": id, "sheet": sheet}
        return self._start(FOLDER, "read_pool", arguments)

    def begin(
        self, name: str, pool: str, measured: Sequence[str], fields: Mapping[str, object], request: str = ""
    ) -> Job:
        """Start a job that starts a campaign.

        Args:
            name: its name.
            pool: a table of the folder by its place, or `upload:TOKEN`.
            measured: tables of results, likewise.
            fields: settings of `suggest`, as in JSON.
            request: as in `do`.

        Raises:
            UnknownError: if there is no such table, or a single campaign is served.
            BusyError, KeyUsedError: ValueErrors, as in `do`.
        """
        if self.folder.is_one:
            raise UnknownError("Expected a folder of campaigns. Here one campaign is served: give `serve` its folder.")
        files = [[path, f"pool{kind_of(path)}"][: 1 + is_sent] for path, is_sent in [self.table(pool)]]
        for number, (path, is_sent) in enumerate(map(self.table, measured), start=1):
            files.append([path, f"results-{number}{kind_of(path)}"][: 1 + is_sent])
        arguments = {"root": str(self.folder.root), "name": name, "fields": dict(fields)}
        return self._start(FOLDER, "begin", {**arguments, "pool": files[0], "measured": files[1:]}, request)

    def backtest(self, table: str, fields: Mapping[str, object]) -> Job:
        """Start a job that replays a finished table of the folder.

        Args:
            table: its place, or `upload:TOKEN`.
            fields: settings of `backtest`: maximize or minimize, n, start, budget, starts, seed, agents, baselines.

        Raises:
            UnknownError: if there is no such table.
            BusyError: a ValueError, if too many jobs wait.
        """
        arguments = {"root": str(self.folder.root), "table": self.table(table)[0], "fields": dict(fields)}
        return self._start(FOLDER, "backtest", arguments)

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

    def _start(self, campaign: str, operation: str, arguments: Mapping[str, object], request: str = "") -> Job:
        """Start a job, or return that which a key of a request has started before."""
        with self._lock:
            asked = hashlib.sha256(msgspec.json.encode([campaign, operation, arguments], order="sorted")).hexdigest()
            before, job_id = self._asked.get(request, (asked, ""))
            if before != asked:
                raise KeyUsedError("Expected a new key for another request. This one was used for something else.")
            job = self.jobs.get(job_id)
            if job is None:
                job = self.jobs.start(campaign, operation, arguments)
                if request:
                    self._asked[request] = (asked, job.id)
                while len(self._asked) > self._limits.request_keys:
                    self._asked.popitem(last=False)
            return job


def _number(name: str, start: str) -> str:
    """Return the digits that follow the start of a name."""
    digits = name.removeprefix(start).partition(".")[0]
    return digits if digits.isascii() and digits.isdecimal() else ""
