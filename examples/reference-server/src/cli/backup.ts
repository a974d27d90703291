import { backupCommand } from '@ostiary/cli/backup';
import Sqlite from 'better-sqlite3';
import { ConfigError } from '../config-error.ts';
import { configForCommands } from './find-installation.ts';

/** Command `backup`: saves the database, with the tables of Ostiary and of this server. */
export const backup = backupCommand({
  async find() {
    const { databaseUrl, databaseFile } = await configForCommands(process.env);
    return databaseUrl === null
      ? { engine: 'sqlite', file: databaseFile }
      : { engine: 'postgresql', url: databaseUrl };
  },
  openFile(file) {
    try {
      return new Sqlite(file, { fileMustExist: true });
    } catch (error) {
      throw new ConfigError(`${file} cannot be opened (${error instanceof Error ? error.message : error})`);
    }
  },
});
