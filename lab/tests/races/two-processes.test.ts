import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  authorizePath,
  codeFrom,
  csrfOf,
  exchangeAt,
  type RemoteClient,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import type { Child } from '../../support/processes/child.ts';
import { authUrl, options } from '../../support/processes/cluster-options.ts';
import { startHost } from '../../support/processes/host.ts';

const redirectUri = 'https://app.example/callback';

// The contract suite tests two storages on one file. Here they are in separate processes, behind HTTP.
describe('two processes on one SQLite file', () => {
  let directory: string;
  let processes: Child[] = [];
  let origins: string[];
  let ostiary: Ostiary;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ostiary-races-'));
    const file = join(directory, 'ostiary.db');
    const sealingKey = randomBytes(32).toString('base64url');
    processes = await Promise.all([1, 2].map(() => startHost({ file, sealingKey })));
    origins = processes.map(({ origin }) => origin);
    // Administration in a third process on the same file.
    ostiary = await createOstiary(options(sqliteStorage({ file }), { sealingKey }));
  });
  afterAll(async () => {
    await ostiary?.close();
    const codes = await Promise.all(processes.map((provider) => provider.stop()));
    await rm(directory, { recursive: true, force: true });
    expect(codes).toEqual([0, 0]);
  });

  const at = (index: number): string => origins[index % origins.length] ?? '';
  const statuses = (token: unknown) =>
    Promise.all(origins.map((origin) => userinfoStatusAt(origin, String(token))));

  async function newClient(): Promise<RemoteClient> {
    const settings = { name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid' as const] };
    const { client, clientSecret } = await ostiary.admin.clients.create(settings);
    return { id: client.clientId, secret: clientSecret ?? '', redirectUri };
  }

  it('serve one user’s flow together, and see at the next request that access has ended elsewhere', async () => {
    const client = await newClient();
    const browser = new RoamingBrowser(authUrl, 'roamer');
    const code = await codeFrom(origins, browser, authorizePath(client));
    const { json } = await exchangeAt(at(0), client, code);
    expect(await statuses(json.access_token)).toEqual([200, 200]);
    const unused = await codeFrom(origins, browser, authorizePath(client, { prompt: 'none' }));
    await ostiary.users.end('roamer');
    expect(await statuses(json.access_token)).toEqual([401, 401]);
    expect((await exchangeAt(at(1), client, unused)).status).toBe(400);
  });

  it('give one code for one interaction that comes back to both', async () => {
    for (let round = 0; round < 10; round += 1) {
      const client = await newClient();
      const browser = new RoamingBrowser(authUrl, 'ana');
      const page = (await browser.visit(at(0), authorizePath(client))).location;
      const csrf = csrfOf((await browser.visit(at(1), page)).text);
      const answered = await Promise.all(
        origins.map((origin) => browser.visit(origin, page, { csrf, decision: 'approve' })),
      );
      const resume = `${page}/resume`;
      expect(answered.map(({ location }) => location)).toContain(resume);
      const back = await Promise.all([...origins, ...origins].map((origin) => browser.visit(origin, resume)));
      const codes = new Set(
        back.map(({ location }) => location).filter((location) => location.includes('code=')),
      );
      expect(codes.size).toBe(1);
    }
  });
});
