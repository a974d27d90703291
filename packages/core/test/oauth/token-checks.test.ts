import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { ana } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import type { TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const { verify } = provider.ostiary.tokens;
const hour = 3_600_000;
const unknownToken = `svc_at_${'a'.repeat(43)}`;

const refused = (reason: string) => ({ active: false, reason });

describe('an access token that works', () => {
  it('says whose it is, which client has it, what was approved, and until when', async () => {
    const issuedAt = provider.clock.now();
    const token = await provider.token(client, 'openid kyc');
    expect(await verify(token)).toEqual({
      active: true,
      sub: ana.sub,
      clientId: client.id,
      scopes: ['openid', 'kyc'],
      expiresAt: new Date(issuedAt + hour),
    });
  });

  it('has every scope that is asked for, or is refused', async () => {
    const token = await provider.token(client, 'openid kyc');
    for (const scopes of [[], ['kyc'], ['kyc', 'openid']] as const)
      expect(await verify(token, { scopes })).toMatchObject({ active: true });
    for (const scopes of [['wallet:balance'], ['kyc', 'wallet:balance']] as const)
      expect(await verify(token, { scopes })).toEqual(refused('insufficient_scope'));
  });
});

describe('a token that opens nothing', () => {
  it('is malformed if it does not have the form of a token', async () => {
    const { token: passport } = await provider.ostiary.passports.issue(ana.sub);
    const others = [await provider.code(client), client.secret ?? '', passport, '', 'x', `${unknownToken}a`];
    const noText = [undefined, null, 7, {}, [unknownToken]] as unknown as string[];
    for (const other of [...others, ` ${unknownToken}`, ...noText])
      expect([other, await verify(other)]).toEqual([other, refused('malformed')]);
  });

  it('is expired at its exact millisecond, and unknown 24 hours later', async () => {
    const token = await provider.token(client);
    provider.clock.advance(hour - 1);
    expect(await verify(token)).toMatchObject({ active: true });
    provider.clock.advance(1);
    expect(await verify(token, { scopes: ['kyc'] })).toEqual(refused('expired'));
    provider.clock.advance(24 * hour);
    expect(await verify(token)).toEqual(refused('unknown'));
    expect(await verify(unknownToken)).toEqual(refused('unknown'));
  });

  const ends: { readonly [what: string]: (client: TestClient, token: string) => Promise<unknown> } = {
    'the token is revoked': (_, token) => provider.revoke(token),
    'the user removes the app': (app) => provider.removeApp(app),
    'the client is disabled': ({ id }) => provider.ostiary.admin.clients.disable(id),
    'the user is ended': () => provider.ostiary.users.end(ana.sub),
  };

  it.each(Object.entries(ends))('is revoked when %s, also after it would have expired', async (_, end) => {
    const app = await provider.client();
    const token = await provider.token(app);
    await end(app, token);
    expect(await verify(token)).toEqual(refused('revoked'));
    provider.clock.advance(hour);
    expect(await verify(token)).toEqual(refused('revoked'));
  });

  it('is revoked with the partner that owns its client, and when its code comes back', async () => {
    const partner = await provider.partner();
    const owned = await provider.client({ partner });
    const [token, code] = [await provider.token(owned), await provider.code(client)];
    const replayed = String((await provider.exchange(client, code)).json().access_token);
    await provider.ostiary.admin.partners.disable(partner);
    await provider.exchange(client, code);
    for (const one of [token, replayed]) expect(await verify(one)).toEqual(refused('revoked'));
  });
});

it('needs one storage call or none, and does not call the host', async () => {
  const storage = memoryStorage();
  const findToken = vi.spyOn(storage.grants, 'findToken');
  const find = vi.fn(() => ana);
  const watched = await startProvider({ storage, users: { find } });
  const token = await watched.token(await watched.client());
  for (const [presented, looks] of [
    [token, 1],
    [unknownToken, 1],
    ['malformed', 0],
  ] as const) {
    findToken.mockClear();
    find.mockClear();
    await watched.ostiary.tokens.verify(presented, { scopes: ['openid'] });
    expect([findToken.mock.calls.length, find.mock.calls.length]).toEqual([looks, 0]);
  }
});

it.each<readonly [unknown, string]>([
  [{ scope: ['kyc'] }, 'scope: is not a known field'],
  [{ scopes: ['kyc'], audience: 'x' }, 'audience'],
  [{ scopes: 'kyc' }, 'scopes'],
  [{ scopes: null }, 'scopes'],
  [{ scopes: [['kyc']] }, 'scopes'],
  [['kyc'], 'requirement'],
  ['kyc', 'requirement'],
  [null, 'requirement'],
])('throws for the requirement %j, which would check nothing', async (requirement, named) => {
  const call: (token: string, requirement: never) => Promise<unknown> = verify;
  const refusal = call(unknownToken, requirement as never);
  await expect(refusal).rejects.toThrow(TypeError);
  await expect(refusal).rejects.toThrow(named);
});

it('throws for a scope that does not exist, and while the storage is unreachable', async () => {
  await expect(verify(unknownToken, { scopes: ['kyc', 'nonsense'] })).rejects.toThrow(
    new TypeError('scopes: there is no scope nonsense'),
  );
  const database = fragileStorage();
  const broken = await startProvider({ storage: database.storage });
  database.breakWhen(() => true);
  await expect(broken.ostiary.tokens.verify(unknownToken)).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
  });
  database.breakWhen(null);
});
