"""The pages by which a campaign starts: a pool is sent or named and looked at, then goals are set."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.campaigns.uploads import kind_of
from graph_bandit_serve.operations import Look, New
from graph_bandit_serve.refusals import REFUSALS
from graph_bandit_serve.service import SENT
from graph_bandit_serve.web.forms import UNSET, Sent, SentForm, settings_of
from graph_bandit_serve.web.pages import may_write
from graph_bandit_serve.web.waiting import Next, Waiting, to
from graph_bandit_serve.work.jobs import Job

AIMS = ("maximize", "minimize", "near")
GOALS = 4  # that a form has room for
START = "/new"


def fields_of(sent: Sent) -> dict[str, object]:
    """Return the settings of a campaign in a form, as in JSON.

    Raises:
        ValueError: if a goal has no aim.
    """
    goals: dict[str, list[str]] = {aim: [] for aim in AIMS}
    for number in range(GOALS):
        column, aim, ends = (sent.get(f"{part}-{number}") for part in ("goal", "aim", "range"))
        if column and aim not in AIMS:
            raise ValueError(f"Expected each goal to have an aim. Got {column!r} without.")
        if column:
            goals[aim].append(f"{column}={ends}" if aim == "near" else column)
    settings: Mapping[str, object] = {**settings_of(sent), **goals, "skip_bad_rows": sent.get("skip_bad_rows") == "yes"}
    named = {name: sent.get(name) for name in ("smiles", "id", "noise") if sent.get(name)}
    return {name: value for name, value in {**settings, **named}.items() if value not in (None, [], False)}


def show_campaign(job: Job) -> Response:
    """Lead on to a campaign that has started."""
    result = job.result if isinstance(job.result, dict) else {}
    return to(f"/campaigns/{key_of(str(result.get('campaign', '')))}")


def make_starting(waiting: Waiting) -> APIRouter:
    """Return the addresses of the pages by which a campaign starts.

    Args:
        waiting: waits for the jobs.
    """
    router = APIRouter(include_in_schema=False, prefix=START, dependencies=REFUSALS)
    service, pages = waiting.service, waiting.pages

    def keep(sent: Sent) -> tuple[tuple[str, str], ...]:
        """Keep the files of a form; return what each is called here, and what it is called where it comes from."""
        files = [(file.filename or "", file.file) for _, file in sent.files]
        return tuple((service.uploads.add(name, file).path.name, name) for name, file in files)

    @router.get("")
    def choose(request: Request) -> Response:
        if not may_write(request):
            raise HTTPException(403, "Expected a member of the team: guests only read.")
        return pages.render("pool", {"tables": service.folder.list_tables()})

    @router.post("/pool")
    def look(sent: SentForm) -> Response:
        names = keep(sent)
        pool = f"{SENT}{names[0][0].partition('.')[0]}" if names else sent.get("table")
        if not pool:
            raise ValueError("Expected a file, or a table of the folder. Choose one first.")
        columns = {"smiles": sent.get("smiles") or "smiles", "id": sent.get("id")}
        values = {**columns, "pool": pool, "name": names[0][1] if names else pool, "goals": GOALS, "back": START}

        def show(job: Job) -> Response:
            preview = job.result if isinstance(job.result, dict) else {}
            said = {**preview, "bad": [following.say(text) for text in preview["bad"]]}
            return pages.render("goals", {**values, "preview": said, "command": UNSET})

        following = Next(START, show, names=names)
        return waiting.go_on(
            service.start("look", Look(pool=pool, smiles=columns["smiles"], id=columns["id"] or None)), following
        )

    @router.post("/campaign")
    def begin(sent: SentForm) -> Response:
        names = keep(sent)
        measured = [f"{SENT}{here.partition('.')[0]}" for here, _ in names]
        moved = tuple((f"results-{k}{kind_of(name)}", name) for k, (_, name) in enumerate(names, start=1))
        asked = {"name": sent.get("name"), "pool": sent.get("pool"), "measured": measured, "settings": fields_of(sent)}
        job = service.start("new", New.model_validate(asked))
        return waiting.go_on(job, Next(START, show_campaign, names=(*names, *moved)))

    return router
