"""Wait for jobs with people: a page that says how far it is, and then leads on."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, HTTPException
from fastapi.responses import RedirectResponse, Response

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.campaigns.uploads import HIDDEN
from graph_bandit_serve.refusals import REFUSALS
from graph_bandit_serve.service import Service
from graph_bandit_serve.web.pages import SVG, Pages
from graph_bandit_serve.work.jobs import Job

PATIENCE = 2.0  # seconds before the page of a job is shown
MOST = 200  # jobs of which it is known how to go on
SEE_OTHER = 303
NEW = re.compile(r"\.new-[0-9a-f]+[/\\]")  # begins the places of files of a campaign that starts
STOPPED = "It was stopped. Nothing that was not saved before has changed."


@dataclass(frozen=True)
class Form:
    """A form that was sent, to send it once more with another version."""

    action: str
    """Where it was sent."""
    fields: tuple[tuple[str, str], ...]
    """Names and values, but for `version`."""


@dataclass(frozen=True)
class Next:
    """How to go on when a job has ended."""

    back: str
    """Address of the page that asked for it."""
    show: Callable[[Job], Response]
    """Returns the answer once it is done."""
    form: Form | None = None
    """The form that asked for it, if it changes a campaign."""
    names: tuple[tuple[str, str], ...] = ()
    """What files that were sent are called here, and what they are called where they come from."""

    def say(self, text: str) -> str:
        """Return a text with the names that people know, without places that are of no use to them."""
        for here, there in self.names:
            text = text.replace(f"{HIDDEN}{os.sep}{here}", there).replace(here, there)
        return NEW.sub("", text)


class Waiting:
    """The jobs that people wait for.

    Args:
        service: starts them.
        pages: templates.
    """

    def __init__(self, service: Service, pages: Pages) -> None:
        self.service, self.pages = service, pages
        self._next: OrderedDict[str, Next] = OrderedDict()

    def go_on(self, job: Job, following: Next) -> Response:
        """Answer a form: with what came of it, or with the page of the job if it takes longer.

        Args:
            job: the job that it started.
            following: how to go on.
        """
        self._next[job.id] = following
        while len(self._next) > MOST:
            self._next.popitem(last=False)
        job = self.service.jobs.wait(job.id, PATIENCE) or job
        return self.answer(job) if job.has_ended else to(f"/jobs/{job.id}")

    def answer(self, job: Job) -> Response:
        """Answer with a job that has ended, or how far it is."""
        following = self._next.get(job.id) or Next("/", lambda _: to("/"))
        if not job.has_ended:
            return self.pages.render("job", {"job": job, "back": following.back, "person": PERSON.get()})
        if job.status != "done":
            text = following.say(job.problem) or STOPPED
            return self.pages.message(422, "Stopped" if job.status == "stopped" else "Not done", text, following.back)
        if isinstance(job.result, dict) and job.result.get("stale"):
            return self._explain(job, following)
        return following.show(job)

    def draw_atoms(self, job: Job, place: int, number: int) -> str | None:
        """Return a molecule whose atoms are coloured by what they add to its score; None if the job has no such answer.

        Args:
            job: a job that asked why.
            place: of the molecule in its answer.
            number: of the goal.
        """
        if job.operation != "why" or job.status != "done" or not isinstance(job.result, list):
            return None
        try:
            answer = job.result[place]
            scores = [*answer["atoms"].values()][number]
        except IndexError:
            return None
        return self.pages.draw(answer["smiles"], scores)

    def _explain(self, job: Job, following: Next) -> Response:
        """Say what has changed since the page was loaded, and offer to do it all the same."""
        form, result = following.form, job.result
        version = dict(form.fields).get("version", "") if form else ""
        values = {
            "changes": self.service.shelf.find_changes(job.campaign, version),
            "form": form,
            "version": result.get("stale", "") if isinstance(result, dict) else "",
            "back": following.back,
        }
        return self.pages.render("stale", values, 412)


def to(address: str) -> RedirectResponse:
    """Lead a browser on to a page of this server."""
    return RedirectResponse(address, SEE_OTHER)


def make_waiting(waiting: Waiting) -> APIRouter:
    """Return the addresses of jobs for people.

    Args:
        waiting: the jobs that they wait for.
    """
    router = APIRouter(include_in_schema=False, prefix="/jobs", dependencies=REFUSALS)
    jobs = waiting.service.jobs

    def known(job: Job | None) -> Job:
        if job is None:
            raise HTTPException(404, "Expected something that goes on, or ended not long ago.")
        return job

    @router.get("/{job}")
    def show_job(job: str) -> Response:
        return waiting.answer(known(jobs.get(job)))

    @router.get("/{job}/atoms/{place}/{number}.svg")
    def draw_atoms(job: str, place: int, number: int) -> Response:
        drawn = waiting.draw_atoms(known(jobs.get(job)), place, number)
        if drawn is None:
            raise HTTPException(404, "Expected an answer with scores of atoms.")
        return Response(drawn, media_type=SVG)

    @router.post("/{job}/stop")
    def stop_job(job: str) -> Response:
        known(waiting.service.stop(job))
        return to(f"/jobs/{job}")

    return router
