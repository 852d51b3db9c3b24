<?php
/**
 * SPDX-License-Identifier: Apache-2.0
 *
 * One rendering of a page: for a browser that loads it, or for the page's method, which answers what has changed.
 */

namespace Vault\Live;

defined('ABSPATH') || exit;

final class View
{
    public static string $comments_template = ''; // the theme's

    private static ?array $page = null; // the page is rendered for its method: what the browser has; see state()
    private static bool $begun = false;
    private static array $regions = []; // name => HTML
    private static array $interests = [];

    /** Is this the request of a method? Then it becomes one for the page: themes write its URL into what they render. Before anybody reads it. */
    public static function load(): void
    {
        // httpd takes this header out of what browsers send: a browser that asks for the method's URL gets the page.
        if (!isset($_GET[QUERY], $_SERVER['HTTP_VAULT_PAGE'])) {
            return;
        }
        defined('DONOTCACHEPAGE') || define('DONOTCACHEPAGE', true); // the answer is not the page whose URL the request has from here on
        unset($_GET[QUERY], $_REQUEST[QUERY]);
        $_SERVER['REQUEST_URI'] = preg_replace('/[?&]' . QUERY . '=1$/', '', $_SERVER['REQUEST_URI']);
        $_SERVER['QUERY_STRING'] = preg_replace('/(^|&)' . QUERY . '=1$/', '', $_SERVER['QUERY_STRING'] ?? '');
        $state = rawurldecode($_SERVER['HTTP_VAULT_PROPERTY_LIVE'] ?? ''); // WordPress adds slashes later
        self::$page = (array)json_decode($state, true) + ['user' => 0, 'on' => [], 'regions' => []];
    }

    public static function is_method(): bool
    {
        return self::$page !== null;
    }

    /** Before the template is chosen. */
    public static function begin(): void
    {
        if (($_SERVER['REQUEST_METHOD'] ?? '') !== 'GET' || is_feed() || is_embed() || is_robots() || is_favicon() || is_preview() || is_customize_preview()) {
            return;
        }
        if (self::$page) {
            self::begin_method();
        } elseif (isset($_SERVER['HTTP_VAULT_NEW_PAGE'])) { // VaultLongPoll is on here
            self::$begun = true;
            ob_start([self::class, 'end_page']);
        }
    }

    private static function begin_method(): void
    {
        if (self::$page['user'] && self::$page['user'] !== get_current_user_id()) {
            status_header(403); // signed out, or in as somebody else
            exit;
        }
        self::$begun = true;
        ob_start([self::class, 'end_method']);
    }

    /** Note a part of the page. @return the part with marks at which live.js finds it */
    public static function region(string $name, string $html, array $interests): string
    {
        if (!self::$begun || strpos($html, "<!--vault-live $name-->") !== false) {
            return $html; // a comments block has been rendered by the theme's template
        }
        wp_enqueue_script('vault-live');
        self::$regions[$name] = $html;
        self::$interests = array_merge(self::$interests, $interests);
        return "<!--vault-live $name-->$html<!--/vault-live $name-->";
    }

    /** What the page keeps at the server: who sees it, its interests, and a hash of each region. */
    private static function state(int $user, array $on, array $regions): string
    {
        return 'Vault-Property: live=' . rawurlencode(wp_json_encode(['user' => $user, 'on' => $on, 'regions' => $regions]));
    }

    private static function hashes(): array
    {
        return array_map(fn($html) => substr(md5($html), 0, 16), self::$regions);
    }

    /** The whole page has been rendered, and none of it been sent. */
    public static function end_page(string $html): string
    {
        $path = wp_unslash($_SERVER['REQUEST_URI']);
        if (!self::$regions || headers_sent()) {
            return $html;
        }
        defined('DONOTCACHEPAGE') || define('DONOTCACHEPAGE', true); // plugins that keep pages heed it
        header('Vault-Poll: ' . str_replace(',', '%2C', $path . (strpos($path, '?') === false ? '?' : '&') . QUERY . '=1'), false);
        header(self::state(get_current_user_id(), array_values(array_unique(self::$interests)), self::hashes()), false);
        return $html;
    }

    /** The page has been rendered for its method. */
    public static function end_method(string $html, int $phase): string
    {
        if (!($phase & PHP_OUTPUT_HANDLER_FINAL)) {
            return '';
        }
        if (!did_action('wp_footer')) { // the theme did not come to its end: nothing can be said of what is missing
            http_response_code() >= 300 || status_header(500); // not http_response_code(500): WordPress has said the line of the status
            return '';
        }
        $had = self::$page['regions'];
        // What is not there any more (the post is private, or in the trash) is empty. What the page has no marks for cannot be put into it.
        $has = array_intersect_key(self::hashes(), $had) + array_fill_keys(array_keys($had), '');
        $on = array_values(array_unique(array_merge(self::$page['on'], self::$interests)));
        status_header(200);
        header('Content-Type: application/json');
        foreach ($on as $interest) {
            header('Vault-Interest: ' . rawurlencode($interest), false);
        }
        header(self::state(self::$page['user'], $on, $has), false);
        $changed = array_diff_assoc($has, $had);
        foreach ($changed as $name => $hash) {
            $changed[$name] = self::$regions[$name] ?? '';
        }
        return $changed ? wp_json_encode($changed) : '';
    }
}
