import type { Storage, Survey, SurveyRequest } from '@ostiary/core/storage';
import { issuedKey } from './api-keys.ts';
import { assertSame, casesOf } from './case.ts';
import { acme, samplePartner } from './partner-samples.ts';
import { minute, now, sampleKey } from './samples.ts';
import { claim, finish, leaseMs, published, registered, sampleEndpoint } from './webhook-samples.ts';

const survey = (storage: Storage, changes: Partial<SurveyRequest> = {}): Promise<Survey> =>
  storage.survey({
    now,
    droppedSince: now - minute,
    sealedWith: 'sealed',
    limit: 100,
    shown: 20,
    ...changes,
  });

const nothing: Survey = {
  jobs: { count: 0, oldestDueAt: null },
  deliveries: { count: 0, oldestDueAt: null },
  failingJobs: 0,
  droppedEndpoints: [],
  failing: 0,
  failingEndpoints: [],
  sealedOtherwise: 0,
};

const job = (id: string, dueAt: number) => ({ id, kind: 'k', payload: {}, dueAt });

export const surveyCases = casesOf('survey', {
  'of an empty storage nothing is told': async (storage) => {
    assertSame(await survey(storage), nothing);
  },

  'jobs wait when they are due and nobody holds them': async (storage) => {
    const { queue } = storage;
    await queue.enqueue([job('later', now + 1), job('a', now), job('b', now - 7), job('held', now - 9)]);
    const [held] = await queue.claim({ kinds: ['k'], claimId: 'c', now: now - 9, leaseMs: 10, limit: 1 });
    assertSame((await survey(storage)).jobs, { count: 2, oldestDueAt: now - 7 });
    assertSame((await survey(storage, { now: now + 1 })).jobs, { count: 4, oldestDueAt: now - 9 });
    assertSame((await survey(storage, { limit: 1 })).jobs.count, 1);
    if (held !== undefined) await queue.retry(held, { dueAt: now + minute, error: 'gone' });
    assertSame(await survey(storage), {
      ...nothing,
      jobs: { count: 2, oldestDueAt: now - 7 },
      failingJobs: 1,
    });
    assertSame((await survey(storage, { limit: 0 })).failingJobs, 0);
  },

  'deliveries wait when they are due and nobody holds them': async (storage) => {
    await storage.partners.insert(samplePartner());
    await registered(storage, 'a');
    await published(storage, 'one', { createdAt: now - 5 });
    await published(storage, 'two', { createdAt: now });
    assertSame((await survey(storage)).deliveries, { count: 2, oldestDueAt: now - 5 });
    assertSame((await survey(storage, { limit: 1 })).deliveries.count, 1);
    assertSame((await survey(storage, { now: now - 6 })).deliveries, nothing.deliveries);
    const [first] = await claim(storage, 'c', { limit: 1 });
    assertSame((await survey(storage)).deliveries, { count: 1, oldestDueAt: now });
    assertSame((await survey(storage, { now: now + leaseMs })).deliveries.count, 2);
    if (first !== undefined) await finish(storage, first, { status: 'pending', dueAt: now + minute });
    assertSame((await survey(storage)).deliveries, { count: 1, oldestDueAt: now });
    assertSame((await survey(storage, { now: now + minute })).deliveries.count, 2);
  },

  'deliveries that were given up are counted since a time': async (storage) => {
    await storage.partners.insert(samplePartner());
    await registered(storage, 'a');
    await published(storage, 'one');
    await published(storage, 'two');
    for (const claimed of await claim(storage, 'c'))
      await finish(storage, claimed, { status: claimed.eventId.endsWith('one') ? 'dropped' : 'delivered' });
    const atA = { ...acme, endpointId: 'we_a', url: sampleEndpoint('a').url, count: 1 };
    assertSame((await survey(storage, { droppedSince: now })).droppedEndpoints, [atA]);
    assertSame(await survey(storage, { droppedSince: now + 1 }), nothing);
    assertSame((await survey(storage, { limit: 0 })).droppedEndpoints, []);

    const foreign = { partner: 'other', mode: 'test' } as const;
    await registered(storage, 'b', foreign);
    await registered(storage, 'c', foreign);
    for (const name of ['three', 'four']) await published(storage, name, foreign);
    for (const claimed of await claim(storage, 'd')) {
      const isLeft = claimed.endpointId === 'we_b' && claimed.eventId.endsWith('four');
      await finish(storage, claimed, { status: isLeft ? 'delivered' : 'dropped' });
    }
    const at = (name: string, count: number) => ({
      ...foreign,
      endpointId: `we_${name}`,
      url: sampleEndpoint(name).url,
      count,
    });
    assertSame((await survey(storage)).droppedEndpoints, [at('c', 2), atA, at('b', 1)]);
    assertSame(
      (await survey(storage, { limit: 2 })).droppedEndpoints.reduce((sum, { count }) => sum + count, 0),
      2,
    );
    await storage.webhooks.remove(foreign, 'we_c', now);
    assertSame((await survey(storage)).droppedEndpoints, [atA, at('b', 1)]);
  },

  'secrets of another sealing key are counted, but not of keys that have ended': async (storage) => {
    await storage.partners.insert(samplePartner());
    const other = 'v1.other.x';
    await storage.signingKeys.insert(sampleKey('one', { sealedPrivateJwk: other }));
    await storage.signingKeys.insert(sampleKey('two', { sealedPrivateJwk: 'sealed two' }));
    await storage.signingKeys.insert(sampleKey('retired', { sealedPrivateJwk: other }));
    await storage.signingKeys.retire('retired');
    await registered(storage, 'a', { sealedSecret: other });
    await registered(storage, 'b');
    await issuedKey(storage, 'a', { sealedSigningSecret: other });
    await issuedKey(storage, 'b', { sealedSigningSecret: other, expiresAt: now });
    await issuedKey(storage, 'c', { sealedSigningSecret: other, expiresAt: now + 1 });
    await issuedKey(storage, 'd', { sealedSigningSecret: other, revokedAt: now });
    await issuedKey(storage, 'e', { sealedSigningSecret: 'sealed e' });
    assertSame(await survey(storage), { ...nothing, sealedOtherwise: 4 });
    assertSame((await survey(storage, { limit: 2 })).sealedOtherwise, 2);
    assertSame((await survey(storage, { sealedWith: 'v1.other.' })).sealedOtherwise, 3);
  },
});
