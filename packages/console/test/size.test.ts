import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { describe, expect, it } from 'vitest';
import { fragileStorage } from '../../core/test/support/fragile-storage.ts';
import { temporaryDatabase } from '../../core/test/support/partner-api.ts';
import { consolesOver, fill, logRequests } from './size-kit.ts';

describe('a page with much data', () => {
  it('asks the storage as often as with little: each page of both consoles and of the live portal', async () => {
    const fragile = fragileStorage(sqliteStorage({ file: temporaryDatabase() }));
    const consoles = await consolesOver(fragile.storage);
    const { kit, key, live, endpoint, paths, addresses, browser } = consoles;
    // Every page has a URL in `addresses` of `size-kit.ts`: add new pages there.
    expect(Object.keys(addresses).sort()).toEqual([...paths].sort());

    const narrowed = [
      ...['state=cancelled', 'type=kyc.updated', `endpoint=${endpoint}&state=dropped`].map(
        (query) => `/sandbox?${query}`,
      ),
      ...[`/sandbox/endpoints/${endpoint}?status=dropped`, '/sandbox/requests?only=failed'],
    ];
    const ask = async () => {
      const counts: Record<string, string[]> = {};
      for (const address of [...Object.values(addresses), ...narrowed]) {
        // Fill the caches before measuring.
        expect([address, (await browser.get(address)).status]).toEqual([address, 200]);
        fragile.forget();
        await browser.get(address);
        // A search reads some thousand events at most, and asks once whether there may be more.
        const asksForOthers = (call: string) => address.startsWith('/sandbox?') && call === 'events.list';
        expect(fragile.calls.filter(asksForOthers).length).toBeLessThan(2);
        // Counts of earlier requests are stored when their time has come, not because of this page.
        const isOwn = (call: string) => call !== 'hourlyCounts.add' && !asksForOthers(call);
        counts[address] = fragile.calls.filter(isOwn).sort();
      }
      return counts;
    };
    const few = await ask();
    await fill(consoles, { events: 10_000, endpoints: 3, others: 60 });
    const liveOwner = { partner: live.partner, mode: 'live' } as const;
    await fill({ kit, key: live, owner: liveOwner }, { events: 2_000, endpoints: 3, others: 0 });
    await logRequests(kit.storage, key, 1_000);
    await logRequests(kit.storage, live, 1_000, (number) => `live-request${number === 0 ? '' : number}`);
    const list = { ...consoles.owner, limit: 50_000, after: null } as const;
    const filter = { endpointId: null, eventId: null, status: null };
    expect(await kit.storage.deliveries.list({ ...list, ...filter })).toHaveLength(30_001);
    expect(await kit.storage.requestLog.list({ ...list, failed: false })).toHaveLength(1_000);
    expect(Object.values(few).flat().length).toBeGreaterThan(50);
    expect(await ask()).toEqual(few);
  });
});
