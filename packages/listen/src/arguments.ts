import { parseArgs } from 'node:util';

/** Thrown for a command line that cannot be used. Its message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Parsed command line of `npx @ostiary/listen`. */
export interface Settings {
  /** URL of the local server to which webhook requests are forwarded. */
  readonly to: URL;
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Event types to forward; a star stands for any characters. */
  readonly events: readonly string[];
  /** Secret that signs the webhooks; `null` to generate one. */
  readonly secret: string | null;
  /** True to print a line of JSON for each webhook request. */
  readonly printJson: boolean;
}

const options = {
  to: { type: 'string' },
  key: { type: 'string' },
  'base-url': { type: 'string' },
  events: { type: 'string', multiple: true },
  secret: { type: 'string' },
  'print-json': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

export const help = `Forwards the test webhooks of an Ostiary service to a server on your machine, and shows each answer.

Usage: npx @ostiary/listen --to localhost:4000/webhooks

  --to <address>       where your server receives webhooks, such as localhost:4000/webhooks
  --key <key>          your test API key, with the scope webhooks     [OSTIARY_API_KEY]
  --base-url <url>     URL of the partner API                         [OSTIARY_BASE_URL]
  --events <types>     event types, such as payment.*,webhook.test    (default: all)
  --secret <secret>    signing secret of your server                  [WEBHOOK_SECRET]
                       (default: a new one, which is printed)
  --print-json         print a line of JSON for each request, and everything else to stderr
  -h, --help           print this help
  -v, --version        print the version

Ctrl+C ends it, and removes the endpoint that it made.`;

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options });
  } catch (error) {
    const [said = ''] = error instanceof Error ? error.message.split(/\. To specify|\.?\n|\.$/) : [];
    throw new UsageError(`${said}; see --help`);
  }
}

/** Parses the address to which requests are forwarded: a port, a host with or without a scheme, or a URL. */
function localUrl(text: string | undefined): URL {
  if (text === undefined)
    throw new UsageError('needs --to, such as --to localhost:4000/webhooks; see --help');
  const address = /^\d+(?:\/|$)/.test(text) ? `localhost:${text}` : text;
  const full = /^https?:\/\//i.test(address) ? address : `http://${address}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  const hasOtherScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !/^https?:/i.test(text);
  if (url === null || hasOtherScheme || url.username !== '')
    throw new UsageError(`--to is no address: ${text}; write it as localhost:4000/webhooks`);
  return url;
}

function required(value: string | undefined, name: string, variable: string): string {
  if (value !== undefined && value !== '') return value;
  throw new UsageError(`needs ${name}, or the environment variable ${variable}; see --help`);
}

/**
 * Parses the command line.
 * @returns `'help'` or `'version'` if that is all the caller wants
 * @throws UsageError for an unknown argument or value, or a missing one
 */
export function parseArguments(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Settings | 'help' | 'version' {
  const { values } = parsed(args);
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  const types = (values.events ?? ['*']).flatMap((list) => list.split(',')).map((type) => type.trim());
  return {
    to: localUrl(values.to),
    apiKey: required(values.key ?? environment.OSTIARY_API_KEY, '--key', 'OSTIARY_API_KEY'),
    baseUrl: required(values['base-url'] ?? environment.OSTIARY_BASE_URL, '--base-url', 'OSTIARY_BASE_URL'),
    events: types.filter((type) => type !== ''),
    secret: values.secret ?? environment.WEBHOOK_SECRET ?? null,
    printJson: values['print-json'] ?? false,
  };
}
