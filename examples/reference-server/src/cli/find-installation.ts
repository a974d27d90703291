import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { loadConfig, type ServerConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';

/**
 * Data folder of `npm start` and of `npm run ostiary`, if no setting names another one. It does not depend on
 * the working directory.
 */
export const demoDataDir = join(import.meta.dirname, '../../../../.data');

/** Name of the file with a demo's sealing key, in its data folder. */
export const demoKeyFile = 'sealing-key';

const demoFile = z.object({ authUrl: z.string(), baseUrl: z.string(), prefix: z.string().optional() });

/**
 * Returns the configuration for commands: that of the server's environment. If the environment names no
 * installation, returns the configuration of the demo made by `npm start`, so that `npm run ostiary` works
 * beside it without settings.
 *
 * @throws {@link ConfigError}
 */
export async function configForCommands(env: NodeJS.ProcessEnv): Promise<ServerConfig> {
  const ofServer = ['OSTIARY_AUTH_URL', 'OSTIARY_SEALING_KEYS', 'OSTIARY_SEALING_KEYS_FILE'];
  if (ofServer.some((variable) => env[variable] !== undefined)) return loadConfig(env);
  const dataDir = env.OSTIARY_DATA_DIR ?? demoDataDir;
  let demo: z.output<typeof demoFile>;
  let sealingKey: string;
  try {
    demo = demoFile.parse(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
    sealingKey = (await readFile(join(dataDir, demoKeyFile), 'utf8')).trim();
  } catch {
    throw new ConfigError(
      'no installation found: set the environment of the server (OSTIARY_AUTH_URL, OSTIARY_SEALING_KEYS, and OSTIARY_DATA_DIR or DATABASE_URL), or run npm start first',
    );
  }
  return loadConfig({
    ...env,
    OSTIARY_AUTH_URL: demo.authUrl,
    OSTIARY_BASE_URL: demo.baseUrl,
    OSTIARY_SEALING_KEYS: sealingKey,
    OSTIARY_DATA_DIR: dataDir,
    // The demo uses SQLite. Other programs may have set this variable.
    DATABASE_URL: '',
    DATABASE_URL_FILE: '',
    // Keys that a command issues must have the prefix that the server accepts.
    ...(demo.prefix !== undefined && { OSTIARY_PREFIX: demo.prefix }),
  });
}
