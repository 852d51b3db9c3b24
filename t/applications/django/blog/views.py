# SPDX-License-Identifier: Apache-2.0
from django import forms
from django.contrib import messages
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
