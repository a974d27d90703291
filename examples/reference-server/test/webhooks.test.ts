import { describe, expect, test } from 'vitest';
import type { ReferenceServer } from '../src/server.ts';
import { createPartner, receiver } from './support/partners.ts';
import { anaika, environment, start, startServer } from './support/server.ts';

async function withPartner(env: NodeJS.ProcessEnv = {}, options: Parameters<typeof startServer>[0] = {}) {
  const { server, lines } = await startServer(options, env);
  return { server, lines, partner: await createPartner(server, 'kafe') };
}

/** Publishes an event that needs no user's consent, because the application names the partner. */
async function cause({ server }: { readonly server: ReferenceServer }): Promise<void> {
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

describe('the settings of webhooks', () => {
  test('OSTIARY_WEBHOOK_PRIVATE_TARGETS=off refuses targets on this machine', async () => {
    const { partner } = await withPartner({ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'off' });
    for (const url of ['http://localhost:4000/', 'https://127.0.0.1:4000/', 'https://localhost:4000/']) {
      const { status, body } = await partner.register(url);
      expect([url, status, body.code]).toEqual([url, 400, 'invalid_request']);
    }
  });

  test('OSTIARY_WEBHOOK_RETRY_DELAYS: two delays are three attempts, then the event is dropped', async () => {
    const started = await withPartner({ OSTIARY_WEBHOOK_RETRY_DELAYS: '0.05,0.05' });
    const { url, received } = await receiver(503);
    const endpoint = (await started.partner.register(url)).body.id;
    await cause(started);
    const deliveries = async () =>
      (await started.partner.call(`/v1/partner/webhooks/${endpoint}/deliveries`)).body.data;
    await expect.poll(async () => (await deliveries())[0]?.status).toBe('dropped');
    expect(received.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2', '3']);
    expect(new Set(received.map(({ body }) => String(body))).size).toBe(1);
    expect(started.lines.join('')).toContain('a webhook delivery was dropped after its last attempt');
  });

  test('OSTIARY_EVENT_RETENTION_DAYS: after them an event is gone', async () => {
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

  test('an endpoint that responds after seven seconds gets an event once, even if the server is replaced meanwhile', async () => {
    const env = await environment();
    const first = await start(env);
    await first.installation.accounts.create(anaika);
    const partner = await createPartner(first, 'kafe');
    const endpoint = await receiver();
    endpoint.answer = (response) => void setTimeout(() => response.writeHead(200).end(), 7_000);
    const { id } = (await partner.register(endpoint.url)).body;
    await cause({ server: first });
    await expect.poll(() => endpoint.received.length).toBe(1);
    await first.close();
    await start(env);
    const { data } = (await partner.call(`/v1/partner/webhooks/${id}/deliveries`)).body;
    expect(data).toMatchObject([{ status: 'delivered', attempts: [{ number: 1, httpStatus: 200 }] }]);
    expect(endpoint.received.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1']);
  }, 30_000);

  test('OSTIARY_SANDBOX_CONSOLE=off: the console is not there', async () => {
    const off = await startServer({}, { OSTIARY_SANDBOX_CONSOLE: 'off' });
    expect((await fetch(`${off.origin}/sandbox`)).status).toBe(404);
  });
});
