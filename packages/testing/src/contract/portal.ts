import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { sampleAct } from './audit.ts';
import { assertFields, assertSame, type Calls, casesOf, inParallel } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import { ends, linked, sampleLink, useOf } from './portal-samples.ts';
import { digestOf, hour, now } from './samples.ts';

const disabled = ({ partners }: Storage) =>
  partners.replace(samplePartner({ version: 2, disabledAt: now, updatedAt: now }));

export const portalCases = casesOf('portal', {
  'a link is read back by its digest, until its exact millisecond': async (storage) => {
    await linked(storage);
    const { digest, ...link } = sampleLink('a');
    assertSame(await storage.portal.find(digest, ends - 1), link);
    assert.equal(await storage.portal.find(digest, ends), null);
    assert.equal(await storage.portal.find(digestOf('unknown'), now), null);
  },

  'an id and a digest are taken once, and every link belongs to an enabled partner': async (storage) => {
    await linked(storage);
    assert.equal(await storage.portal.insert({ ...sampleLink('c'), digest: digestOf('link a') }), false);
    assert.equal(await storage.portal.insert({ ...sampleLink('a'), digest: digestOf('new') }), false);
    assert.equal(await storage.portal.insert(sampleLink('d', { partner: 'unknown' })), false);
    await disabled(storage);
    assert.equal(await storage.portal.insert(sampleLink('e'), sampleAct('refused')), false);
    assertSame((await storage.audit.head()).number, 0);
  },

  'of parallel uses of a link one opens the session, and the link is gone': async (storage) => {
    await linked(storage);
    const { digest, ...link } = sampleLink('a');
    const others = (at: number) => ({ ...useOf('a', now + 5), sessionDigest: digestOf(`parallel ${at}`) });
    const opened = await inParallel(20, (at) => storage.portal.open(others(at), sampleAct(`use ${at}`)));
    assert.equal(opened.filter((isOpen) => isOpen).length, 1);
    assert.equal(await storage.portal.find(digest, now + 5), null);
    const { sessionDigest } = others(opened.indexOf(true));
    const session = { ...link, openedAt: now + 5, expiresAt: now + 5 + hour };
    assertSame(await storage.portal.find(sessionDigest, now + 4 + hour), session);
    assert.equal(await storage.portal.find(sessionDigest, now + 5 + hour), null);
    assertSame((await storage.audit.head()).number, 1, 'one act');
    assert.equal(
      await storage.portal.open({ ...useOf('b'), digest: sessionDigest }),
      false,
      'not a link any more',
    );
  },

  'a link opens nothing after its end': async (storage) => {
    await linked(storage);
    assert.equal(await storage.portal.open(useOf('a', ends)), false);
    assert.equal(await storage.portal.open(useOf('a', ends - 1)), true);
  },

  'lists show one partner’s links and sessions that have not expired, newest first': async (storage) => {
    await linked(storage);
    await storage.portal.insert(sampleLink('c', { createdAt: now + 2 }));
    await storage.portal.insert(sampleLink('old', { expiresAt: now + 1 }));
    await storage.portal.open(useOf('a'));
    assertFields(await storage.portal.list('acme', now + 1), 'id', ['c', 'a']);
    assertFields(await storage.portal.list('acme', now + 1), 'openedAt', [null, now]);
    assertFields(await storage.portal.list('other', now), 'id', ['b']);
  },

  'a removal ends one link or session of its partner, with its act': async (storage) => {
    await linked(storage);
    await storage.portal.open(useOf('a'));
    assert.equal(await storage.portal.remove('other', 'a', sampleAct('of another')), false);
    assert.notEqual(await storage.portal.find(digestOf('session a'), now), null);
    assert.equal(await storage.portal.remove('acme', 'a', sampleAct('ended')), true);
    assert.equal(await storage.portal.find(digestOf('session a'), now), null);
    assert.equal(await storage.portal.remove('acme', 'a'), false);
    assertSame((await storage.audit.head()).number, 1);
    assert.notEqual(await storage.portal.find(digestOf('link b'), now), null);
  },

  'a disabled partner ends its links and sessions for good': async (storage) => {
    await linked(storage);
    await storage.portal.insert(sampleLink('c'));
    await storage.portal.open(useOf('a'));
    await disabled(storage);
    assert.equal(await storage.portal.find(digestOf('session a'), now), null);
    assert.equal(await storage.portal.open(useOf('c')), false);
    await storage.partners.replace(samplePartner({ version: 3 }));
    assert.equal(await storage.portal.find(digestOf('session a'), now), null);
    assert.equal(await storage.portal.open(useOf('c')), false);
    assertFields(await storage.portal.list('other', now), 'id', ['b']);
  },
});

/** Sample calls of the port's methods, which `storage.ts` in this folder makes. */
export const portalCalls: Calls<'portal'> = {
  insert: ({ portal }) => portal.insert(sampleLink('a')),
  find: ({ portal }) => portal.find(digestOf('link a'), now),
  open: ({ portal }) => portal.open(useOf('a')),
  list: ({ portal }) => portal.list('acme', now),
  remove: ({ portal }) => portal.remove('acme', 'a'),
};
