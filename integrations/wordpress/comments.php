<?php
/**
 * SPDX-License-Identifier: Apache-2.0
 *
 * In the place of the theme's template of comments, which it includes: with the same variables, those of comments_template().
 */

defined('ABSPATH') || exit;

ob_start();
require Vault\Live\View::$comments_template;
echo Vault\Live\comments_region(ob_get_clean(), (int)get_the_ID());
