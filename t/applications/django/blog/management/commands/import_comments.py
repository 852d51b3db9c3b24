# SPDX-License-Identifier: Apache-2.0
from django.core.management.base import BaseCommand
from django_vault import notify

from blog.models import Comment


class Command(BaseCommand):
    help = "Adds comments to a post in one statement, which sends no signals, and tells open pages."

    def add_arguments(self, parser):
        parser.add_argument("post", type=int)
        parser.add_argument("text", nargs="+")

    def handle(self, *args, **options):
        Comment.objects.bulk_create(Comment(post_id=options["post"], text=text) for text in options["text"])
        notify(Comment)
