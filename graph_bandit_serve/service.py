"""Look at the campaigns of a folder, and change them: pages, REST and MCP ask here, and jobs do it."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.campaigns.uploads import Uploads, kind_of
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.work.jobs import Job, Jobs

OPERATIONS = "graph_bandit_serve.work.operations:OPERATIONS"
SENT = "upload:"
READS = ("explain", "look_ahead")
"""Operations that change nothing, and so need not wait for those that change the campaign."""


class UnknownError(LookupError):
    """There is not what somebody asks for; the message says what is."""


class NotYoursError(ValueError):
    """Somebody wants to stop a job of somebody else."""


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
        """Start a job about a campaign; jobs that change one campaign run one after the other.

        Args:
            campaign: key of the campaign.
            operation: name of the operation, of `work.operations`.
            arguments: its arguments but for `place`.
            version: digest that the campaign's file is to have; empty: any.
            request: key of the request; the same one again gets the same job. Empty: there is none.

        Raises:
            UnknownError: if there is no such campaign.
            KeyUsedError: a ValueError, if something else was asked under this key.
            ValueError: if an argument is not what a file can keep.
            BusyError: a ValueError, if too many jobs wait.
        """
        place = {"root": str(self.folder.root), "path": str(self.campaign(campaign).path), "version": version}
        asked = {"place": place, **arguments}
        return self._start(operation, asked, lambda: asked, request, campaign)

    def look(self, campaign: str, operation: str, arguments: Mapping[str, object]) -> Job:
        """Start a short job that changes nothing; errors as of `do`. A person has one beside a job of another kind.

        Args:
            campaign: key of the campaign.
            operation: as in `do`.
            arguments: as in `do`.
        """
        place = {"root": str(self.folder.root), "path": str(self.campaign(campaign).path), "version": ""}
        return self._look(operation, {"place": place, **arguments}, campaign)

    def accept(self, campaign: str, table: str, version: str = "", request: str = "") -> Job:
        """Start a job that takes in a table of results that was sent; arguments and errors as of `do`.

        Args:
            campaign: key of the campaign.
            table: the table, `upload:TOKEN`.
            version: as in `do`.
            request: as in `do`.
        """
        path = self.campaign(campaign).path
        place = {"root": str(self.folder.root), "path": str(path), "version": version}

        def make() -> Mapping[str, object]:
            sent, is_sent = self.table(table)
            if not is_sent:  # it would be moved away from others who read it
                raise UnknownError("Expected a table that was sent. Send this one.")
            return {"place": place, "table": sent}

        return self._start("accept", {"place": place, "table": table}, make, request, campaign)

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
        root, path = str(self.folder.root), self.table(pool)[0]
        arguments = {"root": root, "path": path, "smiles": smiles, "id": id, "sheet": sheet}
        return self._look("read_pool", arguments)

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
        arguments = {"root": str(self.folder.root), "name": name, "fields": dict(fields)}

        def make() -> Mapping[str, object]:
            files = [[path, f"pool{kind_of(path)}"][: 1 + is_sent] for path, is_sent in [self.table(pool)]]
            for number, (path, is_sent) in enumerate(map(self.table, measured), start=1):
                files.append([path, f"results-{number}{kind_of(path)}"][: 1 + is_sent])
            return {**arguments, "pool": files[0], "measured": files[1:]}

        return self._start("begin", {**arguments, "pool": pool, "measured": [*measured]}, make, request)

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
        return self._start("backtest", arguments, lambda: arguments)

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

    def _look(self, operation: str, arguments: Mapping[str, object], campaign: str = "") -> Job:
        person = PERSON.get()
        return self.jobs.start(
            operation, arguments, [f"{person} looks"], self._limits.look_seconds, campaign=campaign, person=person
        )

    def _start(
        self,
        operation: str,
        asked: Mapping[str, object],
        make: Callable[[], Mapping[str, object]],
        request: str = "",
        campaign: str = "",
    ) -> Job:
        """Start a job, or return that which a key of a request has started before.

        Args:
            operation: what is done.
            asked: what a request asks for; the same again with the same key is the same request.
            make: returns the arguments; files that were sent may be gone the second time.
            request: the key; empty: there is none.
            campaign: key of the campaign; empty: it is not about one.
        """
        digest, person = digest_of_request([operation, asked]), PERSON.get()
        holds = [f"{person} replays" if operation == "backtest" else person]
        holds += [campaign] if campaign and operation not in READS else []

        def start() -> Job:
            return self.jobs.start(operation, make(), holds, campaign=campaign, person=person)

        if not request:
            return start()
        with self._lock:
            before, job_id = self._asked.get(request, (digest, ""))
            if before != digest:
                raise KeyUsedError("Expected a new key for another request. This one was used for something else.")
            job = self.jobs.get(job_id) if job_id else start()
            if job is None:
                raise KeyUsedError("Expected a new key. What this one asked for ended too long ago to be told.")
            self._asked[request] = (digest, job.id)
            while len(self._asked) > self._limits.request_keys:
                self._asked.popitem(last=False)
            return job


def digest_of_request(asked: object) -> str:
    """Return a digest of what is asked for.

    Raises:
        ValueError: if it has what no file can keep: halves of characters, or brackets without end.
    """
    try:
        return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()
    except (UnicodeEncodeError, RecursionError) as error:
        raise ValueError("Expected whole characters and few brackets. Got others.") from error
