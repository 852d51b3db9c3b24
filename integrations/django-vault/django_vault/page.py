# SPDX-License-Identifier: Apache-2.0
"""`request.vault`: what httpd says of the page that a request comes from, and what the answer says to httpd."""
import hashlib
import re
from urllib.parse import parse_qsl, quote, unquote, urlencode

from django.utils.html import escape
from django.utils.safestring import mark_safe

from . import client
from .interests import names_of

TURBO = "text/vnd.turbo-stream.html"

# Django masks the token of a form anew each time that it is rendered.
_CSRF = re.compile(r"""(name=["']csrfmiddlewaretoken["'] value=)["'][^"']*["']""")


def stream(action, target, html):
    """The element that tells the browser to append, prepend, replace, update, remove, or put before or after."""
    return mark_safe(f'<turbo-stream action="{escape(action)}" target="{escape(target)}"><template>{html}</template></turbo-stream>')


class Page:
    def __init__(self, request):
        self.request = request
        self.header = request.headers.get("Vault-Page")
        self.said = {}    # header: list of encoded pieces
        self.blocks = {}  # target: (html, rows or None)

    @property
    def id(self):
        """Of the page that the method runs for or that the request comes from, or None."""
        return self.header.split(";")[0] if self.header else None

    @property
    def is_update(self):
        """Whether httpd asks for what is new for a page: by GET, for turbo-stream elements."""
        return bool(self.header) and self.request.method == "GET" and self.request.headers.get("Accept", "").split(",")[0].strip() == TURBO

    def get(self, key, default=None):
        """A property of the page, text."""
        value = self.request.headers.get(f"Vault-Property-{key}")
        return default if value is None else unquote(value)

    def set(self, key, value):
        """Keep a property for the page; None removes it. In an update it counts once the browser has what the answer shows."""
        self._say("Vault-Property", f"{key}={quote('' if value is None else str(value), safe='')}")

    def poll(self, url):
        """The page asks this path of the server for news."""
        self._say("Vault-Poll", url.replace(",", "%2C"))

    def interest(self, *whats):
        """In an update: this URL is asked again when one of these is notified."""
        for name in names_of(whats):
            self._say("Vault-Interest", quote(name, safe=""))

    def feed(self, name, method, **arguments):
        """Rows of a feed for this page: all in its first view, later what is new. httpd keeps the cursor with the page."""
        page = self.header or self.request.headers.get("Vault-New-Page")  # passed on as it is
        return client.feed(name, method, page=page, host=self.request.get_host(), **arguments)

    def block(self, target, html, rows=None):
        """A part of the page that is shown anew when it has changed, or, with rows of a feed, is appended to. @return html"""
        if target in self.blocks:
            raise ValueError(f"two live blocks of {self.request.path} have the target {target!r}")
        self.blocks[target] = (html, rows)
        return html

    def changes(self):
        """The elements that bring the page from what it shows to the blocks that were rendered now."""
        shown = dict(parse_qsl(self.get(self._key(), "")))
        hashes = self._hashes()
        return "".join(stream(self._action(rows), target, html) for target, (html, rows) in self.blocks.items()
                       if (rows.is_new if rows is not None else hashes[target] != shown.get(target)))

    def keep_shown(self):
        """Keep with the page which blocks it shows."""
        hashes = self._hashes()
        if hashes:
            self.set(self._key(), urlencode(hashes))

    def headers(self):
        return {name: ", ".join(dict.fromkeys(pieces)) for name, pieces in self.said.items()}

    def _say(self, header, piece):
        self.said.setdefault(header, []).append(piece)

    @staticmethod
    def _action(rows):
        return "update" if rows is None or rows.is_first else "append"

    # A page may have several live views as its methods: each has a property of its own.
    def _key(self):
        return "live-" + hashlib.sha256(self.request.get_full_path().encode()).hexdigest()[:12]

    def _hashes(self):
        return {target: hashlib.sha256(_CSRF.sub(r"\1", html).encode()).hexdigest()[:32]
                for target, (html, rows) in self.blocks.items() if rows is None}
