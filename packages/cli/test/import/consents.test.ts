import { describe, expect, it } from 'vitest';
import { grant, metadata } from './samples.ts';
import { installation, written } from './support.ts';

const consent = (sub: string, scope: string, changes: object = {}) => ({
  ...{ ...grant, accountId: sub, openid: { scope } },
  ...changes,
});

describe('consents of an export', () => {
  it('are counted by outcome, also as JSON', async () => {
    const { run } = await installation({ refreshTokens: {} });
    const rows = [
      metadata,
      consent('user-1', 'openid profile'),
      consent('user-1', 'openid offline_access', { iat: 1 }),
      consent('user-2', 'unknown'),
      consent('user-3', 'openid'),
      consent('user-1', 'openid', { clientId: 'elsewhere' }),
    ];
    const subjects = await written({ 'user-1': 'user-1', 'user-2': 'user-2' });
    const { out, code } = await run('oidc-provider', rows, '--json', '--subjects', subjects);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      dryRun: false,
      consents: { imported: 1, known: 0, withoutClient: 1, withoutUser: 1, withoutScopes: 1, omitted: {} },
    });
    const again = await run('oidc-provider', rows, '--subjects', subjects);
    expect(again.out).toContain(
      '0 consents imported\n1 left as they are or were here\n1 left out: their client is not here\n1 left out: their user is not among the subjects\n1 left out: none of their scopes is here',
    );
  });

  it('of two users who have one account here are merged, with the scopes of both and the earlier date', async () => {
    const { ostiary, run } = await installation({ refreshTokens: {} });
    const rows = [
      metadata,
      consent('old-1', 'openid', { iat: 20 }),
      consent('old-2', 'profile', { iat: 10 }),
    ];
    const subjects = await written({ 'old-1': 'user-1', 'old-2': 'user-1' });
    const { out } = await run('oidc-provider', rows, '--subjects', subjects);
    expect(out).toContain('1 consent imported');
    expect(await ostiary.consents.list('user-1')).toMatchObject([
      { scopes: ['openid', 'profile'], grantedAt: new Date(10_000) },
    ]);
  });

  it('are added to clients that were imported before', async () => {
    const { ostiary, run } = await installation({ refreshTokens: {} });
    await run('oidc-provider', [metadata]);
    expect((await run('oidc-provider', [consent('user-1', 'openid')])).out).toContain('1 consent imported');
    expect(await ostiary.consents.list('user-1')).toHaveLength(1);
  });
});
