import { describe, expect, it } from 'vitest';
import { partnerProvider, payment, storages, testPayment } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';
import { blamed } from './refusal.ts';

const pay = 'POST /v1/partner/payments';

describe.each(storages)('on %s', (_name, _newStorage) => {
  it('transfers are those of one partner in one mode', async () => {
    const { provider } = await partnerProvider();
    const live = await provider.key();
    const test = await provider.key({ partner: live.partner, mode: 'test' });
    const stranger = await provider.key();
    const sibling = await provider.key({ partner: live.partner });
    const ids = new Map<TestKey, string>();
    for (const key of [live, test, stranger]) {
      const body = key === test ? testPayment : payment;
      const made = await provider.partnerCall(key, pay, { ...body, reference: 'r' });
      expect(made.json()).toMatchObject({ mode: key.mode });
      ids.set(key, String(made.json().id));
    }
    for (let round = 0; round < 3; round += 1) await provider.ostiary.worker.runDue();
    const date = new Date(provider.clock.now()).toISOString().slice(0, 10);
    for (const key of [live, test, stranger, sibling]) {
      const own = ids.get(key === sibling ? live : key);
      for (const id of ids.values()) {
        const { status } = await provider.partnerCall(key, `GET /v1/partner/payments/${id}`);
        expect(status).toBe(id === own ? 200 : 404);
      }
      const listed = (path: string) =>
        provider.partnerCall(key, `GET ${path}`).then((answer) => answer.json().data as { id: string }[]);
      expect((await listed('/v1/partner/payments?reference=r')).map(({ id }) => id)).toEqual([own]);
      expect((await listed(`/v1/partner/reconciliation?date=${date}`)).map(({ id }) => id)).toEqual([own]);
    }
  });

  it('somebody else’s transfer and one that never was are answered alike', async () => {
    const { provider } = await partnerProvider();
    const [key, stranger] = [await provider.key(), await provider.key()];
    const { id } = (await provider.partnerCall(stranger, pay, payment)).json();
    const seen = new Set<string>();
    for (const wanted of [id, `tr_${'0'.repeat(32)}`]) {
      const answer = await provider.partnerCall(key, `GET /v1/partner/payments/${wanted}`);
      expect(blamed(answer, 404, 'not_found')).toEqual([]);
      seen.add(String(answer.json().message));
    }
    expect(seen.size).toBe(1);
  });

  it('a test key sees sandbox users and nobody else, a live key everybody else', async () => {
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
    // Money moves for live transfers only.
    expect(rail.orders.map(({ mode, recipientKid }) => [mode, recipientKid])).toEqual([['live', 'KID-ANA']]);
  });
});
