<?php
/**
 * Plugin Name: Vault Live
 * Description: Comments and blocks that change in every open browser when they change on the server, by mod_vault, a module of Apache httpd.
 * Version: 1.0.0
 * Requires at least: 6.1
 * Requires PHP: 7.4
 * License: Apache-2.0
 * License URI: https://www.apache.org/licenses/LICENSE-2.0
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A page has regions: its comments, and what live blocks and shortcodes enclose. Its long-poll method is the page's own URL with
 * vault-live=1. The method renders the page again, as the same theme does for the same visitor, and answers the regions whose HTML has
 * another hash than the page has. live.js merges them into the page.
 */

namespace Vault\Live;

defined('ABSPATH') || exit;

const QUERY = 'vault-live';

require __DIR__ . '/class-view.php';
require __DIR__ . '/notify.php';

// ---------------------------------------------------------------- interests: names of what may change

/** Any post, page or other content that visitors can see. As vaultctl watch calls a table's changes. */
function posts(): string
{
    return "DB-{$GLOBALS['wpdb']->posts}";
}

/** One of them. As vaultctl watch calls the changes of a row. */
function post(int $id): string
{
    return posts() . "-$id";
}

/** Any comment. */
function comments(): string
{
    return "DB-{$GLOBALS['wpdb']->comments}";
}

/** The comments of one post. vaultctl watch knows no such name. */
function comments_of(int $id): string
{
    return comments() . "-post-$id";
}

/** What the attribute "on" of a block or shortcode names: "posts", "comments", or names that code of the site notifies. */
function named(string $on): array
{
    $ours = ['posts' => posts(), 'comments' => comments()];
    return array_map(fn($name) => $ours[$name] ?? $name, preg_split('/[\s,]+/', $on, -1, PREG_SPLIT_NO_EMPTY) ?: [posts()]);
}

// ---------------------------------------------------------------- regions

/** The comments of a post, in whatever way the theme renders them. */
function comments_region(string $html, int $post): string
{
    if (!$post || !(comments_open($post) || get_comments_number($post))) {
        return $html;
    }
    // vaultctl watch tells of the table: only then does a page wake for the comments of other posts as well.
    $watched = defined('VAULT_LIVE_WATCHED') && VAULT_LIVE_WATCHED ? [comments()] : [];
    return View::region("comments-$post", $html, [comments_of($post), post($post), ...$watched]);
}

/** A block theme renders this block. */
function comments_block(string $html, array $block, \WP_Block $instance): string
{
    return comments_region($html, (int)($instance->context['postId'] ?? get_the_ID()));
}
add_filter('render_block_core/comments', __NAMESPACE__ . '\comments_block', PHP_INT_MAX, 3);
add_filter('render_block_core/post-comments', __NAMESPACE__ . '\comments_block', PHP_INT_MAX, 3);

/** Other themes include a template: theirs, their parent's, or that of WordPress. comments.php includes it in the place of WordPress. */
function comments_template(string $template): string
{
    $files = [$template, str_replace(STYLESHEETPATH, TEMPLATEPATH, $template), ABSPATH . WPINC . '/theme-compat/comments.php'];
    View::$comments_template = current(array_filter($files, 'file_exists'));
    return __DIR__ . '/comments.php';
}
add_filter('comments_template', __NAMESPACE__ . '\comments_template', PHP_INT_MAX);

/** WordPress lets comments of HTML through in what visitors write. None of them may be taken for a mark of a region. */
function comment_text($text): string
{
    return str_replace(['<!--vault-live', '<!--/vault-live'], '<!-- vault-live', (string)$text);
}
add_filter('comment_text', __NAMESPACE__ . '\comment_text', PHP_INT_MAX);

/** WordPress takes one of three hosts at random for the avatar of an author without an address: the same HTML would have another hash each time. */
function avatar_url(string $url): string
{
    return preg_replace('~//[0-2]\.gravatar\.com/~', '//0.gravatar.com/', $url);
}
add_filter('get_avatar_url', __NAMESPACE__ . '\avatar_url');

/** The block vault/live and the shortcode [vault_live on="posts"]…[/vault_live] */
function live($attributes, $content): string
{
    static $number = 0;
    $number++;
    return View::region("live-$number", do_shortcode((string)$content), named((string)($attributes['on'] ?? '')));
}

add_action('init', function () {
    wp_register_script('vault-live', plugins_url('live.js', __FILE__), [], '1.0.0', true);
    wp_register_script('vault-live-block', plugins_url('block.js', __FILE__), ['wp-blocks', 'wp-block-editor', 'wp-components', 'wp-element'], '1.0.0', true);
    register_block_type('vault/live', [
        'api_version' => 2,
        'title' => 'Live',
        'category' => 'widgets',
        'attributes' => ['on' => ['type' => 'string', 'default' => 'posts']],
        'editor_script' => 'vault-live-block',
        'render_callback' => __NAMESPACE__ . '\live',
    ]);
    add_shortcode('vault_live', __NAMESPACE__ . '\live');
});

View::load();
add_action('template_redirect', [View::class, 'begin'], -1000); // before redirect_canonical
