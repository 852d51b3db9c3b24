<?php
// SPDX-License-Identifier: Apache-2.0
// A page of comments that is live, without a framework in it: plain.php, symfony.php and laravel.php route requests to it. A comment is
// a line of a file.
declare(strict_types=1);

use ModVault\Vault;

final class Comments
{
    public function __construct(private Vault $vault, private string $file)
    {
    }

    public function page(): string
    {
        $comments = $this->read();
        $count = $this->count($comments);
        $this->vault->poll('/news')->poll('/count')->set('shown', count($comments));
        $this->vault->changed('count', $count);
        return '<!doctype html><html><head><meta charset="utf-8"><title>Comments</title></head><body>'
            . "<p id=\"count\">$count</p><ul id=\"comments\">{$this->list($comments)}</ul>"
            . '<form method="post" action="/comments"><input name="text"><button>Send</button></form></body></html>';
    }

    /** A method with a cursor: what is new since the property "shown". */
    public function news(): string
    {
        $this->vault->interest('comments');
        $comments = $this->read();
        $new = array_slice($comments, (int)$this->vault->get('shown'));
        $this->vault->set('shown', count($comments));
        return $new ? Vault::append('comments', $this->list($new)) : '';
    }

    /** A method without a cursor: all of it, if the page shows anything else. */
    public function countNews(): string
    {
        $this->vault->interest('comments');
        $count = $this->count($this->read());
        return $this->vault->changed('count', $count) ? Vault::update('count', $count) : '';
    }

    public function add(string $text): void
    {
        file_put_contents($this->file, preg_replace('/\s+/', ' ', $text) . "\n", FILE_APPEND | LOCK_EX);
        $this->vault->notify('comments');
    }

    /** A request of the page's script, which sends X-Vault-Page: from here on the page counts what contains this word. */
    public function filter(string $word): void
    {
        $this->vault->set('word', $word);
    }

    /** @return list<string> */
    private function read(): array
    {
        return is_file($this->file) ? file($this->file, FILE_IGNORE_NEW_LINES) : [];
    }

    /** @param list<string> $comments */
    private function list(array $comments): string
    {
        return implode('', array_map(fn($text) => '<li>' . htmlspecialchars($text, ENT_SUBSTITUTE) . '</li>', $comments));
    }

    /** @param list<string> $comments */
    private function count(array $comments): string
    {
        $word = $this->vault->get('word') ?? '';
        $found = count(array_filter($comments, fn($text) => str_contains($text, $word)));
        return $word === '' ? "$found comments" : "$found comments with " . htmlspecialchars($word);
    }
}
