# SPDX-License-Identifier: Apache-2.0
"""`@live`: a view that renders the page and, when httpd asks for news, the blocks of it that have changed."""
import functools
import logging

from django.contrib.messages import get_messages
from django.core.exceptions import ImproperlyConfigured
from django.utils.cache import add_never_cache_headers

from .interests import names_of
from .middleware import iscoroutinefunction
from .page import TURBO

logger = logging.getLogger("django_vault")


def live(*whats):
    """The page of this view is live, and looks again when one of the interests is notified: names, models, lists of them as
    row() and table() give, or functions of the view's arguments that return one of these."""

    def decorate(view):
        if iscoroutinefunction(view):

            @functools.wraps(view)
            async def wrapper(request, *args, **kwargs):
                return _finish(request, await view(request, *args, **kwargs), _names(whats, request, args, kwargs))

        else:

            @functools.wraps(view)
            def wrapper(request, *args, **kwargs):
                return _finish(request, view(request, *args, **kwargs), _names(whats, request, args, kwargs))

        return wrapper

    return decorate


def _names(whats, request, args, kwargs):
    is_function = [callable(what) and not isinstance(what, type) for what in whats]
    return names_of(what(request, *args, **kwargs) if call else what for what, call in zip(whats, is_function))


def _finish(request, response, names):
    """Now, or when a TemplateResponse has been rendered."""
    if not hasattr(request, "vault"):
        raise ImproperlyConfigured("django_vault.middleware.vault_middleware is not in MIDDLEWARE")
    if getattr(response, "is_rendered", True):
        return _answer(request, response, names)
    response.add_post_render_callback(lambda rendered: _answer(request, rendered, names))
    return response


def _answer(request, response, names):
    page = request.vault
    if response.status_code != 200 or response.streaming or not response.get("Content-Type", "").startswith("text/html"):
        return response
    if not page.blocks and not page.said:
        logger.warning("%s is live, but rendered no {%% live %%} block", request.path)
    if page.is_update:
        page.interest(*names)
        response.content = page.changes()
        response["Content-Type"] = f"{TURBO}; charset={response.charset}"
        del response["Content-Length"]
        _keep_messages(request)
    else:
        page.poll(request.get_full_path())
    page.keep_shown()
    # Django's own cache would answer the method with the page, which has the same URL.
    add_never_cache_headers(response)
    return response


def _keep_messages(request):
    """The visitor has not seen the messages that the page around the blocks has shown."""
    messages = get_messages(request)
    if hasattr(messages, "used"):
        messages.used = False
