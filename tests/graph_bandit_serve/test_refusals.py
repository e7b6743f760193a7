"""Refusals of the service have the status that says why."""

import pytest
from fastapi import HTTPException

from graph_bandit_serve.refusals import refusals
from graph_bandit_serve.service import KeyUsedError, UnknownError
from graph_bandit_serve.work.jobs import BusyError

STATUSES = {UnknownError: 404, KeyUsedError: 409, BusyError: 503, ValueError: 422, UnicodeError: 422}


@pytest.mark.parametrize("kind", STATUSES)
def test_each_refusal_has_its_status_and_its_words(kind):
    with pytest.raises(HTTPException) as caught, refusals():
        raise kind("Expected less.")
    assert (caught.value.status_code, caught.value.detail) == (STATUSES[kind], "Expected less.")
