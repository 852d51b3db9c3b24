/* SPDX-License-Identifier: Apache-2.0 */
/* A MariaDB of a test's own, on a socket in the test's folder. */
import { existsSync } from 'node:fs';
import { program, until } from './server.mjs';

export class MariaDb {
  constructor(place) {
    this.place = place;
    this.socket = place.path('mariadb.sock');
  }

  static async start(place) {
    const self = new MariaDb(place);
    const user = process.getuid() === 0 ? ['--user=nobody'] : [];
    if (user.length) await place.run('chown', ['nobody', place.folder]);
    await place.run(program('mariadb-install-db'), ['--no-defaults', `--datadir=${place.path('data')}`, '--auth-root-authentication-method=normal',
      '--skip-test-db', '--skip-name-resolve', ...user]);
    const child = place.start('mariadb', program('mariadbd'), ['--no-defaults', `--datadir=${place.path('data')}`, `--tmpdir=${place.path('data')}`,
      `--socket=${self.socket}`, '--skip-networking', `--pid-file=${place.path('mariadb.pid')}`, '--innodb-flush-log-at-trx-commit=2',
      '--innodb-buffer-pool-size=32M', '--innodb-log-file-size=8M', '--skip-log-bin', '--character-set-server=utf8mb4', ...user]);
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`MariaDB did not start:\n${place.log('mariadb')}`);
      return existsSync(self.socket) && self.does('SELECT 1', { database: 'mysql' }).then(() => true, () => false);
    }, 'MariaDB answers');
    return self;
  }

  /** What the client mariadb is told by a person or a script. @return the rows, each a line */
  async does(sql, { database = this.database, user = 'root' } = {}) {
    return this.place.run(program('mariadb'), ['--no-defaults', '--batch', '--skip-column-names', '--default-character-set=utf8mb4',
      `--socket=${this.socket}`, `--user=${user}`, database], { input: sql });
  }

  /** A database, and a user of that name and this password who may do everything in it. */
  async make(database, password) {
    await this.does(`CREATE DATABASE ${database} CHARACTER SET utf8mb4; CREATE USER ${database}@localhost IDENTIFIED BY '${password}';
      GRANT ALL ON ${database}.* TO ${database}@localhost;`, { database: 'mysql' });
    this.database = database;
  }
}
