import { hkdfSync } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import type { Logger } from 'pino';
import { ConfigError, type ServerConfig } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';
import { migrate } from './database/migrations.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { type Cookies, createCookies } from './sign-in/cookies.ts';
import { createLogin } from './sign-in/login.ts';
import { createSessions, type Sessions } from './sign-in/sessions.ts';
import { type Accounts, createAccounts } from './users/accounts.ts';
import { createDirectory } from './users/directory.ts';
import { createIdentityChecks, type IdentityChecks } from './users/identity-checks.ts';
import { createPasswords, type ScryptCost } from './users/passwords.ts';

/** What tests hand in; production takes the defaults. */
export interface InstallationOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
  readonly passwordCost?: ScryptCost;
}

/** The data folder, opened: what the server and the command line share. */
export interface Installation {
  readonly database: Database;
  readonly accounts: Accounts;
  readonly identityChecks: IdentityChecks;
  readonly ledger: Ledger;
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly ostiary: Ostiary;
  readonly now: () => number;
  /** A key for one purpose, derived from the current sealing key. */
  deriveKey(purpose: string): Uint8Array;
  close(): Promise<void>;
}

async function prepareFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new ConfigError(`OSTIARY_DATA_DIR cannot be created (${code})`);
  }
}

/** A setting that Ostiary refuses, a sealing key that opens nothing, a disk that does not work: no stack helps there. */
function isForOperators(error: unknown): error is Error {
  return (
    error instanceof TypeError ||
    (error instanceof Error && 'code' in error && error.code === 'STORAGE_UNAVAILABLE')
  );
}

/**
 * Opens the database file twice, once for Ostiary's tables and once for this server's own, brings both up to date, and
 * puts the directory and the login into Ostiary's hands.
 */
export async function openInstallation(
  config: ServerConfig,
  logger: Logger,
  options: InstallationOptions = {},
): Promise<Installation> {
  const now = options.now ?? Date.now;
  await prepareFolder(config.dataDir);
  const database = await openDatabase(config.databaseFile).catch((error: unknown) => {
    throw isForOperators(error) ? new ConfigError(error.message, { cause: error }) : error;
  });
  try {
    await migrate(database, now());
    const sessions = createSessions(database, now);
    const cookies = createCookies(config.authUrl);
    const ledger = createLedger(database, now);
    const ostiary = await createOstiary({
      authUrl: config.authUrl,
      baseUrl: config.baseUrl,
      prefix: config.prefix,
      storage: sqliteStorage({ file: config.databaseFile }),
      users: createDirectory(database, now),
      login: createLogin(config.authUrl, sessions, cookies),
      payments: ledger.rail,
      webhooks: config.webhooks,
      sandboxConsole: config.sandboxConsole,
      sealingKeys: [...config.sealingKeys],
      trustedProxies: [...config.trustedProxies],
      theme: { name: config.name, colour: config.colour },
      clock: { now },
      logger: logger.child({ part: 'ostiary' }),
    });
    const accounts = createAccounts(database, createPasswords(options.passwordCost), now);
    const [currentKey = ''] = config.sealingKeys;
    return {
      database,
      accounts,
      identityChecks: createIdentityChecks(database, accounts, ostiary.users.kycChanged),
      ledger,
      sessions,
      cookies,
      ostiary,
      now,
      deriveKey: (purpose) =>
        new Uint8Array(
          hkdfSync('sha256', Buffer.from(currentKey, 'base64url'), '', `reference-server ${purpose}`, 32),
        ),
      async close() {
        await ostiary.close();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw isForOperators(error) ? new ConfigError(error.message, { cause: error }) : error;
  }
}
