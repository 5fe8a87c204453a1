"""HTTP authentication: sends user and password only to an endpoint that asks for them."""

from __future__ import annotations

from collections.abc import Generator
from http import HTTPStatus

import httpx2


class Credentials(httpx2.Auth):
    """Digest or Basic authentication, whichever the endpoint asks for; Digest where it offers both.

    The first request goes without, so that a password is never sent to an endpoint that does not want one. From the
    first challenge on, it is sent at once. (SPARQLWrapper's own Digest changes the opener of the whole process.)
    """

    def __init__(self, user: str, password: str) -> None:
        self._basic = httpx2.BasicAuth(user, password)
        self._digest = httpx2.DigestAuth(user, password)
        self._chosen: httpx2.Auth | None = None

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        if self._chosen is not None:
            yield from self._chosen.auth_flow(request)
            return
        response = yield request
        schemes = {challenge.split(" ", 1)[0].lower() for challenge in _challenges(response)}
        if "digest" in schemes:
            self._chosen = self._digest
            # The Digest flow begins with the request that has just been answered.
            flow = self._digest.auth_flow(request)
            next(flow)
            yield flow.send(response)
        elif "basic" in schemes:
            self._chosen = self._basic
            yield from self._basic.auth_flow(request)

    def __repr__(self) -> str:
        return "Credentials(...)"


def _challenges(response: httpx2.Response) -> list[str]:
    return response.headers.get_list("www-authenticate") if response.status_code == HTTPStatus.UNAUTHORIZED else []
