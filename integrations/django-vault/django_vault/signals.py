# SPDX-License-Identifier: Apache-2.0
"""Signals of the models that settings.VAULT_MODELS names, as interests.

Receivers are connected to these models alone: a receiver of post_delete makes Django read each row before it deletes it."""
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models.signals import m2m_changed, post_delete, post_save

from .interests import layers, table, touched
from .notifier import notify_quietly


def wanted():
    """VAULT_MODELS, in lower case: labels of apps ("blog") and of models ("blog.Comment")."""
    labels = {str(label).lower() for label in getattr(settings, "VAULT_MODELS", ())}
    known = {config.label for config in apps.get_app_configs()} | {model._meta.label_lower for model in apps.get_models(include_auto_created=True)}
    unknown = labels - known
    if unknown:
        raise ImproperlyConfigured(f"VAULT_MODELS names no app or model that there is: {', '.join(sorted(unknown))}")
    return labels


def connect():
    labels = wanted()
    for model in apps.get_models(include_auto_created=True):
        # A row of a model lies in the tables of those that it inherits from as well.
        if not any(meta.app_label in labels or meta.label_lower in labels for meta in layers(model)):
            continue
        uid = f"django_vault-{model._meta.label_lower}"
        post_save.connect(_changed, sender=model, dispatch_uid=uid)
        post_delete.connect(_changed, sender=model, dispatch_uid=uid)
        for field in model._meta.local_many_to_many:
            m2m_changed.connect(_related, sender=field.remote_field.through, dispatch_uid=uid)


def _changed(instance, using, **_):
    notify_quietly(touched(instance, using), using)


def _related(sender, action, using, **_):
    if action in ("post_add", "post_remove", "post_clear"):
        notify_quietly(table(sender), using)
