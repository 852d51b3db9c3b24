# SPDX-License-Identifier: Apache-2.0
import re
from urllib.parse import unquote

from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.template import Context, RequestContext, Template, TemplateSyntaxError
from django.test import AsyncClient, RequestFactory, SimpleTestCase, TransactionTestCase, override_settings

from django_vault import VaultError, batch, feed, live, notify, row, signals, stream, table

from . import urls
from .httpd import Httpd
from .models import Comment, Named, Place, Restaurant, Tag

TURBO = "text/vnd.turbo-stream.html"


def method(response=None):
    """The headers of a method that httpd runs for the page that `response` has made, or for one that shows nothing."""
    headers = {"HTTP_VAULT_PAGE": "0123abcd;run=77", "HTTP_ACCEPT": f"{TURBO}, text/html, */*;q=0.1"}
    for piece in (response.get("Vault-Property", "") if response else "").split(", "):
        if piece:
            key, value = piece.split("=", 1)
            headers["HTTP_VAULT_PROPERTY_" + key.upper().replace("-", "_")] = value
    return headers


def names(response, header="Vault-Notify"):
    return {unquote(each) for each in re.split(", ?", response.get(header, "")) if each}


class LiveViews(TransactionTestCase):
    def test_the_page_says_where_its_news_are(self):
        response = self.client.get("/?b=1,2")
        self.assertEqual(response["Vault-Poll"], "/?b=1%2C2")
        self.assertIn("private", response["Cache-Control"])
        self.assertNotIn("Vault-Interest", response)
        self.assertContains(response, '<b id="count">0</b>', html=False)

    def test_an_update_has_the_blocks_that_changed(self):
        shown = self.client.get("/")
        same = self.client.get("/", **method(shown))
        self.assertEqual((same.status_code, same.content), (200, b""))
        self.assertEqual(names(same, "Vault-Interest"), {"DB-tests_comment"})
        self.assertNotIn("Vault-Poll", same)
        Comment.objects.create(text="<hello>")
        news = self.client.get("/", **method(shown))
        self.assertTrue(news["Content-Type"].startswith(TURBO))
        self.assertIn('<turbo-stream action="update" target="comments"><template><li>&lt;hello&gt;</li>', news.content.decode())
        self.assertIn('target="count"><template>1</template>', news.content.decode())
        self.assertEqual(self.client.get("/", **method(news)).content, b"")
        Comment.objects.update(text="bye")  # as many as before
        self.assertNotIn("count", self.client.get("/", **method(news)).content.decode())

    def test_two_live_views_on_one_page_keep_their_blocks_apart(self):
        first, second = self.client.get("/?a"), self.client.get("/?b")
        self.assertNotEqual(first["Vault-Property"].split("=")[0], second["Vault-Property"].split("=")[0])

    def test_interests_by_the_arguments_of_the_view(self):
        comment = Comment.objects.create(text="x")
        news = self.client.get(f"/one/{comment.pk}/", **method())
        self.assertEqual(names(news, "Vault-Interest"), {f"DB-tests_comment-{comment.pk}"})
        self.assertEqual(names(self.client.get("/?also=news", **method()), "Vault-Interest"), {"DB-tests_comment", "news"})

    def test_a_view_that_is_a_class(self):
        shown = self.client.get("/list/")
        self.assertEqual(shown["Vault-Poll"], "/list/")
        Comment.objects.create(text="hello")
        self.assertContains(self.client.get("/list/", **method(shown)), "hello")

    def test_what_is_no_page_is_left_alone(self):
        for what in ("json", "away"):
            response = self.client.get(f"/other/{what}/", **method())
            self.assertFalse(any(name in response for name in ("Vault-Poll", "Vault-Property", "Vault-Interest")), what)
        with self.assertLogs("django_vault", "WARNING") as logged:
            self.client.get("/other/bare/")
        self.assertIn("/other/bare/ is live, but rendered no {% live %} block", logged.output[0])

    def test_messages_wait_for_the_visitor(self):
        self.client.post("/add/?text=x")
        self.assertNotContains(self.client.get("/", **method()), "added")
        self.assertContains(self.client.get("/"), "<p>added</p>")
        self.assertNotContains(self.client.get("/"), "<p>added</p>")

    async def test_a_view_that_is_asynchronous(self):
        response = await AsyncClient().get("/later/")
        self.assertEqual(response["Vault-Poll"], "/later/")

    async def test_what_an_asynchronous_request_saves(self):
        response = await AsyncClient().post("/add/?text=x")
        self.assertIn("DB-tests_comment", names(response))

    async def test_what_a_task_saves_after_the_answer(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            await AsyncClient().get("/begin/")
            urls.events.pop().set()
            await urls.tasks.pop()
            self.assertIn("DB-tests_comment", httpd.notified)

    async def test_what_does_not_fit_into_a_header_of_an_asynchronous_answer(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            response = await AsyncClient().get("/many/")
            self.assertEqual(len(names(response) | set(httpd.notified)), 2000)

    def test_a_form_of_the_page_is_no_update(self):
        response = self.client.post("/", **method())
        self.assertContains(response, "<html>")

    def test_a_target_is_one_block(self):
        text = "{% load vault %}{% live 'a' %}{% endlive %}{% live 'a' %}{% endlive %}"
        request = self.client.get("/says/").wsgi_request
        with self.assertRaisesMessage(ValueError, "two live blocks of /says/ have the target 'a'"):
            Template(text).render(RequestContext(request, {}))
        self.assertEqual(Template(text).render(Context()), "", "without a request it is text")

    def test_without_the_middleware(self):
        with self.assertRaises(ImproperlyConfigured):
            live(Comment)(lambda request: None)(RequestFactory().get("/"))


class Tags(SimpleTestCase):
    def test_arguments(self):
        for text in ("{% live %}", "{% live 'a' 'b' %}", "{% live 'a' append=b c %}"):
            with self.assertRaises(TemplateSyntaxError):
                Template("{% load vault %}" + text + "{% endlive %}")

    def test_a_target_is_text(self):
        self.assertIn('target="&quot;&gt;"', stream("update", '">', "<b>"))


class Pages(TransactionTestCase):
    def test_what_httpd_says_and_is_told(self):
        response = self.client.get("/says/", HTTP_VAULT_PAGE="0123abcd;run=77", HTTP_VAULT_PROPERTY_PLACE="a%2Cb%20%E2%82%AC")
        self.assertEqual(response.content.decode(), "0123abcd a,b \N{EURO SIGN} default")
        self.assertEqual(response["Vault-Property"], "seen=a%2Cb%20%25%20%E2%82%AC, gone=")
        self.assertEqual(response["Vault-Poll"], "/own, /news%2C1/?a=%2F")


class Notifies(TransactionTestCase):
    def test_a_request_says_what_it_has_saved(self):
        response = self.client.post("/add/?text=x")
        key = Comment.objects.get().pk
        self.assertEqual(names(response), {"DB-tests_comment", f"DB-tests_comment-{key}", "by hand, 100%"})

    def test_what_is_rolled_back_is_not_told(self):
        self.client.raise_request_exception = False
        response = self.client.post("/fail/")
        self.assertEqual((response.status_code, names(response)), (500, set()))

    def test_what_does_not_fit_into_a_header_is_posted(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            response = self.client.get("/many/")
            self.assertLess(len(response["Vault-Notify"]), 7200)
            self.assertEqual(len(names(response)) + len(httpd.notified), 2000)
            self.assertEqual(len(names(response) | set(httpd.notified)), 2000)
            self.assertEqual(len(httpd.connections), 1)

    def test_outside_of_requests_httpd_is_asked_after_the_commit(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url + "/"):
            with transaction.atomic():
                comment = Comment.objects.create(text="x")
                self.assertEqual(httpd.notified, [])
            self.assertEqual(httpd.notified, ["DB-tests_comment", f"DB-tests_comment-{comment.pk}"])
            httpd.asked.clear()
            notify("a & b=\N{EURO SIGN}", Tag, table(Comment))
            self.assertEqual(httpd.notified, ["a & b=\N{EURO SIGN}", "DB-tests_tag", "DB-tests_comment"])

    def test_a_batch_tells_each_once_also_when_it_fails(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            with self.assertRaises(KeyError), batch(), batch():
                for text in "abc":
                    Comment.objects.create(text=text)
                self.assertEqual(httpd.notified, [])
                raise KeyError
            self.assertEqual(httpd.notified.count("DB-tests_comment"), 1)
            self.assertEqual(len(httpd.notified), 4)

    def test_bulk_updates_send_no_signal(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            Comment.objects.bulk_create([Comment(text="x")])
            Comment.objects.update(text="y")
            self.assertEqual(httpd.notified, [])
            Comment.objects.all().delete()
            self.assertIn("DB-tests_comment", httpd.notified)

    def test_models_that_are_not_named_are_not_told_of(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            Tag.objects.create(name="x").delete()
            self.assertEqual(httpd.notified, [])

    def test_rows_of_several_tables_and_relations(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            restaurant = Restaurant.objects.create(name="x")
            key = restaurant.pk.hex  # as SQLite has it
            self.assertEqual(set(httpd.notified), {"DB-tests_restaurant", "DB-tests_place", f"DB-tests_restaurant-{key}", f"DB-tests_place-{key}"})
            self.assertEqual(row(Place, restaurant.pk), [f"DB-tests_place-{key}"])
            httpd.asked.clear()
            restaurant.tags.add(Tag.objects.create(name="x"))
            restaurant.tags.clear()
            self.assertEqual(httpd.notified, ["DB-tests_place_tags"] * 2)

    def test_a_long_key_is_a_digest(self):
        name = row(Named, "x" * 200)[0]
        self.assertEqual(name, "DB-tests_named-#94218caae9904e93a3d7bf578bf4791926fc5e82")
        self.assertEqual(row(Named, "y"), ["DB-tests_named-y"])

    def test_a_server_without_room_is_asked_again(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            httpd.answers = [(503, {"Retry-After": "0"}, b""), (503, {"Retry-After": "0"}, b""), (202, {}, b"{}")]
            notify("a")
            self.assertEqual(httpd.notified, ["a"] * 3)
            httpd.answers = [(503, {"Retry-After": "60"}, b"")]
            with self.assertRaises(VaultError):
                notify("a")

    def test_a_server_that_cannot_be_asked(self):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            httpd.answers = [(404, {}, b"not here")] * 3
            with self.assertRaisesRegex(VaultError, "notify answered 404: not here") as raised:
                notify("a")
            self.assertEqual(raised.exception.status, 404)
            with self.assertLogs("django_vault", "WARNING") as logged:
                Comment.objects.create(text="is saved all the same")
            self.assertIn("DB-tests_comment", logged.output[0])
        with override_settings(VAULT_URL=httpd.url), self.assertRaises(VaultError):
            notify("a")
        with self.assertRaises(ImproperlyConfigured):
            notify("a")
        Comment.objects.create(text="and without a URL")
        self.assertEqual(Comment.objects.count(), 2)


@override_settings(VAULT_KEY="k" * 32)
class Feeds(TransactionTestCase):
    def ask(self, *answers, **headers):
        with Httpd() as httpd, override_settings(VAULT_URL=httpd.url):
            httpd.answers = list(answers)
            response = self.client.get("/rows/", **headers)
            return response, httpd.asked[0]

    def test_a_page_and_its_updates(self):
        first = (200, {"Vault-Rows": "first"}, b'[{"text":"<a>"}]')
        response, (path, form, headers) = self.ask(first, HTTP_VAULT_NEW_PAGE="0123abcd;run=1")
        self.assertContains(response, "<li>&lt;a&gt;</li>")
        self.assertEqual((path, form), ("/vault/feed/shop/get_new_instances", {"table": "rows", "where.a": "1"}))
        self.assertEqual((headers["Authorization"], headers["Vault-Page"], headers["Host"]), ("Bearer " + "k" * 32, "0123abcd;run=1", "testserver"))
        response, (_, _, headers) = self.ask((200, {"Vault-Rows": "new"}, b'[{"text":"b"}]'), **method())
        self.assertEqual(headers["Vault-Page"], "0123abcd;run=77")
        self.assertContains(response, '<turbo-stream action="append" target="rows"><template><li>b</li></template></turbo-stream>')
        self.assertEqual(self.ask((204, {}, b""), **method())[0].content, b"")
        self.assertContains(self.ask((200, {"Vault-Rows": "first"}, b"[]"), **method())[0], 'action="update" target="rows"><template></template>')

    def test_an_update_whose_feed_fails_has_failed(self):
        self.client.raise_request_exception = False
        for status in (409, 503):
            response, _ = self.ask((status, {"Retry-After": "0"}, b'{"error":"the run is over"}'), **method())
            self.assertEqual(response.status_code, 500)

    def test_arguments(self):
        with self.assertRaises(ValueError):
            with override_settings(VAULT_URL="http://127.0.0.1/vault"):
                feed("shop", "save", values={"a": None})
        with override_settings(VAULT_URL="ftp://127.0.0.1/"), self.assertRaises(ImproperlyConfigured):
            feed("shop", "all", table="a")
        with override_settings(VAULT_KEY=None), self.assertRaises(ImproperlyConfigured):
            feed("shop", "all", table="a")


class Settings(SimpleTestCase):
    def test_checks(self):
        def found():
            return {each.id for each in run_checks() if each.id.startswith("django_vault")}

        self.assertEqual(found(), {"django_vault.W001"})
        with override_settings(VAULT_URL="http://127.0.0.1/vault", MIDDLEWARE=[]):
            self.assertEqual(found(), {"django_vault.E001"})

    def test_labels(self):
        with override_settings(VAULT_MODELS=["tests", "tests.comment", "auth.User"]):
            self.assertEqual(signals.wanted(), {"tests", "tests.comment", "auth.user"})
        with override_settings(VAULT_MODELS=["blog.Comment"]), self.assertRaisesMessage(ImproperlyConfigured, "blog.comment"):
            signals.wanted()
