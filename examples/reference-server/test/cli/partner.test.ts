import { expect, test } from 'vitest';
import { command, running } from '../support/commands.ts';
import { anaika } from '../support/server.ts';

async function withPartner() {
  const started = await running();
  const { accounts, ostiary } = started.server.installation;
  const { kid } = await accounts.create(anaika);
  await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe Lakay' });
  const scopes = ['payments:write', 'payments:read', 'identity:verify'] as const;
  const { key } = await ostiary.admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes });
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${started.origin}/v1/partner/${path}`, {
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return response.json();
  };
  return { ...started, kid, call };
}

test('ostiary partners fund adds an amount that the partner can spend, and no more', async () => {
  const { env, server, kid, call } = await withPartner();
  const fund = (amount: string) =>
    command('partners fund', ['kafe', '--amount', amount, '--currency', 'HTG', '--json'], env);
  const funded = { partner: 'kafe', funds: { HTG: '30.00', USD: '0.00' }, isRepeated: false };
  expect((await fund('30.00')).json()).toEqual(funded);
  expect(await fund('1,5')).toMatchObject({
    code: 2,
    errors: expect.stringContaining('the amount must be a decimal'),
  });
  expect((await command('partners funds', ['kafe'], env)).output).toMatch(/^HTG +30\.00\nUSD +0\.00\n$/);
  const pay = async (amount: string) => {
    const { id } = await call('payments', { amount, currency: 'HTG', recipient: { kid } });
    // The worker executes the payment in the background.
    await expect.poll(async () => (await call(`payments/${id}`)).status).not.toBe('pending');
    return call(`payments/${id}`);
  };
  expect(await pay('10.00')).toMatchObject({ status: 'completed', failure: null });
  expect(await pay('20.01')).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } });
  expect((await server.installation.ledger.funds('kafe')).HTG).toBe(2_000n);
});

test('money with a reference is recorded once, and for each partner', async () => {
  const { env, server } = await withPartner();
  const fund = (slug: string, amount: string, currency = 'HTG') =>
    command(
      'partners fund',
      [slug, ...['--amount', amount, '--currency', currency, '--reference', 'B-1']],
      env,
    );
  expect((await fund('kafe', '30.00')).output).toBe('kafe has 30.00 HTG.\n');
  expect((await fund('kafe', '30.00')).output).toBe(
    'kafe has 30.00 HTG: this reference was recorded before.\n',
  );
  for (const [amount, currency] of [
    ['30.01', 'HTG'],
    ['30.00', 'USD'],
  ] as const)
    expect(await fund('kafe', amount, currency)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('the reference belongs to another amount'),
    });
  const { admin, ledger } = server.installation;
  await admin.partners.create({ slug: 'diri', name: 'Diri' });
  expect((await fund('diri', '5.00')).output).toBe('diri has 5.00 HTG.\n');
  expect(await ledger.funds('kafe')).toEqual({ HTG: 3_000n, USD: 0n });
  const { entries } = await admin.audit.list({ action: 'partner.fund', target: 'partner:kafe' });
  expect(entries.map(({ details }) => details.isRepeated ?? false).toSorted()).toEqual([false, true]);
});

test('ostiary passport prints only a passport that a partner can verify, and none for a blocked user', async () => {
  const { env, server, kid, call } = await withPartner();
  const printed = await command('passport', ['anaika'], env);
  expect(printed.code).toBe(0);
  expect(printed.errors).toContain('valid until');
  expect(await call('verify', { token: printed.output.trim() })).toMatchObject({
    valid: true,
    user: { kid },
  });
  await server.installation.accounts.block('anaika');
  expect(await command('passport', ['anaika'], env)).toMatchObject({
    ...{ code: 2, output: '', errors: expect.stringContaining('anaika is blocked') },
  });
});
