# SPDX-License-Identifier: Apache-2.0
from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from . import client, signals


class VaultConfig(AppConfig):
    name = "django_vault"
    verbose_name = "mod_vault"

    def ready(self):
        signals.connect()
        checks.register(_check)


def _check(app_configs, **_):
    found = []
    if getattr(settings, "VAULT_MODELS", None) and not client.is_configured():
        found.append(checks.Warning(
            "VAULT_MODELS is set, but VAULT_URL is not: what management commands and tasks save is not told to open pages.",
            hint='VAULT_URL = "http://127.0.0.1/vault", where httpd has /vault/notify; '
                 "or silence this where `vaultctl watch` records the tables.",
            id="django_vault.W001"))
    if "django_vault.middleware.vault_middleware" not in settings.MIDDLEWARE:
        found.append(checks.Error("django_vault.middleware.vault_middleware is not in MIDDLEWARE; it stands first.",
                                  id="django_vault.E001"))
    return found
