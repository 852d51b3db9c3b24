# SPDX-License-Identifier: Apache-2.0
"""Notifies, after the commit: in a request its answer carries them, elsewhere a request to httpd does."""
import logging
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from django.db import transaction

from .client import VaultError, is_configured, post_notifies
from .interests import names_of

logger = logging.getLogger("django_vault")

# What collects the names in this request or batch. Outside of both None, or one that is closed: a task that a request has begun, and
# that outlives it, has the context of the request.
_collector = ContextVar("django_vault_collector", default=None)


class _Collector:
    """Names, in order. Any thread: asgiref runs parts of one request in threads."""

    def __init__(self):
        self.lock = Lock()
        self.names = {}
        self.is_open = True

    def add(self, names):
        """@return False: it is closed, and nothing will be read from it any more"""
        with self.lock:
            if self.is_open:
                self.names.update(dict.fromkeys(names))
            return self.is_open

    def close(self):
        with self.lock:
            self.is_open = False
            return list(self.names)


@contextmanager
def collect():
    """What is notified within is collected by the object that this gives, until its close() returns the names."""
    collector = _Collector()
    token = _collector.set(collector)
    try:
        yield collector
    finally:
        _collector.reset(token)


def _is_collected():
    collector = _collector.get()
    return collector is not None and collector.is_open


@contextmanager
def batch():
    """What is notified within is told at the end, each interest once. Within a request, or another batch, that one does it."""
    if _is_collected():
        yield
        return
    with collect() as collector:
        try:
            yield
        finally:
            post_notifies(collector.close())


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
    if not _is_collected() and not is_configured():
        return  # the system check django_vault.W001 speaks of it
    try:
        _tell(names)
    except VaultError as error:
        logger.warning("open pages were not told of a change of %s: %s", ", ".join(names), error)


def _tell(names):
    collector = _collector.get()
    if collector is None or not collector.add(names):
        post_notifies(names)
