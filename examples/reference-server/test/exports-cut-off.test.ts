import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxies } from '../../../lab/support/processes/proxies.ts';
import { startProxy } from './support/proxies.ts';
import { startServer } from './support/server.ts';

const rows = 60_000;

/** Starts a server with a partner whose final transfers make an export of about 15 MB. */
async function startWithBooks(closeDeadlineMs: number) {
  const { server, lines } = await startServer({ closeDeadlineMs });
  const { admin } = server.installation.ostiary;
  await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  const { key } = await admin.apiKeys.issue({
    partner: 'kafe',
    mode: 'live',
    scopes: ['reconciliation:read'],
  });
  await server.installation.database.write((transaction) =>
    transaction.run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO transfers (id, partner, mode, status, amount, currency, recipient_kid, created_at, updated_at, completed_at)
    SELECT printf('tr_%08d', i), 'kafe', 'live', 'completed', 100, 'HTG', 'KID-1', t, t, t
    FROM (SELECT i, 1704067200000 + i AS t FROM n)`),
  );
  return { server, lines, key };
}

/** Downloads an export. `isWhole` is true if the response ended properly according to HTTP. */
function download(url: string, key: string) {
  return new Promise<{ readonly isWhole: boolean; readonly text: string }>((resolve) => {
    const sent = get(url, { agent: false, headers: { 'X-API-Key': key } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      // Ignore the event: `close` reports the error.
      response.on('error', () => undefined);
      response.once('close', () =>
        resolve({ isWhole: response.complete && response.statusCode === 200, text }),
      );
    });
    // A reset may arrive before the client has read the beginning of the response.
    sent.once('error', () => resolve({ isWhole: false, text: '' }));
  });
}

/**
 * Calls a function once a server of this process has sent some parts of an export. A proxy may still buffer
 * them.
 */
function onPartsOfExport(callback: () => void): void {
  const channel = 'http.server.request.start';
  const onRequest = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url !== target) return;
    response.once('pipe', (body: Readable) => {
      let parts = 0;
      body.on('data', () => {
        parts += 1;
        if (parts === 20) callback();
      });
    });
  };
  subscribe(channel, onRequest);
  onTestFinished(() => void unsubscribe(channel, onRequest));
}

const target = '/v1/partner/reconciliation?date=2024-01-01&format=ndjson';

/** Reasons why a server cuts an export off: a stop whose deadline passes, or a database that fails. */
const cuts = {
  'a stop': { deadlineMs: 1 },
  'the database': { deadlineMs: 10_000 },
} as const;

type Cut = keyof typeof cuts;

type Name = keyof typeof proxies;

/** Caddy before 2.7.6 ends the response of a broken connection as if it were complete. */
const { program: caddy } = proxies.Caddy;
const hidesCuts =
  caddy !== undefined &&
  /^v?2\.(?:[0-6]\.|7\.[0-5]\b)|^2\.[0-6]/.test(execFileSync(caddy, ['version'], { encoding: 'utf8' }));

async function cutOff(cause: Cut, proxy: Name | null): Promise<void> {
  const { server, key } = await startWithBooks(cuts[cause].deadlineMs);
  const origin = proxy === null ? `http://127.0.0.1:${server.port}` : await startProxy(proxy, server.port);
  onPartsOfExport(() => {
    if (cause === 'a stop') void server.close();
    else void server.installation.database.write(({ script }) => script('DROP TABLE transfers'));
  });
  const { isWhole, text } = await download(`${origin}${target}`, key);
  // Behind old versions of Caddy, only the missing summary reveals the cut.
  expect(text).not.toContain('"summary"');
  expect(isWhole).toBe(proxy === 'Caddy' && hidesCuts);
}

describe('an export that is cut off never ends like a whole one', () => {
  for (const cause of Object.keys(cuts) as Cut[]) {
    test(`by ${cause}, at a client of Node`, () => cutOff(cause, null), 60_000);
    for (const [name, { program }] of Object.entries(proxies))
      test.skipIf(program === undefined)(
        `by ${cause}, behind ${name}`,
        () => cutOff(cause, name as Name),
        60_000,
      );
  }
});

test('a stop waits for an export that is under way', async () => {
  const { server, key } = await startWithBooks(30_000);
  let closed: Promise<void> | undefined;
  onTestFinished(() => closed);
  onPartsOfExport(() => {
    closed = server.close();
  });
  const { isWhole, text } = await download(`http://127.0.0.1:${server.port}${target}`, key);
  expect(isWhole).toBe(true);
  expect(text.trimEnd().split('\n')).toHaveLength(rows + 1);
  expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ summary: { rows } });
}, 60_000);
