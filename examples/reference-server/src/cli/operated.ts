import type { Commands } from '@ostiary/cli';
import type { Administration } from '@ostiary/core/admin';
import { createLogger } from '../http/logging.ts';
import { type Installation, openInstallation } from '../installation.ts';
import { configForCommands } from './find-installation.ts';

/** What the commands of this server work on: an installation, beside the servers that run on it. */
export interface Operated extends Installation {
  readonly admin: Administration;
}

/** Commands of this server. */
export type OperatedCommands = Commands<Operated>;

/** Opens the installation that the environment names. @throws ConfigError */
export async function openOperated(): Promise<Operated> {
  const installation = await openInstallation(await configForCommands(process.env), createLogger('silent'));
  return { ...installation, admin: installation.ostiary.admin };
}
