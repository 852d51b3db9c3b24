<?php
// SPDX-License-Identifier: Apache-2.0
// What an application in PHP says to mod_vault and hears from it, in one class without dependencies. See README.md.
declare(strict_types=1);

namespace ModVault;

use InvalidArgumentException;
use RuntimeException;

/**
 * One request and its answer. Methods that take no part in either are static.
 *
 *     $vault = new Vault();                          // Symfony: new Vault($request->server->all()); Laravel: $request->server()
 *     $vault->poll('/comments/news');                // this answer is a page that asks this URL for news
 *     $vault->interest('comments');                  // this answer is news: run again when "comments" is notified
 *     $vault->notify('comments');                    // pages that wait for "comments" look again
 *     $vault->send();                                // or ->headers(), for the response object of a framework
 *
 * What it reads is httpd's word only behind httpd with mod_vault, which removes such headers of browsers. An application that
 * can be reached otherwise must not trust it.
 */
final class Vault
{
    /** Where httpd has mod_vault's own URLs. */
    public const URL = 'http://127.0.0.1/vault';

    /** @var array<string, string> by their names as CGI writes them, HTTP_VAULT_… */
    private array $told = [];

    /** @var array<string, list<string>> */
    private array $headers = [];

    /**
     * @param array<string, mixed>|null $server  the request's variables as in $_SERVER, which is the default
     * @param string $key  the line of the file that VaultFeedKeyFile names; needed by feed() alone
     * @param string $url  where feed() asks. At an address of this machine it gives the host of the request, by which httpd finds
     *                     the site; a site that has TLS alone is asked by its own name, https://www.example.org/vault
     */
    public function __construct(?array $server = null, #[\SensitiveParameter] private string $key = '', private string $url = self::URL)
    {
        foreach ($server ?? $_SERVER as $name => $value) {
            if (is_string($value) && preg_match('/^HTTP_(?:VAULT_|HOST$)/', (string)$name)) {
                $this->told[(string)$name] = $value;
            }
        }
    }

    // ---------------------------------------------------------------- the request

    /** The id of the page that this runs for or that sent this request; null: no page. It is a secret of the visitor. */
    public function page(): ?string
    {
        $page = $this->told['HTTP_VAULT_PAGE'] ?? null;
        return $page === null ? null : explode(';', $page)[0];
    }

    /** A property of the page, or what set() has made of it in this request; null: the page has none of that name. */
    public function get(string $key): ?string
    {
        $value = $this->told[self::variable($key)] ?? null;
        return $value === null ? null : rawurldecode($value);
    }

    /**
     * Rows of a feed for this page, which httpd keeps the place of: a first view in the page's own answer, and from then on what is new.
     * No interest() is needed. An array among the arguments is what a dot makes by URL: ['where' => ['status' => 404]].
     * A method of which this throws must answer with an error, and is tried again. The same call may be made once in an answer.
     * @return array{?list<mixed>, bool}  the rows, null: nothing is new; and whether they take the place of all that is shown
     * @throws RuntimeException  its code is the status of the answer, 0 without one
     */
    public function feed(string $feed, string $method, array $arguments = [], float $timeout = 5.0): array
    {
        $headers = ["Authorization: Bearer $this->key"];
        $page = $this->told['HTTP_VAULT_PAGE'] ?? $this->told['HTTP_VAULT_NEW_PAGE'] ?? null;
        if ($page !== null) {
            $headers[] = "Vault-Page: $page";
        }
        if (isset($this->told['HTTP_HOST']) && preg_match('#^http://(?:127\.|localhost\b|\[::1\])#', $this->url)) {
            $headers[] = "Host: {$this->told['HTTP_HOST']}";
        }
        $url = "$this->url/feed/" . rawurlencode($feed) . '/' . rawurlencode($method);
        [$status, $rows, $first] = self::post($url, self::fields($arguments), $timeout, $headers);
        if ($status !== 200 && $status !== 204) {
            throw new RuntimeException("$url: status $status, " . ($rows['error'] ?? 'the answer is not from mod_vault'), $status);
        }
        return [$status === 200 ? $rows : null, $first];
    }

    // ---------------------------------------------------------------- the answer

    /** This page asks a URL of its own site for news: a path that begins with a slash. */
    public function poll(string $url): static
    {
        return $this->say('Vault-Poll', self::path($url));
    }

    /**
     * In the place of poll(), for a page whose HTML names a client of its own, Turbo's or htmx's: it asks a URL of its site for news, and
     * mod_vault puts no script in. Returns where the news will come as a stream, for the HTML to say; null: the answer cannot become a page.
     */
    public function stream(string $url): ?string
    {
        $this->say('Vault-Stream', self::path($url));
        return $this->told['HTTP_VAULT_STREAM'] ?? null;
    }

    /** The URL that answers this runs again when one of these is notified. To be said in each answer, also in an empty one. */
    public function interest(string ...$names): static
    {
        foreach ($names as $name) {
            $this->say('Vault-Interest', self::interestName($name));
        }
        return $this;
    }

    /** Keep a value for the page; null or '' removes it. The key is made of letters, digits and hyphens, in any case. */
    public function set(string $key, string|int|null $value): static
    {
        $value = (string)$value;
        $variable = self::variable($key);
        if (str_contains($value, "\0")) {
            throw new InvalidArgumentException("the value of the property $key has a NUL in it");
        }
        unset($this->told[$variable]);
        if ($value !== '') {
            $this->told[$variable] = rawurlencode($value);
        }
        return $this->say('Vault-Property', "$key=" . self::encode($value));
    }

    /**
     * Does the page show anything else under this key? Keeps the hash of $content as the property of that name. The page's own
     * answer calls it as well, so that its first poll repeats nothing.
     */
    public function changed(string $key, string $content): bool
    {
        $hash = hash('xxh128', $content);
        $before = $this->get($key);
        $this->set($key, $hash);
        return $before !== $hash;
    }

    /** Something happened: pages that wait for one of these look again. Say it after the commit, in an answer of any status. */
    public function notify(string ...$names): static
    {
        foreach ($names as $name) {
            $this->say('Vault-Notify', self::interestName($name));
        }
        return $this;
    }

    /** How the browser takes this answer of a method: 'htmx' hands it to htmx. Turbo-stream elements and JSON need no word. */
    public function format(string $word): static
    {
        if (!preg_match('/^[A-Za-z0-9-]{1,32}$/D', $word)) {
            throw new InvalidArgumentException("not a word of 1 to 32 letters, digits and hyphens: $word");
        }
        return $this->say('Vault-Update', $word);
    }

    /**
     * What has been said, as responses take it: Laravel's withHeaders(), Symfony's $response->headers->add(), PSR-7.
     * @return array<string, list<string>>
     */
    public function headers(): array
    {
        return $this->headers;
    }

    /** Send what has been said with header(): before any output, and where no framework sends the answer. */
    public function send(): void
    {
        foreach ($this->headers as $name => $values) {
            foreach ($values as $value) {
                header("$name: $value", false);
            }
        }
        $this->headers = [];
    }

    // ---------------------------------------------------------------- elements of a method's answer

    /** The HTML is put at the end of the element with this id. It is HTML: what visitors wrote must be escaped in it. */
    public static function append(string $id, string $html): string
    {
        return self::element('append', $html, target: $id);
    }

    public static function prepend(string $id, string $html): string
    {
        return self::element('prepend', $html, target: $id);
    }

    /** The element itself is replaced. */
    public static function replace(string $id, string $html): string
    {
        return self::element('replace', $html, target: $id);
    }

    /** The content of the element is replaced. */
    public static function update(string $id, string $html): string
    {
        return self::element('update', $html, target: $id);
    }

    public static function before(string $id, string $html): string
    {
        return self::element('before', $html, target: $id);
    }

    public static function after(string $id, string $html): string
    {
        return self::element('after', $html, target: $id);
    }

    public static function remove(string $id): string
    {
        return self::element('remove', target: $id);
    }

    /** The page is loaded again. */
    public static function refresh(): string
    {
        return self::element('refresh');
    }

    /** Any action: for the element with an id, $target, or for all that a CSS selector finds, $targets. */
    public static function element(string $action, string $html = '', ?string $target = null, ?string $targets = null): string
    {
        $attributes = '';
        foreach (['action' => $action, 'target' => $target, 'targets' => $targets] as $name => $value) {
            if ($value !== null) {
                $attributes .= sprintf(' %s="%s"', $name, htmlspecialchars($value, ENT_QUOTES | ENT_SUBSTITUTE));
            }
        }
        $content = $html === '' ? '' : "<template>$html</template>";
        return "<turbo-stream$attributes>$content</turbo-stream>\n";
    }

    // ---------------------------------------------------------------- outside of requests

    /**
     * Notify at once, from a program that answers no request: a job of cron, a queue's worker. $url/notify has the handler
     * vault-notify, which lets in this machine alone (Require vault-local).
     * @return bool  a page waits for it, or may; false: no page does, and there is nothing to do
     * @throws RuntimeException  pages were not told; its code is the status of the answer, 0 without one
     */
    public static function notifyNow(string $name, string $url = self::URL, float $timeout = 5.0): bool
    {
        self::interestName($name);
        [$status, $answer] = self::post("$url/notify", ['interest' => $name], $timeout);
        if (!in_array($status, [200, 202], true) || !is_array($answer)) {
            $why = $answer['error'] ?? 'the answer is not from mod_vault';
            throw new RuntimeException("$url did not notify \"$name\": status $status, $why", $status);
        }
        return $answer['held'] ?? true;
    }

    // ---------------------------------------------------------------- inside

    private function say(string $header, string $value): static
    {
        $this->headers[$header][] = $value;
        return $this;
    }

    /** Percent-encode what $unsafe matches, or what would be taken for a part of the header. */
    private static function encode(string $text, string $unsafe = '/[^\x21-\x7e]|[,%]/'): string
    {
        return preg_replace_callback($unsafe, fn(array $found) => sprintf('%%%02X', ord($found[0])), $text);
    }

    private static function path(string $url): string
    {
        if (!str_starts_with($url, '/')) {
            throw new InvalidArgumentException("a page polls a path of its own site, which begins with a slash: $url");
        }
        return self::encode($url, '/[^\x21-\x7e]|,/');
    }

    private static function interestName(string $name): string
    {
        if ($name === '' || strlen($name) > 200 || str_contains($name, "\0")) {
            throw new InvalidArgumentException("the name of an interest has 1 to 200 bytes, and no NUL: $name");
        }
        return self::encode($name);
    }

    private static function variable(string $key): string
    {
        if (!preg_match('/^[A-Za-z0-9-]+$/D', $key)) {
            throw new InvalidArgumentException("the key of a property is made of letters, digits and hyphens: $key");
        }
        return 'HTTP_VAULT_PROPERTY_' . strtoupper(strtr($key, '-', '_'));
    }

    /** @return array<string, string> */
    private static function fields(array $arguments, string $before = ''): array
    {
        $fields = [];
        foreach ($arguments as $name => $value) {
            if (is_array($value)) {
                $fields += self::fields($value, "$before$name.");
            } elseif (is_scalar($value)) {
                $fields["$before$name"] = is_bool($value) ? ($value ? 'true' : 'false') : (string)$value;
            } else {
                throw new InvalidArgumentException("the argument $before$name of a feed is no text and no number");
            }
        }
        return $fields;
    }

    /**
     * A redirect is not followed: it would make a GET of the POST.
     * @param list<string> $headers
     * @return array{int, mixed, bool}  status, the JSON of the body, and whether its rows are a first view
     */
    private static function post(string $url, array $form, float $timeout, array $headers = []): array
    {
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => [...$headers, 'Content-Type: application/x-www-form-urlencoded', 'Connection: close'],
            'content' => http_build_query($form),
            'timeout' => $timeout,
            'follow_location' => 0,
            'ignore_errors' => true,
        ]]);
        $body = @file_get_contents($url, false, $context);
        if ($body === false || !preg_match('#^HTTP/\S+ (\d{3})#', $http_response_header[0] ?? '', $found)) {
            throw new RuntimeException("$url did not answer: " . (error_get_last()['message'] ?? 'no status'));
        }
        $first = !preg_grep('/^Vault-Rows: *new$/i', $http_response_header);
        return [(int)$found[1], json_decode($body, true, 512, JSON_BIGINT_AS_STRING), $first];
    }
}
