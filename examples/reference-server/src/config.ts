import { join, resolve } from 'node:path';
import { isWideRange } from '@ostiary/cli/doctor';
import { isLoopbackUrl } from '@ostiary/web-kit';
import type { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { readEnvironment } from './environment.ts';
import { isGuessableKey } from './setting-checks.ts';
import { type Setting, settings } from './settings.ts';

type Parsed = { [Variable in keyof typeof settings]: z.output<(typeof settings)[Variable]['check']> };

function parseVariables(env: NodeJS.ProcessEnv): Parsed {
  const { variables, misspelt } = readEnvironment(env);
  const problems = misspelt.map((variable) => `${variable} is not a setting`);
  const values: Record<string, unknown> = {};
  for (const [variable, setting] of Object.entries<Setting>(settings)) {
    const given = variables[variable];
    // Compose files express "not set" as an empty variable.
    const value = given === undefined || given === '' ? setting.fallback : given;
    if (value === undefined && !setting.check.safeParse(undefined).success) {
      problems.push(`${variable} is missing`);
      continue;
    }
    if (value !== undefined && /^(["']).*\1$/s.test(value)) {
      problems.push(
        `${variable} has quotes around its value, which docker run --env-file keeps: leave them out`,
      );
      continue;
    }
    const result = setting.check.safeParse(value);
    if (result.success) values[variable] = result.data;
    else problems.push(`${variable} ${result.error.issues[0]?.message ?? 'is wrong'}`);
  }
  if (problems.length > 0) throw new ConfigError(problems.join('; '));
  return values as Parsed;
}

/** Refuses settings that are certainly wrong in production. */
function refuseUnsafe(
  values: Parsed,
  { authUrl, baseUrl }: { readonly authUrl: string; readonly baseUrl: string },
): void {
  const refuse = (problem: string): never => {
    throw new ConfigError(`${problem} when NODE_ENV is production`);
  };
  for (const [variable, url] of Object.entries({ OSTIARY_AUTH_URL: authUrl, OSTIARY_BASE_URL: baseUrl })) {
    if (url.startsWith('http:')) refuse(`${variable} must be https`);
  }
  if (values.OSTIARY_TRUSTED_PROXIES.some(isWideRange))
    refuse('OSTIARY_TRUSTED_PROXIES must name your proxies, and not whole parts of the internet,');
  if (values.OSTIARY_SEALING_KEYS.some(isGuessableKey)) refuse('OSTIARY_SEALING_KEYS must be random bytes');
  if (values.OSTIARY_WEBHOOK_PRIVATE_TARGETS === true)
    refuse('OSTIARY_WEBHOOK_PRIVATE_TARGETS must not be on');
}

/**
 * Returns how operators are identified: people with staff accounts, or people whom a proxy names; `null` if
 * there are no pages for operators.
 * Refuses settings that would let in nobody or anybody.
 */
function operatorsOf(values: Parsed) {
  const header = values.OSTIARY_OPERATORS_HEADER ?? null;
  const groupsHeader = values.OSTIARY_OPERATORS_GROUPS_HEADER ?? null;
  const roles = values.OSTIARY_OPERATORS_ROLES;
  if (header === null && groupsHeader !== null)
    throw new ConfigError('OSTIARY_OPERATORS_GROUPS_HEADER needs OSTIARY_OPERATORS_HEADER');
  if (header === null && roles.length > 0)
    throw new ConfigError('OSTIARY_OPERATORS_ROLES needs OSTIARY_OPERATORS_HEADER');
  if (!values.OSTIARY_OPERATORS) {
    if (header !== null) throw new ConfigError('OSTIARY_OPERATORS_HEADER needs OSTIARY_OPERATORS=on');
    return null;
  }
  if (header === null) return 'accounts' as const;
  if (roles.length === 0)
    throw new ConfigError('OSTIARY_OPERATORS_HEADER needs OSTIARY_OPERATORS_ROLES, or nobody gets in');
  if (values.OSTIARY_TRUSTED_PROXIES.length === 0)
    throw new ConfigError('OSTIARY_OPERATORS_HEADER needs OSTIARY_TRUSTED_PROXIES, whose header is believed');
  return Object.freeze({ header, groupsHeader, roles: Object.freeze(roles) });
}

/**
 * Returns the settings with which notices are sent by e-mail; `null` if no setting for e-mail is given.
 * Refuses settings of which a part is missing.
 */
function noticesOf(values: Parsed) {
  const { OSTIARY_SMTP_URL: smtpUrl, OSTIARY_NOTICES_TO: to, OSTIARY_NOTICES_FROM: from } = values;
  if (smtpUrl === undefined && to.length === 0 && from === undefined) return null;
  if (smtpUrl === undefined || to.length === 0 || from === undefined) {
    throw new ConfigError(
      'OSTIARY_SMTP_URL, OSTIARY_NOTICES_TO and OSTIARY_NOTICES_FROM need each other: set all three, or none',
    );
  }
  const [first = 'en'] = values.OSTIARY_LANGUAGES;
  const language = values.OSTIARY_NOTICES_LANGUAGE ?? first;
  return Object.freeze({ smtpUrl, to: Object.freeze(to), from, language });
}

/** Returns where metrics are served, and where and how many traces are sent; `null` for none. */
function measuringOf(values: Parsed) {
  const { OSTIARY_METRICS_PORT: port, OSTIARY_METRICS_HOST: host } = values;
  const { OSTIARY_TRACES_URL: url, OSTIARY_TRACES_PERCENT: percent } = values;
  return {
    metrics: port === undefined ? null : Object.freeze({ host, port }),
    traces: url === undefined ? null : Object.freeze({ url, percent }),
  };
}

/** Refuses settings that do not allow several processes on this machine. */
function refuseMany(role: string, databaseUrl: string | null): void {
  if (databaseUrl === null) {
    throw new ConfigError(
      'OSTIARY_PROCESSES above 1 needs DATABASE_URL: SQLite has one writer, and each process would count rate limits for itself',
    );
  }
  if (role === 'worker') {
    throw new ConfigError(
      'OSTIARY_PROCESSES is how many web processes there are, and OSTIARY_ROLE=worker has none',
    );
  }
}

/**
 * Reads the configuration from environment variables.
 *
 * @throws {@link ConfigError} if a variable is missing, wrong, or misspelt
 */
export function loadConfig(env: NodeJS.ProcessEnv) {
  const values = parseVariables(env);
  const authUrl = values.OSTIARY_AUTH_URL;
  const baseUrl = values.OSTIARY_BASE_URL ?? authUrl;
  if (values.NODE_ENV === 'production') refuseUnsafe(values, { authUrl, baseUrl });
  // A server that only this machine can reach is for development, where webhook receivers are on this
  // machine, too.
  const local = isLoopbackUrl(authUrl) && isLoopbackUrl(baseUrl);
  const allowPrivateTargets =
    values.OSTIARY_WEBHOOK_PRIVATE_TARGETS ?? (local && values.NODE_ENV !== 'production');
  if (allowPrivateTargets && !local) {
    throw new ConfigError(
      'OSTIARY_WEBHOOK_PRIVATE_TARGETS may be on only when OSTIARY_AUTH_URL and OSTIARY_BASE_URL are loopback addresses',
    );
  }
  const { OSTIARY_ROLE: role, DATABASE_URL: databaseUrl = null } = values;
  if (role === 'worker' && databaseUrl === null) {
    // Two processes on one SQLite file would work, but more slowly than one, because there is a single
    // writer.
    throw new ConfigError(
      'OSTIARY_ROLE=worker needs DATABASE_URL: on SQLite one process does everything (OSTIARY_ROLE=all)',
    );
  }
  const operators = operatorsOf(values);
  const notices = noticesOf(values);
  const processes = values.OSTIARY_PROCESSES;
  if (processes > 1) refuseMany(role, databaseUrl);
  const dataDir = resolve(values.OSTIARY_DATA_DIR);
  return Object.freeze({
    mode: values.NODE_ENV,
    authUrl,
    baseUrl,
    dataDir,
    /**
     * Path of the SQLite file with the tables of Ostiary and of this server, unless there is a `databaseUrl`.
     */
    databaseFile: join(dataDir, 'ostiary.sqlite'),
    /**
     * URL of the PostgreSQL database; `null` for SQLite. The URL contains a password and must never be
     * logged.
     */
    databaseUrl,
    databasePool: values.OSTIARY_DATABASE_POOL,
    role,
    processes,
    drainSeconds: values.OSTIARY_DRAIN_SECONDS,
    sealingKeys: Object.freeze(values.OSTIARY_SEALING_KEYS),
    trustedProxies: Object.freeze(values.OSTIARY_TRUSTED_PROXIES),
    name: values.OSTIARY_NAME,
    colour: values.OSTIARY_COLOUR,
    prefix: values.OSTIARY_PREFIX,
    languages: Object.freeze(values.OSTIARY_LANGUAGES),
    scopes: Object.freeze(values.OSTIARY_SCOPES),
    refreshTokens: values.OSTIARY_REFRESH_TOKENS,
    clientDocumentScopes: Object.freeze(values.OSTIARY_CLIENT_DOCUMENT_SCOPES),
    /** APIs for which apps request tokens; `null` for none. */
    resources: values.OSTIARY_RESOURCES ?? null,
    introspection: values.OSTIARY_INTROSPECTION,
    claimsParameter: values.OSTIARY_CLAIMS_PARAMETER,
    privateKeyJwt: values.OSTIARY_PRIVATE_KEY_JWT,
    pushedRequests: values.OSTIARY_PUSHED_REQUESTS,
    dpop: values.OSTIARY_DPOP,
    logout: values.OSTIARY_LOGOUT,
    webhooks: Object.freeze({
      allowPrivateTargets,
      retryDelaysSeconds: Object.freeze(values.OSTIARY_WEBHOOK_RETRY_DELAYS),
      retentionDays: values.OSTIARY_EVENT_RETENTION_DAYS,
      standardHeaders: values.OSTIARY_WEBHOOK_STANDARD_HEADERS,
    }),
    sandboxConsole: values.OSTIARY_SANDBOX_CONSOLE,
    operators,
    /**
     * Mail server, receivers, sender and language of notices; `null` if the server sends no e-mail. `smtpUrl`
     * contains a password and must never be logged.
     */
    notices,
    logLevel: values.OSTIARY_LOG_LEVEL,
    host: values.HOST,
    port: values.PORT,
    /** Unix socket to listen on instead of `host` and `port`; `null` for none. */
    socket:
      values.OSTIARY_SOCKET === undefined
        ? null
        : Object.freeze({ path: values.OSTIARY_SOCKET, mode: values.OSTIARY_SOCKET_MODE }),
    keepAliveSeconds: values.OSTIARY_KEEP_ALIVE_SECONDS,
    maxConnections: values.OSTIARY_MAX_CONNECTIONS,
    ...measuringOf(values),
  });
}

/** Checked settings of the server. `settings.ts` explains each of them. */
export type ServerConfig = ReturnType<typeof loadConfig>;
