import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { describe, expect, it } from 'vitest';
import { apiKeyFormat } from '../../src/api-key-format.ts';
import { systemRandom } from '../../src/random.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { partnerProvider, temporaryDatabase } from '../support/partner-api.ts';
import { TestClock } from '../support/provider.ts';

const look = 'GET /v1/partner/users/KID-ANA';
const day = 86_400_000;

/** A storage that finds keys, and says so only when a test lets it. */
function slowKeys() {
  const database = fragileStorage();
  let held: Promise<void> | null = null;
  const inner = database.storage.apiKeys;
  const apiKeys = {
    ...Object.fromEntries(
      ['insert', 'find', 'list', 'revoke', 'roll', 'touch'].map((name) => [name, Reflect.get(inner, name)]),
    ),
    async findByDigest(digest: Uint8Array) {
      const found = await inner.findByDigest(digest);
      await held;
      return found;
    },
  } as typeof inner;
  const storage = new Proxy(database.storage, {
    get: (target, name) => (name === 'apiKeys' ? apiKeys : Reflect.get(target, name)),
  });
  return {
    storage,
    calls: () => database.calls,
    /** From now on nothing is found; answers how to end that. */
    hold() {
      const gate = Promise.withResolvers<void>();
      held = gate.promise;
      database.forget();
      return () => {
        held = null;
        gate.resolve();
      };
    },
  };
}

describe('an API key', () => {
  it('is the prefix, the mode, 256 bits and a checksum, and no two are alike', () => {
    const format = apiKeyFormat('acme');
    const keys = Array.from({ length: 500 }, () => format.newKey('live', systemRandom));
    expect(new Set(keys).size).toBe(500);
    for (const key of keys) {
      expect(key).toMatch(/^acme_live_[0-9A-Za-z]{49}$/);
      expect(format.isKey(key)).toBe(true);
    }
    // 43 digits of 62 are more than 256 bits, and every digit turns up.
    expect(43 * Math.log2(62)).toBeGreaterThan(256);
    expect(new Set(keys.flatMap((key) => [...key.slice(10, 53)])).size).toBe(62);
  });

  it('is refused without a look at the database after any typo of one character', async () => {
    const database = fragileStorage();
    const { provider } = await partnerProvider({ storage: database.storage });
    const { key } = await provider.key();
    database.forget();
    for (let at = 0; at < key.length; at += 1) {
      const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
      expect.soft((await provider.partnerCall(typo, look)).status, `at ${at}`).toBe(401);
    }
    expect(database.calls).toEqual([]);
    expect((await provider.partnerCall(key, look)).status).toBe(200);
    expect(database.calls).toContain('apiKeys.findByDigest');
  });

  it('that is rejected gets the same answer for every reason', async () => {
    const { provider } = await partnerProvider();
    const partner = await provider.partner();
    const [revoked, expired, rolled, disabled] = await Promise.all([
      provider.key({ partner }),
      provider.key({ partner, expiresAt: new Date(provider.clock.now() + 1_000) }),
      provider.key({ partner }),
      provider.key(),
    ]);
    // Some of them have worked before, so that they stand in the cache.
    for (const { key } of [revoked, expired, rolled, disabled])
      expect((await provider.partnerCall(key, look)).status).toBe(200);
    await provider.ostiary.admin.apiKeys.revoke(revoked.id);
    await provider.ostiary.admin.apiKeys.roll(rolled.id, { overlapSeconds: 0 });
    await provider.ostiary.admin.partners.disable(disabled.partner);
    provider.clock.advance(1_000);
    const unknown = apiKeyFormat('svc').newKey('live', systemRandom);
    const rejected: Record<string, string | null> = {
      missing: null,
      empty: '',
      malformed: 'hello',
      'of another prefix': apiKeyFormat('acme').newKey('live', systemRandom),
      'in upper case': unknown.toUpperCase(),
      'with a wrong checksum': `${unknown.slice(0, -1)}${unknown.endsWith('0') ? '1' : '0'}`,
      '10 kB long': `svc_live_${'a'.repeat(10_000)}`,
      twice: `${unknown}, ${unknown}`,
      unknown,
      revoked: revoked.key,
      expired: expired.key,
      rolled: rolled.key,
      'of a disabled partner': disabled.key,
    };
    const answers = await Promise.all(
      Object.entries(rejected).map(async ([kind, key]) => {
        const { status, headers, text } = await provider.partnerCall(key, look);
        const requestId = headers.get('x-request-id') ?? '';
        expect(text).toContain(requestId);
        const kept = [...headers].filter(([name]) => name !== 'date').join('\n');
        return [
          kind,
          { status, headers: kept.replaceAll(requestId, 'ID'), text: text.replaceAll(requestId, 'ID') },
        ] as const;
      }),
    );
    const [[, first] = []] = answers;
    expect(first?.status).toBe(401);
    expect(JSON.parse(first?.text ?? '')).toEqual({
      code: 'invalid_api_key',
      message: 'The API key is missing or not valid.',
      requestId: 'ID',
    });
    expect(first?.headers).not.toMatch(/ratelimit|retry-after|www-authenticate/i);
    for (const [kind, answer] of answers) expect.soft(answer, kind).toEqual(first);
  });

  /** Two processes on one file. */
  async function twoProcesses() {
    const file = temporaryDatabase();
    const shared = { sealingKeys: [new Uint8Array(32).fill(1)], clock: new TestClock() };
    const { provider: here } = await partnerProvider({ storage: sqliteStorage({ file }), ...shared });
    const { provider: there } = await partnerProvider({ storage: sqliteStorage({ file }), ...shared });
    return { here, there };
  }

  it('that is revoked, or whose partner is disabled, is refused by the next request in another process', async () => {
    const { here, there } = await twoProcesses();
    const [first, second] = [await here.key(), await here.key()];
    const status = async (key: typeof first) => (await there.partnerCall(key, look)).status;
    expect([await status(first), await status(second)]).toEqual([200, 200]);
    await here.ostiary.admin.apiKeys.revoke(first.id);
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    await here.ostiary.admin.partners.disable(second.partner);
    expect(await status(second)).toBe(401);
    await here.ostiary.admin.partners.enable(second.partner);
    expect([await status(first), await status(second)]).toEqual([401, 200]);
  });

  it('that has ended elsewhere is 401 and nothing else, whatever the other checks would say', async () => {
    const { here, there } = await twoProcesses();
    const key = await here.key({ scopes: ['users:read'] });
    const limited = 'GET /v1/partner/reconciliation?date=2020-01-01';
    const answer = async (route: string) => {
      const { status, headers } = await there.partnerCall(key, route);
      return [status, [...headers].some(([name]) => /ratelimit|retry-after/i.test(name))];
    };
    expect([await answer(look), await answer(limited)]).toEqual([
      [200, true],
      [403, false],
    ]);
    await here.ostiary.admin.partners.disable(key.partner);
    expect(await answer(limited)).toEqual([401, false]);
    expect(await answer(look)).toEqual([401, false]);
  });

  it('is read again when the clock was set back, rather than believed for longer', async () => {
    const database = fragileStorage();
    const { provider } = await partnerProvider({ storage: database.storage });
    const key = await provider.key();
    await provider.partnerCall(key, look);
    database.forget();
    await provider.partnerCall(key, look);
    expect(database.calls).not.toContain('apiKeys.findByDigest');
    provider.clock.advance(-1);
    await provider.partnerCall(key, look);
    expect(database.calls).toContain('apiKeys.findByDigest');
  });

  it('that is read while it is revoked does not come back from the cache', async () => {
    const { storage, calls, hold } = slowKeys();
    const { provider } = await partnerProvider({ storage });
    const key = await provider.key();
    const release = hold();
    const early = provider.partnerCall(key, look);
    while (!calls().includes('apiKeys.findByDigest')) await new Promise(setImmediate);
    await provider.ostiary.admin.apiKeys.revoke(key.id);
    release();
    await early;
    expect((await provider.partnerCall(key, look)).status).toBe(401);
  });
});

describe('rolling a key', () => {
  it('keeps the old one for the overlap, with the same rights, and gives a new signing secret', async () => {
    const { provider } = await partnerProvider();
    const old = await provider.key({ scopes: ['users:read'], mode: 'test', name: 'till' });
    const { apiKey, key, signingSecret } = await provider.ostiary.admin.apiKeys.roll(old.id, {
      overlapSeconds: 60,
    });
    expect(apiKey).toMatchObject({
      scopes: ['users:read'],
      mode: 'test',
      name: 'till',
      partner: old.partner,
    });
    expect(signingSecret).not.toBe(old.signingSecret);
    const works = async (presented: string) =>
      (await provider.partnerCall(presented, 'GET /v1/partner/users/KID-TEST-APPROVED')).status;
    expect([await works(old.key), await works(key)]).toEqual([200, 200]);
    provider.clock.advance(59_999);
    expect(await works(old.key)).toBe(200);
    provider.clock.advance(1);
    expect([await works(old.key), await works(key)]).toEqual([401, 200]);
    // Unless told otherwise the overlap is a day.
    const last = await provider.ostiary.admin.apiKeys.roll(apiKey.id);
    provider.clock.advance(day - 1);
    expect([await works(key), await works(last.key)]).toEqual([200, 200]);
    provider.clock.advance(1);
    expect([await works(key), await works(last.key)]).toEqual([401, 200]);
    await expect(provider.ostiary.admin.apiKeys.roll(old.id)).rejects.toMatchObject({ code: 'key_ended' });
    await expect(provider.ostiary.admin.apiKeys.roll('key_x')).rejects.toMatchObject({
      code: 'key_not_found',
    });
    await expect(provider.ostiary.admin.apiKeys.revoke('key_x')).rejects.toMatchObject({
      code: 'key_not_found',
    });
  });
});

describe('provisioning', () => {
  it('refuses what cannot be right, and names it', async () => {
    const { provider } = await partnerProvider();
    const { partners, apiKeys } = provider.ostiary.admin;
    const partner = await provider.partner('acme-1');
    for (const slug of ['a', 'A-b', 'a b', 'é-é', 'a'.repeat(41), '']) {
      await expect.soft(partners.create({ slug, name: 'x' }), slug).rejects.toThrow(/slug/);
    }
    await expect(partners.create({ slug: 'acme-1', name: 'x' })).rejects.toMatchObject({
      code: 'partner_exists',
    });
    const issue = (changes: object) =>
      apiKeys.issue({ partner, mode: 'live', scopes: ['webhooks'], ...changes });
    await expect(issue({ allowlist: [] })).rejects.toThrow(/allowlist/);
    await expect(issue({ allowlist: ['10.0.0.0/33'] })).rejects.toThrow(/allowlist\.0/);
    await expect(issue({ scopes: [] })).rejects.toThrow(/scopes/);
    await expect(issue({ scopes: ['everything'] })).rejects.toThrow(/scopes\.0/);
    await expect(issue({ expiresAt: new Date(provider.clock.now()) })).rejects.toThrow(/expiresAt/);
    await expect(issue({ mode: 'prod' })).rejects.toThrow(/mode/);
    await expect(issue({ surprise: 1 })).rejects.toThrow(TypeError);
    await expect(issue({ partner: 'nobody' })).rejects.toMatchObject({ code: 'partner_not_found' });
    expect(await apiKeys.list(partner)).toEqual([]);
  });

  it('shows a key once, and never what it or its secret is', async () => {
    const { provider } = await partnerProvider();
    const { key, signingSecret, partner } = await provider.key();
    const listed = JSON.stringify(await provider.ostiary.admin.apiKeys.list(partner));
    expect(listed).not.toContain(key);
    expect(listed).not.toContain(signingSecret);
    expect(listed).not.toMatch(/digest|sealed/);
  });

  it('tells when a key was last used, written at most once a minute', async () => {
    const database = fragileStorage();
    const { provider } = await partnerProvider({ storage: database.storage });
    const key = await provider.key();
    const used = async () => (await provider.ostiary.admin.apiKeys.list(key.partner))[0]?.lastUsedAt ?? null;
    expect(await used()).toBeNull();
    const first = new Date(provider.clock.now()).toISOString();
    for (let request = 0; request < 5; request += 1) {
      await provider.partnerCall(key, look);
      provider.clock.advance(11_000);
    }
    expect(await used()).toBe(first);
    provider.clock.advance(4_999);
    await provider.partnerCall(key, look);
    expect(await used()).toBe(first);
    provider.clock.advance(1);
    await provider.partnerCall(key, look);
    expect(await used()).toBe(new Date(provider.clock.now()).toISOString());
    expect(database.calls.filter((call) => call === 'apiKeys.touch')).toHaveLength(2);
    provider.clock.advance(day);
    database.breakWhen((call) => call === 'apiKeys.touch');
    expect((await provider.partnerCall(key, look)).status).toBe(200);
  });

  it('notes one use of requests that come together, and of processes that see each other’s', async () => {
    const { storage, calls, hold } = slowKeys();
    const shared = { storage, clock: new TestClock(), sealingKeys: [new Uint8Array(32).fill(1)] };
    const [{ provider: here }, { provider: there }] = [
      await partnerProvider(shared),
      await partnerProvider(shared),
    ];
    const key = await here.key();
    const noted = () => calls().filter((call) => call === 'apiKeys.touch').length;
    for (const [first, second] of [
      [here, there],
      [there, here],
    ] as const) {
      const release = hold();
      const together = Array.from({ length: 20 }, () => first.partnerCall(key, look));
      while (calls().filter((call) => call === 'apiKeys.findByDigest').length < 20)
        await new Promise(setImmediate);
      release();
      for (const { status } of await Promise.all(together)) expect(status).toBe(200);
      // The other process learns of it when it reads the key again, after five seconds at most.
      first.clock.advance(5_000);
      expect((await second.partnerCall(key, look)).status).toBe(200);
      expect(noted()).toBe(1);
      first.clock.advance(55_000);
    }
  });
});
