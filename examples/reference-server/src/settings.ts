import { defaultOptions } from '@ostiary/core';
import { origin, port, some, switched, whole } from '@ostiary/web-kit';
import { z } from 'zod';
import {
  databaseUrl,
  delays,
  fileMode,
  processes,
  proxies,
  sealingKeys,
  socketPath,
} from './setting-checks.ts';

/** Languages of this server's own pages. */
export const languages = ['en', 'fr', 'ht', 'es', 'pt'] as const;

export type Language = (typeof languages)[number];

/** Optional scopes that this server supports. It has no e-mail or postal addresses for the others. */
const readyScopes = ['phone', 'standardProfile'] as const;

/** Definition of an environment variable. */
export interface Setting {
  readonly check: z.ZodType;
  /** Value if the variable is missing or empty; omitted for a required variable. */
  readonly fallback?: string;
  /** Default as the documentation shows it, if it is not simply `fallback`. */
  readonly shown?: string;
  /**
   * True for a secret, which can also be read from the file that the variable with the suffix `_FILE` names.
   */
  readonly isSecret?: true;
  readonly about: string;
}

const onOff = (fallback: 'on' | 'off', about: string) => ({ check: switched, fallback, about });

/** All variables that the server reads. A test compares the table in the README with this one. */
export const settings = {
  OSTIARY_AUTH_URL: {
    check: origin,
    about: 'Origin that people see: sign-in, consent, connected apps. Also the OpenID Connect issuer.',
  },
  OSTIARY_BASE_URL: {
    check: origin.optional(),
    shown: 'OSTIARY_AUTH_URL',
    about: 'Origin of the API, when it has a host name of its own. The same process answers both.',
  },
  OSTIARY_SEALING_KEYS: {
    check: sealingKeys,
    isSecret: true,
    about:
      'Keys that seal what must be read back from the database. Comma separated, the current one first. Or in the file that `OSTIARY_SEALING_KEYS_FILE` names.',
  },
  OSTIARY_DATA_DIR: {
    check: z.string(),
    fallback: 'data',
    about: 'Folder of the database file, without `DATABASE_URL`. Created with mode 0700 when it is missing.',
  },
  DATABASE_URL: {
    check: databaseUrl.optional(),
    isSecret: true,
    shown: 'none, an SQLite file',
    about:
      '`postgres://user:password@host:5432/database`: everything is kept in PostgreSQL (15 or later), and any number of processes may run. A primary and its standbys: `@host-1:5432,host-2:5432/`. Never logged. Or in the file that `DATABASE_URL_FILE` names.',
  },
  OSTIARY_DATABASE_POOL: {
    // At least two: an event that Ostiary publishes within a transaction of this server may need a second
    // connection.
    check: whole(2, 200, '2 to 200 connections'),
    fallback: '10',
    about:
      'Connections to PostgreSQL that one process opens at most. With `OSTIARY_PROCESSES` each process opens so many.',
  },
  OSTIARY_ROLE: {
    check: z.enum(['all', 'web', 'worker'], 'must be all, web or worker'),
    fallback: 'all',
    about:
      '`web` answers requests, `worker` executes transfers, delivers webhooks and tidies up, `all` does both. `web` and `worker` need `DATABASE_URL`.',
  },
  OSTIARY_PROCESSES: {
    check: processes,
    fallback: '1',
    about:
      'Web processes on this machine, a number or `auto`, one for each core. With more than one, a primary process starts them, and a worker process beside them unless `OSTIARY_ROLE=web`. Needs `DATABASE_URL`.',
  },
  OSTIARY_DRAIN_SECONDS: {
    check: whole(0, 300, 'at most 300 seconds'),
    fallback: '0',
    about:
      'Seconds between SIGTERM and the moment when no new connection is accepted: `/readyz` answers 503 meanwhile, so that a load balancer looks elsewhere.',
  },
  OSTIARY_TRUSTED_PROXIES: {
    check: proxies,
    fallback: '',
    shown: 'none',
    about:
      'Addresses or CIDR ranges of your reverse proxies, comma separated; `unix` for a proxy that connects to `OSTIARY_SOCKET`. Only they may say who the client is.',
  },
  OSTIARY_NAME: {
    check: z.string().trim().min(1, 'must not be blank').max(60, 'must have at most 60 characters'),
    fallback: defaultOptions.theme.name,
    about: 'Name of your service on every page.',
  },
  OSTIARY_COLOUR: {
    check: z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #1a4f8b'),
    fallback: defaultOptions.theme.colour,
    about: 'Accent colour of every page.',
  },
  OSTIARY_LANGUAGES: {
    check: some(languages).refine((given) => given.length > 0, 'needs at least one language'),
    fallback: languages.join(','),
    about:
      'Languages of the pages, comma separated. A browser that asks for none of them gets the first. The sandbox console has all five.',
  },
  OSTIARY_SCOPES: {
    check: some(readyScopes).transform((names) => Object.fromEntries(names.map((name) => [name, true]))),
    fallback: '',
    shown: 'none',
    about:
      'Scopes of OpenID Connect beside the five, comma separated: `phone`, to allow to clients, and `standardProfile`, which adds `preferred_username` and `picture` to `profile`. This server knows no e-mail or postal address.',
  },
  OSTIARY_REFRESH_TOKENS: onOff(
    'off',
    `\`on\`: clients that are allowed \`offline_access\` can ask for refresh tokens. They live for ${defaultOptions.refreshTokens.idleDays} days without use, and for ${defaultOptions.refreshTokens.absoluteDays} days at most.`,
  ),
  OSTIARY_INTROSPECTION: onOff(
    'off',
    '`on`: clients that are resource servers can ask `/v1/oauth/introspect` about access tokens (RFC 7662).',
  ),
  OSTIARY_LOGOUT: onOff('on', '`off`: apps cannot send their users here to sign out (`/oauth/logout`).'),
  OSTIARY_PREFIX: {
    check: z
      .string()
      .regex(/^[a-z][a-z0-9]{1,15}$/, 'must be 2 to 16 lower-case letters and digits, a letter first'),
    fallback: defaultOptions.prefix,
    about:
      'Prefix on the wire, as in `svc_at_…`, `svc_live_…` and `X-SVC-Signature`. Choose it before the first client exists.',
  },
  OSTIARY_WEBHOOK_PRIVATE_TARGETS: {
    check: switched.optional(),
    shown: 'on when both origins are loopback addresses outside production, or else off',
    about:
      '`on`: webhooks may go anywhere, to private addresses and over plain http. For development on one machine; refused unless both origins are loopback addresses, and in production.',
  },
  OSTIARY_WEBHOOK_RETRY_DELAYS: {
    check: delays,
    fallback: defaultOptions.webhooks.retryDelaysSeconds.join(','),
    about:
      'Seconds between an attempt of a webhook delivery that failed and the next one, comma separated; after the last one it is dropped.',
  },
  OSTIARY_EVENT_RETENTION_DAYS: {
    check: whole(1, 3_650, '1 to 3650 days'),
    fallback: String(defaultOptions.webhooks.retentionDays),
    about: 'Days for which events, deliveries and their attempts are kept.',
  },
  OSTIARY_SANDBOX_CONSOLE: onOff(
    'on',
    '`off`: no page at `/sandbox`, where partners sign in with a test key to see and trigger test events.',
  ),
  OSTIARY_LOG_LEVEL: {
    check: z.enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
      'must be fatal, error, warn, info, debug or silent',
    ),
    fallback: 'info',
    about: 'How much is logged: `fatal`, `error`, `warn`, `info`, `debug` or `silent`.',
  },
  OSTIARY_METRICS_PORT: {
    check: port.optional(),
    shown: 'none, no metrics',
    about:
      'Port of its own on which `/metrics` answers Prometheus. Keep it inside: metrics hold nothing personal, but how busy you are.',
  },
  OSTIARY_METRICS_HOST: {
    check: z.string().min(1),
    fallback: '127.0.0.1',
    about: 'Address on which the metrics listen.',
  },
  HOST: {
    check: z.string().min(1),
    fallback: '127.0.0.1',
    about: 'Address to listen on. `0.0.0.0` or `::` inside a container.',
  },
  PORT: {
    check: port,
    fallback: '3000',
    about:
      'Port to listen on, for `OSTIARY_ROLE=worker` too: it answers `/healthz`, `/readyz` and `/doctor`.',
  },
  OSTIARY_SOCKET: {
    check: socketPath.optional(),
    shown: 'none, HOST and PORT',
    about:
      'Absolute path of a Unix socket to listen on, instead of `HOST` and `PORT`. Needs `unix` in `OSTIARY_TRUSTED_PROXIES`. The file of a process that was killed is replaced.',
  },
  OSTIARY_SOCKET_MODE: {
    check: fileMode,
    fallback: '660',
    about: 'Permissions of the socket file, in octal. A proxy that connects needs the right to write.',
  },
  OSTIARY_KEEP_ALIVE_SECONDS: {
    check: whole(1, 3_600, '1 to 3600 seconds'),
    fallback: '75',
    about:
      'Seconds for which a connection without a request is kept. Longer than your proxy keeps it (nginx and AWS load balancers: 60), or requests that meet the close fail with 502.',
  },
  OSTIARY_MAX_CONNECTIONS: {
    // Each connection is an open file of the process. The system's own limit should be higher.
    check: whole(10, 500_000, '10 to 500000 connections'),
    fallback: '5000',
    about:
      'HTTP connections that this process holds at most. One more is closed unanswered, and a warning is logged, once a minute.',
  },
  NODE_ENV: {
    check: z.enum(['production', 'development', 'test'], 'must be production, development or test'),
    fallback: 'development',
    about:
      '`production` refuses what is certainly unsafe: http URLs, proxies that are the whole internet, a sealing key that can be guessed, private webhook targets, a database without fsync.',
  },
} as const satisfies { readonly [variable: string]: Setting };

/** Makes the table of settings for the README, in Markdown. */
export function settingsTable(): string {
  const rows = Object.entries(settings).map(([variable, setting]: [string, Setting]) => {
    const required = setting.fallback === undefined && setting.shown === undefined;
    const shown = setting.shown ?? setting.fallback;
    return `| \`${variable}\` | ${required ? '**required**' : `\`${shown}\``} | ${setting.about} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}
