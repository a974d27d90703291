import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type OstiaryOptions } from '@ostiary/core';
import { settings } from '../processes/control.ts';
import { users } from './directory.ts';

/** Arguments of a process that runs Ostiary. */
export interface HostSettings {
  /** Port on which the process listens, and which its `authUrl` names. */
  readonly port: number;
  readonly sealingKey: string;
  /** Path of the SQLite file. */
  readonly file: string;
  /** URL of a PostgreSQL database; `null` to use the SQLite file. */
  readonly database: string | null;
}

function indexed(key: 'sub' | 'kid') {
  const byKey = new Map<string, (typeof users)[number]>(users.map((user) => [user[key], user]));
  return (value: string) => byKey.get(value) ?? null;
}

/** Opens Ostiary in a measured process, on the database that the benchmark chose. */
export async function openHost(more: Partial<OstiaryOptions> = {}) {
  const { port, sealingKey, file, database } = settings<HostSettings>();
  const storage =
    database === null ? sqliteStorage({ file }) : postgresStorage({ connectionString: database });
  const authUrl = `http://127.0.0.1:${port}`;
  const ostiary = await createOstiary({
    ...{ authUrl, storage, sealingKeys: [sealingKey] },
    // In memory, so that the measurement does not include look-ups of users.
    users: { find: indexed('sub'), findByKid: indexed('kid'), findByPhone: () => null },
    login: { authenticate: () => null, loginUrl: () => '/login' },
    ...more,
  });
  return { ostiary, storage, port, authUrl };
}
