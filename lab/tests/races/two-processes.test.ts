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
  exchangeAt,
  pkcePair,
  type RemoteClient,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import { type HostProcess, startHost } from '../../support/processes/host.ts';

const authUrl = 'http://localhost:1';
const rounds = 50;
const parallel = 20;

describe('two processes on one SQLite file', () => {
  let directory: string;
  let processes: HostProcess[] = [];
  let origins: string[];
  let ostiary: Ostiary;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ostiary-races-'));
    const file = join(directory, 'ostiary.db');
    const sealingKey = randomBytes(32).toString('base64url');
    processes = await Promise.all(
      [1, 2].map(() => startHost({ authUrl, file, sealingKey, isWorking: true })),
    );
    origins = processes.map(({ origin }) => origin);
    // The administrator is a third process on the same file.
    ostiary = await createOstiary({
      authUrl,
      storage: sqliteStorage({ file }),
      sealingKeys: [sealingKey],
      users: { find: () => null },
      login: { authenticate: () => null, loginUrl: () => '/login' },
    });
  });
  afterAll(async () => {
    await ostiary?.close();
    const codes = await Promise.all(processes.map((provider) => provider.stop()));
    await rm(directory, { recursive: true, force: true });
    expect(codes).toEqual([0, 0]);
  });

  const at = (index: number): string => origins[index % origins.length] ?? '';

  async function newClient(): Promise<RemoteClient> {
    const redirectUri = 'https://app.example/callback';
    const { client, clientSecret } = await ostiary.admin.clients.create({
      name: 'App',
      redirectUris: [redirectUri],
      allowedScopes: ['openid'],
    });
    return { id: client.clientId, secret: clientSecret ?? '', redirectUri };
  }

  async function newToken(client: RemoteClient, sub: string): Promise<string> {
    const code = await codeFrom(origins, new RoamingBrowser(authUrl, sub), authorizePath(client));
    return String((await exchangeAt(at(0), client, code)).json.access_token);
  }

  it('serve one user’s flow together, whichever of them is asked', async () => {
    const client = await newClient();
    const token = await newToken(client, 'roamer');
    expect(await Promise.all(origins.map((origin) => userinfoStatusAt(origin, token)))).toEqual([200, 200]);
  });

  it(`redeem a code once, in each of ${rounds} rounds, and the replays end its token and nothing else`, async () => {
    const client = await newClient();
    const bystanders = await Promise.all(['ana', 'ben'].map((sub) => newToken(client, sub)));
    const browser = new RoamingBrowser(authUrl, 'ana');
    for (let round = 0; round < rounds; round += 1) {
      const code = await codeFrom([at(round)], browser, authorizePath(client));
      const answers = await Promise.all(
        Array.from({ length: parallel }, (_, index) => exchangeAt(at(index), client, code)),
      );
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners, `round ${round}`).toHaveLength(1);
      for (const { status, json } of answers) {
        if (status !== 200) expect([status, json.error]).toEqual([400, 'invalid_grant']);
      }
      const token = String(winners[0]?.json.access_token);
      expect(await Promise.all(origins.map((origin) => userinfoStatusAt(origin, token)))).toEqual([401, 401]);
    }
    for (const token of bystanders) expect(await userinfoStatusAt(at(1), token)).toBe(200);
    // Remembered consent survives: a silent request is answered with a code.
    for (const origin of origins) {
      expect(await codeFrom([origin], browser, authorizePath(client, { prompt: 'none' }))).not.toBe('');
    }
  });

  it.each([
    [4, 200],
    [5, 400],
    [20, 400],
  ])('count %i wrong verifiers together', async (guesses, status) => {
    const client = await newClient();
    const { verifier, challenge } = pkcePair();
    const bound = authorizePath(client, { code_challenge: challenge, code_challenge_method: 'S256' });
    const code = await codeFrom(origins, new RoamingBrowser(authUrl, 'ana'), bound);
    await Promise.all(
      Array.from({ length: guesses }, (_, index) =>
        exchangeAt(at(index), client, code, { code_verifier: pkcePair().verifier }),
      ),
    );
    expect((await exchangeAt(at(0), client, code, { code_verifier: verifier })).status).toBe(status);
  });

  it('see at the next request that access has ended elsewhere', async () => {
    for (const end of [
      (client: RemoteClient) => ostiary.admin.clients.disable(client.id),
      () => ostiary.users.end('carl'),
    ]) {
      const client = await newClient();
      const token = await newToken(client, 'carl');
      const code = await codeFrom(origins, new RoamingBrowser(authUrl, 'carl'), authorizePath(client));
      expect(await Promise.all(origins.map((origin) => userinfoStatusAt(origin, token)))).toEqual([200, 200]);
      await end(client);
      expect(await Promise.all(origins.map((origin) => userinfoStatusAt(origin, token)))).toEqual([401, 401]);
      for (const origin of origins) {
        expect((await exchangeAt(origin, client, code)).status).toBeGreaterThanOrEqual(400);
      }
    }
  });

  it('leave no living token when access ends while a code is exchanged', async () => {
    for (let round = 0; round < 10; round += 1) {
      const client = await newClient();
      const code = await codeFrom(origins, new RoamingBrowser(authUrl, 'dora'), authorizePath(client));
      const [{ json }] = await Promise.all([exchangeAt(at(round), client, code), ostiary.users.end('dora')]);
      const token = json.access_token;
      if (typeof token === 'string') {
        expect(await Promise.all(origins.map((origin) => userinfoStatusAt(origin, token)))).toEqual([
          401, 401,
        ]);
      }
    }
  });

  it('give one code for one interaction that comes back to both', async () => {
    for (let round = 0; round < 10; round += 1) {
      const client = await newClient();
      const browser = new RoamingBrowser(authUrl, 'ana');
      const page = (await browser.visit(at(0), authorizePath(client))).location;
      const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.visit(at(1), page)).text)?.[1] ?? '';
      const answered = await Promise.all(
        origins.map((origin) => browser.visit(origin, page, { csrf, decision: 'approve' })),
      );
      const resume = page.replace('interaction', 'authorize');
      expect(answered.map(({ location }) => location)).toContain(resume);
      const back = await Promise.all([...origins, ...origins].map((origin) => browser.visit(origin, resume)));
      expect(back.filter(({ location }) => location.includes('code='))).toHaveLength(1);
    }
  });
});
