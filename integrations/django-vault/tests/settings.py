# SPDX-License-Identifier: Apache-2.0
# A site for the unit tests: python3 -m django test --settings tests.settings
SECRET_KEY = "of the unit tests"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django.contrib.messages", "django_vault", "tests"]
MIDDLEWARE = [
    "django_vault.middleware.vault_middleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "tests.urls"
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": ["django.contrib.messages.context_processors.messages"]},
}]
USE_TZ = True
VAULT_MODELS = ["tests.Place", "tests.Comment"]
