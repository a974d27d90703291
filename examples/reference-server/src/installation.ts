import { sandboxConsole } from '@ostiary/console';
import { createOstiary, type Ostiary } from '@ostiary/core';
import type { Logger } from 'pino';
import type { ServerConfig } from './config.ts';
import { migrate } from './database/migrations.ts';
import { forOperators, openDatabases, reasonOf } from './database/open.ts';
import { keysOf } from './derived-keys.ts';
import { createLedger } from './ledger/ledger.ts';
import type { Mailer } from './notices/mailer.ts';
import { createAskingApps } from './sign-in/asking-apps.ts';
import { createCookies } from './sign-in/cookies.ts';
import { createCsrf } from './sign-in/csrf.ts';
import { createLogin } from './sign-in/login.ts';
import { createSessions, staffSessions } from './sign-in/sessions.ts';
import { createOperators } from './staff/operators.ts';
import { createSealer, staffCodes } from './staff/sealed.ts';
import { createStaff } from './staff/staff.ts';
import { createAccounts } from './users/accounts.ts';
import { createDirectory } from './users/directory.ts';
import { createIdentityChecks } from './users/identity-checks.ts';
import { createPasswords, type ScryptCost } from './users/passwords.ts';

/** Functions and settings that tests replace. Production uses the defaults. */
export interface InstallationOptions {
  /** Returns the current time, in milliseconds since the Unix epoch. */
  readonly now?: () => number;
  readonly passwordCost?: ScryptCost;
}

/** An open database with all objects that the server and the command line share. */
export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/**
 * Opens the database, migrates the tables of Ostiary and of this server, and makes Ostiary with this server's
 * directory and login.
 */
export async function openInstallation(
  config: ServerConfig,
  logger: Logger,
  options: InstallationOptions = {},
) {
  const { database, storage } = await openDatabases(config);
  try {
    await storage.open((error) =>
      logger.warn({ reason: reasonOf(error) }, 'waiting for the database of DATABASE_URL'),
    );
    await migrate(database, Date.now());
    let opened: Ostiary | undefined;
    // For functions that Ostiary itself gets, and calls once it runs.
    const running = (): Ostiary => {
      if (opened === undefined) throw new Error('called before Ostiary was open');
      return opened;
    };
    // This server and Ostiary share one clock, which is the database's if several machines share a database.
    const now = options.now ?? (() => opened?.now() ?? Date.now());
    const sessions = createSessions(database, now);
    const cookies = createCookies(config.authUrl);
    const deriveKeys = keysOf(config);
    const askingApps = createAskingApps(deriveKeys('asking apps'));
    const { signOut, ...login } = createLogin(config.authUrl, sessions, cookies, askingApps);
    const ledger = createLedger(database, now);
    const passwords = createPasswords(options.passwordCost);
    const accounts = createAccounts(database, passwords, now);
    const identityChecks = createIdentityChecks(database, accounts, (...change) =>
      running().users.kycChanged(...change),
    );
    const staff = createStaff(database, passwords, createSealer(deriveKeys(staffCodes)), now);
    const ofStaff = createSessions(database, now, staffSessions);
    const operators = createOperators(config, {
      ...{ database, now, logger, accounts, identityChecks, running, cookies, staff },
      csrf: createCsrf(deriveKeys('csrf')),
      sessions: ofStaff,
    });
    let mailer: Mailer | null = null;
    if (config.notices !== null) {
      const { createMailer } = await import('./notices/mailer.ts');
      mailer = createMailer(config, config.notices, logger, accounts);
    }
    const ostiary = await createOstiary({
      authUrl: config.authUrl,
      baseUrl: config.baseUrl,
      prefix: config.prefix,
      storage,
      users: createDirectory(database, now),
      login: config.logout ? { ...login, signOut } : login,
      languages: config.languages,
      scopes: config.scopes,
      introspection: config.introspection,
      claimsParameter: config.claimsParameter,
      privateKeyJwt: config.privateKeyJwt,
      ...(config.pushedRequests !== 'off' && {
        pushedRequests: { required: config.pushedRequests === 'required' },
      }),
      dpop: config.dpop,
      ...(config.refreshTokens && { refreshTokens: {} }),
      ...(config.clientDocumentScopes.length > 0 && {
        clientMetadataDocuments: { scopes: config.clientDocumentScopes },
      }),
      ...(config.resources !== null && { resources: config.resources }),
      payments: ledger.rail,
      webhooks: config.webhooks,
      ...(config.sandboxConsole ? { console: sandboxConsole() } : {}),
      ...(operators !== null && { operators }),
      ...(mailer !== null && { notify: mailer.notify }),
      sealingKeys: [...config.sealingKeys],
      hostSecrets: staff.secrets,
      trustedProxies: [...config.trustedProxies],
      theme: { name: config.name, colour: config.colour },
      ...(options.now !== undefined && { clock: { now } }),
      telemetry: config.metrics !== null || config.traces !== null,
      logger: logger.child({ part: 'ostiary' }),
    });
    opened = ostiary;
    return {
      database,
      authUrl: config.authUrl,
      ...{ accounts, staff, identityChecks, mailer },
      staffSessions: ofStaff,
      ...{ ledger, sessions, cookies, ostiary },
      /** Administrative calls of Ostiary, for commands. */
      admin: ostiary.admin,
      ...{ now, deriveKeys, askingApps },
      async close(): Promise<void> {
        await ostiary.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw forOperators(error, config);
  }
}
