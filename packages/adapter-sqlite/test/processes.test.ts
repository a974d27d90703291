import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import Driver from 'better-sqlite3';
import { expect, test } from 'vitest';
import { sqliteStorage } from '../src/index.ts';
import { readMigrations } from '../src/migrations.ts';
import { temporaryFile } from './temporary.ts';

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Starts processes that do nothing until all are ready, and then lets them go together. */
async function together(script: string, argumentsOf: string[][], onMessage?: (message: unknown) => void) {
  const children = argumentsOf.map((args) =>
    fork(new URL(`children/${script}`, import.meta.url), args, { execArgv: ['--conditions=source'] }),
  );
  const ended = children.map(outcome);
  await Promise.all(children.map((child) => once(child, 'message')));
  for (const child of children) {
    if (onMessage !== undefined) child.on('message', onMessage);
    child.send('go');
  }
  return Promise.all(ended);
}

const acme = { partner: 'acme', mode: 'live' } as const;

/** An open storage on the file with some endpoints. */
async function withEndpoints(file: string, count: number) {
  const storage = sqliteStorage({ file });
  await storage.open();
  for (let index = 0; index < count; index += 1) {
    const endpoint = {
      ...acme,
      id: `we_${index}`,
      url: 'https://example.com/',
      events: ['*'],
      enabled: true,
      sealedSecret: 'sealed',
      createdAt: 1,
      updatedAt: 1,
      version: 1,
    };
    await storage.webhooks.create({ endpoint, idempotency: null, max: count, now: 1 });
  }
  return storage;
}

async function outcome(child: ChildProcess) {
  let last: unknown;
  child.on('message', (message) => {
    last = message;
  });
  const [code] = await once(child, 'exit');
  return { code, last };
}

test('twenty processes that start at once on a new file all succeed, and migrate once', async () => {
  const file = temporaryFile();
  const ids = Array.from({ length: 20 }, (_, index) => `process ${index}`);
  const outcomes = await together(
    'start.ts',
    ids.map((id) => [file, id]),
  );
  expect(outcomes.map(({ code }) => code)).toEqual(ids.map(() => 0));

  const storage = sqliteStorage({ file });
  await storage.open();
  const jobs = await storage.queue.claim({ kinds: ['start'], claimId: 'c', now: 0, leaseMs: 1, limit: 100 });
  expect(jobs.map((job) => job.id).toSorted()).toEqual(ids.toSorted());
  await storage.close();
  const driver = new Driver(file);
  const applied = driver.prepare('SELECT name FROM schema_migrations ORDER BY number').pluck().all();
  expect(applied).toEqual(readMigrations().map(({ name }) => name));
  driver.close();
});

test('of two processes that redeem the same codes exactly one wins each, and its token is dead', async () => {
  const file = temporaryFile();
  const storage = sqliteStorage({ file });
  await storage.open();
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
  const outcomes = await together(
    'redeem.ts',
    names.map((name) => [file, name, String(codes.length)]),
  );
  expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
  const answers = outcomes.map(({ last }) => last as string[]);
  for (const code of codes) {
    expect(answers.map((list) => list[code]).toSorted(), `code ${code}`).toEqual(['redeemed', 'replayed']);
    const tokens = await Promise.all(
      names.map((name) => storage.grants.findToken(digestOf(`token ${code} ${name}`))),
    );
    expect(tokens.filter((token) => token !== null)).toMatchObject([{ revoked: true }]);
  }
  await storage.close();
});

test('of two processes that ask for the same transfers one creates each, and the other gives its answer', async () => {
  const file = temporaryFile();
  const storage = sqliteStorage({ file });
  await storage.open();
  const names = ['first', 'second'];
  const count = 200;
  const outcomes = await together(
    'create.ts',
    names.map((name) => [file, name, String(count)]),
  );
  expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
  const answers = outcomes.map(({ last }) => last as { outcome: string }[]);
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const pair = answers.map((list) => list[number]);
    const winner = names[pair.findIndex((answer) => answer?.outcome === 'created')];
    const id = `tr_${number}_${winner}`;
    expect(pair, `key ${number}`).toContainEqual({ outcome: 'created' });
    expect(pair).toContainEqual({ outcome: 'replayed', answer: { status: 201, body: id } });
    ids.push(id);
  }
  const jobs = await storage.queue.claim({
    kinds: ['transfer'],
    claimId: 'c',
    now: 1,
    leaseMs: 1,
    limit: 999,
  });
  expect(jobs.map((job) => job.id).toSorted()).toEqual(ids.toSorted());
  for (const id of ids) expect((await storage.transfers.findById(id))?.status).toBe('pending');
  await storage.close();
});

test('two processes that publish and deliver leave no gap, and deliver everything once', async () => {
  const file = temporaryFile();
  const storage = await withEndpoints(file, 3);
  const delivered: unknown[] = [];
  const outcomes = await together(
    'deliver.ts',
    ['first', 'second'].map((name) => [file, name, '100']),
    (message) => delivered.push(...(message as unknown[])),
  );
  expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
  const { events } = await storage.events.list({ ...acme, after: 0, limit: 1000 });
  expect(events.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  expect(delivered).toHaveLength(600);
  expect(new Set(delivered).size).toBe(600);
  const filter = { ...acme, endpointId: null, eventId: null, after: null, limit: 1000 };
  const done = await storage.deliveries.list({ ...filter, status: 'delivered' });
  expect(done.map(({ id }) => id).toSorted()).toEqual(delivered.toSorted());
  expect(done.filter(({ attempts }) => attempts.length !== 1)).toEqual([]);
  await storage.close();
});
