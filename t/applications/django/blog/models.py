# SPDX-License-Identifier: Apache-2.0
from django.db import models


class Post(models.Model):
    title = models.CharField(max_length=200)

    def __str__(self):
        return self.title


class Comment(models.Model):
    post = models.ForeignKey(Post, on_delete=models.CASCADE)
    text = models.CharField(max_length=300)

    def __str__(self):
        return self.text
