import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import type { Storage } from '@ostiary/core/storage';
import Sqlite from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import {
  acme,
  sampleApiKey,
  sampleClaim,
  sampleEvent,
  samplePartner,
  sampleTransfer,
} from '../../../testing/src/contract/partner-samples.ts';
import { sampleClient, sampleGrant, sampleKey } from '../../../testing/src/contract/samples.ts';
import { resultOf, sampleEndpoint } from '../../../testing/src/contract/webhook-samples.ts';

const digest = (byte: number) => Buffer.alloc(32, byte);

/** A text with characters that could be changed on the way between two databases. */
const odd = `'"\\ {NULL,"a"} \t\r\n é e\u0301 \ufeff \ufffd \u{1f6f6} ${'x'.repeat(5_000)}`;

/** Largest possible amount of money, which exceeds the precision of a double. */
const amount = 99_999_999_999_999_999n;

export const claimAll = { leaseMs: 30_000, limit: 10, endpointLimit: 10, endpointLimits: new Map() };

/** Makes an SQLite file in which every table has rows. It is removed after the test. */
export async function filledFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-move-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ostiary.db');
  filled ??= bytesOf(file);
  writeFileSync(file, await filled);
  return file;
}

/** Content of the first SQLite file, of which the others are copies. */
let filled: Promise<Buffer> | undefined;

async function bytesOf(file: string): Promise<Buffer> {
  const storage = sqliteStorage({ file });
  await storage.open();
  await fill(storage);
  await storage.close();
  return readFileSync(file);
}

async function fill(storage: Storage): Promise<void> {
  const act = {
    at: 1,
    actor: odd,
    role: odd,
    action: 'client.disable',
    target: 'client:shop',
    details: { odd },
  };
  await storage.audit.append({ id: 'aud_1', ...act, digest: digest(12) });
  await storage.partners.insert(samplePartner({ name: odd }));
  const shop = { clientId: 'shop', name: odd, partner: 'acme' };
  await storage.clients.insert(sampleClient(shop));
  await storage.clients.replace(sampleClient({ ...shop, version: 2, logo: 'l' }), undefined, digest(15));
  await storage.consents.remember({ sub: 'ana', clientId: 'shop', scopes: ['openid', odd], now: 5 });
  await storage.consents.revoke('ana', 'shop', 6);
  const resource = `https://api.example/${odd}`;
  await storage.consents.remember({ sub: 'ana', clientId: 'shop', scopes: ['openid', resource], now: 7 });
  for (const byte of [0, 9, 255]) {
    const changes = {
      codeDigest: digest(byte),
      clientId: 'shop',
      sub: 'ana',
      scopes: ['openid'],
      resources: [resource],
      nonce: odd,
    };
    await storage.grants.issue(sampleGrant('', changes));
  }
  const token = {
    digest: digest(10),
    issuedAt: 9,
    expiresAt: 1e12,
    scopes: null,
    resources: null,
    dpopJkt: odd,
  };
  const refreshToken = { digest: digest(12), family: digest(17), expiresAt: 1e12 };
  const codeDigest = digest(9);
  await storage.grants.redeem({ codeDigest, token, refreshToken, maxFailedVerifiers: 5, now: 9 });
  const successor = { ...refreshToken, digest: digest(13) };
  const narrow = { ...token, digest: digest(14), scopes: ['openid', odd], resources: [odd] };
  await storage.grants.refresh({
    token: narrow,
    ...{ presented: refreshToken, successor, otherSuccessors: [], graceMs: 0, maxAccessTokens: 9, now: 9 },
  });
  await storage.interactions.save(digest(11), { odd }, 1e12);
  await storage.interactionAnswers.save(digest(11), { odd }, 1e12);
  const pushed = { digest: digest(18), clientId: 'shop' };
  await storage.pushedRequests.save({ ...pushed, payload: { odd }, expiresAt: 1e12 });
  await storage.pushedRequests.use(pushed, 1);
  await storage.sandbox.save(digest(16), { odd }, 1e12);
  await storage.proofIds.use({ namespace: 'dpop', digest: digest(17), expiresAt: 1e12, now: 1 });
  const documented = sampleClient({ clientId: 'https://app.example/client.json', secrets: [], name: odd });
  await storage.clientDocuments.insert(documented, { now: 7, limit: 10 });
  await storage.signingKeys.insert(sampleKey('k'));
  const jobs = ['held', 'due', 'failed'].map((id) => ({ id, kind: id, payload: { odd }, dueAt: 10 }));
  await storage.queue.enqueue(jobs);
  const hold = { claimId: 'c', now: 20, leaseMs: 30_000, limit: 1 };
  await storage.queue.claim({ ...hold, kinds: ['held'] });
  await storage.queue.claim({ ...hold, kinds: ['failed'] });
  await storage.queue.retry({ id: 'failed', claimId: 'c' }, { dueAt: 50, error: odd });
  await storage.apiKeys.insert(sampleApiKey('0', { name: odd, scopes: [], allowlist: null, lastUsedAt: 3 }));
  await storage.apiKeys.insert(sampleApiKey('1', { name: odd, requireSignature: true }));
  const link = { partner: 'acme', madeBy: odd, createdAt: 5, openedAt: null, expiresAt: 1e12 };
  for (const [at, rights] of (['view', 'manage'] as const).entries())
    await storage.portal.insert({ ...link, id: rights, rights, digest: digest(40 + at) });
  await storage.portal.open({ digest: digest(41), sessionDigest: digest(42), now: 6, expiresAt: 1e12 });
  for (const label of ['b', 'A', 'a']) {
    // JSON with characters that PostgreSQL cannot store in text, escaped.
    const metadata = { note: 'a\u0000b \ud800' };
    const transfer = sampleTransfer(label, { amount, description: odd, reference: label, metadata });
    const answer = { status: 201, body: odd };
    await storage.transfers.create({
      transfer: { ...transfer, createdAt: 1_000, updatedAt: 1_000 },
      idempotency: sampleClaim(`key of ${label}`, { fingerprint: digest(30), answer }),
      job: { id: `job of ${label}`, kind: 'pay', payload: {}, dueAt: 5 },
      now: 5,
    });
  }
  const logged = { ...acme, keyId: 'key_0', createdAt: 5, durationMs: 1, method: 'GET', route: '/v1/x' };
  await storage.requestLog.append(
    [
      { ...logged, id: 'r1', status: 200, code: null, sent: null, answered: odd },
      { ...logged, id: 'r2', status: 404, code: 'not_found', sent: odd, answered: null },
    ],
    9,
  );
  const arrived = {
    ...acme,
    endpointId: 'we_1',
    receivedAt: 5,
    headers: [],
    body: odd,
    signatureError: null,
  };
  for (const answer of [null, { httpStatus: 200, error: null, response: odd }])
    await storage.inbox.add({ ...arrived, id: `in_${answer?.httpStatus}`, answer }, 9);
  await storage.inbox.take({ ...acme, endpointId: 'we_1', since: 0, limit: 9 });
  for (const now of [5, 1e12]) {
    const counts = [{ name: 'sign_ins', mode: 'live' as const, count: Number.MAX_SAFE_INTEGER }];
    await storage.hourlyCounts.add(counts, now);
  }
  for (const label of ['1', '2']) {
    const endpoint = sampleEndpoint(label, { events: label === '1' ? ['kyc.updated'] : ['*'] });
    await storage.webhooks.create({ endpoint, idempotency: null, max: 9, now: 1 });
  }
  const failure = { code: 'no', message: odd };
  const event = sampleEvent('settled', { type: 'kyc.updated', body: odd, createdAt: 5 });
  await storage.transfers.settle({ id: 'tr_b', status: 'failed', failure, event, now: 5_000 });
  const events = ['a', 'b', 'c'].map((label) =>
    sampleEvent(label, { type: 'kyc.updated', body: `${label} ${odd}`, createdAt: 5 }),
  );
  await storage.events.publish(events, { idempotency: null, now: 5 });

  // One of the eight deliveries is claimed, one was released, and the others ended in every possible way.
  const claimed = await storage.deliveries.claim({ ...claimAll, claimId: 'first', now: 100 });
  const [waits, dropped, delivered, held] = claimed.map((delivery) => resultOf(delivery));
  if (!waits || !dropped || !delivered || !held) throw new Error('too few deliveries');
  await storage.deliveries.finish([
    { ...waits, next: { status: 'pending', dueAt: 200 } },
    { ...dropped, attempt: null, isCutOff: false, next: { status: 'dropped' } },
    delivered,
  ]);
  await storage.deliveries.claim({ ...claimAll, claimId: 'second', now: 250, endpointLimit: 1 });
  await storage.deliveries.finish([
    {
      ...{ ...waits, claimId: 'second', attempt: attemptOf(2), isCutOff: true },
      next: { status: 'pending', dueAt: 40_000 },
    },
  ]);
  const removed = sampleEndpoint('2', { enabled: false, version: 2 });
  await storage.webhooks.replace(removed, 300);
}

function attemptOf(number: number) {
  return { number, at: 260, durationMs: 3, httpStatus: null, error: odd, response: null };
}

/** Reads most data of a storage through its methods, without jobs and hourly counts. */
export async function readAll(storage: Storage): Promise<object> {
  const page = { after: null, limit: 100 };
  const all = { status: null, from: null, to: null };
  const list = { ...acme, endpointId: null, eventId: null, status: null, ...page };
  return {
    clients: await storage.clients.list(page),
    origin: await storage.clients.originRegistered('https://shop.example'),
    consents: await storage.consents.list('ana'),
    grants: await Promise.all([0, 9, 255].map((byte) => storage.grants.find(digest(byte)))),
    token: await storage.grants.findToken(digest(10)),
    interaction: await storage.interactions.find(digest(11), 1),
    repeatable: await storage.interactionAnswers.find(digest(11), 1),
    pushed: await storage.pushedRequests.find({ digest: digest(18), clientId: 'shop' }, 1),
    sandbox: await storage.sandbox.find(digest(16), 1),
    isFresh: await storage.proofIds.use({ namespace: 'dpop', digest: digest(17), expiresAt: 1e12, now: 1 }),
    clientDocuments: await storage.clientDocuments.list(page),
    signingKeys: await storage.signingKeys.list(),
    partners: await storage.partners.list(page),
    audit: await storage.audit.list({ target: null, actor: null, action: null, from: null, ...page }),
    chain: await storage.audit.chain({ after: 0, limit: 100 }),
    head: await storage.audit.head(),
    apiKeys: await storage.apiKeys.list('acme'),
    portal: await storage.portal.list('acme', 1),
    answer: await storage.idempotency.find({ ...acme, key: 'key of a', now: 1 }),
    transfers: await storage.transfers.list({ ...acme, ...all, reference: null, ...page }),
    exported: await storage.transfers.listFinal({ ...acme, from: 0, to: 1e12, ...page }),
    requests: await storage.requestLog.list({ ...acme, failed: false, ...page }),
    inbox: await storage.inbox.list({ ...acme, endpointId: 'we_1', limit: 9 }),
    webhooks: await storage.webhooks.list(acme),
    events: await storage.events.list({ ...acme, after: 0, limit: 100 }),
    deliveries: await storage.deliveries.list(list),
  };
}

/** Runs SQL on an SQLite file, as an administrator may do by hand. */
export function change(file: string, ...statements: readonly string[]): void {
  const database = new Sqlite(file);
  for (const sql of statements) database.exec(sql);
  database.close();
}
