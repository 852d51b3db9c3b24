# SPDX-License-Identifier: Apache-2.0
"""Requests to httpd, at settings.VAULT_URL: notifies, and calls of feeds."""
import http.client
import json
import time
from contextlib import closing
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class VaultError(Exception):
    """httpd could not be asked, or its answer was not yes. `status` is that of the answer, or None."""

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


class Rows(list):
    """Rows of a feed. `is_new`: there is something to show. `is_first`: they take the place of what is shown."""

    def __init__(self, rows=(), is_new=True, is_first=True):
        super().__init__(rows)
        self.is_new = is_new
        self.is_first = is_first


def is_configured():
    return bool(getattr(settings, "VAULT_URL", None))


def post_notifies(names):
    """Notify each of the interests, over one connection. Raises VaultError, and has then not notified all of them."""
    if not names:
        return
    with closing(_Connection()) as connection:
        for name in names:
            connection.ask("notify", {"interest": name}, {}, connection.timeout)


def feed(name, method, /, page=None, host=None, **arguments):
    """Call a method of a feed. `page`: the value of the header Vault-Page, or Vault-New-Page, of the request that is answered;
    without it each call is a first view. A dictionary as an argument is what a dot makes by URL: where={"status": 404} is where.status=404."""
    key = getattr(settings, "VAULT_KEY", None)
    if not key:
        raise ImproperlyConfigured("VAULT_KEY is not set: it is the line of the file that VaultFeedKeyFile names in httpd")
    headers = {"Authorization": f"Bearer {key}"}
    if page:
        headers["Vault-Page"] = page
    if host:
        headers["Host"] = host
    with closing(_Connection()) as connection:
        path = f"feed/{quote(name, safe='')}/{quote(method, safe='')}"
        status, head, body = connection.ask(path, _fields(arguments), headers)
    if status == 204:
        return Rows(is_new=False, is_first=False)
    return Rows(json.loads(body), is_first=head.get("Vault-Rows") != "new")


def _fields(arguments):
    fields = {}
    for key, value in arguments.items():
        if isinstance(value, dict):
            fields.update({f"{key}.{name}": each for name, each in value.items()})
        else:
            fields[key] = value
    for key, value in fields.items():
        if value is None:
            raise ValueError(f"argument {key!r} of a feed is None, which a form cannot say")
    return fields


def _pause(head):
    """The seconds of Retry-After; one when it gives no number."""
    value = head.get("Retry-After", "").strip()
    return int(value) if value.isdigit() else 1


class _Connection:
    """One connection to httpd, which http.client opens when it is needed. No proxy of the environment is asked."""

    def __init__(self):
        if not is_configured():
            raise ImproperlyConfigured('VAULT_URL is not set: it is where httpd has mod_vault, as "http://127.0.0.1/vault"')
        self.url = settings.VAULT_URL.rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ImproperlyConfigured(f"VAULT_URL is {settings.VAULT_URL!r}, which is no URL of http or https")
        self.path = parts.path
        self.timeout = getattr(settings, "VAULT_TIMEOUT", 5)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.http = kind(parts.hostname, parts.port, timeout=self.timeout)

    def close(self):
        self.http.close()

    def ask(self, path, fields, headers, patience=0):
        """POST a form. A server that has no room is asked again, for `patience` seconds. @return status below 300, headers, body"""
        end = time.monotonic() + patience
        while True:
            status, head, body = self._post(path, fields, headers)
            if status < 300:
                return status, head, body
            if status != 503 or time.monotonic() + _pause(head) > end:
                said = body.decode("utf-8", "replace").strip()[:200]
                raise VaultError(f"{self.url}/{path} answered {status}: {said}", status)
            time.sleep(_pause(head))

    def _post(self, path, fields, headers):
        headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        try:
            self.http.request("POST", f"{self.path}/{path}", urlencode(fields), headers)
            response = self.http.getresponse()
            return response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise VaultError(f"{self.url}/{path} could not be asked: {error}") from error
