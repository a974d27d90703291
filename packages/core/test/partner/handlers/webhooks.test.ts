import { describe, expect, it } from 'vitest';
import { blamed } from '../refusal.ts';
import { body, hooks, shop, url } from '../webhook-shop.ts';

describe('webhook endpoints', () => {
  it('are registered, shown, listed, changed and removed', async () => {
    const { provider, call, list, register, now } = await shop();
    const events = ['payment.failed', 'kyc.updated'];
    const made = await call(`POST ${hooks}`, { ...body, events });
    const { id } = made.json();
    const times = { createdAt: now(), updatedAt: now() };
    const shown = { id, url, events, enabled: true, mode: 'test', ...times };
    expect(id).toMatch(/^we_[0-9a-f]{32}$/);
    expect([made.status, made.json()]).toEqual([201, shown]);
    expect((await call(`GET ${hooks}/${id}`)).json()).toEqual(shown);

    provider.clock.advance(60_000);
    const second = await register(`${url}/second`);
    for (const [change, after] of [
      [{ url: `${url}/moved` }],
      [{ events: ['*'] }],
      [{ enabled: false }],
      [{ secret: 'another secret, as long as needed' }, {}],
      [{ enabled: true, url }],
    ] as const) {
      const changed = await call(`PATCH ${hooks}/${id}`, change);
      Object.assign(shown, { updatedAt: now() }, after ?? change);
      expect([changed.status, changed.json()]).toEqual([200, shown]);
    }
    // Oldest first, regardless of later changes.
    expect(await list(hooks)).toMatchObject([shown, { id: second }]);

    const removed = await call(`DELETE ${hooks}/${id}`);
    expect([removed.status, removed.json()]).toEqual([200, { id, deleted: true }]);
    for (const target of [`GET ${hooks}/${id}`, `DELETE ${hooks}/${id}`, `GET ${hooks}/${id}/deliveries`])
      expect([(await call(target)).status, target]).toEqual([404, target]);
    expect(blamed(await call(`PATCH ${hooks}/${id}`, { enabled: true }), 404, 'not_found')).toEqual([]);
    expect(await list(hooks)).toMatchObject([{ id: second }]);
  });
});
