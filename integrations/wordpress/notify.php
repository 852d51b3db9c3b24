<?php
/**
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tells mod_vault what has changed, after it has been written: by a header of the answer or, where there is no answer of httpd (WP-CLI, and
 * wp-cron, which has given its answer), by a request to VAULT_LIVE_NOTIFY_URL.
 */

namespace Vault\Live;

defined('ABSPATH') || exit;

/** Pages that wait for one of these interests are rendered again. For code of the site as well: Vault\Live\notify('shop-stock'). */
function notify(string ...$interests): void
{
    static $posted = [];
    if (View::is_method()) {
        return; // a plug-in that counts views, say: httpd refuses a method that notifies what its page waits for
    }
    foreach ($interests as $interest) {
        $line = 'Vault-Notify: ' . rawurlencode($interest);
        if (PHP_SAPI !== 'cli' && !headers_sent()) {
            in_array($line, headers_list(), true) || header($line, false);
        } elseif (defined('VAULT_LIVE_NOTIFY_URL') && !isset($posted[$interest])) {
            $posted[$interest] = true;
            // At the end: until then the same may change again.
            add_action('shutdown', function () use (&$posted, $interest) {
                unset($posted[$interest]);
                $answer = wp_remote_post(VAULT_LIVE_NOTIFY_URL, ['timeout' => 5, 'redirection' => 0, 'body' => ['interest' => $interest]]);
                $status = wp_remote_retrieve_response_code($answer);
                if ($status !== 200 && $status !== 202) {
                    error_log("Vault Live: $interest was not notified by " . VAULT_LIVE_NOTIFY_URL . ': ' . (is_wp_error($answer) ? $answer->get_error_message() : $status));
                }
            });
        }
    }
}

function comment_changed($comment): void
{
    $comment = get_comment($comment);
    if ($comment) {
        notify(comments(), comments_of((int)$comment->comment_post_ID));
    }
}

// A comment that waits for approval, or is spam, is shown to nobody but its author, who loads the page again: so it wakes no pages.
add_action('wp_insert_comment', function ($id, $comment) {
    $comment->comment_approved === '1' && comment_changed($comment);
}, PHP_INT_MAX, 2);
add_action('wp_set_comment_status', __NAMESPACE__ . '\comment_changed', PHP_INT_MAX);
add_action('edit_comment', __NAMESPACE__ . '\comment_changed', PHP_INT_MAX);
add_action('deleted_comment', fn($id, $comment) => comment_changed($comment), PHP_INT_MAX, 2);

/** Drafts, revisions and what is not content are shown to nobody. */
function post_changed(\WP_Post $now, ?\WP_Post $before = null): void
{
    $shown = array_intersect(['publish', 'private'], [$now->post_status, $before->post_status ?? '']);
    if ($shown && is_post_type_viewable($now->post_type)) {
        notify(posts(), post($now->ID));
    }
}

// After terms and metadata as well.
add_action('wp_after_insert_post', fn($id, $post, $update, $before) => post_changed($post, $before), PHP_INT_MAX, 4);
add_action('deleted_post', fn($id, $post) => post_changed($post), PHP_INT_MAX, 2);
