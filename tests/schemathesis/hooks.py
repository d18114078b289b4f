"""What schemathesis must know about a school: the user, existing ids, and that requests without a session are rejected."""

import atexit
import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.request
from zlib import crc32

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.generation import GenerationMode

WORLD = json.loads(os.environ["GROUPWORK_WORLD"])
BASE = WORLD["base"]


# The header that names the organization of the page; any other id than the active one is rejected.
SHOWN = "X-Organization-Id"


class Person:
    """The sessions of the user; one that a request has ended is replaced."""

    def __init__(self):
        self.cookies = {}

    def cookie(self, purpose):
        if WORLD["login"] is None:
            return None
        if purpose not in self.cookies:
            self.cookies[purpose] = sign_in()
        return self.cookies[purpose]

    def lost(self, purpose):
        self.cookies.pop(purpose, None)


PERSON = Person()


def post(path, body, cookie=None):
    # Generated sign-ins fail, and failures count for their address; this is another address.
    headers = {"content-type": "application/json", "origin": WORLD["origin"], "x-forwarded-for": "192.0.2.1"}
    if cookie:
        headers["cookie"] = cookie
    request = urllib.request.Request(BASE + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return answer.headers.get_all("set-cookie") or []


def sign_in():
    set_cookies = post("/auth/sign-in/email", WORLD["login"])
    cookie = next(text.split(";")[0] for text in set_cookies if ".session_token=" in text)
    if WORLD["organization"]:
        post("/auth/organization/set-active", {"organizationId": WORLD["organization"]}, cookie)
    return cookie


def purpose(case):
    """Routes under /auth may end or change the session of the request, so they have a separate one."""
    return "auth" if case.path.startswith("/auth/") else "work"


def existing(values, drawn):
    """Returns one of these ids instead of a generated one, always the same for the same value; sometimes the value itself."""
    chosen = crc32(repr(drawn).encode()) % (len(values) * 3)
    if chosen < len(values):
        return values[chosen]
    return values[0] if chosen % 5 else drawn


def replaced(value, fields):
    """Returns the body with existing ids."""
    if isinstance(value, dict):
        return {name: named(name, item, fields) for name, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, fields) for item in value]
    return value


def named(name, value, fields):
    values = fields.get(name)
    if values and isinstance(value, str):
        return existing(values, value)
    if values and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [existing(values, item) for item in value]
    return replaced(value, fields)


def valid(case, location):
    """Returns whether this part of the request is valid; invalid parts are intended and not changed."""
    part = next((info for place, info in case.meta.components.items() if place.value == location), None)
    return part is None or part.mode == GenerationMode.POSITIVE


def example(case):
    """Returns the recorded body of a route under /auth; the document describes these bodies only as objects."""
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("example")


def signed(claims):
    """Returns a token of the document server."""
    now = int(time.time())
    parts = [{"alg": "HS256", "typ": "JWT"}, {**claims, "iat": now, "exp": now + 300}]
    text = ".".join(url_safe(json.dumps(part).encode()) for part in parts)
    secret = WORLD["documentSecret"].encode()
    return f"{text}.{url_safe(hmac.digest(secret, text.encode(), hashlib.sha256))}"


def url_safe(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def as_document_server(case):
    """Returns a token for the document, with the generated claims."""
    if case.method == "GET":
        path = case.path.replace("{id}", str(case.path_parameters["id"]))
        payload = {"url": BASE + path}
    else:
        drawn = case.body if isinstance(case.body, dict) else {}
        status = existing([2, 6, 4, 1, 3, 7, "2"], drawn)
        payload = case.body = {**drawn, "key": WORLD["documentKey"], "status": status, "users": [WORLD["writer"]]}
    return {"Authorization": f"Bearer {signed({'payload': payload})}"}


@schemathesis.hook
def before_call(context, case, kwargs):
    ids = WORLD["paths"].get(case.path, {})
    if case.path_parameters and case.meta and valid(case, "path"):
        case.path_parameters = {
            name: existing(ids[name], value) if name in ids else value for name, value in case.path_parameters.items()
        }
    if case.query and case.meta and valid(case, "query"):
        case.query = replaced(case.query, WORLD["fields"])
    if isinstance(case.body, dict) and case.meta and valid(case, "body"):
        whole = example(case) if case.path.startswith("/auth/") else None
        body = replaced({**whole, **case.body} if whole else case.body, WORLD["fields"])
        # A replaced body is validated again, and then the bytes of a file are not what the document describes as text.
        if body != case.body:
            case.body = body
    shown = (case.headers or {}).get(SHOWN)
    if shown is not None and case.meta and valid(case, "header"):
        case.headers = {name: value for name, value in case.headers.items() if name.lower() != SHOWN.lower()}
        if WORLD["organization"]:
            case.headers[SHOWN] = existing([WORLD["organization"]], shown)
    if WORLD["documentSecret"]:
        case.headers = {**(case.headers or {}), **as_document_server(case)}
    cookie = PERSON.cookie(purpose(case))
    if cookie:
        case.headers = {**(case.headers or {}), "Cookie": cookie, "Origin": WORLD["origin"]}


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code < 400:
        SUCCEEDED.add(case.operation.label)
    if response.status_code == 401 and any(code in response.content for code in SIGNED_OUT):
        PERSON.lost(purpose(case))
    if case.path == "/auth/change-password" and response.status_code == 200:
        WORLD["login"]["password"] = case.body["newPassword"]


# Operations that succeeded at least once: without many of them the checks would prove nothing.
SUCCEEDED = set()
atexit.register(lambda: print(f"succeeded: {len(SUCCEEDED)}", file=sys.stderr))

# The error codes of the routes, and of those under /auth, without a session.
SIGNED_OUT = (b'"UNAUTHENTICATED"', b'"UNAUTHORIZED"')


# Invalid requests that the service accepts: an empty optional text counts as missing, and a page size above the maximum is
# the maximum. Also, a valid form counts as invalid after an existing id was inserted, because the bytes of its file are not
# what the document describes as text.
FORGIVEN = (
    "String smaller than minLength",
    "limit: Value greater than maximum",
    "limit` in query - value greater than maximum",
    "positive test case",
)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    wrong_on_purpose = isinstance(failure, AcceptedNegativeData)
    return not (wrong_on_purpose and any(words in failure.message for words in FORGIVEN))


class Unguarded(Failure):
    """A request without a session got further than 401."""

    __slots__ = ("operation", "title", "message", "case_id", "severity")

    def __init__(self, *, operation, message):
        super().__init__(operation=operation, title="Answered without a session", message=message)


@schemathesis.check
def guarded(ctx, response, case):
    access = case.operation.definition.raw["x-access"]
    stranger = WORLD["login"] is None and WORLD["documentSecret"] is None
    if stranger and access != "Anyone" and response.status_code != 401:
        raise Unguarded(operation=case.operation.label, message=f"{access}, and a stranger got {response.status_code}")
