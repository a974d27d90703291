import { describe, expect, test } from 'vitest';
import { command, running } from '../support/commands.ts';
import { anaika, environment } from '../support/server.ts';

async function withPartner() {
  const started = await running();
  await started.server.installation.ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe Lakay' });
  const call = (path: string, key: string, init: RequestInit = {}) =>
    fetch(`${started.origin}${path}`, { ...init, headers: { 'X-API-Key': key, ...init.headers } });
  return { ...started, call };
}

describe('ostiary partners and keys', () => {
  test('creates, lists, disables and enables', async () => {
    const { env, server } = await running();
    const { partners } = server.installation.ostiary.admin;
    const created = await command('partners create', ['kafe', '--name', 'Kafe Lakay', '--json'], env);
    expect(created.code).toBe(0);
    expect(created.json().partner).toEqual(await partners.get('kafe'));
    const again = await command('partners create', ['kafe', '--name', 'Other'], env);
    expect(again).toMatchObject({ code: 2, errors: expect.stringContaining('already a partner kafe') });
    expect((await command('partners disable', ['--yes', 'kafe'], env)).code).toBe(0);
    expect((await command('partners list', [], env)).output).toMatch(/kafe +Kafe Lakay .*disabled/);
    expect((await command('partners enable', ['kafe'], env)).code).toBe(0);
    expect((await partners.get('kafe'))?.disabledAt).toBeNull();
  });

  test('funds a partner, who then can pay', async () => {
    const { env, server, call } = await withPartner();
    const { accounts, ostiary } = server.installation;
    const { kid } = await accounts.create(anaika);
    const funded = await command(
      'partners fund',
      ['kafe', '--amount', '30.00', '--currency', 'HTG', '--json'],
      env,
    );
    expect(funded.json()).toEqual({ partner: 'kafe', funds: { HTG: '30.00', USD: '0.00' } });
    expect((await command('partners funds', ['kafe'], env)).output).toMatch(/^HTG +30\.00\nUSD +0\.00\n$/);
    const scopes = ['payments:write', 'payments:read'] as const;
    const { key } = await ostiary.admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes });
    const pay = async (amount: string) => {
      const body = JSON.stringify({ amount, currency: 'HTG', recipient: { kid } });
      const headers = { 'Content-Type': 'application/json' };
      const answer = await call('/v1/partner/payments', key, { method: 'POST', headers, body });
      const { id } = (await answer.json()) as { readonly id: string };
      // The worker of the server executes it.
      const inspect = async () => (await call(`/v1/partner/payments/${id}`, key)).json();
      await expect.poll(async () => (await inspect()).status).not.toBe('pending');
      return inspect();
    };
    expect(await pay('10.00')).toMatchObject({ status: 'completed', failure: null });
    const tooMuch = await pay('20.01');
    expect(tooMuch).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } });
    expect((await server.installation.ledger.funds('kafe')).HTG).toBe(2_000n);
  });

  test('issues a key that works, and shows it and its secret once', async () => {
    const { env, call } = await withPartner();
    const args = ['kafe', '--mode', 'test', '--scope', 'users:read', '--scope', 'identity:verify'];
    const issued = await command(
      'keys issue',
      [...args, '--name', 'shop', '--allow', '127.0.0.1', '--json'],
      env,
    );
    expect(issued.code).toBe(0);
    const { apiKey, key, signingSecret } = issued.json();
    expect(key).toMatch(/^svc_test_[0-9A-Za-z]{49}$/);
    expect(apiKey).toMatchObject({
      name: 'shop',
      scopes: ['users:read', 'identity:verify'],
      allowlist: ['127.0.0.1'],
    });
    expect((await call('/v1/partner/users/KID-TEST-APPROVED', key)).status).toBe(200);
    const listed = await command('keys list', ['kafe'], env);
    expect(listed.output).toContain(apiKey.id);
    expect(listed.output).not.toContain(key);
    expect(listed.output).not.toContain(signingSecret);
  });

  test('rolls a key with an overlap and revokes one', async () => {
    const { env, server } = await withPartner();
    const { apiKeys } = server.installation.ostiary.admin;
    const { apiKey, key } = await apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: ['users:read'] });
    const rolled = await command('keys roll', [apiKey.id, '--overlap', '60', '--json'], env);
    expect(rolled.code).toBe(0);
    expect(rolled.json().key).not.toBe(key);
    const [old] = (await apiKeys.list('kafe')).filter(({ id }) => id === apiKey.id);
    expect(old?.expiresAt).not.toBeNull();
    expect((await command('keys revoke', ['--yes', rolled.json().apiKey.id], env)).code).toBe(0);
    const states = new Map((await apiKeys.list('kafe')).map(({ id, revokedAt }) => [id, revokedAt !== null]));
    expect(states).toEqual(
      new Map([
        [rolled.json().apiKey.id, true],
        [apiKey.id, false],
      ]),
    );
  });

  test.each([
    [
      'an unknown partner',
      'partners fund',
      ['nobody', '--amount', '1.00', '--currency', 'HTG'],
      'there is no partner nobody',
    ],
    [
      'an unknown currency',
      'partners fund',
      ['kafe', '--amount', '1.00', '--currency', 'EUR'],
      '--currency must be HTG or USD',
    ],
    ['a missing amount', 'partners fund', ['kafe', '--currency', 'HTG'], '--amount is missing'],
    ['funds of nobody', 'partners funds', ['nobody'], 'there is no partner nobody'],
    ['a malformed slug', 'partners create', ['Kafé', '--name', 'x'], 'slug'],
    ['an unknown key', 'keys revoke', ['key_nobody', '--yes'], 'there is no key key_nobody'],
  ])('refuses %s with exit code 2', async (_, name, args, message) => {
    const result = await command(name, args, await environment());
    expect(result.code).toBe(2);
    expect(result.errors).toContain(message);
    expect(result.errors).not.toMatch(/\n\s+at /);
    expect(result.output).toBe('');
  });

  test('does not fund with what is no amount', async () => {
    const { env, server } = await withPartner();
    const result = await command('partners fund', ['kafe', '--amount', '1,5', '--currency', 'HTG'], env);
    expect(result).toMatchObject({
      code: 2,
      errors: expect.stringContaining('the amount must be a decimal'),
    });
    expect((await server.installation.ledger.funds('kafe')).HTG).toBe(0n);
  });
});

describe('ostiary passport', () => {
  test('prints a passport that a partner can verify, and nothing else', async () => {
    const { env, server, call } = await withPartner();
    const { accounts, ostiary } = server.installation;
    const { kid } = await accounts.create(anaika);
    const printed = await command('passport', ['anaika'], env);
    expect(printed.code).toBe(0);
    expect(printed.errors).toContain('valid until');
    const { key } = await ostiary.admin.apiKeys.issue({
      partner: 'kafe',
      mode: 'live',
      scopes: ['identity:verify'],
    });
    const answer = await call('/v1/partner/verify', key, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token: printed.output.trim() }),
    });
    expect(await answer.json()).toMatchObject({ valid: true, user: { kid } });
  });

  test('prints none for a user who is unknown or blocked', async () => {
    const { env, server } = await running();
    await server.installation.accounts.create(anaika);
    await server.installation.accounts.block('anaika');
    for (const [args, message] of [
      [['anaika'], 'anaika is blocked'],
      [['nobody'], 'there is no user'],
      [[], 'expected <handle>'],
    ] as const) {
      const result = await command('passport', args, env);
      expect(result).toMatchObject({ code: 2, output: '', errors: expect.stringContaining(message) });
    }
  });
});
