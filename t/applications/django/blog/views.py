# SPDX-License-Identifier: Apache-2.0
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django_vault import live, row

from .models import Comment, Post


class CommentForm(forms.ModelForm):
    class Meta:
        model = Comment
        fields = ["text"]


@live(Comment, lambda request, pk: row(Post, pk))
def post(request, pk):
    post = get_object_or_404(Post, pk=pk)
    form = CommentForm(request.POST or None, instance=Comment(post=post))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Thank you")
        return redirect(request.path)
    return render(request, "blog/post.html", {"post": post, "comments": post.comment_set.order_by("id"), "form": form})


@login_required(login_url="/admin/login/")
@live(Comment)
def members(request):
    return render(request, "blog/post.html", {"post": {"title": "All comments"}, "comments": Comment.objects.order_by("id"), "form": CommentForm()})


@live()
def log(request):
    rows = request.vault.feed("mysite", "get_new_instances", table="blog_comment", limit=2)
    return render(request, "blog/log.html", {"rows": rows})
