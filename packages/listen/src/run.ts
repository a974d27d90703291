import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { OstiaryError, OstiaryPartner } from '@ostiary/client-sdk';
import { help, parseArguments, type Settings, UsageError } from './arguments.ts';
import { eventTypes } from './event-types.ts';
import { listen } from './listener.ts';
import { requestJson, requestLine } from './print.ts';

/** Environment variables of the program's process, and functions that write its output. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** Writes a line to stdout. */
  readonly write: (text: string) => void;
  /** Writes a line to stderr. */
  readonly complain: (text: string) => void;
  /** Signal that aborts when the program must end. */
  readonly signal: AbortSignal;
}

function clientOf({ apiKey, baseUrl }: Settings): OstiaryPartner {
  let client: OstiaryPartner;
  try {
    client = new OstiaryPartner({ apiKey, baseUrl });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
  if (client.mode === 'live')
    throw new UsageError('this is a live key, and only test webhooks are forwarded; use your test key');
  return client;
}

/** Makes a signing secret, in a form that libraries of Standard Webhooks can use too. */
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

async function forwardAll(settings: Settings, { write, complain, signal }: Surroundings): Promise<void> {
  const { baseUrl, printJson, to } = settings;
  const ostiary = clientOf(settings);
  const secret = settings.secret ?? newSecret();
  const { partner } = await ostiary.whoami({ signal });
  const events = await eventTypes(settings.events, baseUrl);
  const { id } = await ostiary.webhooks.create({ url: 'inbox:listen', events, secret }, { signal });
  const say = printJson ? complain : write;
  try {
    await listen(
      ostiary,
      { endpointId: id, to, signal },
      {
        ready() {
          say(`Ready: test events of ${partner} go to ${to.href}`);
          if (settings.secret === null) say(`Signing secret, for .env: WEBHOOK_SECRET=${secret}`);
          say(`Ctrl+C ends this, and removes the endpoint ${id}.`);
        },
        forwarded: (request, answer, counted) =>
          write((printJson ? requestJson : requestLine)(request, answer, counted)),
        lost: ({ message }) => complain(`The service does not answer; waiting for it. ${message}`),
        found: () => complain('The service answers again.'),
      },
    );
  } finally {
    await ostiary.webhooks.delete(id, { timeout: 5_000, totalTimeout: 5_000 }).then(
      () => say(`Removed the endpoint ${id}.`),
      (error: unknown) => {
        const isGone = error instanceof OstiaryError && error.code === 'not_found';
        if (!isGone) complain(`The endpoint ${id} could not be removed. A start after an hour removes it.`);
      },
    );
  }
}

/** Runs the program until it is ended. Returns its exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { complain, environment, signal, write } = surroundings;
  try {
    const settings = parseArguments(args, environment);
    if (settings === 'help') write(help);
    else if (settings === 'version') write(String(createRequire(import.meta.url)('../package.json').version));
    else await forwardAll(settings, surroundings);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      complain(`@ostiary/listen: ${error.message}`);
      return 2;
    }
    if (signal.aborted) return 0;
    if (error instanceof OstiaryError) {
      const id = error.requestId === null ? '' : ` (request ${error.requestId})`;
      complain(`@ostiary/listen: ${error.message}${id}`);
      return 1;
    }
    complain(`@ostiary/listen: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}
