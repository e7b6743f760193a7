"""Answer what the service refuses with the status that says why, to people and programs alike."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import Depends, HTTPException

from graph_bandit_serve.service import NotYoursError, UnknownError
from graph_bandit_serve.work.jobs import BusyError


def refusals() -> Iterator[None]:
    """Turn what the service refuses while a request is answered into answers.

    Raises:
        HTTPException: 404 for what is not there, 403 for a job of somebody else, 409 for a key that was used, 503 if
            too many jobs wait, 422 for all else that is wrong with what was asked.
    """
    try:
        yield
    except UnknownError as error:
        raise HTTPException(404, str(error)) from error
    except NotYoursError as error:
        raise HTTPException(403, str(error)) from error
    except BusyError as error:
        raise HTTPException(503, str(error), {"retry-after": "5"}) from error
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


REFUSALS = [Depends(refusals)]
"""Dependencies of routes that ask the service."""
