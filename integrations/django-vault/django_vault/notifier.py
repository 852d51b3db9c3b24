# SPDX-License-Identifier: Apache-2.0
"""Notifies, after the commit: in a request its answer carries them, elsewhere a request to httpd does."""
import logging
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import transaction

from .client import VaultError, is_configured, post_notifies
from .interests import names_of

logger = logging.getLogger("django_vault")

# The names that have been notified in this request or batch, in order, or None outside of both. The threads that asgiref runs
# parts of one request in share the dictionary.
_collected = ContextVar("django_vault_collected", default=None)


@contextmanager
def collect():
    """What is notified within is collected in the dictionary that this gives."""
    names = {}
    token = _collected.set(names)
    try:
        yield names
    finally:
        _collected.reset(token)


@contextmanager
def batch():
    """What is notified within is told at the end, each interest once. Within a request, or another batch, that one does it."""
    if _collected.get() is not None:
        yield
        return
    names = {}
    try:
        with collect() as names:
            yield
    finally:
        post_notifies(names)


def notify(*whats, using=None):
    """Notify interests once the transaction has been committed: names, models, or lists of them as row() and table() give.

    Outside of requests it asks httpd, and raises VaultError when it cannot: nothing is undone by that, since the commit has
    been made."""
    names = names_of(whats)
    transaction.on_commit(lambda: _tell(names), using=using)


def notify_quietly(names, using):
    """The same for signals: a write must not fail since httpd does not answer."""
    transaction.on_commit(lambda: tell_quietly(names), using=using)


def tell_quietly(names):
    if _collected.get() is None and not is_configured():
        return  # the system check django_vault.W001 speaks of it
    try:
        _tell(names)
    except VaultError as error:
        logger.warning("open pages were not told of a change of %s: %s", ", ".join(names), error)


def _tell(names):
    collected = _collected.get()
    if collected is None:
        post_notifies(names)
    else:
        collected.update(dict.fromkeys(names))
