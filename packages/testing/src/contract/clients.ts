import assert from 'node:assert/strict';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { firstByName } from './partner-samples.ts';
import { isLive, now, redeemed, sampleClient } from './samples.ts';

/** Stored state of a client whose partner is not disabled. */
const works = { partnerDisabled: false };

export const clientCases = casesOf('clients', {
  'a client is read back as it was stored': async ({ clients }) => {
    const full = sampleClient({ defaultScope: 'openid kyc', refreshWithoutOfflineAccess: true });
    const bare = sampleClient({
      clientId: 'client-2',
      secrets: [],
      redirectUris: ['com.example.app:/callback'],
      allowedScopes: [],
      requirePkce: false,
      requireSecret: true,
      firstParty: true,
      idTokenAlg: 'ES256',
      disabledAt: now,
      version: 7,
    });
    assert.equal(await clients.insert(full), true);
    assert.equal(await clients.insert(bare), true);
    assertSame(await clients.find('client-1'), { ...full, ...works });
    assertSame(await clients.find('client-2'), { ...bare, ...works });
  },

  'a logo is stored with its client, replaced and removed, and left alone by other changes': async ({
    clients,
  }) => {
    const png = (text: string) => Uint8Array.from(Buffer.from(text));
    await clients.insert(sampleClient());
    await clients.insert(sampleClient({ clientId: 'client-2' }));
    assert.equal(await clients.findLogo('client-1'), null);
    const given = png('first');
    const replacing = clients.replace(sampleClient({ version: 2, logo: 'a' }), undefined, given);
    given.fill(0);
    assert.equal(await replacing, true);
    assertSame(await clients.findLogo('client-1'), png('first'));
    assert.equal((await clients.find('client-1'))?.logo, 'a');
    assert.equal(await clients.replace(sampleClient({ version: 2 }), undefined, png('stale')), false);
    await clients.replace(sampleClient({ version: 3, name: 'Renamed', logo: 'a' }));
    assertSame(await clients.findLogo('client-1'), png('first'));
    await clients.replace(sampleClient({ version: 4, logo: 'b' }), undefined, png('second'));
    assertSame(await clients.findLogo('client-1'), png('second'));
    await clients.replace(sampleClient({ version: 5, logo: null }), undefined, null);
    assertSame([await clients.findLogo('client-1'), await clients.findLogo('client-2')], [null, null]);
    assert.equal(await clients.findLogo('unknown'), null);
  },

  'of parallel inserts of one id exactly one is stored': async ({ clients }) => {
    const originOf = (index: number) => `https://${index}.example`;
    const clientOf = (index: number) => sampleClient({ redirectUris: [`${originOf(index)}/`] });
    const answers = await inParallel(20, (index) => clients.insert(clientOf(index)));
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    assertSame(await clients.find('client-1'), { ...clientOf(answers.indexOf(true)), ...works });
    const origins = await inParallel(20, (index) => clients.originRegistered(originOf(index)));
    assertSame(origins, answers, 'and nothing else changes');
  },

  'pages go by id in code unit order and include disabled clients': async ({ clients }) => {
    const sorted = ['-', '1', '10', '2', 'B', 'Z', '_', 'a', 'b', 'ä'];
    for (const clientId of sorted.toReversed()) {
      await clients.insert(sampleClient({ clientId, disabledAt: clientId === 'B' ? now : null }));
    }
    const ids = async (after: string | null, limit: number) =>
      (await clients.list({ after, limit })).map((client) => client.clientId);
    assertSame(await ids(null, 100), sorted);
    assertSame(await ids(null, 3), sorted.slice(0, 3));
    assertSame(await ids('10', 3), sorted.slice(3, 6), 'the id that the page starts after is not on it');
    assertSame(await ids('3', 2), ['B', 'Z'], 'an id that does not exist is a place to start too');
    assertSame(await ids('ä', 5), []);
    assertSame((await clients.list({ after: '_', limit: 1 }))[0], sampleClient({ clientId: 'a' }));
  },

  'replace stores the next version and refuses any other': async ({ clients }) => {
    await clients.insert(sampleClient());
    const next = sampleClient({ version: 2, name: 'Renamed', secrets: [], updatedAt: now + 1 });
    assert.equal(await clients.replace(next), true);
    for (const version of [1, 2, 4]) {
      assert.equal(
        await clients.replace(sampleClient({ version, name: 'Stale' })),
        false,
        `version ${version}`,
      );
    }
    assertSame(await clients.find('client-1'), { ...next, ...works });
    const unknown = { clientId: 'client-2', redirectUris: ['https://unknown.example/'] };
    assert.equal(await clients.replace(sampleClient(unknown)), false);
    assert.equal(await clients.find('client-2'), null, 'and none is created');
    assert.equal(await clients.originRegistered('https://unknown.example'), false);
  },

  'of parallel replacements of one version exactly one is stored': async ({ clients }) => {
    await clients.insert(sampleClient());
    const answers = await inParallel(20, (index) =>
      clients.replace(sampleClient({ version: 2, name: `name ${index}` })),
    );
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    assert.equal((await clients.find('client-1'))?.name, `name ${answers.indexOf(true)}`);
  },

  'a replacement that is refused, or does not disable, revokes nothing': async (storage) => {
    const { token } = await redeemed(storage, 'a');
    assert.equal(await storage.clients.replace(sampleClient({ version: 9, disabledAt: now })), false);
    assert.equal(await storage.clients.replace(sampleClient({ version: 2, name: 'Renamed' })), true);
    assert.equal(await isLive(storage, token), true);
    assert.notEqual(await storage.consents.find('user-1', 'client-1'), null);
  },

  'origins are those of redirect URIs, as browsers and the web views of apps send them': async ({
    clients,
  }) => {
    const redirectUris = [
      'https://Shop.Example:443/callback?x=1',
      'https://shop.example:8443/',
      'http://localhost:4000/callback',
      'http://[::1]:4001/',
      'com.example.app:/callback',
      'com.example.app://host/callback',
      'capacitor://localhost/',
    ];
    await clients.insert(sampleClient({ redirectUris }));
    const registered = [
      'https://shop.example',
      'https://shop.example:8443',
      'http://localhost:4000',
      'http://[::1]:4001',
      'com.example.app://host',
      'capacitor://localhost',
    ];
    for (const origin of registered) assert.equal(await clients.originRegistered(origin), true, origin);
    const others = [
      'http://shop.example',
      'https://shop.example:443',
      'https://shop.example/',
      'https://shop.example.evil.example',
      'https://hop.example',
      'http://localhost',
      'com.example.app://host/',
      'com.example.app://',
      'com.example.app:',
      'capacitor://',
      'null',
      '',
      '%',
    ];
    for (const origin of others) assert.equal(await clients.originRegistered(origin), false, origin);
  },

  'a client that takes any loopback port has an origin for all ports of each http address': async ({
    clients,
  }) => {
    const redirectUris = ['https://shop.example/', 'http://127.0.0.1:4000/cb', 'http://[::1]/cb'];
    const anyPort = ['http://127.0.0.1:*', 'http://[::1]:*'];
    await clients.insert(sampleClient({ redirectUris }));
    for (const origin of anyPort) assert.equal(await clients.originRegistered(origin), false, origin);
    await clients.replace(sampleClient({ version: 2, redirectUris, loopbackPorts: 'any' }));
    assert.equal((await clients.find('client-1'))?.loopbackPorts, 'any');
    for (const origin of [...anyPort, 'http://127.0.0.1:4000', 'https://shop.example'])
      assert.equal(await clients.originRegistered(origin), true, origin);
    for (const origin of ['https://shop.example:*', 'http://localhost:*'])
      assert.equal(await clients.originRegistered(origin), false, origin);
    await clients.replace(sampleClient({ version: 3, redirectUris, loopbackPorts: 'exact' }));
    for (const origin of anyPort) assert.equal(await clients.originRegistered(origin), false, origin);
  },

  'origins follow changes, and one enabled client is enough': async ({ clients }) => {
    const shop = 'https://shop.example';
    await clients.insert(sampleClient());
    assert.equal(await clients.originRegistered(shop), true);
    await clients.replace(sampleClient({ version: 2, redirectUris: ['https://new.example/'] }));
    assert.equal(await clients.originRegistered(shop), false);
    assert.equal(await clients.originRegistered('https://new.example'), true);

    await clients.replace(sampleClient({ version: 3, disabledAt: now }));
    assert.equal(await clients.originRegistered(shop), false, 'disabled');
    await clients.insert(sampleClient({ clientId: 'client-2' }));
    assert.equal(await clients.originRegistered(shop), true, 'another client has it');
    await clients.replace(sampleClient({ version: 4 }));
    await clients.replace(sampleClient({ clientId: 'client-2', version: 2, disabledAt: now }));
    assert.equal(await clients.originRegistered(shop), true, 'enabled again');
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const clientCalls: Calls<'clients'> = {
  named: ({ clients }) => clients.named({ words: 'a', searched: 1, limit: 1 }),
  insert: ({ clients }) => clients.insert(sampleClient()),
  findLogo: ({ clients }) => clients.findLogo('client-1'),
  find: ({ clients }) => clients.find('client-1'),
  list: ({ clients }) => clients.list({ after: null, limit: 1 }),
  sorted: ({ clients }) => clients.sorted(firstByName),
  count: ({ clients }) => clients.count(1),
  replace: ({ clients }) => clients.replace(sampleClient({ version: 2 })),
  originRegistered: ({ clients }) => clients.originRegistered('https://shop.example'),
};
