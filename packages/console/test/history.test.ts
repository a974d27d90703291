import { describe, expect, it } from 'vitest';
import { act, visited } from './console-kit.ts';

const eventsPerPage = 20;

describe('the history of events', () => {
  it('has links to further pages, and can be filtered by type', async () => {
    const { kit, key, browser } = await visited();
    const ids: string[] = [];
    const wanted: string[] = [];
    for (let count = 0; count < eventsPerPage + 1; count += 1) {
      wanted.push(await kit.event(key, 'kyc.updated'));
      ids.push(...wanted.slice(-1), await kit.event(key, 'webhook.test'));
    }
    const shown = (text: string) => Array.from(text.matchAll(/<li id="(evt_\w+)"/g), ([, id]) => id);
    const page = async (path: string) => (await browser.get(path)).text;
    const linkIn = (text: string, words: string) =>
      new RegExp(`href="([^"]+)">${words} events`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const first = await page('/sandbox');
    expect(shown(first)).toEqual(ids.toReversed().slice(0, eventsPerPage));
    const second = await page(linkIn(first, 'Older'));
    expect(shown(second)).toEqual(ids.toReversed().slice(eventsPerPage, 2 * eventsPerPage));
    expect(shown(await page(linkIn(second, 'Newest')))).toEqual(shown(first));
    expect(first).not.toContain('Newest events');
    for (const nonsense of ['before=0', 'before=x', 'before=-5', 'before=1e9', 'type=nonsense']) {
      expect(shown(await page(`/sandbox?${nonsense}`))).toEqual(shown(first));
    }

    const narrowed = await page('/sandbox?type=kyc.updated');
    expect(narrowed).toContain('<option value="kyc.updated" selected>');
    const older = await page(linkIn(narrowed, 'Older'));
    expect([...shown(narrowed), ...shown(older)]).toEqual(wanted.toReversed());
    expect(await page('/sandbox?type=payment.failed')).toContain('Nothing fits this filter.');
  });

  it('counts the latest 20 deliveries of an event, and says if there are older ones', async () => {
    const { kit, key, browser } = await visited();
    for (let count = 0; count < 20; count += 1) await kit.endpoint(key, `/${count}`);
    const event = await kit.event(key);
    const home = async () => (await browser.get('/sandbox')).text;
    expect(await home()).toContain('Queued × 20');
    expect(await home()).not.toContain('and older ones');
    const { text } = await browser.get(`/sandbox/events/${event}`);
    expect(text).toContain('1–10 of 20');
    const { search } = new URL(/href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '');
    expect((await browser.get(`/sandbox/events/${event}${search}`)).status).toBe(200);
    await kit.attempt({});
    kit.provider.clock.advance(1_000);
    await act(browser, `/sandbox/events/${event}/redeliver`, { endpoint: await kit.endpoint(key, '/late') });
    const later = await home();
    for (const words of ['Queued<', 'Delivered × 19', 'and older ones']) expect(later).toContain(words);
  });

  it('has pages of deliveries, too', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    for (let count = 0; count < 13; count += 1) {
      await kit.event(key);
      kit.provider.clock.advance(1_000);
    }
    const shown = (text: string) => Array.from(text.matchAll(/class="delivery" id="(\w+)"/g), ([, id]) => id);
    const first = (await browser.get(`/sandbox/endpoints/${endpoint}`)).text;
    const older = /href="([^"]+)">Next page/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = (await browser.get(older)).text;
    expect([shown(first).length, shown(second).length]).toEqual([10, 3]);
    expect(new Set([...shown(first), ...shown(second)]).size).toBe(13);
    const odd = await browser.get(`/sandbox/endpoints/${endpoint}?after=nonsense`);
    expect([odd.status, odd.text.includes('is not one of this list')]).toEqual([400, true]);
  });

  it('filters deliveries by state', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    const delivered = await kit.event(key);
    await kit.attempt({});
    const waiting = await kit.event(key);
    const shown = async (status: string) => {
      const { text } = await browser.get(`/sandbox/endpoints/${endpoint}?status=${status}`);
      return [delivered, waiting].filter((event) => text.includes(`/sandbox/events/${event}"`));
    };
    expect(await shown('delivered')).toEqual([delivered]);
    expect(await shown('pending')).toEqual([waiting]);
    expect(await shown('dropped')).toEqual([]);
    expect(await shown('nonsense')).toEqual([delivered, waiting]);
  });
});
