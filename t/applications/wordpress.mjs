/* SPDX-License-Identifier: Apache-2.0 */
/* Debian's WordPress with the plug-in, as docs/applications.md has it: httpd, PHP-FPM, MariaDB.
 *
 * Environment: VAULT_WORDPRESS, the folder with WordPress's files (/usr/share/wordpress); they are copied.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { MariaDb } from './mariadb.mjs';
import { BUILD, Place, TOP, documented, program, until } from './server.mjs';

const FILES = process.env.VAULT_WORDPRESS ?? '/usr/share/wordpress';
export const PASSWORD = 'correct horse battery staple';

const CONFIG = (blog) => `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'wordpress');
define('DB_PASSWORD', 'secret');
define('DB_HOST', 'localhost:${blog.db.socket}');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_ACCESSIBLE_HOSTS', 'localhost');
define('DISABLE_WP_CRON', true);
define('VAULT_LIVE_WATCHED', file_exists(__DIR__ . '/watched'));
define('VAULT_LIVE_NOTIFY_URL', '${blog.url}vault/notify');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {
    define($name . '_KEY', $name . 'key');
    define($name . '_SALT', $name . 'salt');
}
$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;

/** What the installer in the browser does, and what an administrator sets: the theme, the plug-in, pretty permalinks (with WordPress's own .htaccess). */
const INSTALL = (blog) => `
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('A blog', 'admin', 'admin@example.org', true, '', '${PASSWORD}');
update_option('siteurl', '${blog.url.slice(0, -1)}');
update_option('home', '${blog.url.slice(0, -1)}');
`;
const SET_UP = `
require_once ABSPATH . 'wp-admin/includes/admin.php';
$error = activate_plugin('vault-live/vault-live.php');
is_wp_error($error) && exit($error->get_error_message());
$wp_rewrite->set_permalink_structure('/%year%/%monthnum%/%postname%/');
$is_apache = true;
flush_rewrite_rules(true);
`;

/** The site's own code: a plug-in for caching notes what it would keep, by the URL that the request has in the end, visitors may comment as fast as a test does; a shortcode shows what no table of posts has; pages can break off, or
 * write when they are rendered. */
const SITE = `<?php
add_filter('comment_flood_filter', '__return_false', 20);
add_action('comment_form_before', fn() => get_option('fragile') && exit);
add_action('wp_footer', fn() => get_option('counting') && wp_update_post(['ID' => get_queried_object_id(), 'menu_order' => wp_rand()]));
PHP_SAPI === 'cli' || ob_start(function ($html) {
    defined('DONOTCACHEPAGE') || file_put_contents(__DIR__ . '/../kept', $_SERVER['REQUEST_URI'] . "\\n", FILE_APPEND);
    return $html;
});
add_shortcode('stock', fn() => get_option('stock', 'many'));
`;

/** Why it cannot run here, or false. */
export function missing() {
  const programs = ['php', 'php-fpm*', 'mariadbd', 'mariadb-install-db', 'mariadb'].filter((name) => !program(name));
  if (!existsSync(`${FILES}/wp-load.php`)) programs.push(`WordPress in ${FILES}`);
  return programs.length ? `not there: ${programs.join(', ')}` : false;
}

export class Blog {
  static async start() {
    const blog = new Blog();
    blog.place = await Place.make('wordpress');
    await blog.place.port();
    blog.db = await MariaDb.start(blog.place);
    await blog.db.make('wordpress', 'secret');
    await blog.#install();
    await blog.#fpm();
    await blog.place.httpd({ modules: ['rewrite', 'proxy', 'proxy_fcgi'], config: blog.#vhost() });
    return blog;
  }

  get url() {
    return this.place.url;
  }

  /** A URL of the blog. */
  at(path) {
    return new URL(path, this.url).href;
  }

  async #install() {
    const site = this.place.path('site');
    await this.place.run('cp', ['-rL', FILES, site]);
    await this.place.run('rm', ['-f', `${site}/.htaccess`]);
    await this.place.run('cp', ['-r', `${TOP}/integrations/wordpress`, `${site}/wp-content/plugins/vault-live`]);
    this.place.write('site/wp-config.php', CONFIG(this));
    mkdirSync(`${site}/wp-content/mu-plugins`);
    this.place.write('site/wp-content/mu-plugins/site.php', SITE);
    await this.php(INSTALL(this), "define('WP_INSTALLING', true);");
    await this.php(SET_UP);
    if (!existsSync(`${site}/.htaccess`)) throw new Error('WordPress has not written its .htaccess');
    if (process.getuid() === 0) await this.place.run('chown', ['-R', 'nobody', site]);
  }

  /** From here on MariaDB records all changes of posts and comments, by any program. */
  async watch() {
    await this.place.run(`${BUILD}/vaultctl/vaultctl`, ['watch', '-y', ...this.#feed().split(' '), 'wp_comments', 'wp_posts']);
    this.place.write('site/watched', '');
  }

  /** A program beside httpd that is part of WordPress, as WP-CLI is. @return what it prints */
  async php(code, first = '') {
    return this.place.run(program('php'), [], { cwd: this.place.path('site'),
      input: `<?php
$_SERVER += ['HTTP_HOST' => '${new URL(this.url).host}', 'REQUEST_URI' => '/', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'SERVER_SOFTWARE' => 'Apache', 'REQUEST_METHOD' => 'GET'];
${first}
require '${this.place.path('site')}/wp-load.php';
${code}` });
  }

  async #fpm() {
    const socket = this.place.path('php.sock');
    const user = process.getuid() === 0 ? 'user = nobody\ngroup = nogroup\nlisten.owner = nobody\n' : '';
    const file = this.place.write('fpm.conf', `[global]
daemonize = no
error_log = ${this.place.path('logs/fpm-own.log')}
[www]
listen = ${socket}
${user}pm = static
pm.max_children = 6
catch_workers_output = yes
php_admin_value[sendmail_path] = /bin/true
`);
    this.place.start('fpm', program('php-fpm*'), ['-F', '-y', file]);
    await until(() => existsSync(socket), 'PHP-FPM listens');
  }

  #feed() {
    return `driver=mysql database=wordpress host=${this.db.socket} user=wordpress password=secret`;
  }

  #vhost() {
    const port = new URL(this.url).port;
    return documented('WordPress',
      ['/usr/local/lib/mod_vault/feeds/', `${BUILD}/.libs/`],
      ['host=/run/mysqld/mysqld.sock user=wordpress password-file=/etc/mod_vault/wordpress.password', this.#feed().replace(/.*(host=)/, '$1')],
      ['*:80', `127.0.0.1:${port}`], ['www.example.org', 'localhost'],
      ['/var/lib/wordpress/wp-content', this.place.path('site/wp-content')], ['/usr/share/wordpress', this.place.path('site')], ['/run/php/php8.2-fpm.sock', this.place.path('php.sock')]);
  }

  stop() {
    return this.place.stop();
  }
}
