# SPDX-License-Identifier: Apache-2.0
from django.contrib import admin
from django.http import HttpResponse
from django.urls import path

from blog import views

urlpatterns = [
    path("admin/", admin.site.urls),
    path("favicon.ico", lambda request: HttpResponse(status=204)),
    path("log/", views.log),
    path("members/", views.members),
    path("posts/<int:pk>/", views.post),
]
