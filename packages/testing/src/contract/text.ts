import assert from 'node:assert/strict';
import { assertSame, casesOf, inParallel } from './case.ts';
import { storedRows } from './copies.ts';
import { acme, created } from './partner-samples.ts';
import { digestOf, isLive, issued, minute, now, redeemed, sampleClient } from './samples.ts';
import { claim, finish, listedIds, published, registered } from './webhook-samples.ts';

/**
 * Texts that naive SQL, naive JSON or a lenient collation would change or confuse. All are different, though
 * some look alike.
 */
const oddTexts = [
  'plain',
  'Plain',
  'plain ',
  ' plain',
  "o'hara",
  '"quoted"',
  "'; DROP TABLE grants; --",
  'back\\slash',
  '100%',
  '100_',
  'line\nbreak\ttab\r',
  '\u0001 control',
  '"quoted",\nwith a \\, a tab\t and a control \u0002',
  'é (one code point)',
  'e\u0301 (one code point)',
  'straße',
  'strasse',
  'İstanbul',
  'ﬁ ligature',
  '日本語',
  'עברית',
  '👩‍👩‍👧 emoji',
  '😀',
  '?1 :name $1 @p',
  '["json"]',
  '__proto__',
  'constructor',
  'null',
  '0',
  '',
];

export const textCases = casesOf('text', {
  'ids are compared as they are': async (storage) => {
    for (const [index, text] of oddTexts.entries()) {
      assert.equal(
        await storage.clients.insert(sampleClient({ clientId: text, name: `${index}` })),
        true,
        text,
      );
      await redeemed(storage, text, { clientId: text, sub: text });
    }
    for (const [index, text] of oddTexts.entries()) {
      assert.equal((await storage.clients.find(text))?.name, `${index}`, text);
      assertSame((await storage.consents.list(text)).length, 1, text);
      const token = { digest: digestOf(`token ${text}`) };
      const state = await storage.grants.findToken(token.digest);
      assertSame([state?.clientId, state?.sub, state?.revoked], [text, text, false]);
    }
    await storage.consents.endUser('plain', now, []);
    for (const text of oddTexts) {
      const token = { digest: digestOf(`token ${text}`) };
      assert.equal(await isLive(storage, token), text !== 'plain', text);
    }
  },

  'every text field comes back unchanged': async (storage) => {
    for (const [index, text] of oddTexts.entries()) {
      for (const row of Object.values(storedRows)) await row(storage, `p${index}`, text, () => undefined);
    }
  },

  'jobs keep their texts': async ({ queue }) => {
    await queue.enqueue(oddTexts.map((text) => ({ id: text, kind: text, payload: { text }, dueAt: now })));
    for (const text of oddTexts) {
      const jobs = await queue.claim({ kinds: [text], claimId: text, now, leaseMs: minute, limit: 9 });
      const claimed = { dueAt: now, owner: '', claimId: text, attempt: 1 };
      assertSame(jobs, [{ id: text, kind: text, payload: { text }, ...claimed }]);
      assert.equal(await queue.complete({ id: text, claimId: text }), true);
    }
  },

  'references are compared as they are': async (storage) => {
    const transfers = await inParallel(oddTexts.length, (index) =>
      created(storage, `${index}`, { reference: oddTexts[index] ?? null }),
    );
    for (const transfer of transfers) {
      const filter = {
        status: null,
        reference: transfer.reference,
        from: null,
        to: null,
        after: null,
        limit: 9,
      };
      assertSame(await storage.transfers.list({ ...acme, ...filter }), [transfer]);
    }
  },

  'webhooks keep their texts': async (storage) => {
    for (const [index, text] of oddTexts.entries()) {
      const changes = { url: text, sealedSecret: text, events: [text, ...oddTexts] };
      const endpoint = await registered(storage, `${index}`, { ...changes, partner: `p${index}` });
      assertSame(await storage.webhooks.find(endpoint, endpoint.id), endpoint);
      const event = await published(storage, text, { type: text, body: text, partner: `p${index}` });
      assert.equal((await storage.events.find(endpoint, event.id))?.type, text);
      const [claimed, ...others] = await claim(storage, text);
      assertSame(others, []);
      assertSame(
        [claimed?.id, claimed?.claimId, claimed?.eventType, claimed?.body, claimed?.url],
        [`dl_${text}_1`, text, text, text, text],
      );
      assert.ok(claimed);
      assert.equal(await finish(storage, claimed, { status: 'delivered' }), true);
      const filter = { partner: `p${index}`, endpointId: endpoint.id, eventId: event.id };
      assertSame(await listedIds(storage, filter), [claimed.id]);
    }
  },

  'scopes are matched whole': async (storage) => {
    await issued(storage, 'all', { scopes: oddTexts });
    assertSame((await storage.consents.find('user-1', 'client-1'))?.scopes.toSorted(), oddTexts.toSorted());
    const wanted = ['plai', 'PLAIN', '10', '\\', '😀😀', 'json', '%'];
    for (const scope of wanted) {
      const grant = { ...(await issued(storage, `ok ${scope}`, { scopes: ['plain'] })) };
      assert.equal(
        await storage.grants.issue({ ...grant, codeDigest: digestOf(scope), scopes: [scope] }),
        false,
        scope,
      );
    }
  },

  'long texts are not cut': async (storage) => {
    const clientId = 'c'.repeat(255);
    const sub = 's'.repeat(255);
    const redirectUri = `https://shop.example/${'p'.repeat(2000)}`;
    const nonce = '🗝️'.repeat(1000);
    await storage.clients.insert(
      sampleClient({
        clientId,
        redirectUris: Array.from({ length: 50 }, (_, index) => `${redirectUri}${index}`),
      }),
    );
    const grant = await issued(storage, 'long', { clientId, sub, redirectUri, nonce });
    const found = await storage.grants.find(grant.codeDigest);
    assertSame(
      [found?.clientId, found?.sub, found?.redirectUri, found?.nonce],
      [clientId, sub, redirectUri, nonce],
    );
    assert.equal((await storage.clients.find(clientId))?.redirectUris[49], `${redirectUri}49`);

    const payload = { text: 'ä😀"\\'.repeat(40_000) };
    await storage.interactions.save(digestOf('long'), payload, now + minute);
    assertSame(await storage.interactions.find(digestOf('long'), now), payload);
  },
});
