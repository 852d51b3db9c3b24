# SPDX-License-Identifier: Apache-2.0
"""Live pages for Django with mod_vault: see README.md."""
from .client import VaultError, feed
from .decorators import live
from .interests import row, table
from .notifier import batch, notify
from .page import stream

__all__ = ["VaultError", "batch", "feed", "live", "notify", "row", "stream", "table"]
