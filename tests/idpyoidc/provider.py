"""An OpenID Connect provider: idpyoidc behind the HTTP server of Python's standard library, for the tests of sign-on.

Usage: provider.py ISSUER. The provider listens on a free port of 127.0.0.1, which it prints; requests come through the
proxy at ISSUER (tests/clients/openid-proxy.mjs). Standard input controls it with JSON lines: {"client": {…}} replaces the
client, {"rotate": true} replaces the signing keys. Each line is confirmed with a line. It ends with its standard input.
"""

import json
import logging
import sys
import tempfile
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from cryptojwt.key_bundle import build_key_bundle
from idpyoidc.message.oauth2 import ResponseMessage
from idpyoidc.message.oidc import AuthorizationRequest
from idpyoidc.server import Server
from idpyoidc.server.configure import OPConfiguration
from idpyoidc.server.oidc.authorization import Authorization
from idpyoidc.server.oidc.provider_config import ProviderConfiguration
from idpyoidc.server.oidc.session import Session
from idpyoidc.server.oidc.token import Token
from idpyoidc.server.oidc.userinfo import UserInfo as UserInfoEndpoint
from idpyoidc.server.user_authn.user import UserAuthnMethod, create_signed_jwt, verify_signed_jwt

KEYS = [{"type": "RSA", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}]
SECRET = {"password": "only for tests", "salt": "only for tests, too", "iterations": 1}
PASSWORD = "urn:oasis:names:tc:SAML:2.0:ac:classes:InternetProtocolPassword"
PATHS = {
    "/.well-known/openid-configuration": "provider_config",
    "/authorization": "authorization",
    "/token": "token",
    "/userinfo": "userinfo",
    "/session/end": "session",
}


class LoginForm(UserAuthnMethod):
    """Shows a form for a user name; every name signs in."""

    def __call__(self, **kwargs):
        keyjar = self.upstream_get("attribute", "keyjar")
        names = {key: kwargs[key] for key in ("query", "authn_class_ref")}
        return form("/login", create_signed_jwt(ISSUER, keyjar, **names), "login")


class Claims:
    """Returns the same claims for every user."""

    def __init__(self, **kwargs):
        pass

    def __call__(self, user_id, client_id, user_info_claims=None, **kwargs):
        person = {"name": "Ada", "email": "ada@provider.example", "email_verified": True}
        return {key: value for key, value in person.items() if user_info_claims is None or key in user_info_claims}


class Subject:
    """Uses the name of the user as subject."""

    def __init__(self, **kwargs):
        pass

    def __call__(self, user_id, **kwargs):
        return user_id


def form(action, token, prompt):
    return (
        f'<form method="post" action="{action}"><input name="token" value="{escape(token)}">'
        f'<input name="prompt" value="{prompt}"></form>'
    )


def configuration(folder):
    return {
        "issuer": ISSUER,
        "key_conf": {"uri_path": "jwks", "key_defs": KEYS},
        "preference": {
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
        },
        "endpoint": {
            "provider_config": {
                "path": ".well-known/openid-configuration",
                "class": ProviderConfiguration,
                "kwargs": {"client_authn_method": None},
            },
            "authorization": {
                "path": "authorization",
                "class": Authorization,
                "kwargs": {"client_authn_method": None, "response_types_supported": ["code"]},
            },
            "token": {
                "path": "token",
                "class": Token,
                "kwargs": {"client_authn_method": ["client_secret_basic", "client_secret_post"]},
            },
            "userinfo": {"path": "userinfo", "class": UserInfoEndpoint, "kwargs": {}},
            "session": {
                "path": "session/end",
                "class": Session,
                "kwargs": {
                    "post_logout_uri_path": "signed-out",
                    "signing_alg": "ES256",
                    "logout_verify_url": f"{ISSUER}/session/verify",
                    "client_authn_method": None,
                },
            },
        },
        "add_on": {
            "pkce": {
                "function": "idpyoidc.server.oauth2.add_on.pkce.add_support",
                "kwargs": {"essential": True, "code_challenge_methods": {"S256": "S256"}},
            }
        },
        "authentication": {"form": {"acr": PASSWORD, "class": LoginForm, "kwargs": {}}},
        "userinfo": {"class": Claims, "kwargs": {}},
        "token_handler_args": {
            "code": {"lifetime": 600, "kwargs": {"crypt_conf": {"kwargs": SECRET}}},
            "token": {"class": "idpyoidc.server.token.jwt_token.JWTToken", "kwargs": {"lifetime": 3600}},
            "id_token": {"class": "idpyoidc.server.token.id_token.IDToken", "kwargs": {}},
        },
        "session_params": {"encrypter": {"kwargs": SECRET}, "sub_func": {"public": {"class": Subject}}},
        "cookie_handler": {
            "class": "idpyoidc.server.cookie_handler.CookieHandler",
            "kwargs": {"sign_key": "b25seSBmb3IgdGVzdHMsIHJlYWxseSBvbmx5IGZvciB0ZXN0cw", "name": {"session": "op", "session_management": "op_sm"}},
        },
        "template_dir": folder,
        "httpc_params": {"verify": True, "timeout": 30},
    }


class Listener(ThreadingHTTPServer):
    """Accepts the requests of a whole class at once."""

    request_queue_size = 128
    daemon_threads = True


class Handler(BaseHTTPRequestHandler):
    """Passes requests to the endpoints of the library."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.respond("")

    def do_POST(self):
        self.respond(self.rfile.read(int(self.headers.get("content-length") or 0)).decode())

    def respond(self, body):
        url = urlsplit(self.path)
        try:
            with LOCK:
                self.route(url.path, url.query or body, dict(parse_qs(body)))
        except Exception as error:  # noqa: BLE001
            logging.exception("request failed")
            self.reply(400, json.dumps({"error": "invalid_request", "error_description": str(error)}))

    def route(self, path, query, fields):
        if path == "/jwks":
            self.reply(200, SERVER.keyjar.export_jwks_as_json(private=False), "application/json")
        elif path == "/login":
            self.sign_in(fields)
        elif path == "/session/verify":
            token = parse_qs(query)["sjwt"][0]
            self.reply(200, form("/session/confirm", token, "logout"), "text/html")
        elif path == "/session/confirm":
            self.sign_out(fields["token"][0])
        elif path == "/signed-out":
            self.reply(200, "", "text/plain")
        elif path in PATHS:
            self.endpoint(PATHS[path], query)
        else:
            self.reply(404, "{}")

    def http_info(self):
        pairs = [pair.split("=", 1) for pair in (self.headers.get("cookie") or "").split("; ") if "=" in pair]
        return {
            "headers": {key.lower(): value for key, value in self.headers.items()},
            "method": self.command,
            "url": f"{ISSUER}{self.path}",
            "cookie": [{"name": name, "value": value} for name, value in pairs],
        }

    def endpoint(self, name, query):
        endpoint = SERVER.get_endpoint(name)
        info = self.http_info()
        request = query
        if name == "session":
            request = {key: values[0] for key, values in parse_qs(query).items()}
        parsed = endpoint.parse_request(request, http_info=info)
        if isinstance(parsed, ResponseMessage) and "error" in parsed:
            self.reply(400, parsed.to_json())
            return
        result = endpoint.process_request(parsed, http_info=info)
        if isinstance(result, dict) and "http_response" in result:
            self.reply(200, result["http_response"], "text/html")
        elif isinstance(result, dict) and "redirect_location" in result:
            self.redirect(result["redirect_location"])
        else:
            self.finish_endpoint(endpoint, parsed, result)

    def finish_endpoint(self, endpoint, request, result):
        if isinstance(result, ResponseMessage) and "error" in result:
            self.reply(400, result.to_json())
            return
        done = endpoint.do_response(request=request, **result)
        headers = [("set-cookie", f"{cookie['name']}={cookie['value']}; Path=/") for cookie in result.get("cookie", [])]
        if done.get("response_placement", endpoint.response_placement) == "body":
            # With response_mode=form_post, the response of the authorization endpoint is a page with a form.
            kind = "text/html" if "response_msg" in result else "application/json"
            self.reply(200, done["response"], kind, headers)
        else:
            self.redirect(done["response"], headers)

    def sign_in(self, fields):
        endpoint = SERVER.get_endpoint("authorization")
        known = verify_signed_jwt(fields["token"][0], SERVER.keyjar)
        request = AuthorizationRequest().from_urlencoded(known["query"])
        method = SERVER.context.authn_broker["form"]["method"]
        session = endpoint.create_session(
            request, fields["login"][0], known["authn_class_ref"], known["iat"], method
        )
        self.finish_endpoint(endpoint, request, endpoint.authz_part2(request=request, session_id=session))

    def sign_out(self, token):
        endpoint = SERVER.get_endpoint("session")
        known = endpoint.unpack_signed_jwt(token)
        endpoint.do_verified_logout(known["sid"])
        self.redirect(known["redirect_uri"])

    def redirect(self, location, headers=()):
        self.reply(302, "", "text/plain", [("location", location), *headers])

    def reply(self, status, text, content_type="application/json", headers=()):
        body = text.encode()
        self.send_response(status)
        for name, value in [("content-type", content_type), ("content-length", str(len(body))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def set_client(client):
    """Replaces the client by one with these fields of dynamic registration."""
    known = {
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
        "client_salt": "only for tests",
        "redirect_uris": [(uri, {}) for uri in client["redirect_uris"]],
        "post_logout_redirect_uri": [(uri, {}) for uri in client["post_logout_redirect_uris"]],
        "backchannel_logout_uri": client["backchannel_logout_uri"],
        "token_endpoint_auth_method": "client_secret_basic",
        "response_types_supported": ["code"],
        "allowed_scopes": ["openid", "profile", "email"],
        "id_token_signed_response_alg": "RS256",
    }
    SERVER.context.cdb = {client["client_id"]: known}


def replace_keys():
    """Replaces the signing keys by new ones."""
    keys = json.loads(build_key_bundle(KEYS).jwks(private=True))
    for owner in ("", ISSUER):
        SERVER.keyjar.load_keys(owner, jwks=keys, replace=True)


def control():
    for line in sys.stdin:
        command = json.loads(line)
        with LOCK:
            if "client" in command:
                set_client(command["client"])
            if command.get("rotate"):
                replace_keys()
        print("done", flush=True)
    HTTP.shutdown()


ISSUER = sys.argv[1]
LOCK = threading.Lock()
SERVER = Server(OPConfiguration(conf=configuration(tempfile.gettempdir())), cwd=tempfile.gettempdir())
HTTP = Listener(("127.0.0.1", 0), Handler)

if __name__ == "__main__":
    replace_keys()
    # Browsers have no secret; the library fails for requests without one.
    SERVER.get_endpoint("session").client_authentication = lambda *arguments, **options: {}
    print(HTTP.server_address[1], flush=True)
    threading.Thread(target=control, daemon=True).start()
    HTTP.serve_forever()
