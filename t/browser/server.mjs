/* SPDX-License-Identifier: Apache-2.0 */
/* An httpd for tests in a browser, over TLS: with a watched table whose pages are kept, or with a shop that has sessions and a login. The
 * tests restart it. Not both in one: mod_session has a filter in each response, so that none is kept. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUILD, Place, freePort, until } from '../applications/server.mjs';

const PASSWORD = 'correct horse battery staple';
const ROWS = '<!--#feed name="database" method="get_new_instances" table="notes" template="note.html" append="notes" -->';
const TURBO = fileURLToPath(new URL('node_modules/@hotwired/turbo/dist/turbo.es2017-umd.js', import.meta.url));

const page = (title, head, body) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>\n`;
const list = `<h1>Notes</h1><ul id="notes">${ROWS}</ul>`;

const FILES = {
  'note.html': '{{#rows}}<li>{{text}}</li>{{/rows}}',
  'new.shtml': ROWS,
  'kept.shtml': page('Notes', '<!--#vault poll="/new.shtml" -->', list),
  'turbo.shtml': page('Notes', '<!--#vault stream="/new.shtml" --><script src="/turbo.js"></script>',
    `<turbo-stream-source src="<!--#echo var="HTTP_VAULT_STREAM" -->"></turbo-stream-source>${list}`),
  'away.html': page('Elsewhere', '', '<h1>Elsewhere</h1>'),
  'shop/index.shtml': page('Shop', '<!--#vault poll="basket.shtml" --><script src="shop.js" defer></script>',
    '<h1>Basket</h1><p id="basket"><!--#vault session="basket" --></p><button name="apple">An apple</button> <button name="pear">A pear</button>'),
  'shop/basket.shtml': '<turbo-stream action="update" target="basket"><template><!--#vault session="basket" --></template></turbo-stream>',
  'shop/put.shtml': '<!--#vault session="basket" value="$QUERY_STRING" -->',
  'shop/shop.js': "for (const button of document.querySelectorAll('button')) button.onclick = () => fetch(`put.shtml?${button.name}`, { method: 'POST' });\n",
  'login.html': page('Login', '', `<form method="post" action="/login"><input name="httpd_username" value="anna">
    <input name="httpd_password" type="password"><button>Log in</button></form>`),
};

export class Server {
  /** @param shop  with the shop's configuration */
  static async start({ shop = false } = {}) {
    const server = new Server();
    server.shop = shop;
    server.place = await Place.make('browser');
    try {
      await server.#prepare();
      await server.#httpd();
    } catch (error) {
      await server.place.stop();
      throw error;
    }
    return server;
  }

  async #prepare() {
    const { place } = this;
    this.tls = await freePort();
    mkdirSync(place.path('site', 'shop'), { recursive: true });
    mkdirSync(place.path('data'));
    for (const [name, text] of Object.entries(FILES)) place.write(`site/${name}`, text);
    copyFileSync(TURBO, place.path('site', 'turbo.js'));
    place.write('users', `anna:{SHA}${createHash('sha1').update(PASSWORD).digest('base64')}\n`);
    place.write('notes.sql', 'create table notes (id integer primary key autoincrement, text text not null);');
    await place.run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
      '-subj', '/CN=localhost', '-keyout', 'key.pem', '-out', 'certificate.pem']);
    await place.run(`${BUILD}/vaultctl/vaultctl`, ['watch', '-y', `database=${place.path('data', 'notes.db')}`, `init=${place.path('notes.sql')}`, 'notes']);
    if (process.getuid() === 0) await place.run('chown', ['-R', 'nobody', place.path('data')]);
  }

  async #httpd() {
    this.httpd = await this.place.httpd({
      modules: ['include', 'ssl', ...this.shop ? ['auth_form', 'authn_core', 'authn_file', 'authz_user', 'request', 'session', 'session_cookie'] : []],
      config: this.#config(),
    });
  }

  #config() {
    const path = (...names) => this.place.path(...names);
    return `VaultFeed database "${BUILD}/.libs/vault_feed_database.so" database=${path('data', 'notes.db')} poll=100
Listen 127.0.0.1:${this.tls}
AddOutputFilter INCLUDES .shtml
AddType text/html .shtml
DirectoryIndex index.shtml
SSLSessionCache none
LogLevel ssl:error
DocumentRoot "${path('site')}"
<VirtualHost 127.0.0.1:${this.tls}>
    ServerName https://localhost:${this.tls}
    DocumentRoot "${path('site')}"
    SSLEngine on
    SSLCertificateFile "${path('certificate.pem')}"
    SSLCertificateKeyFile "${path('key.pem')}"
    <Directory "${path('site')}">
        Options +Includes
        Require all granted
        VaultLongPoll On
        VaultCache On
    </Directory>
${this.shop ? this.#shop() : ''}</VirtualHost>
`;
  }

  #shop() {
    return `    # A visitor who has logged in has a user, in the pages and in the polls.
    <LocationMatch "^/(login|shop/|vault/poll)">
        AuthType form
        AuthName shop
        AuthFormProvider file
        AuthUserFile "${this.place.path('users')}"
        AuthFormLoginRequiredLocation "/login.html"
        Session On
        SessionCookieName login path=/;HttpOnly;Secure
        VaultSession On
        VaultSessionCookie __Host-session
        <If "%{HTTP:Cookie} =~ /(^|; )login=/">
            Require valid-user
        </If>
    </LocationMatch>
    # A tab whose poll was faster than the cookie of a session shows the basket with its next poll (docs/sessions.md).
    <Location "/vault/poll">
        VaultStreamTimeout 3
    </Location>
    <Location "/login">
        SetHandler form-login-handler
        AuthFormLoginSuccessLocation "/shop/"
    </Location>
`;
  }

  at(path) {
    return `https://localhost:${this.tls}${path}`;
  }

  /** Another program writes rows into the watched table. */
  insert(...texts) {
    return this.place.run('sqlite3', ['-cmd', '.timeout 10000', this.place.path('data', 'notes.db'),
      ...texts.map((text) => `INSERT INTO notes (text) VALUES ('${text}');`)]);
  }

  /** The counters that `names` says. */
  async status(...names) {
    const status = await this.place.status();
    return names.map((name) => status[name]);
  }

  /** Until this many requests wait. */
  waiting(count) {
    return until(async () => (await this.place.status()).Waiting === count, `${count} polls wait`);
  }

  #configured() {
    return this.place.log('error').split('resuming normal operations').length;
  }

  /** SIGUSR1: graceful; SIGHUP: not. `meanwhile` runs while httpd restarts. */
  async restart(signal, meanwhile) {
    const before = this.#configured();
    this.httpd.kill(signal);
    await meanwhile();
    await until(() => this.#configured() > before, 'httpd has restarted');
  }

  /** `meanwhile` runs while there is no httpd. */
  async stopAndStart(meanwhile) {
    this.httpd.kill('SIGTERM');
    if (this.httpd.exitCode === null) await once(this.httpd, 'exit');
    await meanwhile();
    await this.#httpd();
  }

  /** The login form of the shop, in this page. */
  async logIn(page) {
    await page.goto(this.at('/login.html'));
    await page.fill('[name=httpd_password]', PASSWORD);
    await page.click('button');
    await page.waitForURL(this.at('/shop/'));
  }

  stop() {
    return this.place.stop();
  }
}
