import { hkdfSync } from 'node:crypto';
import { sandboxConsole } from '@ostiary/console';
import { createOstiary, type Ostiary } from '@ostiary/core';
import type { Logger } from 'pino';
import { ConfigError, type ServerConfig } from './config.ts';
import { sharedClock } from './database/clock.ts';
import { migrate } from './database/migrations.ts';
import { openDatabases } from './database/open.ts';
import { reasonOf, sqlStateOf } from './database/postgres-errors.ts';
import type { Database } from './database/queries.ts';
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

/** The database, opened: what the server and the command line share. */
export interface Installation {
  readonly database: Database;
  readonly accounts: Accounts;
  readonly identityChecks: IdentityChecks;
  readonly ledger: Ledger;
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly ostiary: Ostiary;
  readonly now: () => number;
  /** Keys for one purpose, derived from every sealing key, the current one's first. */
  deriveKeys(purpose: string): readonly Uint8Array[];
  close(): Promise<void>;
}

/** A setting that Ostiary refuses, a sealing key that opens nothing, a disk that does not work: no stack helps there. */
function isForOperators(error: unknown): error is Error {
  return (
    error instanceof TypeError ||
    (error instanceof Error && 'code' in error && error.code === 'STORAGE_UNAVAILABLE')
  );
}

/**
 * Opens the database for Ostiary's tables and for this server's own, brings both up to date, and puts the directory and
 * the login into Ostiary's hands.
 */
export async function openInstallation(
  config: ServerConfig,
  logger: Logger,
  options: InstallationOptions = {},
): Promise<Installation> {
  const { database, storage } = await openDatabases(config);
  let stopClock = (): void => undefined;
  try {
    const clock = options.now === undefined ? await sharedClock(database) : { now: options.now, stop() {} };
    const { now } = clock;
    stopClock = clock.stop;
    await migrate(database, now());
    const sessions = createSessions(database, now);
    const cookies = createCookies(config.authUrl);
    const ledger = createLedger(database, now);
    const ostiary = await createOstiary({
      authUrl: config.authUrl,
      baseUrl: config.baseUrl,
      prefix: config.prefix,
      storage,
      users: createDirectory(database, now),
      login: createLogin(config.authUrl, sessions, cookies),
      payments: ledger.rail,
      webhooks: config.webhooks,
      ...(config.sandboxConsole ? { console: sandboxConsole() } : {}),
      sealingKeys: [...config.sealingKeys],
      trustedProxies: [...config.trustedProxies],
      theme: { name: config.name, colour: config.colour },
      clock: { now },
      telemetry: config.metrics !== null,
      logger: logger.child({ part: 'ostiary' }),
    });
    const accounts = createAccounts(database, createPasswords(options.passwordCost), now);
    return {
      database,
      accounts,
      identityChecks: createIdentityChecks(database, accounts, ostiary.users.kycChanged),
      ledger,
      sessions,
      cookies,
      ostiary,
      now,
      deriveKeys: (purpose) =>
        [...new Set(config.sealingKeys)].map(
          (key) =>
            new Uint8Array(
              hkdfSync('sha256', Buffer.from(key, 'base64url'), '', `reference-server ${purpose}`, 32),
            ),
        ),
      async close() {
        stopClock();
        await ostiary.close();
        await database.close();
      },
    };
  } catch (error) {
    stopClock();
    await database.close();
    // Tables can be made by a role with more rights; see docs/cluster.md.
    if (sqlStateOf(error) === '42501')
      throw new ConfigError(`the database of DATABASE_URL cannot be used: ${reasonOf(error)}`);
    throw isForOperators(error) ? new ConfigError(error.message, { cause: error }) : error;
  }
}
