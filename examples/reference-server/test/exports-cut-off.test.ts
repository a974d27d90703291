import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxies, startProxy } from './support/proxies.ts';
import { startServer } from './support/server.ts';

const rows = 60_000;

/** Starts a server with a partner that has final transfers of some 15 MB in an export. */
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

/** Reads an export. `isWhole` says whether the response ended properly according to HTTP. */
function download(url: string, key: string) {
  return new Promise<{ readonly isWhole: boolean; readonly text: string }>((resolve) => {
    const sent = get(url, { agent: false, headers: { 'X-API-Key': key } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      // Reported by `close`.
      response.on('error', () => undefined);
      response.once('close', () =>
        resolve({ isWhole: response.complete && response.statusCode === 200, text }),
      );
    });
    // A reset may come before the client has read the answer's beginning.
    sent.once('error', () => resolve({ isWhole: false, text: '' }));
  });
}

/** Calls back when a server of this process has sent some parts of an export, which a proxy may still keep to itself. */
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

/** Cuts an export off: a stop whose patience ends, or a database that fails. */
const cuts = {
  'a stop': { deadlineMs: 1 },
  'the database': { deadlineMs: 10_000 },
} as const;

type Cut = keyof typeof cuts;

type Name = keyof typeof proxies;

/** Caddy before 2.7.6 ends the answer of a broken connection like any other one. */
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
  // Behind old versions of Caddy, only the missing summary shows it.
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
