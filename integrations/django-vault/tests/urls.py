# SPDX-License-Identifier: Apache-2.0
import asyncio

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.generic import ListView

from django_vault import live, notify, row

from .models import Comment

tasks, events = [], []


@live(Comment, lambda request, **_: request.GET.get("also", []))
def page(request):
    return render(request, "tests/page.html", {"comments": Comment.objects.order_by("id")})


@live(Comment)
async def later(request):
    return HttpResponse("<p>" + request.vault.block("rows", "hello") + "</p>")


@live(lambda request, pk: row(Comment, pk))
def one(request, pk):
    return HttpResponse(request.vault.block("one", Comment.objects.get(pk=pk).text))


@live()
def rows(request):
    return render(request, "tests/rows.html", {"rows": request.vault.feed("shop", "get_new_instances", table="rows", where={"a": 1})})


@live(Comment)
def other(request, what):
    return {"json": lambda: JsonResponse({}), "away": lambda: redirect("/login"), "bare": lambda: HttpResponse("nothing live")}[what]()


def add(request):
    messages.info(request, "added")
    with transaction.atomic():
        Comment.objects.create(text=request.GET["text"])
        notify("by hand, 100%")
    return HttpResponse(status=204)


def fail(request):
    with transaction.atomic():
        Comment.objects.create(text="x")
        raise ValueError("rolled back")


def many(request):
    notify([f"interest-{number:04}" for number in range(2000)])
    return HttpResponse("")


async def begin(request):
    """Answers, while a task of its own goes on."""
    events.append(asyncio.Event())
    tasks.append(asyncio.ensure_future(write(events[-1])))
    return HttpResponse("")


async def write(event):
    await event.wait()
    await sync_to_async(Comment.objects.create)(text="after the answer")


def says(request):
    request.vault.set("seen", "a,b % \N{EURO SIGN}")
    request.vault.set("gone", None)
    request.vault.poll("/news,1/?a=%2F")
    response = HttpResponse(f"{request.vault.id} {request.vault.get('place')} {request.vault.get('none', 'default')}")
    response["Vault-Poll"] = "/own"
    return response


urlpatterns = [
    path("", page), path("later/", later), path("one/<int:pk>/", one), path("rows/", rows), path("add/", add), path("fail/", fail),
    path("begin/", begin), path("many/", many), path("says/", says), path("other/<what>/", other),
    path("list/", live(Comment)(ListView.as_view(model=Comment, template_name="tests/page.html", context_object_name="comments"))),
]
