# SPDX-License-Identifier: Apache-2.0
import uuid

from django.db import models


class Comment(models.Model):
    text = models.CharField(max_length=300)


class Tag(models.Model):
    """Not among VAULT_MODELS."""

    name = models.CharField(max_length=50)


class Place(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    tags = models.ManyToManyField(Tag)


class Restaurant(Place):
    """Its rows lie in two tables."""

    name = models.CharField(max_length=50)


class Named(models.Model):
    name = models.CharField(primary_key=True, max_length=300)
