import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, describe, expect, it } from 'vitest';
import { createOstiary, type OstiaryOptions } from '../../src/index.ts';
import type { Storage } from '../../src/storage.ts';
import { openConsent } from '../support/consent-form.ts';
import { Host } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { pkce, TestProvider } from '../support/provider.ts';

const running: TestProvider[] = [];
afterEach(() => Promise.all(running.splice(0).map((provider) => provider.stop())));

async function start(...given: Parameters<typeof TestProvider.start>): Promise<TestProvider> {
  const provider = await TestProvider.start(...given);
  running.push(provider);
  return provider;
}

/** A text that holds everything that was handed to the storage, bytes as hex. */
function dump(given: readonly (readonly unknown[])[]): string {
  return JSON.stringify(given, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  );
}

describe('a stolen database', () => {
  it('holds no code, token, session id, client secret, verifier or private key as it is', async () => {
    const database = fragileStorage();
    const provider = await start({ storage: database.storage });
    const client = await provider.client();
    await provider.ostiary.admin.clients.rotateSecret(client.id, { overlapSeconds: 60 });
    const { verifier, challenge } = pkce();
    const browser = provider.browser();
    const page = await openConsent(
      provider,
      client,
      { code_challenge: challenge, code_challenge_method: 'S256' },
      browser,
    );
    const cookies = browser.cookieHeader(new URL(page.address).pathname);
    const approved = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
    const resume = browser.cookieHeader(new URL(approved.location ?? '').pathname);
    const callback = new URL((await browser.get(approved.location ?? '')).location ?? '').searchParams;
    const code = callback.get('code') ?? '';
    const token = String(
      (await provider.exchange(client, code, { code_verifier: verifier })).json().access_token,
    );
    await provider.userinfo(token);
    await provider.call('/v1/oauth/revoke', { token });

    const stored = dump(database.given);
    const id = page.address.split('/').at(-1) ?? '';
    const cookieValues = `${cookies}; ${resume}`
      .split('; ')
      .filter((cookie) => !cookie.startsWith('host='))
      .map((cookie) => cookie.split('=').slice(1).join('='));
    expect(cookieValues).toContain(id);
    for (const secret of [
      client.secret ?? '',
      id,
      ...cookieValues,
      page.csrf,
      code,
      verifier,
      token,
      token.slice(7),
    ]) {
      expect(secret.length).toBeGreaterThan(20);
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
    }
    // No private part of a key, in whatever spelling: RSA has `p`, both kinds have `d`.
    for (const record of await database.storage.signingKeys.list()) {
      expect(Object.keys(JSON.parse(record.publicJwk))).not.toContain('d');
      expect(record.sealedPrivateJwk).toMatch(/^v1\./);
    }
    expect(stored).not.toMatch(/"(d|p|q|dp|dq|qi)\\*":/);
  });
});

describe('the start', () => {
  let closed = 0;
  /** One storage serves several starts here: closing it is counted only. */
  const options = (storage: Storage, ...sealingKeys: Uint8Array[]): OstiaryOptions => {
    const { users, login } = new Host();
    const kept: Storage = {
      ...storage,
      close: async () => {
        closed += 1;
      },
    };
    return { authUrl: 'https://id.example', storage: kept, sealingKeys, users, login };
  };
  const sealedWith = async (storage: Storage) =>
    new Set((await storage.signingKeys.list()).map((key) => key.sealedPrivateJwk.split('.')[1]));

  it('stops with a clear line when no key opens the database, and changes nothing in it', async () => {
    const storage = memoryStorage();
    await createOstiary(options(storage, randomBytes(32)));
    const before = await storage.signingKeys.list();
    closed = 0;
    const thrown = await createOstiary(options(storage, randomBytes(32))).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(TypeError);
    expect(String(thrown)).toMatch(
      /sealingKeys: none of the given keys opens this database \(signing_keys\/.* is sealed with the key [0-9a-f]{12}, which is not among sealingKeys\)/,
    );
    expect(await storage.signingKeys.list()).toEqual(before);
    expect(closed).toBe(1);
  });

  it('opens with a previous key, and seals everything anew, so that the previous one can go', async () => {
    const storage = memoryStorage();
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const first = await createOstiary(options(storage, old));
    const keys = await first.admin.signingKeys.list();
    const before = await sealedWith(storage);
    await createOstiary(options(storage, next, old));
    const after = await sealedWith(storage);
    expect(after.size).toBe(1);
    expect(after).not.toEqual(before);
    const last = await createOstiary(options(storage, next));
    expect(await last.admin.signingKeys.list()).toEqual(keys);
    await expect(createOstiary(options(storage, old))).rejects.toThrow(TypeError);
  });

  it('stops when a sealed key was moved to another row, or was altered', async () => {
    const storage = memoryStorage();
    const key = randomBytes(32);
    await createOstiary(options(storage, key));
    const [one, two] = await storage.signingKeys.list();
    await storage.signingKeys.reseal(one?.kid ?? '', two?.sealedPrivateJwk ?? '');
    await expect(createOstiary(options(storage, key))).rejects.toThrow(/altered, or moved from another row/);
  });

  it('keeps cookies and forms of a previous key good, so that nobody has to begin anew', async () => {
    const storage = memoryStorage();
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const shared = { storage, authUrl: 'https://id.example' };
    const before = await start({ ...shared, sealingKeys: [old] });
    const client = await before.client();
    const browser = before.browser();
    const page = await openConsent(before, client, {}, browser);
    const after = await start({ ...shared, sealingKeys: [next, old], clock: before.clock }, before.host);
    browser.connectTo(after.origin);
    const approved = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
    expect((await browser.get(approved.location ?? '')).location).toContain('code=');
  });

  it('with a key that does not belong makes cookies and forms worthless', async () => {
    const storage = memoryStorage();
    const key = randomBytes(32);
    const provider = await start({ storage, sealingKeys: [key] });
    const browser = provider.browser();
    const page = await openConsent(provider, await provider.client(), {}, browser);
    const id = page.address.split('/').at(-1) ?? '';
    const thief = provider.browser();
    // Whoever knows the id of an interaction still has no cookie that this service signed.
    thief.setCookie('svc_interaction', id, '/oauth/interaction');
    thief.setCookie('svc_interaction.sig', 'A'.repeat(27), '/oauth/interaction');
    expect((await thief.get(page.address)).status).toBe(400);
    expect((await browser.get(page.address)).status).toBe(200);
  });

  it('needs a database that answers', async () => {
    const database = fragileStorage();
    database.breakWhen((call) => call === 'signingKeys.list');
    await expect(createOstiary(options(database.storage, randomBytes(32)))).rejects.toThrow('secret detail');
  });
});

describe('a running provider', () => {
  it('is ready while the database answers, and not after it was closed', async () => {
    const { users, login } = new Host();
    const ostiary = await createOstiary({
      authUrl: 'https://id.example',
      storage: memoryStorage(),
      sealingKeys: [randomBytes(32)],
      users,
      login,
    });
    await ostiary.ready();
    ostiary.worker.start();
    await ostiary.close();
    await expect(ostiary.ready()).rejects.toThrow();
    await ostiary.close();
  });
});
