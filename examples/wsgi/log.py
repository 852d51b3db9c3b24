# SPDX-License-Identifier: Apache-2.0
# The live log page as a WSGI application, behind `ProxyPass "/wsgi/" "http://127.0.0.1:PORT/wsgi/"`. LOG in its environment names the file.
# VaultSameOrigin On, in httpd, refuses forms of other sites.
import html
import os
from urllib.parse import parse_qs

LOG = os.environ["LOG"]
FORM_MAX = 65536


def lines(start):
    """The lines after the place `start`, as HTML, and the place behind them."""
    try:
        with open(LOG, "rb") as file:
            file.seek(start)
            text = file.read()
    except FileNotFoundError:
        text = b""
    text = text[:text.rfind(b"\n") + 1]  # another process may be writing the last line
    rows = text.decode("utf-8", "replace").split("\n")[:-1]
    return "".join(f"<li>{html.escape(row, quote=False)}</li>\n" for row in rows), start + len(text)


def application(environ, start_response):
    def answer(status, body="", *headers):
        start_response(status, [("Content-Type", "text/html; charset=utf-8"), *headers])
        return [body.encode()]

    base, path = environ["PATH_INFO"].rsplit("/", 1)
    if path == "":
        rows, place = lines(0)
        page = (f'<!doctype html>\n<html><head><title>Log</title></head>\n<body><ul id="log">\n{rows}</ul>\n'
                '<form method="post" action="add"><input name="line"><button>Add</button></form></body></html>\n')
        return answer("200 OK", page, ("Vault-Poll", f"{base}/latest"), ("Vault-Property", f"place={place}"))
    if path == "latest":
        rows, place = lines(int(environ.get("HTTP_VAULT_PROPERTY_PLACE", 0)))
        update = f'<turbo-stream action="append" target="log"><template>{rows}</template></turbo-stream>\n'
        return answer("200 OK", update if rows else "", ("Vault-Interest", "log"), ("Vault-Property", f"place={place}"))
    if path == "add" and environ["REQUEST_METHOD"] == "POST":
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length > FORM_MAX:
            return answer("413 Content Too Large", "the form is too long\n")
        form = environ["wsgi.input"].read(length).decode("latin-1")
        line = parse_qs(form, encoding="latin-1").get("line")  # of bytes: they may be no UTF-8
        if not line:
            return answer("400 Bad Request", "no line in the form\n")
        with open(LOG, "ab") as file:
            file.write(b" ".join(line[0].encode("latin-1").splitlines()) + b"\n")
        return answer("303 See Other", "", ("Location", "./"), ("Vault-Notify", "log"))
    return answer("404 Not Found", "no such page\n")
