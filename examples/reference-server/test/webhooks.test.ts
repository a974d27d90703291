import { describe, expect, test } from 'vitest';
import { createPartner, receiver } from './support/partners.ts';
import { startServer } from './support/server.ts';

async function withPartner(env: NodeJS.ProcessEnv = {}, options: Parameters<typeof startServer>[0] = {}) {
  const { server, lines } = await startServer(options, env);
  return { server, lines, partner: await createPartner(server, 'kafe') };
}

/** An event that needs no consent, because the host names the partner. */
async function cause({ server }: Awaited<ReturnType<typeof withPartner>>): Promise<void> {
  const { database, ostiary, accounts } = server.installation;
  const { sub, kid } = (await accounts.get('anaika')) ?? { sub: '', kid: '' };
  const change = {
    sub,
    kid,
    kycStatus: 'approved',
    kycTier: 2,
    previous: { kycStatus: 'pending', kycTier: 0 },
    partners: ['kafe'],
  } as const;
  await database.write(({ handle }) => ostiary.users.kycChanged(change, { transaction: handle }));
}

describe('targets on this machine', () => {
  test('are allowed while the server itself is on loopback addresses', async () => {
    const { partner } = await withPartner();
    expect((await partner.register('http://localhost:4000/webhooks')).status).toBe(201);
  });

  test('are refused when the setting is off', async () => {
    const { partner } = await withPartner({ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'off' });
    for (const url of ['http://localhost:4000/', 'https://127.0.0.1:4000/', 'https://localhost:4000/']) {
      const { status, body } = await partner.register(url);
      expect([url, status, body.code]).toEqual([url, 400, 'invalid_request']);
    }
  });
});

describe('the schedule', () => {
  test('is that of the setting: two delays are three attempts, then the event is dropped', async () => {
    const started = await withPartner({ OSTIARY_WEBHOOK_RETRY_DELAYS: '0.05,0.05' });
    const { url, received } = await receiver(503);
    const endpoint = (await started.partner.register(url)).body.id;
    await cause(started);
    const deliveries = async () =>
      (await started.partner.call(`/v1/partner/webhooks/${endpoint}/deliveries`)).body.data;
    await expect.poll(async () => (await deliveries())[0]?.status).toBe('dropped');
    expect(received.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2', '3']);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(started.lines.join('')).toContain('a webhook delivery was dropped after its last attempt');
  });

  test('waits a minute after the first failure by default', async () => {
    const started = await withPartner();
    const { url } = await receiver(503);
    const endpoint = (await started.partner.register(url)).body.id;
    await cause(started);
    const path = `/v1/partner/webhooks/${endpoint}/deliveries`;
    const delivery = async () => (await started.partner.call(path)).body.data[0];
    await expect.poll(async () => (await delivery()).attempts.length).toBe(1);
    const { nextAttemptAt, attempts } = await delivery();
    const wait = Date.parse(nextAttemptAt) - Date.parse(attempts[0].at);
    expect(wait).toBeGreaterThanOrEqual(60_000);
    expect(wait).toBeLessThan(75_000);
  });
});

describe('events', () => {
  test('are kept for the days of the setting', async () => {
    const day = 24 * 3_600_000;
    let time = Date.now();
    const started = await withPartner({ OSTIARY_EVENT_RETENTION_DAYS: '3' }, { now: () => time });
    await cause(started);
    const { worker } = started.server.installation.ostiary;
    time += 2 * day;
    await worker.runDue();
    expect(await started.partner.events()).toHaveLength(1);
    time += 2 * day;
    await worker.runDue();
    expect(await started.partner.events()).toHaveLength(0);
  });
});

describe('the console of the sandbox', () => {
  test('is there unless it is switched off', async () => {
    const on = await startServer();
    expect((await fetch(`${on.origin}/sandbox`)).status).toBe(200);
    const off = await startServer({}, { OSTIARY_SANDBOX_CONSOLE: 'off' });
    expect((await fetch(`${off.origin}/sandbox`)).status).toBe(404);
  });
});

test('ids and secrets of webhooks are not in the log', async () => {
  const started = await withPartner();
  const { url } = await receiver();
  const { id } = (await started.partner.register(url)).body;
  await started.partner.call(`/v1/partner/webhooks/${id}`);
  await started.partner.call(`/v1/partner/webhooks/${id}/deliveries`);
  await expect.poll(() => started.lines.join('')).toContain('/v1/partner/webhooks/:id/deliveries');
  const log = started.lines.join('');
  expect(log).toContain('"route":"/v1/partner/webhooks/:id"');
  expect(log).not.toContain(id);
  expect(log).not.toContain('a-secret-of-the-partner');
});
