# SPDX-License-Identifier: Apache-2.0
"""Names of interests, as mod_vault's database feed gives them: DB-TABLE for any row of a table, DB-TABLE-KEY for one row."""
import hashlib
import uuid

from django.db import DEFAULT_DB_ALIAS, connections, models

NAME_MAX = 200  # bytes; mod_vault takes no longer ones


def layers(model):
    """The options of each table that a row of the model lies in: its own, and those of the models that it inherits from."""
    concrete = model._meta.concrete_model
    return [each._meta for each in (concrete, *concrete._meta.get_parent_list())]


def table(model):
    """The interests in any row of a model."""
    return [f"DB-{meta.db_table}" for meta in layers(model)]


def row(model, key, using=DEFAULT_DB_ALIAS):
    """The interests in the row of a model that has this primary key."""
    return [_row(meta, key, using) for meta in layers(model)]


def touched(instance, using):
    """All interests that a change of this row notifies."""
    names = table(type(instance))
    return names + [_row(meta, getattr(instance, meta.pk.attname), using) for meta in layers(type(instance))]


def names_of(whats):
    """A flat list of names: of interests, and of models and lists of either."""
    names = []
    for what in whats:
        if isinstance(what, str):
            names.append(what)
        elif isinstance(what, type) and issubclass(what, models.Model):
            names += table(what)
        else:
            names += names_of(what)
    return names


def _row(meta, key, using):
    # The key as the database writes it: a database without a type for UUIDs keeps their digits.
    if isinstance(key, uuid.UUID) and not connections[using].features.has_native_uuid_field:
        key = key.hex
    name = f"DB-{meta.db_table}-{key}"
    if len(name.encode()) > NAME_MAX:
        name = f"DB-{meta.db_table}-#{hashlib.sha1(str(key).encode()).hexdigest()}"
    return name
