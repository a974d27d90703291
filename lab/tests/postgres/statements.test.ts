import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { created, sampleEvent } from '../../../packages/testing/src/contract/partner-samples.ts';
import {
  authorizePath,
  codeFrom,
  exchangeAt,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import { median } from '../../support/measure/statistics.ts';
import { authUrl, eventType, partner } from '../../support/processes/cluster-options.ts';
import { type Stage, setStage } from '../../support/processes/stage.ts';

// Query for the statements of requests alone: without reads of the server's clock, notifications of workers,
// and the first query of a connection.
const counted = `
  SELECT query, calls::integer AS calls FROM pg_stat_statements
  WHERE userid = 'ostiary'::regrole AND toplevel
    AND query NOT LIKE '%clock_timestamp%' AND query NOT LIKE '%pg_notify%' AND query NOT LIKE 'SHOW %'
`;

const rounds = 5;

const ends = new AsyncDisposableStack();
let stage: Stage;
beforeAll(async () => {
  stage = await setStage(ends, {
    ...{ webs: 1, workers: 0, endpoints: 1, fsync: false },
    settings: ['shared_preload_libraries=pg_stat_statements'],
    prepare: async ({ app }) => void (await app.query('CREATE EXTENSION pg_stat_statements')),
  });
}, 60_000);
afterAll(() => ends.disposeAsync());

const origin = (): string => stage.cluster.webs[0]?.origin ?? '';

async function newCode(): Promise<string> {
  return codeFrom([origin()], new RoamingBrowser(authUrl, 'ana'), authorizePath(stage.client));
}

async function newToken(): Promise<string> {
  return String((await exchangeAt(origin(), stage.client, await newCode())).json.access_token);
}

async function partnerStatus(path: string, body?: object, key = ''): Promise<number> {
  const response = await fetch(`${origin()}/v1/partner/${path}`, {
    headers: {
      'x-api-key': stage.keys.live,
      'content-type': 'application/json',
      ...(key === '' ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

const pay = (key: string) =>
  partnerStatus('payments', { amount: '1.00', currency: 'USD', recipient: { kid: 'ana' } }, key);

/**
 * Requests with their expected number of SQL statements. Each request is sent alone, after its preparation. A
 * statement concerns one kind of object: limit, client, grant, API key.
 */
const requests: Record<
  string,
  { readonly statements: number; readonly status: number; prepare(): Promise<() => Promise<number>> }
> = {
  userinfo: {
    ...{ statements: 1, status: 200 },
    async prepare() {
      const token = await newToken();
      return () => userinfoStatusAt(origin(), token);
    },
  },
  'the exchange of a code': {
    ...{ statements: 4, status: 200 },
    async prepare() {
      const code = await newCode();
      return async () => (await exchangeAt(origin(), stage.client, code)).status;
    },
  },
  'the verification of a passport': {
    ...{ statements: 2, status: 200 },
    async prepare() {
      const { token } = await stage.ostiary.passports.issue('ana');
      return () => partnerStatus('verify', { token });
    },
  },
  'the look-up of a user': {
    ...{ statements: 3, status: 200 },
    prepare: async () => () => partnerStatus('users/ana'),
  },
  'a payment': {
    ...{ statements: 4, status: 201 },
    prepare: async () => () => pay(randomUUID()),
  },
  'an event that the host publishes': {
    ...{ statements: 2, status: 0 },
    prepare: async () => async () => {
      await stage.ostiary.events.publish({ partner, type: eventType, data: {} });
      return 0;
    },
  },
  'the end of a payment, with its event': {
    ...{ statements: 1, status: 0 },
    async prepare() {
      const { id } = await created(stage.storage, randomUUID());
      const event = sampleEvent(randomUUID());
      return async () => {
        const final = { status: 'completed', failure: null, now: Date.now() } as const;
        await stage.storage.transfers.settle({ id, event, ...final });
        return 0;
      };
    },
  },
  'a payment that is sent again': {
    ...{ statements: 3, status: 201 },
    async prepare() {
      const key = randomUUID();
      await pay(key);
      return () => pay(key);
    },
  },
};

it.each(Object.entries(requests))('%s', async (_name, { statements, status, prepare }) => {
  const counts: number[] = [];
  const texts = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const send = await prepare();
    await stage.server.app.query('SELECT pg_stat_statements_reset()');
    expect(await send()).toBe(status);
    const { rows } = await stage.server.app.query<{ query: string; calls: number }>(counted);
    counts.push(rows.reduce((sum, row) => sum + row.calls, 0));
    for (const { query } of rows) texts.add(query);
  }
  // The median excludes requests that reread the API key, every few seconds, and the first one, which records
  // its use.
  expect(median(counts), `${counts}: ${[...texts].join('\n')}`).toBe(statements);
});
