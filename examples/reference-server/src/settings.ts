import { defaultOptions } from '@ostiary/core';
import { list, origin, port, some, switched, whole } from '@ostiary/web-kit';
import { z } from 'zod';
import {
  databaseUrl,
  delays,
  fileMode,
  headerName,
  httpUrl,
  mailAddress,
  processes,
  proxies,
  resources,
  roleMapping,
  scopeNames,
  sealingKeys,
  smtpUrl,
  socketPath,
} from './setting-checks.ts';

/** Languages of this server's own pages. */
export const languages = ['en', 'fr', 'ht', 'es', 'pt'] as const;

export type Language = (typeof languages)[number];

/**
 * Optional scopes that this server supports. The server stores no postal addresses, and the e-mail addresses
 * of users are for notices only.
 */
const readyScopes = ['phone', 'standardProfile'] as const;

/** Definition of an environment variable of the server. */
export interface Setting {
  readonly check: z.ZodType;
  /**
   * Value of the setting if the variable is missing or empty; omitted if the variable is required, or if the
   * setting then has no value.
   */
  readonly fallback?: string;
  /** Default value as the documentation shows it, if it differs from `fallback`. */
  readonly shown?: string;
  /**
   * True for a secret, which can also be read from the file that the variable with the suffix `_FILE` names.
   */
  readonly isSecret?: true;
  readonly about: string;
}

const onOff = (fallback: 'on' | 'off', about: string) => ({ check: switched, fallback, about });

/**
 * All settings of the server, by environment variable. A test compares the table in the README with them.
 */
export const settings = {
  OSTIARY_AUTH_URL: {
    check: origin,
    about:
      'Origin of the pages that users see: sign-in, consent, connected apps. Also the OpenID Connect issuer.',
  },
  OSTIARY_BASE_URL: {
    check: origin.optional(),
    shown: 'OSTIARY_AUTH_URL',
    about: 'Origin of the API, if it has a host name of its own. The same process serves both origins.',
  },
  OSTIARY_SEALING_KEYS: {
    check: sealingKeys,
    isSecret: true,
    about:
      'Keys that encrypt secrets in the database. Comma separated, the current key first. You can put the keys into a file and name it in `OSTIARY_SEALING_KEYS_FILE`.',
  },
  OSTIARY_DATA_DIR: {
    check: z.string(),
    fallback: 'data',
    about:
      'Folder of the SQLite file, if `DATABASE_URL` is not set. The server creates a missing folder with mode 0700.',
  },
  DATABASE_URL: {
    check: databaseUrl.optional(),
    isSecret: true,
    shown: 'none, an SQLite file',
    about:
      'URL of a PostgreSQL database (15 or later), `postgres://user:password@host:5432/database`. Any number of processes may share the database. For a primary and its standbys write `@host-1:5432,host-2:5432/`. The URL is never logged. You can put it into a file and name the file in `DATABASE_URL_FILE`.',
  },
  OSTIARY_DATABASE_POOL: {
    // At least two: an event that Ostiary publishes within a transaction of this server may need a second
    // connection.
    check: whole(2, 200, '2 to 200 connections'),
    fallback: '10',
    about:
      'Maximum number of connections to PostgreSQL of one process. With `OSTIARY_PROCESSES` the limit applies to each process.',
  },
  OSTIARY_ROLE: {
    check: z.enum(['all', 'web', 'worker'], 'must be all, web or worker'),
    fallback: 'all',
    about:
      '`web` answers requests, `worker` executes transfers, delivers webhooks and removes old rows, `all` does both. `worker` needs `DATABASE_URL`. On SQLite, `web` is for the check of a restored copy.',
  },
  OSTIARY_PROCESSES: {
    check: processes,
    fallback: '1',
    about:
      'Number of web processes on this machine, or `auto` for one on each core. With more than one, a primary process starts them and a worker process. With `OSTIARY_ROLE=web` no worker process starts. Needs `DATABASE_URL`.',
  },
  OSTIARY_DRAIN_SECONDS: {
    check: whole(0, 300, 'at most 300 seconds'),
    fallback: '0',
    about:
      'Seconds for which the server still accepts new connections after SIGTERM. In this time `/readyz` returns 503, so that a load balancer uses other processes.',
  },
  OSTIARY_TRUSTED_PROXIES: {
    check: proxies,
    fallback: '',
    shown: 'none',
    about:
      'Addresses or CIDR ranges of your reverse proxies, comma separated; `unix` for a proxy that connects to `OSTIARY_SOCKET`. The server trusts `X-Forwarded-For` only from these proxies.',
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
      'Languages of the pages, comma separated. The first language is for browsers that accept none of the others. The sandbox console, the live portal and the pages for operators always have all five languages.',
  },
  OSTIARY_SCOPES: {
    check: some(readyScopes).transform((names) => Object.fromEntries(names.map((name) => [name, true]))),
    fallback: '',
    shown: 'none',
    about:
      'Scopes of OpenID Connect in addition to the five, comma separated: `phone`, which you can allow to clients, and `standardProfile`, which adds `preferred_username` and `picture` to `profile`. Apps receive no e-mail addresses and no postal addresses from this server.',
  },
  OSTIARY_REFRESH_TOKENS: onOff(
    'off',
    `\`on\`: clients that are allowed \`offline_access\` can request refresh tokens. A refresh token expires after ${defaultOptions.refreshTokens.idleDays} days without use, and after ${defaultOptions.refreshTokens.absoluteDays} days in any case.`,
  ),
  OSTIARY_CLIENT_DOCUMENT_SCOPES: {
    check: scopeNames,
    fallback: '',
    shown: 'none: such clients are unknown',
    about:
      'Scopes that clients with a client ID metadata document may request, comma separated. No administrator provisions such a client: its `client_id` is the URL of the document. See [MCP](../../docs/mcp.md).',
  },
  OSTIARY_RESOURCES: {
    check: resources.optional(),
    shown: 'none',
    about:
      'APIs for which apps can request tokens with the parameter `resource` (RFC 8707), as JSON: `{"https://tools.example.com/mcp":{"name":"Tools","scopes":["identity"]}}`. The consent page shows the name. Apps can request `scopes` only together with the API. See [Tokens for one API](../../docs/resources.md).',
  },
  OSTIARY_INTROSPECTION: onOff(
    'off',
    '`on`: clients that are resource servers can check access tokens at `/v1/oauth/introspect` (RFC 7662).',
  ),
  OSTIARY_CLAIMS_PARAMETER: onOff(
    'off',
    '`on`: apps can request claims for the ID token with the parameter `claims` (OpenID Connect Core, section 5.5).',
  ),
  OSTIARY_PRIVATE_KEY_JWT: onOff(
    'off',
    '`on`: clients may authenticate with a key of their own instead of a secret (`private_key_jwt`, RFC 7523).',
  ),
  OSTIARY_PUSHED_REQUESTS: {
    check: z.enum(['off', 'on', 'required'], 'must be off, on or required'),
    fallback: 'off',
    about:
      '`on`: clients may push their authorization requests to `/v1/oauth/par` (RFC 9126). `required`: every client has to.',
  },
  OSTIARY_DPOP: onOff(
    'off',
    '`on`: clients can bind their tokens to a key of their own (DPoP, RFC 9449), and clients with `--require-dpop` must.',
  ),
  OSTIARY_LOGOUT: onOff('on', '`off`: apps cannot send their users to `/oauth/logout` to sign out.'),
  OSTIARY_PREFIX: {
    check: z
      .string()
      .regex(/^[a-z][a-z0-9]{1,15}$/, 'must be 2 to 16 lower-case letters and digits, a letter first'),
    fallback: defaultOptions.prefix,
    about:
      'Prefix of tokens, keys and headers, as in `svc_at_…`, `svc_live_…` and `X-SVC-Signature`. Choose it before the first client exists.',
  },
  OSTIARY_WEBHOOK_PRIVATE_TARGETS: {
    check: switched.optional(),
    shown: 'on when both origins are loopback addresses outside production, or else off',
    about:
      '`on`: webhooks may go to any URL, including private addresses and plain http. This is for development on one machine. The server refuses `on` in production, and if one of its origins is not a loopback address.',
  },
  OSTIARY_WEBHOOK_RETRY_DELAYS: {
    check: delays,
    fallback: defaultOptions.webhooks.retryDelaysSeconds.join(','),
    about:
      'Seconds between a failed attempt of a webhook delivery and the next attempt, comma separated. After the last attempt the delivery is dropped.',
  },
  OSTIARY_WEBHOOK_STANDARD_HEADERS: onOff(
    'off',
    '`on`: webhooks also carry the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`), which its libraries verify. A `whsec_` secret must then be base64.',
  ),
  OSTIARY_EVENT_RETENTION_DAYS: {
    check: whole(1, 3_650, '1 to 3650 days'),
    fallback: String(defaultOptions.webhooks.retentionDays),
    about:
      'Number of days for which events, deliveries and their attempts are kept. In test mode, at most 7 days.',
  },
  OSTIARY_SANDBOX_CONSOLE: onOff(
    'on',
    '`off`: there is neither a sandbox console at `/sandbox`, where partners sign in with a test key to see and trigger test events, nor a live portal at `/portal`.',
  ),
  OSTIARY_OPERATORS: onOff(
    'off',
    '`on`: there are pages for operators at `/operators`, for people who were invited, or whom the proxy of `OSTIARY_OPERATORS_HEADER` names. See [pages for operators](../../docs/operators.md#in-the-reference-server).',
  ),
  OSTIARY_OPERATORS_HEADER: {
    check: headerName.optional(),
    shown: 'none, staff accounts',
    about:
      'Header in which a proxy of `OSTIARY_TRUSTED_PROXIES` names the operator, such as `Remote-User`, instead of staff accounts. The proxy must remove the header from requests of callers. Needs `OSTIARY_OPERATORS=on` and `OSTIARY_OPERATORS_ROLES`.',
  },
  OSTIARY_OPERATORS_GROUPS_HEADER: {
    check: headerName.optional(),
    shown: 'none',
    about: 'Header in which the same proxy lists the groups of the operator, comma separated.',
  },
  OSTIARY_OPERATORS_ROLES: {
    check: roleMapping,
    fallback: '',
    shown: 'none',
    about:
      'Roles of the names and groups that the proxy sends, comma separated: `ana@example.com=owner,helpdesk=support,*=viewer`. The highest role counts, and nobody else gets in.',
  },
  OSTIARY_SMTP_URL: {
    check: smtpUrl.optional(),
    isSecret: true,
    shown: 'none, no e-mails',
    about:
      'Mail server that sends [notices](../../docs/deploy.md#notices-by-e-mail), `smtps://user:password@mail.example.com:465` or `smtp://…:587`. With a password, `smtp:` needs STARTTLS, except on this machine. Needs `OSTIARY_NOTICES_TO` and `OSTIARY_NOTICES_FROM`. You can put the URL into a file and name the file in `OSTIARY_SMTP_URL_FILE`.',
  },
  OSTIARY_NOTICES_TO: {
    check: list.pipe(z.array(mailAddress).max(20, 'has more than 20 addresses')),
    fallback: '',
    shown: 'none',
    about: 'E-mail addresses of the operators who get notices, comma separated.',
  },
  OSTIARY_NOTICES_FROM: {
    check: mailAddress.optional(),
    shown: 'none',
    about: 'E-mail address from which notices are sent. The name of the sender is `OSTIARY_NAME`.',
  },
  OSTIARY_NOTICES_LANGUAGE: {
    check: z.enum(languages, `must be one of ${languages.join(', ')}`).optional(),
    shown: 'the first of OSTIARY_LANGUAGES',
    about: 'Language of the notices that are sent by e-mail.',
  },
  OSTIARY_LOG_LEVEL: {
    check: z.enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
      'must be fatal, error, warn, info, debug or silent',
    ),
    fallback: 'info',
    about: 'Lowest level of the log lines: `fatal`, `error`, `warn`, `info`, `debug` or `silent`.',
  },
  OSTIARY_METRICS_PORT: {
    check: port.optional(),
    shown: 'none, no metrics',
    about:
      'Separate port on which the server serves `/metrics` for Prometheus. Do not expose this port: metrics contain no personal data, but show how busy the server is.',
  },
  OSTIARY_METRICS_HOST: {
    check: z.string().min(1),
    fallback: '127.0.0.1',
    about: 'Address on which the port of the metrics listens.',
  },
  OSTIARY_TRACES_URL: {
    check: httpUrl.optional(),
    shown: 'none, no traces',
    about:
      'URL to which the server sends [traces](../../docs/telemetry.md#traces) with OTLP over HTTP, such as `http://collector:4318/v1/traces`. `OTEL_EXPORTER_OTLP_HEADERS` adds headers.',
  },
  OSTIARY_TRACES_PERCENT: {
    check: whole(0, 100, '0 to 100 percent'),
    fallback: '100',
    about: 'Share of the traces that the server sends. Use the same value in all processes.',
  },
  HOST: {
    check: z.string().min(1),
    fallback: '127.0.0.1',
    about: 'Address on which the server listens. Use `0.0.0.0` or `::` inside a container.',
  },
  PORT: {
    check: port,
    fallback: '3000',
    about:
      'Port on which the server listens. A process with `OSTIARY_ROLE=worker` also listens, for `/healthz`, `/readyz` and `/doctor`.',
  },
  OSTIARY_SOCKET: {
    check: socketPath.optional(),
    shown: 'none, HOST and PORT',
    about:
      'Absolute path of a Unix socket on which the server listens, instead of `HOST` and `PORT`. Add `unix` to `OSTIARY_TRUSTED_PROXIES`: without it, the server knows no IP addresses of callers. The server replaces a socket file that a killed process left behind.',
  },
  OSTIARY_SOCKET_MODE: {
    check: fileMode,
    fallback: '660',
    about: 'Permissions of the socket file, in octal. The proxy needs the right to write to the file.',
  },
  OSTIARY_KEEP_ALIVE_SECONDS: {
    check: whole(1, 3_600, '1 to 3600 seconds'),
    fallback: '75',
    about:
      'Seconds for which an idle connection stays open. The time must be longer than in your proxy (nginx and AWS load balancers: 60). Otherwise requests on a closing connection fail with 502.',
  },
  OSTIARY_MAX_CONNECTIONS: {
    // Each connection is an open file of the process. The system's own limit should be higher.
    check: whole(10, 500_000, '10 to 500000 connections'),
    fallback: '5000',
    about:
      'Maximum number of HTTP connections of this process. The server closes further connections without a response, and logs a warning at most once a minute.',
  },
  NODE_ENV: {
    check: z.enum(['production', 'development', 'test'], 'must be production, development or test'),
    fallback: 'development',
    about:
      'With `production` the server refuses settings that are certainly unsafe: http URLs, trusted proxies that are the whole internet, a sealing key that can be guessed, private webhook targets, a database without fsync.',
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
