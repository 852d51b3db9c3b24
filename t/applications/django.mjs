/* SPDX-License-Identifier: Apache-2.0 */
/* A small site with Debian's Django and its administration, as docs/applications.md has it: httpd, waitress, PostgreSQL. The site is in django/. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import net from 'node:net';
import { Postgres } from './postgres.mjs';
import { BUILD, Place, TOP, documented, freePort, until } from './server.mjs';

/* Debian's, whatever other Python there is. */
export const PYTHON = '/usr/bin/python3';
export const PACKAGE = `${TOP}/integrations/django-vault`;
export const PASSWORD = 'correct horse battery staple';

/** What is missing to run it, or false. */
export function missing() {
  try {
    execFileSync(PYTHON, ['-c', 'import django, psycopg2, waitress'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'Django, psycopg2 or waitress is not there';
  }
}

export class DjangoSite {
  static async start() {
    const site = new DjangoSite();
    site.place = await Place.make('django');
    site.port = await site.place.port();
    site.backend = await freePort();
    site.db = await Postgres.start(site.place, 'mysite', PASSWORD);
    await site.place.run('cp', ['-r', `${TOP}/t/applications/django`, site.place.path('mysite')]);
    const key = randomBytes(32).toString('hex');
    site.key = site.place.write('vault.key', `${key}\n`);
    chmodSync(site.key, 0o600);
    site.environment = {
      ...process.env, PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: '1', SITE_SECRET: 'of the test', SITE_DATABASE_HOST: site.db.host, PGPASSWORD: PASSWORD,
      SITE_STATIC: site.place.path('static'), SITE_VAULT_URL: `http://127.0.0.1:${site.port}/vault`, DJANGO_SUPERUSER_PASSWORD: PASSWORD,
      SITE_VAULT_KEY: key,
    };
    await site.manage('migrate', '-v0', '--run-syncdb');
    await Promise.all([
      site.manage('createsuperuser', '--noinput', '--username=admin', '--email=admin@example.org'),
      site.manage('collectstatic', '-v0', '--noinput'),
      site.#waitress(),
      site.place.httpd({ modules: ['proxy', 'proxy_http'], config: site.#vhost() }),
    ]);
    return site;
  }

  /** manage.py COMMAND …, as a person or a cron job runs it. */
  manage(...words) {
    return this.place.run(PYTHON, ['manage.py', ...words], { cwd: this.place.path('mysite'), env: this.environment });
  }

  /** A URL of the site. */
  at(path) {
    return new URL(path, this.place.url).href;
  }

  /** From here on the database records what happens to these tables. */
  watch(...tables) {
    return this.place.run(`${BUILD}/vaultctl/vaultctl`, ['watch', '-y', '-f', this.place.path('httpd.conf'), ...tables]);
  }

  /** What vaultctl finds; it fails where something is to be changed. */
  doctor(path) {
    return this.place.run(`${BUILD}/vaultctl/vaultctl`, ['doctor', this.at(path)]);
  }

  async #waitress() {
    const child = this.place.start('waitress', PYTHON, ['-m', 'waitress', `--listen=127.0.0.1:${this.backend}`, '--threads=8', 'mysite.wsgi:application'],
      { cwd: this.place.path('mysite'), env: this.environment });
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`waitress did not start:\n${this.place.log('waitress')}`);
      const socket = net.connect(this.backend, '127.0.0.1');
      return once(socket, 'connect').then(() => { socket.destroy(); return true; }, () => false);
    }, 'waitress listens');
  }

  #vhost() {
    const password = this.place.write('mysite.password', `${PASSWORD}\n`);
    chmodSync(password, 0o600);
    return documented('Django',
      ['/usr/local/lib/mod_vault/feeds/', `${BUILD}/.libs/`], ['/run/postgresql', this.db.host], ['/etc/mod_vault/mysite.password', password], ['/etc/mod_vault/mysite.key', this.key],
      ['*:80', `127.0.0.1:${this.port}`], ['www.example.org', 'localhost'],
      ['127.0.0.1:8000', `127.0.0.1:${this.backend}`], ['/srv/mysite/static', this.place.path('static')]);
  }

  stop() {
    return this.place.stop();
  }
}
