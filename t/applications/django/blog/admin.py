# SPDX-License-Identifier: Apache-2.0
from django.contrib import admin

from .models import Comment, Post

admin.site.register([Comment, Post])
