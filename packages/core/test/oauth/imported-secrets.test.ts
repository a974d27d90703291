import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { pkce, type TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const derive = promisify(scrypt) as (secret: string, salt: string, length: number) => Promise<Buffer>;

async function hashed(secret: string): Promise<string> {
  const salt = randomBytes(16).toString('hex');
  return `$scrypt$${salt}$${(await derive(secret, salt, 32)).toString('hex')}`;
}

/** Makes a `verifyImportedSecret` for scrypt hashes, and records the secrets that it was called with. */
function verifier() {
  const asked: string[] = [];
  const verifyImportedSecret = async (secret: string, hash: string) => {
    asked.push(secret);
    const [, , salt = '', derived] = hash.split('$');
    return (await derive(secret, salt, 32)).toString('hex') === derived;
  };
  return { asked, verifyImportedSecret };
}

const secret = 'the-secret-of-another-system.~1';
const redirectUri = 'https://app.example/callback';

async function imported(provider: TestProvider, own: string = secret, changes: object = {}) {
  const { client } = await provider.ostiary.admin.clients.create({
    ...{ name: 'Imported', redirectUris: [redirectUri], allowedScopes: ['openid'] },
    ...{ clientSecretHash: await hashed(own), ...changes },
  });
  return { id: client.clientId, secret: own, redirectUri };
}

async function exchange(provider: TestProvider, client: Awaited<ReturnType<typeof imported>>, sent: string) {
  const code = await provider.code(client);
  const { id: client_id, redirectUri: redirect_uri } = client;
  const body = { grant_type: 'authorization_code', code, redirect_uri, client_id, client_secret: sent };
  const { status, ...answer } = await provider.call('/v1/oauth/token', body);
  return status === 200 ? 200 : `${status} ${answer.json().error}`;
}

describe('a secret that was imported as a hash', () => {
  it('is checked by the host once, and stored as every other from then on', async () => {
    const storage = memoryStorage();
    const { asked, verifyImportedSecret } = verifier();
    const provider = await startProvider({ storage, verifyImportedSecret });
    const client = await imported(provider);
    const before = await provider.ostiary.admin.clients.get(client.id);
    expect(before).toMatchObject({ public: false, secrets: [{ imported: true }] });
    expect(await exchange(provider, client, 'another-secret-altogether')).toBe('401 invalid_client');
    expect(await exchange(provider, client, secret)).toBe(200);
    expect(asked).toEqual(['another-secret-altogether', secret]);
    const after = await provider.ostiary.admin.clients.get(client.id);
    expect(after).toEqual({ ...before, secrets: [{ createdAt: before?.createdAt, expiresAt: null }] });
    const stored = JSON.stringify(await storage.clients.find(client.id));
    expect(stored).not.toContain('scrypt');
    expect(stored).not.toContain(secret);
    for (const sent of [secret, 'another-secret-altogether']) await exchange(provider, client, sent);
    expect(asked).toHaveLength(2);
    expect(await exchange(provider, client, secret)).toBe(200);
  });

  it('is verified once for several simultaneous requests, and another secret is refused meanwhile', async () => {
    const asked: string[] = [];
    const gate = Promise.withResolvers<void>();
    const provider = await startProvider({
      async verifyImportedSecret(sent) {
        asked.push(sent);
        await gate.promise;
        return sent === secret;
      },
    });
    const [client, other] = [await imported(provider), await imported(provider)];
    const present = async (own: typeof client, sent: string) => exchange(provider, own, sent);
    const answers = [
      present(client, secret),
      present(client, secret),
      present(client, 'a-wrong-secret'),
      present(other, secret),
    ];
    await vi.waitFor(() => expect(asked).toHaveLength(2), patient);
    gate.resolve();
    expect(await Promise.all(answers)).toEqual([200, 200, '401 invalid_client', 200]);
    expect(asked.toSorted()).toEqual(['a-wrong-secret', secret, secret]);
    for (const { id } of [client, other]) {
      const stored = await provider.ostiary.admin.clients.get(id);
      expect(stored?.secrets).toEqual([{ createdAt: stored?.createdAt, expiresAt: null }]);
    }
  });

  it.each(['yes', 1, {}, undefined])(
    'is refused when the function answers %j instead of true',
    async (answer) => {
      const provider = await startProvider({ verifyImportedSecret: () => answer as never });
      expect(await exchange(provider, await imported(provider), secret)).toBe('401 invalid_client');
    },
  );

  it('keeps its slow hash where it is so short that a fast one could be guessed', async () => {
    const { asked, verifyImportedSecret } = verifier();
    const provider = await startProvider({ verifyImportedSecret });
    const client = await imported(provider, 'hunter2');
    for (const _ of [1, 2]) expect(await exchange(provider, client, 'hunter2')).toBe(200);
    expect(asked).toEqual(['hunter2', 'hunter2']);
    expect((await provider.ostiary.admin.clients.get(client.id))?.secrets).toMatchObject([
      { imported: true },
    ]);
  });

  it('ends when another secret replaces it, and works together with that for the overlap', async () => {
    const { verifyImportedSecret } = verifier();
    const provider = await startProvider({ verifyImportedSecret });
    const client = await imported(provider);
    const { clientSecret } = await provider.ostiary.admin.clients.rotateSecret(client.id, {
      overlapSeconds: 60,
    });
    expect(await exchange(provider, client, clientSecret)).toBe(200);
    provider.clock.advance(61_000);
    expect(await exchange(provider, client, secret)).toBe('401 invalid_client');
    const next = await imported(provider);
    await provider.ostiary.admin.clients.rotateSecret(next.id, { overlapSeconds: 60 });
    provider.clock.advance(59_000);
    expect(await exchange(provider, next, secret)).toBe(200);
    provider.clock.advance(1_000);
    expect(await exchange(provider, next, secret), 'the end stays').toBe('401 invalid_client');
  });

  it('is no secret by itself: the hash opens nothing', async () => {
    const { verifyImportedSecret } = verifier();
    const storage = memoryStorage();
    const provider = await startProvider({ storage, verifyImportedSecret });
    const client = await imported(provider);
    const [stored] = (await storage.clients.find(client.id))?.secrets ?? [];
    const hash = Buffer.from(stored?.digest ?? []).toString('utf8');
    expect(hash).toMatch(/^\$scrypt\$/);
    expect(await exchange(provider, client, hash)).toBe('401 invalid_client');
  });

  it('counts its failures, and needs none with PKCE', async () => {
    const { asked, verifyImportedSecret } = verifier();
    const provider = await startProvider({
      verifyImportedSecret,
      limits: { failedClientAuthentications: 2 },
    });
    const client = await imported(provider);
    const { verifier: code_verifier, bound } = pkce();
    const code = await provider.code(client, bound);
    const body = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, client_id: client.id };
    expect((await provider.call('/v1/oauth/token', { ...body, code_verifier })).status).toBe(200);
    expect(asked).toEqual([]);
    for (const _ of [1, 2]) expect(await exchange(provider, client, 'x')).toBe('401 invalid_client');
    expect(await exchange(provider, client, 'x')).toBe('429 slow_down');
    expect(asked).toEqual(['x', 'x']);
  });

  it('is guessed no more often than the limit allows, and without delay for other clients', async () => {
    const limit = 20;
    let hashes = 0;
    const otherClientIsAnswered = Promise.withResolvers<void>();
    const provider = await startProvider({
      async verifyImportedSecret() {
        hashes += 1;
        await otherClientIsAnswered.promise;
        return false;
      },
      limits: { failedClientAuthentications: limit },
      trustedProxies: ['127.0.0.0/8'],
    });
    const [client, other] = [await imported(provider), await provider.client()];
    const code = await provider.code(other);
    const request = { grant_type: 'authorization_code', code: 'x', redirect_uri: redirectUri };
    const guess = async (client_secret: string) => {
      const body = { ...request, client_id: client.id, client_secret };
      return (await provider.call('/v1/oauth/token', body, { 'x-forwarded-for': '192.0.2.1' })).outcome;
    };
    const guesses = Promise.all(Array.from({ length: 300 }, (_, number) => guess(`guess-${number}`)));
    expect(await provider.redeem(other, code)).toBe('200 ok');
    expect(hashes).toBe(2);
    otherClientIsAnswered.resolve();
    const outcomes = Map.groupBy(await guesses, (outcome) => outcome);
    expect(outcomes.get('401 invalid_client')).toHaveLength(10);
    expect(outcomes.get('503 temporarily_unavailable')).toHaveLength(290);
    let last = '';
    for (let round = 0; round <= limit && last !== '429 slow_down'; round += 1)
      last = await guess(`later-${round}`);
    expect(last).toBe('429 slow_down');
    // Another check can begin while the failure of the first is still being counted.
    expect(hashes).toBeLessThanOrEqual(limit + 1);
  });

  it('counts a guess whose check takes too long', async () => {
    const provider = await startProvider({
      verifyImportedSecret: () => new Promise<boolean>(() => {}),
      hostTimeoutSeconds: 1,
      limits: { failedClientAuthentications: 1 },
    });
    const client = await imported(provider);
    const sent = Promise.all(['a', 'b', 'c'].map((name) => exchange(provider, client, name)));
    const slow = '503 temporarily_unavailable';
    expect((await sent).toSorted()).toEqual(['429 slow_down', slow, slow]);
  });

  it('is refused where the option is gone, and answered with an error where the function fails', async () => {
    const storage = memoryStorage();
    const sealingKeys = [randomBytes(32)];
    const broken = () => {
      throw new Error('the library is broken');
    };
    const provider = await startProvider({ storage, sealingKeys, verifyImportedSecret: broken });
    const client = await imported(provider);
    expect(await exchange(provider, client, secret)).toBe('500 server_error');
    const without = await startProvider({ storage, sealingKeys });
    expect(await exchange(without, client, secret)).toBe('401 invalid_client');
  });
});

describe('a secret that an administrator brings', () => {
  it('is accepted as the client’s secret, and is neither returned nor logged', async () => {
    const storage = memoryStorage();
    const provider = await startProvider({ storage });
    const { clients, audit } = provider.ostiary.admin;
    const given = { name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid'] };
    const { client, clientSecret } = await clients.create({ ...given, clientSecret: secret });
    expect(clientSecret).toBe(null);
    expect(await exchange(provider, { id: client.clientId, secret, redirectUri }, secret)).toBe(200);
    const written = JSON.stringify([await audit.list(), await storage.clients.find(client.clientId)]);
    expect(written).not.toContain(secret);
    expect(written).toContain('"imported":true');
  });

  it('is refused when it is weak, not one, or of a public client', async () => {
    const { clients } = (await startProvider()).ostiary.admin;
    const create = (changes: object) =>
      clients.create({
        ...{ name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid'] },
        ...changes,
      });
    await expect(create({ clientSecret: 'too-short' })).rejects.toThrow(/clientSecret: .*20/);
    await expect(create({ clientSecret: `${secret} ${secret}` })).rejects.toThrow(
      /clientSecret: .*printable/,
    );
    await expect(create({ clientSecret: secret, public: true })).rejects.toThrow(/public client/);
    await expect(create({ clientSecretHash: '$2b$10$short' })).rejects.toThrow(/clientSecretHash: .*20/);
    const hash = await hashed(secret);
    await expect(create({ clientSecretHash: hash })).rejects.toThrow(/verifyImportedSecret/);
    await expect(create({ clientSecretHash: hash, clientSecret: secret })).rejects.toThrow(/itself/);
  });

  it('is refused as a hash that takes seconds to compute', async () => {
    const provider = await startProvider({ verifyImportedSecret: () => true });
    const clientSecretHash = `$2b$20$${'a'.repeat(53)}`;
    await expect(imported(provider, secret, { clientSecretHash })).rejects.toThrow(
      'clientSecretHash: bcrypt: cost 20, at most 14 is accepted',
    );
  });

  it('can be checked before, which stores nothing', async () => {
    const provider = await startProvider();
    const { clients, audit } = provider.ostiary.admin;
    const given = { clientId: 'kafe', name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid'] };
    await clients.check(given);
    expect([await clients.get('kafe'), (await audit.list()).entries]).toEqual([null, []]);
    await expect(clients.check({ ...given, redirectUris: ['http://x.example/'] })).rejects.toThrow(TypeError);
    await clients.create(given);
    await expect(clients.check(given)).rejects.toMatchObject({ code: 'client_exists' });
    expect(clients.scopes).toContain('openid');
  });
});
