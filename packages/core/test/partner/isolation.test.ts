import { expect, it } from 'vitest';
import { partnerProvider, payment, testPayment } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';
import { blamed } from './refusal.ts';
import { hooks, shop, url } from './webhook-shop.ts';

const pay = 'POST /v1/partner/payments';

it('objects of others or of the other mode get the response for unknown objects, and are in no list', async () => {
  const { provider, key, call, list, register, trigger, work } = await shop();
  const { id: transfer } = (await call(pay, testPayment)).json();
  const [endpoint, event] = [await register(), await trigger()];
  while ((await work()) > 0);
  const zeros = '0'.repeat(32);
  const mine = { transfer, endpoint, event: event.id };
  const nobodys = { transfer: `tr_${zeros}`, endpoint: `we_${zeros}`, event: `evt_${zeros}` };
  const requests = (ids: Readonly<Record<keyof typeof mine, unknown>>) =>
    [
      [`GET /v1/partner/payments/${ids.transfer}`],
      [`POST /v1/partner/events/${ids.event}/redeliver`, {}],
      [`GET ${hooks}/${ids.endpoint}`],
      [`GET ${hooks}/${ids.endpoint}/deliveries`],
      [`PATCH ${hooks}/${ids.endpoint}`, { enabled: true }],
      [`POST ${hooks}/${ids.endpoint}/recover`, { since: '2020-01-01T00:00:00Z' }],
      [`DELETE ${hooks}/${ids.endpoint}`],
    ] as const;
  const today = new Date(provider.clock.now()).toISOString().slice(0, 10);
  const lists = ['payments', 'webhooks', 'events', `reconciliation?date=${today}`];
  for (const by of [await provider.key({ mode: 'test' }), await provider.key({ partner: key.partner })]) {
    const answered = async (ids: typeof mine) => {
      const answers: unknown[] = [];
      for (const [target, body] of requests(ids)) {
        const answer = await call(target, body, by);
        expect([target, blamed(answer, 404, 'not_found')]).toEqual([target, []]);
        answers.push({ ...answer.json(), requestId: '' });
      }
      return answers;
    };
    expect(await answered(mine)).toEqual(await answered(nobodys));
    for (const path of lists) expect([path, await list(`/v1/partner/${path}`, by)]).toEqual([path, []]);
    // A partner's events cannot be sent to another partner's endpoint.
    const sibling = await provider.key({ partner: by.partner, mode: by.mode });
    const own = await register(url, {}, sibling);
    const again = await call(`POST /v1/partner/events/${event.id}/redeliver`, { endpointId: own });
    expect(blamed(again, 404, 'not_found')).toEqual([]);
  }
  // Another key of the same partner and mode may access everything.
  const sibling = await provider.key({ partner: key.partner, mode: 'test' });
  for (const path of lists) expect(await list(`/v1/partner/${path}`, sibling)).not.toEqual([]);
  for (const [target, body] of requests(mine)) expect((await call(target, body, sibling)).status).toBe(200);
});

it('a test key sees only sandbox users, and a live key all other users', async () => {
  const { provider, rail } = await partnerProvider();
  const live = await provider.key();
  const test = await provider.key({ partner: live.partner, mode: 'test' });
  const status = async (key: TestKey, target: string, body?: unknown) =>
    (await provider.partnerCall(key, target, body)).status;
  for (const [person, phone, of] of [
    ['KID-ANA', '+50937000001', live],
    ['KID-TEST-APPROVED', '+50900000001', test],
    ['KID-TEST-PENDING', '+50900000002', test],
    ['KID-TEST-REJECTED', '+50900000003', test],
  ] as const) {
    for (const key of [live, test]) {
      const expected = key === of ? 200 : 404;
      expect.soft(await status(key, `GET /v1/partner/users/${person}`), person).toBe(expected);
      expect.soft(await status(key, `GET /v1/partner/users/phone/${phone}`), phone).toBe(expected);
      const paid = await status(key, pay, { ...payment, recipient: { phone } });
      expect.soft(paid, phone).toBe(key === of ? 201 : 404);
    }
  }
  for (let round = 0; round < 3; round += 1) await provider.ostiary.worker.runDue();
  // Only live transfers move money.
  expect(rail.orders.map(({ mode, recipientKid }) => [mode, recipientKid])).toEqual([['live', 'KID-ANA']]);
});
