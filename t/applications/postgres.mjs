/* SPDX-License-Identifier: Apache-2.0 */
/* A PostgreSQL of a test's own, on a socket in the test's folder, without a port. It does not run as root. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { program, until } from './server.mjs';

const VERSIONS = '/usr/lib/postgresql';

/** Debian keeps the programs of each version in a folder of its own. */
export function serverProgram(name) {
  const newest = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => b - a) : [];
  return newest.map((version) => `${VERSIONS}/${version}/bin/${name}`).find((path) => existsSync(path)) ?? program(name);
}

/** Whom it runs as, as a beginning of a command. */
const AS = process.getuid() === 0 ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] : [];

export class Postgres {
  constructor(place) {
    this.place = place;
    this.host = place.path('postgres');
  }

  /** Start it, with an empty database of this name, and a role of this name who owns it and has this password. */
  static async start(place, name, password) {
    const self = new Postgres(place);
    Object.assign(self, { name, password });
    mkdirSync(self.host);
    if (AS.length) await place.run('chown', ['nobody', self.host]);
    const as = (command, args) => [...AS, serverProgram(command), ...args];
    const [install, ...how] = as('initdb', ['-D', `${self.host}/data`, '-U', 'root', '--auth=trust', '-E', 'UTF8', '--no-locale', '--no-sync', '--no-instructions']);
    await place.run(install, how);
    writeFileSync(`${self.host}/data/pg_hba.conf`, 'local all root trust\nlocal all all scram-sha-256\n');
    const [postgres, ...args] = as('postgres', ['-D', `${self.host}/data`, '-k', self.host, '-c', 'listen_addresses=', '-F']);
    const child = place.start('postgres', postgres, args);
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${place.log('postgres')}`);
      return self.does('SELECT 1', { database: 'postgres', user: 'root' }).then(() => true, () => false);
    }, 'PostgreSQL answers');
    await self.does(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`, { database: 'postgres', user: 'root' });
    await self.does(`CREATE DATABASE ${name} OWNER ${name}`, { database: 'postgres', user: 'root' });
    return self;
  }

  /** What psql is told by a person or a script. @return the rows, each a line */
  does(sql, { database = this.name, user = this.name } = {}) {
    return this.place.run(program('psql'), ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h', this.host, '-U', user, '-d', database],
      { input: sql, env: { ...process.env, PGPASSWORD: this.password } });
  }
}
