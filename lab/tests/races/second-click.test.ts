import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  authorizePath,
  csrfOf,
  exchangeAt,
  type RemoteClient,
  RoamingBrowser,
} from '../../support/browser/remote-flow.ts';
import { authUrl, options } from '../../support/processes/cluster-options.ts';
import { startHost } from '../../support/processes/host.ts';
import { setStage } from '../../support/processes/stage.ts';

/** Two processes behind one URL, with their client. */
interface Served {
  readonly origins: readonly string[];
  readonly client: RemoteClient;
}

async function onSqlite(ends: AsyncDisposableStack): Promise<Served> {
  const directory = await mkdtemp(join(tmpdir(), 'ostiary-second-click-'));
  ends.defer(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'ostiary.db');
  const sealingKey = randomBytes(32).toString('base64url');
  const processes = await Promise.all([1, 2].map(() => startHost({ file, sealingKey })));
  for (const one of processes) ends.defer(async () => void (await one.stop()));
  const ostiary = await createOstiary(options(sqliteStorage({ file }), { sealingKey }));
  ends.defer(() => ostiary.close());
  const redirectUri = 'https://app.example/callback';
  const settings = { name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid' as const] };
  const { client, clientSecret } = await ostiary.admin.clients.create(settings);
  const origins = processes.map(({ origin }) => origin);
  return { origins, client: { id: client.clientId, secret: clientSecret ?? '', redirectUri } };
}

async function onPostgres(ends: AsyncDisposableStack): Promise<Served> {
  const { cluster, client } = await setStage(ends, { webs: 2, workers: 0, endpoints: 1, fsync: false });
  return { origins: cluster.webs.map(({ origin }) => origin), client };
}

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
])('two processes on %s', (engine, serve) => {
  const ends = new AsyncDisposableStack();
  let served: Served;
  beforeAll(async () => {
    served = await serve(ends);
  }, 60_000);
  afterAll(() => ends.disposeAsync());

  const at = (index: number): string => served.origins[index % 2] ?? '';

  /**
   * Opens a consent page. Each call of `click` submits its form to one process, and follows the redirects at
   * the other.
   */
  async function consentPage(sub: string) {
    const browser = new RoamingBrowser(authUrl, sub);
    const { location } = await browser.visit(at(0), authorizePath(served.client, { prompt: 'consent' }));
    const csrf = csrfOf((await browser.visit(at(1), location)).text);
    return async (decision: string, index: number): Promise<string> => {
      const answered = await browser.visit(at(index), location, { csrf, decision });
      if (!answered.location.startsWith('/')) return answered.location;
      return (await browser.visit(at(index + 1), answered.location)).location;
    };
  }

  it('give the same code to a second click on Allow, before and after the first has come back', async () => {
    for (let round = 0; round < 5; round += 1) {
      const click = await consentPage(`${engine}-${round}`);
      const together = await Promise.all([0, 1, 2, 3].map((index) => click('approve', index)));
      const later = [await click('approve', 0), await click('approve', 1)];
      const [first = '', ...others] = [...new Set([...together, ...later])];
      expect(others, `round ${round}`).toEqual([]);
      const code = new URL(first).searchParams.get('code') ?? '';
      expect((await exchangeAt(at(0), served.client, code)).status).toBe(200);
    }
  });

  it('give the same refusal to a second click on Deny, and nothing to another decision', async () => {
    const click = await consentPage(`${engine}-denies`);
    const first = await click('deny', 0);
    expect(new URL(first).searchParams.get('error')).toBe('access_denied');
    expect(await click('deny', 1)).toBe(first);
    expect(await click('approve', 1)).toBe('');
  });
});
