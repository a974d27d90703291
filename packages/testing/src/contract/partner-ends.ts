import assert from 'node:assert/strict';
import type { PartnerReach, Storage } from '@ostiary/core/storage';
import { assertFields, assertSame, casesOf } from './case.ts';
import { created, sampleApiKey, sampleEvent, samplePartner, settle } from './partner-samples.ts';
import { consented, hour, isLive, issued, now, redeemed, sampleClient, sampleGrant } from './samples.ts';
import { claim, published, queued, recover, redeliver, registered } from './webhook-samples.ts';

const other = { partner: 'other', mode: 'live' } as const;

/** Stores two partners with a client each: `client-1` belongs to `acme`, and `client-2` to `other`. */
async function twoPartners(storage: Storage): Promise<void> {
  for (const [slug, clientId] of [
    ['acme', 'client-1'],
    ['other', 'client-2'],
  ] as const) {
    assert.equal(await storage.partners.insert(samplePartner({ slug })), true);
    assert.equal(await storage.clients.insert(sampleClient({ clientId, partner: slug })), true);
  }
}

function disable({ partners }: Storage, version = 2): Promise<PartnerReach | null> {
  return partners.replace(samplePartner({ version, disabledAt: now + 5, updatedAt: now + 5 }));
}

function enable({ partners }: Storage, version = 3): Promise<PartnerReach | null> {
  return partners.replace(samplePartner({ version, updatedAt: now + 6 }));
}

export const partnerEndCases = casesOf('the end of a partner', {
  'counts as the end of its clients, until it is enabled': async (storage) => {
    await twoPartners(storage);
    await consented(storage);
    const shop = 'https://only.acme.example';
    const site = { clientId: 'client-4', partner: 'acme', redirectUris: [`${shop}/`] };
    await storage.clients.insert(sampleClient(site));
    const works = async () => [
      (await storage.clients.find('client-1'))?.partnerDisabled === false,
      await storage.clients.originRegistered(shop),
      await storage.consents.partnerHolds({ partner: 'acme', sub: 'user-1', scope: 'openid' }),
      await storage.consents.remember({ sub: 'user-1', clientId: 'client-1', scopes: ['openid'], now }),
      await storage.consents.remember({ sub: 'new', clientId: 'client-1', scopes: ['openid'], now }),
    ];
    assertSame(await works(), [true, true, true, true, true]);

    await disable(storage);
    assertSame(await works(), [false, false, false, false, false]);
    assert.equal(await storage.grants.issue(sampleGrant('late')), false);
    assert.equal(await storage.grants.find(sampleGrant('late').codeDigest), null);
    assert.equal(
      (await storage.clients.find('client-1'))?.disabledAt,
      null,
      'the client itself stays as it is',
    );
    assert.equal((await storage.clients.find('client-2'))?.partnerDisabled, false);

    await enable(storage);
    assertSame(await works(), [true, true, true, true, true]);
    assert.equal(await storage.grants.issue(sampleGrant('late')), true);
  },

  'counts for clients that come to it later, and not for those that leave it': async (storage) => {
    await twoPartners(storage);
    const { token } = await redeemed(storage, 'a', { clientId: 'client-2' });
    await disable(storage);
    await storage.clients.insert(sampleClient({ clientId: 'late', partner: 'acme' }));
    assert.equal((await storage.clients.find('late'))?.partnerDisabled, true);

    await storage.clients.replace(sampleClient({ clientId: 'client-2', version: 2, partner: 'acme' }));
    assert.equal((await storage.clients.find('client-2'))?.partnerDisabled, true, 'it came');
    assert.equal(await isLive(storage, token), false, 'without its tokens');
    assert.notEqual(await storage.consents.find('user-1', 'client-2'), null);
    await storage.clients.replace(sampleClient({ version: 2, partner: null }));
    assert.equal((await storage.clients.find('client-1'))?.partnerDisabled, false, 'it left');
    assert.equal(await storage.consents.remember({ sub: 'a', clientId: 'client-1', scopes: [], now }), true);
  },

  'keeps its events, and delivers none of them': async (storage) => {
    await twoPartners(storage);
    await registered(storage, 'a');
    await storage.events.publish([sampleEvent('before')], { idempotency: null, now });
    await disable(storage);
    const events = [sampleEvent('after'), sampleEvent('others', other)];
    await storage.events.publish(events, { idempotency: null, now });
    const { events: kept } = await storage.events.list({ partner: 'acme', mode: 'live', after: 0, limit: 9 });
    assertSame(
      kept.map(({ id, sequence }) => [id, sequence]),
      [
        ['evt_before', 1],
        ['evt_after', 2],
      ],
    );
    assertSame(await redeliver(storage, 'evt_after', 'again'), queued(''));
    const named = { endpointId: 'we_a' };
    assertSame(await redeliver(storage, 'evt_after', 'named', named), { outcome: 'disabled_endpoint' });
    assertSame(await recover(storage, 'we_a', 'recovered'), { outcome: 'disabled_endpoint' });
    assertSame(await claim(storage, 'c'), []);

    await enable(storage);
    assertSame(await claim(storage, 'c'), [], 'what was cancelled does not come back');
    assertSame(await redeliver(storage, 'evt_after', 'asked for'), queued('dl_asked for_1'));
    await published(storage, 'new');
    assertFields(await claim(storage, 'c'), 'id', ['dl_asked for_1', 'dl_new_1']);
  },

  'leaves transfers, which go on': async (storage) => {
    await twoPartners(storage);
    await registered(storage, 'a');
    await created(storage, 'a');
    await disable(storage);
    const settlement = { id: 'tr_a', status: 'completed', failure: null, now: now + 9 } as const;
    assert.equal((await settle(storage, settlement))?.settled, true);
    assertSame(await claim(storage, 'c', { now: now + hour }), []);
  },

  'is told in numbers': async (storage) => {
    await twoPartners(storage);
    for (const [label, changes] of Object.entries({
      live: {},
      test: { mode: 'test' },
      revoked: { revokedAt: now },
      ended: { expiresAt: now + 5 },
      later: { expiresAt: now + hour },
      others: { partner: 'other' },
    } as const)) {
      assert.equal(await storage.apiKeys.insert(sampleApiKey(label, changes)), true);
    }
    for (const clientId of ['off', 'also off'])
      await storage.clients.insert(sampleClient({ clientId, partner: 'acme', disabledAt: now }));
    await redeemed(storage, 'token');
    await redeemed(storage, 'ended token', {}, { expiresAt: now + 5 });
    for (const label of ['revoked token', 'another revoked token']) {
      const { token } = await redeemed(storage, label);
      await storage.grants.revokeToken(token.digest, now);
    }
    await issued(storage, 'code');
    await issued(storage, 'ended code', { expiresAt: now + 5 });
    const { codeDigest } = await issued(storage, 'revoked code');
    await storage.grants.revoke(codeDigest, now);
    await redeemed(storage, 'others', { clientId: 'client-2' });
    await registered(storage, 'a');
    await registered(storage, 'b');
    await published(storage, 'x');

    assert.equal(await disable(storage, 9), null, 'another version: nothing ends');
    const reach = { keys: 3, clients: 1, codes: 1, tokens: 1, deliveries: 2 };
    assertSame(await disable(storage), reach);
    const nothingMore = { ...reach, codes: 0, tokens: 0, deliveries: 0 };
    assertSame(await disable(storage, 3), nothingMore, 'it had ended already');
    assertSame(await enable(storage, 4), nothingMore);
  },
});
