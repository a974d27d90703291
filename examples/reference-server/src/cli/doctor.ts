import { existsSync } from 'node:fs';
import { examine, type Finding } from '@ostiary/cli/doctor';
import type { ServerConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import type { Database } from '../database/database.ts';
import { forOperators, openDatabases } from '../database/open.ts';
import { examinedOf } from '../operations/nodes.ts';
import { configForCommands } from './find-installation.ts';

/** Names of the environment variables for the settings that the doctor mentions. */
const names = {
  authUrl: 'OSTIARY_AUTH_URL',
  baseUrl: 'OSTIARY_BASE_URL',
  sealingKeys: 'OSTIARY_SEALING_KEYS',
  trustedProxies: 'OSTIARY_TRUSTED_PROXIES',
  prefix: 'OSTIARY_PREFIX',
  databasePool: 'OSTIARY_DATABASE_POOL',
  databaseUrl: 'DATABASE_URL',
  retentionDays: 'OSTIARY_EVENT_RETENTION_DAYS',
  allowPrivateTargets: 'OSTIARY_WEBHOOK_PRIVATE_TARGETS',
};

/** Returns the clock that the servers use: the database's on PostgreSQL, where several machines share it. */
async function clockOf(database: Database): Promise<() => number> {
  if (database.schema === null) return Date.now;
  const asked = Date.now();
  const row = await database.get<{ now: number }>(
    'SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT) AS now',
  );
  const ahead = row === undefined ? 0 : row.now - (asked + Date.now()) / 2;
  return () => Math.round(Date.now() + ahead);
}

/**
 * Opens an installation for the doctor, while its servers may run, and examines the installation.
 * @throws ConfigError if the database cannot be opened
 */
async function examineInstallation(config: ServerConfig, egress: string | null): Promise<readonly Finding[]> {
  // Opening a missing file would create it.
  if (config.databaseUrl === null && !existsSync(config.databaseFile))
    throw new ConfigError('there is no database in OSTIARY_DATA_DIR');
  const { database } = await openDatabases(config);
  try {
    // The doctor must report a database that is unreachable now, so do not wait for it.
    await database.ping();
    const now = await clockOf(database);
    return await examine(await examinedOf(config, database, now), { egress, names });
  } catch (error) {
    throw forOperators(error, config);
  } finally {
    await database.close();
  }
}

const findings = (check: string, error: unknown, why: string, mend: string): readonly Finding[] => {
  if (!(error instanceof Error)) throw error;
  return [{ check, verdict: 'problem', what: error.message, why, mend }];
};

/** Examines an installation. If a part cannot be examined, that is reported as a problem. */
export async function diagnose(
  config: ServerConfig,
  { egress = null }: { readonly egress?: string | null } = {},
): Promise<readonly Finding[]> {
  try {
    return await examineInstallation(config, egress);
  } catch (error) {
    const mend = 'Mend it, and run the doctor again for the rest.';
    return findings('database', error, 'Nothing works without it.', mend);
  }
}

/** Examines the installation that the environment names. A problem in the environment is a finding, too. */
export async function diagnoseEnvironment(egress: string | null): Promise<readonly Finding[]> {
  let config: ServerConfig;
  try {
    config = await configForCommands(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return findings('settings', error, 'The server does not start with this environment.', 'Correct it.');
  }
  return diagnose(config, { egress });
}
