import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPostgresSettings, unsafeSettings } from '@ostiary/cli/doctor';
import { demoKeyFile } from '../cli/find-installation.ts';
import type { ServerConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import type { Database } from '../database/database.ts';

/**
 * Returns the sealing key of the demo in this data folder, or `null`. The key is unsafe in production, since
 * its file is beside the database.
 */
async function demoKey({ dataDir }: ServerConfig): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, demoKeyFile), 'utf8')).trim();
  } catch {
    return null;
  }
}

/**
 * Refuses to start in production with a database or key that is certainly unsafe. `loadConfig` has already
 * refused what the environment alone shows.
 *
 * @throws {@link ConfigError}
 */
export async function refuseUnsafeStart(config: ServerConfig, database: Database): Promise<void> {
  if (config.mode !== 'production') return;
  const known = await demoKey(config);
  if (known !== null && config.sealingKeys.includes(known)) {
    throw new ConfigError(
      'OSTIARY_SEALING_KEYS holds the key of a demo, which is stored next to its database; make a new installation with its own key for production',
    );
  }
  const unsafe =
    database.schema === null ? [] : unsafeSettings(await readPostgresSettings({ query: database.all }));
  if (unsafe.length > 0) {
    throw new ConfigError(
      `the database of DATABASE_URL runs with ${unsafe.join(', ')}: what was answered would be lost with the power; turn it on for production`,
    );
  }
}
