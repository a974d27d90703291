"""Makes generated requests obey the rules of the partner API that JSON Schema cannot say; its description says them in words."""

import os
import re

import schemathesis

PASSPORT = os.environ["PASSPORT"]
EVENT = os.environ["EVENT"]
LISTENED = os.environ["LISTENED"]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Changes a request before it is sent."""
    query, body = case.query, case.body
    # An event that exists; Schemathesis finds those of other operations by itself.
    if case.operation.label == "POST /v1/partner/events/{id}/redeliver":
        case.path_parameters["id"] = EVENT
    # Only an endpoint with the URL inbox:listen hands out requests.
    if case.operation.label == "POST /v1/partner/webhooks/{id}/take":
        case.path_parameters["id"] = LISTENED
        if isinstance(body, dict):
            body.pop("waitSeconds", None)
    # An answer has a status or an error.
    if case.operation.label == "POST /v1/partner/inbox/{id}/answer" and isinstance(body, dict):
        if "error" not in body:
            body.setdefault("httpStatus", 200)
    if isinstance(query, dict):
        # A cursor is taken from an answer.
        query.pop("cursor", None)
        # So is the number after which events are listed: none is beyond the newest event.
        if re.fullmatch("[1-9][0-9]{0,14}", str(query.get("after"))):
            query["after"] = 0
        # A period is a day or two of them, which do not contradict each other, at most 31 days, and not in the future.
        if case.operation.label == "GET /v1/partner/reconciliation":
            if "date" in query:
                query.update({name: "2026-01-01" for name in ("from", "to") if name in query})
                query["date"] = "2026-01-01"
            else:
                query.update({"from": "2026-01-01", "to": "2026-01-31"})
        # The first moment is not after the last one.
        if "createdFrom" in query and "createdTo" in query:
            query["createdTo"] = query["createdFrom"]
    if isinstance(body, dict):
        if "token" in body:
            body["token"] = PASSPORT
        # Host names resolve.
        if "url" in body:
            body["url"] = "https://partner.example.com/webhooks"
        # "*" stands alone.
        if "*" in body.get("events", []):
            body["events"] = ["*"]
        # Data of an event fit its type.
        if case.operation.label == "POST /v1/partner/sandbox/events":
            body.pop("data", None)
