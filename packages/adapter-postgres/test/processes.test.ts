import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { schemaNames, startServer, type TestServer } from './server.ts';

let server: TestServer;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.remove());

const digestOf = (text: string) => createHash('sha256').update(text).digest();

async function opened() {
  const schema = nextSchema();
  const storage = postgresStorage({ connectionString: server.url, schema });
  await storage.open();
  onTestFinished(() => storage.close());
  return { schema, storage };
}

/** Starts processes that do nothing until all are ready, lets them go together, and answers what each reports. */
async function together(script: string, argumentsOf: readonly string[][]): Promise<string[][]> {
  const children = argumentsOf.map((args) =>
    fork(new URL(`children/${script}`, import.meta.url), [server.url, ...args], {
      execArgv: ['--conditions=source'],
    }),
  );
  await Promise.all(children.map((child) => once(child, 'message')));
  const reports = children.map(report);
  for (const child of children) child.send('go');
  return Promise.all(reports);
}

async function report(child: ChildProcess): Promise<string[]> {
  const [[answers], [code]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
  expect(code).toBe(0);
  return answers;
}

test('of two processes that redeem the same codes exactly one wins each, and its token is dead', async () => {
  const { schema, storage } = await opened();
  await storage.clients.insert({
    clientId: 'shop',
    name: 'Shop',
    secrets: [],
    redirectUris: ['https://shop.example/callback'],
    allowedScopes: ['openid'],
    requirePkce: true,
    requireSecret: false,
    firstParty: false,
    idTokenAlg: 'RS256',
    partner: null,
    createdAt: 1,
    updatedAt: 1,
    disabledAt: null,
    version: 1,
  });
  await storage.consents.remember({ sub: 'user', clientId: 'shop', scopes: ['openid'], now: 1 });
  const codes = Array.from({ length: 200 }, (_, index) => index);
  const issued = codes.map((code) =>
    storage.grants.issue({
      codeDigest: digestOf(`code ${code}`),
      clientId: 'shop',
      sub: 'user',
      scopes: ['openid'],
      redirectUri: 'https://shop.example/callback',
      codeChallenge: null,
      nonce: null,
      authenticatedAt: 1,
      issuedAt: 1,
      expiresAt: 1000,
    }),
  );
  expect(await Promise.all(issued)).toEqual(codes.map(() => true));

  const names = ['first', 'second'];
  const answers = await together(
    'redeem.ts',
    names.map((name) => [schema, name, String(codes.length)]),
  );
  for (const code of codes) {
    expect(answers.map((list) => list[code]).toSorted(), `code ${code}`).toEqual(['redeemed', 'replayed']);
    const tokens = await Promise.all(
      names.map((name) => storage.grants.findToken(digestOf(`token ${code} ${name}`))),
    );
    expect(tokens.filter((token) => token !== null)).toMatchObject([{ revoked: true }]);
  }
});

test('processes that work on one queue do every job once', async () => {
  const { schema, storage } = await opened();
  const ids = Array.from({ length: 500 }, (_, index) => `job ${index}`);
  await storage.queue.enqueue(ids.map((id) => ({ id, kind: 'k', payload: {}, dueAt: 0 })));
  const names = ['first', 'second', 'third'];
  const done = await together(
    'work.ts',
    names.map((name) => [schema, name]),
  );
  expect(done.flat().toSorted()).toEqual(ids.toSorted());
});

test('limits are exact over two processes, in each of 20 runs', async () => {
  const { schema } = await opened();
  const [runs, requests, limit] = [20, 40, 60];
  const request = [schema, String(runs), String(requests), String(limit)];
  const [first = [], second = []] = await together('consume.ts', [request, request]);
  expect(first.map((allowed, run) => Number(allowed) + Number(second[run]))).toEqual(Array(runs).fill(limit));
  // The processes met: neither had all it asked for every time.
  expect([...first, ...second].some((allowed) => Number(allowed) < requests)).toBe(true);
});
