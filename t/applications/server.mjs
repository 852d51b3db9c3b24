/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of applications share: a folder, the programs that run in it, and an httpd with mod_vault in front of them.
 *
 *   const place = await Place.make('wordpress');
 *   await place.run('cp', ['-r', from, place.path('site')]);          // to its end
 *   place.start('mariadbd', [...]);                                    // until place.stop()
 *   await place.httpd({ modules: ['rewrite'], config: vhost });
 *   const troubles = await place.stop();                               // what httpd's error log says, line by line
 *
 * Environment: VAULT_BUILD, the folder that mod_vault was built in; VAULT_ARTIFACTS, a folder in which the logs of all programs are kept;
 * VAULT_KEEP, when it is set the folder stays.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BUILD = process.env.VAULT_BUILD;
export const TOP = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** How long a program may take to be ready. */
const PATIENCE = 60_000;

/** What the configuration of the build says: HTTPD, APACHE_LIBEXECDIR. */
function built(name) {
  const found = readFileSync(`${BUILD}/Makefile`, 'utf8').match(new RegExp(`^${name} = (.*)$`, 'm'));
  if (!found) throw new Error(`${BUILD}/Makefile does not say ${name}`);
  return found[1];
}

/** Ask until there is an answer: programs do not say when they are ready. */
export async function until(fact, what) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const answer = await fact();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`${what}: not within ${PATIENCE / 1000} s`);
    await new Promise((next) => setTimeout(next, 50));
  }
}

export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Where a program is, or undefined. `name` may be a pattern with one asterisk: the last one that fits. */
export function program(name) {
  const pattern = new RegExp(`^${name.replace(/[.+]/g, '\\$&').replace('*', '[0-9.]*')}$`);
  for (const folder of [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/usr/sbin', '/usr/local/sbin']) {
    if (!existsSync(folder)) continue;
    const found = readdirSync(folder).filter((each) => pattern.test(each)).sort().pop();
    if (found) return join(folder, found);
  }
  return undefined;
}

export class Place {
  #name;
  #started = [];
  #port;

  /** The path is short: those of sockets have a limit. */
  static async make(name) {
    const place = new Place();
    place.#name = name;
    place.folder = await mkdtemp(join(tmpdir(), `vault-${name}-`));
    chmodSync(place.folder, 0o755);
    mkdirSync(place.path('logs'));
    return place;
  }

  path(...names) {
    return join(this.folder, ...names);
  }

  write(name, text) {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /** Run a program to its end. It must succeed. @return what it said */
  async run(command, args, { input, ...options } = {}) {
    const child = spawn(command, args, { cwd: this.folder, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], ...options });
    const said = { out: '', err: '' };
    child.stdout.on('data', (data) => { said.out += data; });
    child.stderr.on('data', (data) => { said.err += data; });
    child.stdin?.on('error', () => {}); // it ended before it had read all: its code says so
    child.stdin?.end(input);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said.out}${said.err}`);
    return said.out;
  }

  /** Start a program that runs until the end. What it says goes to logs/NAME.log. */
  start(name, command, args, options = {}) {
    const log = createWriteStream(this.path('logs', `${name}.log`), { flags: 'a' });
    const child = spawn(command, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.ended = once(child, 'exit');
    this.#started.push(child);
    process.once('exit', () => child.exitCode ?? child.kill('SIGKILL')); // where a test died before it could stop them
    return child;
  }

  log(name) {
    const file = this.path('logs', `${name}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  // -------------------------------------------------------------- httpd

  async port() {
    this.#port ??= await freePort();
    return this.#port;
  }

  /** vault.conf as `make install` would install it, with the paths of the build. */
  #vaultConf() {
    mkdirSync(this.path('share'), { recursive: true });
    writeFileSync(this.path('share', 'vault.js'), readFileSync(`${BUILD}/client/vault.js`));
    const text = readFileSync(`${BUILD}/conf/vault.conf`, 'utf8');
    const share = text.match(/Alias "\/vault\/vault\.js" "(.*)\/vault\.js"/)[1];
    const modules = text.match(/LoadModule vault_module "(.*)\/mod_vault\.so"/)[1];
    return this.write('vault.conf', text.replaceAll(share, this.path('share')).replaceAll(`${modules}/mod_vault.so`, `${BUILD}/.libs/mod_vault.so`));
  }

  /** Start httpd with vault.conf and this configuration, on port(). @return its process */
  async httpd({ modules = [], config }) {
    const usual = ['mpm_event', 'unixd', 'authz_core', 'authz_host', 'mime', 'dir', 'alias', 'headers', 'filter', 'setenvif', 'env'];
    const folder = built('APACHE_LIBEXECDIR');
    const load = [...usual, ...modules].map((name) => `<IfModule !${name}_module>\n    LoadModule ${name}_module "${folder}/mod_${name}.so"\n</IfModule>\n`);
    const user = process.getuid() === 0 ? 'User nobody\nGroup nogroup\n' : '';
    const file = this.write('httpd.conf', `ServerRoot "${this.folder}"
ServerName localhost
Listen 127.0.0.1:${await this.port()}
PidFile "logs/httpd.pid"
DefaultRuntimeDir "${this.folder}"
ErrorLog "logs/error.log"
LogLevel warn vault:info
${load.join('')}${user}TypesConfig /dev/null
AddType text/html .html
AddType text/css .css
AddType text/javascript .js
<Directory />
    AllowOverride None
    Require all denied
</Directory>
StartServers 2
ThreadsPerChild 25
MaxRequestWorkers 50
ServerLimit 2
Include "${this.#vaultConf()}"
MaxSpareThreads 50
${config}
`);
    const child = this.start('httpd', built('HTTPD'), ['-DFOREGROUND', '-d', this.folder, '-f', file]);
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`httpd did not start:\n${this.log('httpd')}${this.log('error')}`);
      return fetch(`${this.url}vault/status?auto`).then((answer) => answer.ok, () => false);
    }, 'httpd answers');
    return child;
  }

  get url() {
    return `http://localhost:${this.#port}/`;
  }

  /** The counters of mod_vault. */
  async status() {
    return (await fetch(`${this.url}vault/status?json`)).json();
  }

  // -------------------------------------------------------------- the end

  /** Connections to httpd that a client has closed and httpd has not (state 08, CLOSE_WAIT). */
  #hasConnectionsToClose() {
    const port = `:${this.#port?.toString(16).toUpperCase().padStart(4, '0')}`;
    const lines = ['/proc/net/tcp', '/proc/net/tcp6'].filter(existsSync).flatMap((table) => readFileSync(table, 'utf8').split('\n'));
    return lines.map((line) => line.trim().split(/\s+/)).some((columns) => columns[1]?.endsWith(port) && columns[3] === '08');
  }

  /** The browser has gone. A child of httpd 2.4.71 that is told to end while it closes connections may die of that (t/lib/VaultTest/Server.pm). */
  async #waitForClosing() {
    for (let tries = 50; this.#hasConnectionsToClose() && tries > 0; tries--) await new Promise((next) => setTimeout(next, 100));
    await this.status().catch(() => null); // what was begun before this answer is done, mostly
  }

  /** End all programs, the last one first, and remove the folder unless VAULT_KEEP is set. @return what the error log says that is wrong */
  async stop() {
    await this.#waitForClosing();
    for (const child of this.#started.reverse()) {
      if (child.exitCode === null) child.kill('SIGTERM');
      await child.ended;
    }
    const wrong = /exit signal|VLT00004:|Sanitizer|runtime error:|[Aa]ssertion|^\[[^\]]*\] \[[^\]:]*:(emerg|alert|crit|error|warn)\]|^[^[]/;
    const usual = /AH(00484|10159):|\(9\)Bad file descriptor: .*AH(10503|03092|03093):/; // the MPM is busy; a worker was late when the end came
    const troubles = this.log('error').split('\n').filter((line) => wrong.test(line) && !usual.test(line));
    if (process.env.VAULT_ARTIFACTS) await cp(this.path('logs'), join(process.env.VAULT_ARTIFACTS, `${this.#name}-logs`), { recursive: true });
    if (process.env.VAULT_KEEP) console.log(`# kept: ${this.folder}`);
    else await rm(this.folder, { recursive: true, force: true });
    return troubles;
  }
}

/** The whole virtual host of a section of docs/applications.md: its first block of httpd's configuration. `change`: [from, to], each of which must be there. */
export function documented(section, ...changes) {
  const text = readFileSync(`${TOP}/docs/applications.md`, 'utf8').split(/^## /m).find((part) => part.startsWith(`${section}\n`));
  const block = text?.match(/^```apache\n(.*?)^```$/ms)?.[1];
  if (!block) throw new Error(`docs/applications.md has no configuration for ${section}`);
  return changes.reduce((config, [from, to]) => {
    if (!config.includes(from)) throw new Error(`the configuration for ${section} does not have ${from}`);
    return config.replaceAll(from, to);
  }, block);
}
