import assert from 'node:assert/strict';
import type { NewJob, NoticeReason, Storage } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { acme, sampleApiKey, samplePartner } from './partner-samples.ts';
import { hour, minute, now } from './samples.ts';
import { claimedOne, published, registered, sampleAttempt, sampleEndpoint } from './webhook-samples.ts';

const day = 24 * hour;

/** Makes the job that passes a notice to the host application. */
export const noticeJob = (id: string): NewJob => ({ id, kind: 'notice', payload: { of: id }, dueAt: now });

/** Returns the ids of the queued jobs that pass notices to the host application. */
export async function noticeJobIds({ queue }: Storage): Promise<string[]> {
  const jobs = await queue.claim({ kinds: ['notice'], claimId: 'look', now, leaseMs: 0, limit: 1000 });
  return jobs.map(({ id }) => id).toSorted();
}

const due = ({ notices }: Storage, at: number, limit = 10) =>
  notices.due({
    ...{ now: at, failingSince: at - hour, recentSince: at - day, quietSince: at - 5 * minute },
    ...{ keysUntil: at + 14 * day, limit },
  });

/**
 * Returns the ids of endpoints and keys of which a notice is due at `at`, by reason. Reasons without an id
 * are left out.
 */
async function found(storage: Storage, at: number, limit?: number): Promise<Record<string, string[]>> {
  const { endingKeys, ...endpoints } = await due(storage, at, limit);
  const ids = [
    ...Object.entries(endpoints).map(
      ([reason, all]) => [reason, all.map((each) => each.endpointId)] as const,
    ),
    ['endingKeys', endingKeys.map(({ keyId }) => keyId)] as const,
  ];
  return Object.fromEntries(
    ids.filter(([, all]) => all.length > 0).map(([reason, all]) => [reason, all.toSorted()]),
  );
}

const record = ({ notices }: Storage, reason: NoticeReason, id: string, at: number): Promise<boolean> =>
  notices.record(reason, id, at, noticeJob(`${reason} ${id} ${at}`));

/**
 * Publishes an event, and stores the result of an attempt to deliver it at `at`. After a failed attempt, the
 * next one becomes due much later.
 */
async function attempted(
  storage: Storage,
  at: number,
  outcome: 'failed' | 'dropped' | 'delivered',
): Promise<void> {
  const label = `${outcome} ${at}`;
  await published(storage, label, { createdAt: at });
  const { id, claimId, attempt: number } = await claimedOne(storage, label, { now: at });
  const isFailed = outcome !== 'delivered';
  const attempt = sampleAttempt(number, {
    at,
    durationMs: 0,
    ...(isFailed && { httpStatus: 500, error: 'status' }),
  });
  const next =
    outcome === 'failed' ? { status: 'pending' as const, dueAt: at + 100 * day } : { status: outcome };
  assertSame(await storage.deliveries.finish([{ id, claimId, attempt, isCutOff: false, next }]), [true]);
}

/** Stores a partner with one webhook endpoint. */
async function withEndpoint(storage: Storage): Promise<void> {
  await storage.partners.insert(samplePartner());
  await registered(storage, 'a');
}

export const noticeCases = casesOf('notices', {
  'an inbox is never found, because it may fail on purpose': async (storage) => {
    await storage.partners.insert(samplePartner());
    await registered(storage, 'a', { url: 'inbox:500' });
    await attempted(storage, now, 'failed');
    await attempted(storage, now + minute, 'dropped');
    assertSame(await found(storage, now + hour), {});
  },

  'an endpoint that fails for an hour is found once, with its last failure': async (storage) => {
    await withEndpoint(storage);
    await attempted(storage, now, 'failed');
    await attempted(storage, now + minute, 'failed');
    assertSame(await found(storage, now + hour - 1), {});
    const { failing } = await due(storage, now + hour);
    assertSame(failing, [
      {
        ...{
          ...acme,
          partnerName: 'Acme Pay',
          endpointId: 'we_a',
          url: 'https://a.example/hooks',
          since: now,
        },
        lastFailure: { at: now + minute, httpStatus: 500, error: 'status' },
      },
    ]);
    assertSame(await found(storage, now + minute + day + 1), {}, 'an old failure is no news');
    assert.equal(await record(storage, 'failing', 'we_a', now + hour), true);
    assert.equal(await record(storage, 'failing', 'we_a', now + hour + 1), false);
    assertSame(await noticeJobIds(storage), [`failing we_a ${now + hour}`]);
    assertSame(await found(storage, now + 2 * hour), {});
  },

  'a dropped delivery is found once until the endpoint works, however many are dropped': async (storage) => {
    await withEndpoint(storage);
    await attempted(storage, now + 1, 'dropped');
    assertSame(await found(storage, now + 1), { givenUp: ['we_a'] });
    assert.equal(await record(storage, 'givenUp', 'we_a', now + 1), true);
    assert.equal(await record(storage, 'givenUp', 'we_a', now + 1), false);
    await attempted(storage, now + 2, 'dropped');
    assertSame(await found(storage, now + 2), {});
    await attempted(storage, now + 3, 'delivered');
    const quiet = now + 2 + 5 * minute;
    assertSame(await found(storage, quiet - 1), {});
    assertSame(await found(storage, quiet), { works: ['we_a'] });
    assert.equal(await record(storage, 'works', 'we_a', quiet), true);
    assert.equal(await record(storage, 'works', 'we_a', quiet), false);
    assertSame(await found(storage, quiet), {}, 'what was dropped before is no news');
    await attempted(storage, quiet + 1, 'dropped');
    assertSame(await found(storage, quiet + 1), { givenUp: ['we_a'] });
    assertSame((await noticeJobIds(storage)).length, 2);
  },

  'a dropped delivery is found although the endpoint works again': async (storage) => {
    await withEndpoint(storage);
    await attempted(storage, now + 1, 'dropped');
    await attempted(storage, now + 2, 'delivered');
    assertSame(await found(storage, now + 2), { givenUp: ['we_a'] });
    assertSame(await found(storage, now + day + 1), {}, 'a day later it is no news');
  },

  'an endpoint works again only after a notice, and not while it fails': async (storage) => {
    await withEndpoint(storage);
    await attempted(storage, now, 'delivered');
    const at = now + 2 * hour;
    await attempted(storage, now + 1, 'dropped');
    assert.equal(await record(storage, 'works', 'we_a', at), false);
    assert.equal(await record(storage, 'failing', 'we_a', at), true);
    assert.equal(await record(storage, 'givenUp', 'we_a', at), true);
    assert.equal(await record(storage, 'works', 'we_a', at), false);
    await attempted(storage, at, 'delivered');
    assert.equal(await record(storage, 'failing', 'we_a', at), false, 'it does not fail any more');
    assertSame(await found(storage, at + hour), { works: ['we_a'] });
    assert.equal(await record(storage, 'works', 'we_a', at + hour), true);
    assert.equal(await record(storage, 'works', 'we_b', at), false);
  },

  'an endpoint that was changed, and one that was disabled, begin anew': async (storage) => {
    await withEndpoint(storage);
    await attempted(storage, now + 1, 'dropped');
    const changed = sampleEndpoint('a', { updatedAt: now + 2, version: 2 });
    await storage.webhooks.replace(changed, now + 2);
    assertSame(await found(storage, now + 2), {});
    await attempted(storage, now + 3, 'dropped');
    await record(storage, 'givenUp', 'we_a', now + 3);
    await storage.webhooks.replace({ ...changed, enabled: false, updatedAt: now + 4, version: 3 }, now + 4);
    await storage.webhooks.replace({ ...changed, updatedAt: now + 5, version: 4 }, now + 5);
    await attempted(storage, now + 6, 'delivered');
    assertSame(await found(storage, now + hour), {}, 'nobody waits for it to work');
    await attempted(storage, now + 7, 'dropped');
    assertSame(await found(storage, now + 7), { givenUp: ['we_a'] });
  },

  'API keys are found 14 days before their end, once, unless they are revoked': async (storage) => {
    await storage.partners.insert(samplePartner());
    const ending = {
      never: null,
      soon: now + 14 * day,
      late: now + 14 * day + 1,
      over: now,
      revoked: now + day,
    };
    for (const [label, expiresAt] of Object.entries(ending)) {
      assert.equal(await storage.apiKeys.insert(sampleApiKey(label, { expiresAt })), true);
    }
    await storage.apiKeys.revoke('key_revoked', now);
    const { endingKeys } = await due(storage, now);
    const key = { ...acme, partnerName: 'Acme Pay', keyId: 'key_soon', name: 'Payments server' };
    assertSame(endingKeys, [{ ...key, expiresAt: now + 14 * day }]);
    assert.equal(await record(storage, 'endingKeys', 'key_soon', now), true);
    assert.equal(await record(storage, 'endingKeys', 'key_soon', now), false);
    assertSame(await found(storage, now + 1), { endingKeys: ['key_late'] });
    assertSame(await found(storage, now + 1, 0), {}, 'at most the limit');
    assert.equal(await record(storage, 'endingKeys', 'key_revoked', now), false, 'revoked since the search');
    assertSame(await noticeJobIds(storage), [`endingKeys key_soon ${now}`]);
    await storage.partners.replace(samplePartner({ version: 2, disabledAt: now }));
    assertSame(await found(storage, now + 1), {});
  },

  'of parallel calls exactly one records a notice and enqueues its job': async (storage) => {
    await withEndpoint(storage);
    await attempted(storage, now + 1, 'dropped');
    const answers = await inParallel(20, (index) =>
      storage.notices.record('givenUp', 'we_a', now, noticeJob(`job ${index}`)),
    );
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    assertSame(await noticeJobIds(storage), [`job ${answers.indexOf(true)}`]);
  },
});

/** Sample calls of the port's methods, which `storage.ts` in this folder makes. */
export const noticeCalls: Calls<'notices'> = {
  due: (storage) => due(storage, now),
  record: (storage) => record(storage, 'givenUp', 'we_a', now),
};
