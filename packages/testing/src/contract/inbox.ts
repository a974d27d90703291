import assert from 'node:assert/strict';
import type { InboxRequest, Quota, Storage } from '@ostiary/core/storage';
import {
  assertFields,
  assertSame,
  type Calls,
  casesOf,
  countAnswers,
  countedTo,
  inParallel,
} from './case.ts';
import { acme } from './partner-samples.ts';
import { now } from './samples.ts';
import { registered } from './webhook-samples.ts';

const most = 1000;
const ours = { ...acme, mode: 'test' } as const;
const accepted = { httpStatus: 200, error: null, response: 'ok' } as const;

function sampleRequest(id: string, changes: Partial<InboxRequest> = {}): InboxRequest {
  return {
    ...{ id, ...ours, endpointId: 'we_a', receivedAt: now },
    headers: [
      ['X-SVC-Event', 'payment.completed'],
      ['accept', '*/*'],
    ],
    body: '{"id":"evt_1"}',
    signatureError: null,
    answer: null,
    ...changes,
  };
}

const listed = (
  { inbox }: Storage,
  changes: { readonly endpointId?: string; readonly partner?: string } = {},
) => inbox.list({ ...ours, endpointId: 'we_a', limit: 100, ...changes });

const taken = ({ inbox }: Storage, changes: { readonly partner?: string; readonly since?: number } = {}) =>
  inbox.take({ ...ours, endpointId: 'we_a', since: now, limit: 2, ...changes });

export const inboxCases = casesOf('inbox', {
  'requests are read back as they were stored, newest first, each owner’s and endpoint’s own': async (
    storage,
  ) => {
    const requests = [
      sampleRequest('d', { receivedAt: now + 2, signatureError: 'signature_mismatch', headers: [] }),
      sampleRequest('b', { receivedAt: now + 1, body: '{"note":"Ti “Biznis” 🗝️ \\u0000"}', answer: accepted }),
      sampleRequest('a', {
        receivedAt: now + 1,
        answer: { httpStatus: null, error: 'timeout', response: null },
      }),
      sampleRequest('c'),
    ];
    const others = [
      sampleRequest('elsewhere', { endpointId: 'we_b' }),
      sampleRequest('of another', { partner: 'other' }),
    ];
    for (const request of [...others, ...requests.toReversed()]) await storage.inbox.add(request, most);
    assertSame(await listed(storage), requests);
    assertSame(await storage.inbox.list({ ...ours, endpointId: 'we_a', limit: 1 }), requests.slice(0, 1));
    assertFields(await listed(storage, { endpointId: 'we_b' }), 'id', ['elsewhere']);
    assertFields(await listed(storage, { partner: 'other' }), 'id', ['of another']);
    for (const request of requests) assertSame(await storage.inbox.find(ours, request.id), request);
    for (const id of ['of another', 'unknown']) assert.equal(await storage.inbox.find(ours, id), null);
    assert.equal(await storage.inbox.find(acme, 'c'), null, 'of another mode');
  },

  'of each endpoint the newest stay': async (storage) => {
    await storage.inbox.add(sampleRequest('other', { endpointId: 'we_b', receivedAt: 1 }), 3);
    for (const at of [1, 2, 3, 4, 5]) await storage.inbox.add(sampleRequest(`${at}`, { receivedAt: at }), 3);
    assertFields(await listed(storage), 'id', ['5', '4', '3']);
    await storage.inbox.add(sampleRequest('late', { receivedAt: 2 }), 3);
    assertFields(await listed(storage), 'id', ['5', '4', '3']);
    assertFields(await listed(storage, { endpointId: 'we_b' }), 'id', ['other']);
  },

  'requests without a response are taken once, the oldest first': async (storage) => {
    const requests = [
      sampleRequest('c', { receivedAt: now + 1 }),
      sampleRequest('b'),
      sampleRequest('a'),
      sampleRequest('answered', { answer: accepted }),
      sampleRequest('old', { receivedAt: now - 1 }),
      sampleRequest('elsewhere', { endpointId: 'we_b' }),
    ];
    for (const request of requests) await storage.inbox.add(request, most);
    assertSame(await taken(storage, { partner: 'other' }), []);
    assertSame(await taken(storage), [sampleRequest('a'), sampleRequest('b')]);
    assertFields(await taken(storage), 'id', ['c']);
    assertSame(await taken(storage), []);
    assertFields(await taken(storage, { since: now - 1 }), 'id', ['old']);
  },

  'no request is taken by two listeners': async (storage) => {
    for (const number of countedTo(20)) await storage.inbox.add(sampleRequest(`${number}`), most);
    const pages = await inParallel(16, () => taken(storage));
    const ids = pages.flat().map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const rest = await storage.inbox.take({ ...ours, endpointId: 'we_a', since: now, limit: 100 });
    assert.equal(new Set([...ids, ...rest.map(({ id }) => id)]).size, 20);
  },

  'a request that was taken is answered once, by its owner': async (storage) => {
    await storage.inbox.add(sampleRequest('a'), most);
    assert.equal(await storage.inbox.answer(ours, 'a', accepted), false, 'not taken');
    await taken(storage);
    assert.equal(await storage.inbox.answer({ ...ours, partner: 'other' }, 'a', accepted), false);
    assert.equal(await storage.inbox.answer(acme, 'a', accepted), false, 'of another mode');
    assert.equal(await storage.inbox.answer(ours, 'b', accepted), false);
    const answers = await inParallel(10, (index) =>
      storage.inbox.answer(ours, 'a', { ...accepted, response: `${index}` }),
    );
    assertSame(countAnswers(answers), { true: 1, false: 9 });
    const response = `${answers.indexOf(true)}`;
    assertSame(
      await storage.inbox.find(ours, 'a'),
      sampleRequest('a', { answer: { ...accepted, response } }),
    );
  },

  'a request whose attempt has ended is neither taken nor answered': async (storage) => {
    const timeout = { httpStatus: null, error: 'timeout', response: null };
    for (const id of ['a', 'b', 'c']) await storage.inbox.add(sampleRequest(id), most);
    assertFields(await taken(storage), 'id', ['a', 'b']);
    assert.equal(await storage.inbox.answer(ours, 'a', accepted), true);
    assert.equal(await storage.inbox.end(ours, 'a', timeout), false, 'has a response');
    assert.equal(await storage.inbox.end({ ...ours, partner: 'other' }, 'b', timeout), false);
    assert.equal(await storage.inbox.end(acme, 'b', timeout), false, 'of another mode');
    assert.equal(await storage.inbox.end(ours, 'unknown', timeout), false);
    assert.equal(await storage.inbox.end(ours, 'b', timeout), true, 'was taken');
    assert.equal(await storage.inbox.end(ours, 'c', timeout), true, 'was not taken');
    assert.equal(await storage.inbox.answer(ours, 'b', accepted), false);
    assertSame(await taken(storage), []);
    assertSame(await storage.inbox.find(ours, 'a'), sampleRequest('a', { answer: accepted }));
    for (const id of ['b', 'c'])
      assertSame(await storage.inbox.find(ours, id), sampleRequest(id, { answer: timeout }));
  },

  'the oldest of a partner and mode beyond a quota go, and those of others stay': async (storage) => {
    // A text of two bytes as UTF-8, and headers of two bytes.
    const small = { headers: [], body: 'é' };
    for (const at of countedTo(4))
      await storage.inbox.add(sampleRequest(`${at}`, { ...small, receivedAt: at }), most);
    await storage.inbox.add(sampleRequest('other', { partner: 'other', receivedAt: 1 }), most);
    const remove = (quota: Quota, { before = 0, limit = 10 } = {}) =>
      storage.inbox.removeOldest({ ...ours, ...quota, before, limit });
    assert.equal(await remove({ rows: 4, bytes: 16 }), 0);
    assert.equal(await remove({ rows: 2, bytes: 16 }, { limit: 1 }), 1);
    assertFields(await listed(storage), 'id', ['4', '3', '2']);
    assert.equal(await remove({ rows: 4, bytes: 8 }), 1);
    assertFields(await listed(storage), 'id', ['4', '3']);
    assert.equal(await remove({ rows: 4, bytes: 16 }, { before: 4 }), 1);
    assertFields(await listed(storage), 'id', ['4']);
    assertFields(await listed(storage, { partner: 'other' }), 'id', ['other']);
  },

  'the requests of an endpoint go with it': async (storage) => {
    await registered(storage, 'a', { mode: 'test' });
    await storage.inbox.add(sampleRequest('a'), most);
    await storage.inbox.add(sampleRequest('b', { endpointId: 'we_b' }), most);
    await storage.webhooks.remove({ ...ours, partner: 'other' }, 'we_a', now);
    assertFields(await listed(storage), 'id', ['a']);
    assert.equal(await storage.webhooks.remove(ours, 'we_a', now), true);
    assertSame(await listed(storage), []);
    assertFields(await listed(storage, { endpointId: 'we_b' }), 'id', ['b']);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const inboxCalls: Calls<'inbox'> = {
  add: ({ inbox }) => inbox.add(sampleRequest('a'), most),
  find: ({ inbox }) => inbox.find(ours, 'a'),
  list: (storage) => listed(storage),
  take: (storage) => taken(storage),
  answer: ({ inbox }) => inbox.answer(ours, 'a', accepted),
  end: ({ inbox }) => inbox.end(ours, 'a', { httpStatus: null, error: 'timeout', response: null }),
  removeOldest: ({ inbox }) => inbox.removeOldest({ ...ours, rows: 1, bytes: 1, before: 0, limit: 1 }),
};
