import assert from 'node:assert/strict';
import type { IdempotencyClaim, Storage, WebhookEndpointRecord } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { acme, sampleClaim } from './partner-samples.ts';
import { now } from './samples.ts';
import { registered, sampleEndpoint } from './webhook-samples.ts';

function create(
  { webhooks }: Storage,
  endpoint: WebhookEndpointRecord,
  idempotency: IdempotencyClaim | null = null,
  max = 50,
  at: number = now,
) {
  return webhooks.create({ endpoint, idempotency, max, now: at });
}

async function ids({ webhooks }: Storage, owner: Parameters<typeof webhooks.list>[0] = acme) {
  return (await webhooks.list(owner)).map(({ id }) => id);
}

export const webhookCases = casesOf('webhook endpoints', {
  'a list is by time, then by id in code unit order': async (storage) => {
    const sorted = ['first', '10', '9', 'B', 'Z', 'a', 'a-', 'b', 'last'];
    const times: Record<string, number> = { first: now - 1, last: now + 1 };
    for (const label of sorted.toSorted()) {
      await registered(storage, label, { createdAt: times[label] ?? now });
    }
    const expected = sorted.map((label) => `we_${label}`);
    assertSame(await ids(storage), expected);
  },

  'somebody else’s endpoint is as unknown as any other': async (storage) => {
    const mine = await registered(storage, 'mine');
    await registered(storage, 'test', { mode: 'test' });
    await registered(storage, 'other', { partner: 'other' });
    assertSame(await ids(storage), ['we_mine']);
    assertSame(await ids(storage, { partner: 'acme', mode: 'test' }), ['we_test']);
    assertSame(await ids(storage, { partner: 'ACME', mode: 'live' }), []);
    const strangers = [
      { partner: 'other', mode: 'live' },
      { partner: 'acme', mode: 'test' },
    ] as const;
    for (const owner of strangers) {
      assert.equal(await storage.webhooks.find(owner, mine.id), null);
      assert.equal(await storage.webhooks.remove(owner, mine.id, now), false);
      assert.equal(await storage.webhooks.replace({ ...mine, ...owner, version: 2 }, now), false);
    }
    for (const id of ['we_MINE', 'we_', '']) assert.equal(await storage.webhooks.find(acme, id), null, id);
    assertSame(await storage.webhooks.find(acme, mine.id), mine);
  },

  'of parallel requests no more are stored than are allowed': async (storage) => {
    const claims = Array.from({ length: 30 }, (_, index) => sampleClaim(`key ${index}`));
    const answers = await inParallel(30, (index) =>
      create(storage, sampleEndpoint(`${index}`), claims[index], 4),
    );
    const outcomes = answers.map(({ outcome }) => outcome);
    assertSame(countAnswers(outcomes), { created: 4, too_many: 26 });
    assert.equal((await ids(storage)).length, 4);
    for (const [index, outcome] of outcomes.entries()) {
      const record = await storage.idempotency.find({ ...sampleClaim(`key ${index}`), now });
      assert.equal(record !== null, outcome === 'created', 'what was refused leaves its key free');
    }
    const test = await create(storage, sampleEndpoint('test', { mode: 'test' }), null, 4);
    assert.equal(test.outcome, 'created', 'another mode has a number of its own');
    const [gone = ''] = await ids(storage);
    await storage.webhooks.remove(acme, gone, now);
    assertSame(await create(storage, sampleEndpoint('x'), null, 4), { outcome: 'created' });
    assertSame(await create(storage, sampleEndpoint('y'), null, 4), { outcome: 'too_many' });
  },

  'replace stores the next version and refuses any other': async (storage) => {
    const stored = await registered(storage, 'a');
    const bystander = await registered(storage, 'b');
    const changed = { ...stored, url: 'https://new.example/', events: ['kyc.updated'], updatedAt: now + 5 };
    for (const version of [0, 1, 3, 9]) {
      assert.equal(await storage.webhooks.replace({ ...changed, version }, now), false, `${version}`);
    }
    assertSame(await storage.webhooks.find(acme, stored.id), stored);
    const next = { ...changed, enabled: false, sealedSecret: 'sealed anew', version: 2 };
    assert.equal(await storage.webhooks.replace(next, now), true);
    assertSame(await storage.webhooks.find(acme, stored.id), next);
    assertSame(await storage.webhooks.find(acme, bystander.id), bystander);
    assert.equal(await storage.webhooks.replace(sampleEndpoint('nobody', { version: 2 }), now), false);
    assert.equal(await storage.webhooks.replace(sampleEndpoint('nobody', { version: 1 }), now), false);
    assertSame(await ids(storage), ['we_a', 'we_b']);
  },

  'of parallel replacements of one version exactly one is stored': async (storage) => {
    const stored = await registered(storage, 'a');
    const answers = await inParallel(30, (index) =>
      storage.webhooks.replace({ ...stored, url: `https://${index}.example/`, version: 2 }, now),
    );
    assertSame(countAnswers(answers), { true: 1, false: 29 });
    const url = `https://${answers.indexOf(true)}.example/`;
    assertSame(await storage.webhooks.find(acme, stored.id), { ...stored, url, version: 2 });
  },

  'an endpoint is removed once': async (storage) => {
    const { id } = await registered(storage, 'a');
    await registered(storage, 'b');
    const answers = await inParallel(10, () => storage.webhooks.remove(acme, id, now));
    assertSame(countAnswers(answers), { true: 1, false: 9 });
    assert.equal(await storage.webhooks.find(acme, id), null);
    assertSame(await ids(storage), ['we_b']);
    assert.equal(await storage.webhooks.replace(sampleEndpoint('a', { version: 2 }), now), false);
  },
});

const ofAll = { mode: 'live', partner: null } as const;

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const webhookCalls: Calls<'webhooks'> = {
  create: ({ webhooks }) =>
    webhooks.create({ endpoint: sampleEndpoint('a'), idempotency: sampleClaim('b'), max: 1, now }),
  findById: ({ webhooks }) => webhooks.findById('we_a'),
  find: ({ webhooks }) => webhooks.find(acme, 'we_a'),
  list: ({ webhooks }) => webhooks.list(acme),
  conditions: ({ webhooks }) => webhooks.conditions(acme, 1),
  sorted: ({ webhooks }) =>
    webhooks.sorted({ ...ofAll, enabled: null, by: 'name', descending: false, after: null, limit: 1 }),
  count: ({ webhooks }) => webhooks.count({ ...ofAll, enabled: null }, 1),
  failing: ({ webhooks }) =>
    webhooks.failing({ ...ofAll, failedSince: now, oldestFirst: true, after: null, limit: 1, countTo: 1 }),
  countFailing: ({ webhooks }) => webhooks.countFailing({ ...ofAll, failedSince: now }, 1),
  replace: ({ webhooks }) => webhooks.replace(sampleEndpoint('a', { version: 2 }), now),
  remove: ({ webhooks }) => webhooks.remove(acme, 'we_a', now),
  listSealed: ({ webhooks }) => webhooks.listSealed({ after: null, limit: 1 }),
  reseal: ({ webhooks }) => webhooks.reseal([{ id: 'we_a', before: 'sealed a', sealed: 'sealed anew' }]),
};
