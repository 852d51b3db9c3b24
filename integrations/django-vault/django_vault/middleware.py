# SPDX-License-Identifier: Apache-2.0
"""Gives each request `request.vault`, and its answer the headers that mod_vault reads. It stands first in MIDDLEWARE."""
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.utils.decorators import sync_and_async_middleware

from .notifier import collect, tell_quietly
from .page import Page

try:
    from asgiref.sync import iscoroutinefunction
except ImportError:  # before asgiref 3.6
    from asyncio import iscoroutinefunction

# httpd takes header lines of a proxied application up to 8,190 bytes (ResponseFieldSize), and Django sends one line a header.
NOTIFY_MAX = 7000


@sync_and_async_middleware
def vault_middleware(get_response):
    if iscoroutinefunction(get_response):

        async def middleware(request):
            request.vault = Page(request)
            with collect() as collector:
                response = await get_response(request)
            others = _say(request, response, collector.close())
            if others:
                await sync_to_async(tell_quietly)(others)
            return response

    else:

        def middleware(request):
            request.vault = Page(request)
            with collect() as collector:
                response = get_response(request)
            others = _say(request, response, collector.close())
            if others:
                tell_quietly(others)
            return response

    return middleware


def _say(request, response, names):
    """Write the headers. @return the names that do not fit"""
    headers = request.vault.headers()
    fitting, others = _split(names)
    headers["Vault-Notify"] = ",".join(fitting)
    for name, value in headers.items():
        both = [each for each in (response.get(name), value) if each]
        if both:
            response[name] = ", ".join(both)
    return others


def _split(names):
    """The encoded names that fit into one header, and the names that do not."""
    fitting, others, room = [], [], NOTIFY_MAX
    for name in sorted(names, key=len):
        piece = quote(name, safe="")
        room -= len(piece) + 1
        if room >= 0:
            fitting.append(piece)
        else:
            others.append(name)
    return fitting, others
