# SPDX-License-Identifier: Apache-2.0
# A small site as `django-admin startproject` begins it, with Django's administration. What a test chooses is in the environment.
import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = os.environ["SITE_SECRET"]
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_vault",
    "blog",
]
MIDDLEWARE = [
    "django_vault.middleware.vault_middleware",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "mysite.urls"
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
    ]},
}]
DATABASES = {"default": {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": "mysite",
    "USER": "mysite",
    "HOST": os.environ["SITE_DATABASE_HOST"],
    "CONN_MAX_AGE": 60,
}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # quick, for tests
STATIC_URL = "/static/"
STATIC_ROOT = os.environ["SITE_STATIC"]
USE_TZ = True

VAULT_MODELS = ["blog"]
VAULT_URL = os.environ["SITE_VAULT_URL"]
VAULT_KEY = os.environ["SITE_VAULT_KEY"]
