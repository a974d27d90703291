import { describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const { admin, consents } = provider.ostiary;

describe('consents from another system', () => {
  it('let a user through without being asked again, keep their date, and are written down', async () => {
    const client = await provider.client();
    const grantedAt = new Date(provider.clock.now() - 86_400_000);
    const given = { sub: ana.sub, clientId: client.id, scopes: ['openid', 'profile'], grantedAt };
    expect(await admin.consents.import([given, { ...given, clientId: 'unknown' }])).toEqual({ imported: 1 });
    expect(await consents.list(ana.sub)).toMatchObject([
      { clientId: client.id, grantedAt, lastUsedAt: null },
    ]);
    const { entries } = await admin.audit.list({ target: 'consents' });
    expect(entries).toMatchObject([{ action: 'consent.import', details: { given: 2 } }]);
  });

  it('do not come back after the user has revoked them, nor come from the future', async () => {
    const client = await provider.client();
    const given = {
      sub: ben.sub,
      clientId: client.id,
      scopes: ['openid'],
      grantedAt: new Date('9999-01-01'),
    };
    expect(await admin.consents.import([given])).toEqual({ imported: 1 });
    expect(await consents.list(ben.sub)).toMatchObject([{ grantedAt: new Date(provider.clock.now()) }]);
    await consents.revoke(ben.sub, client.id);
    expect(await admin.consents.import([given])).toEqual({ imported: 0 });
    expect(await consents.list(ben.sub)).toEqual([]);
  });

  it.each([
    ['consents', []],
    ['consents', Array.from({ length: 1001 }, () => ({ sub: 'a', clientId: 'b', scopes: ['openid'] }))],
    ['0.scopes', [{ sub: 'a', clientId: 'b', scopes: [] }]],
    ['0.scopes.0', [{ sub: 'a', clientId: 'b', scopes: ['unknown'] }]],
    [
      '1.sub',
      [
        { sub: 'a', clientId: 'b', scopes: ['openid'] },
        { clientId: 'b', scopes: ['openid'] },
      ],
    ],
    ['0.grantedAt', [{ sub: 'a', clientId: 'b', scopes: ['openid'], grantedAt: new Date('x') }]],
  ])('are refused as a whole when %s is wrong', async (path, given) => {
    const refused = admin.consents.import(given as Parameters<typeof admin.consents.import>[0]);
    await expect(refused).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(path);
    expect(await consents.list('a')).toEqual([]);
  });
});
