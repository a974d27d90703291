import { describe, expect, it } from 'vitest';
import { createHistory, eventsPerPage } from '../../src/console/history.ts';
import type { EventRecord, EventStore } from '../../src/storage.ts';
import { act, consoleKit } from './console-kit.ts';

const owner = { partner: 'acme', mode: 'test' } as const;

/** Events numbered `oldest` to `newest`, and how often they were asked for. */
function numbered(oldest: number, newest: number) {
  const range = { oldest, newest, calls: 0 };
  const list: EventStore['list'] = async ({ partner, mode, after, limit }) => {
    range.calls += 1;
    const from = Math.max(range.oldest, after + 1);
    const length = Math.max(0, Math.min(limit, range.newest - from + 1));
    return {
      events: Array.from({ length }, (_, index): EventRecord => {
        const sequence = from + index;
        return { partner, mode, sequence, id: `evt_${sequence}`, type: 'a.b', body: '{}', createdAt: 0 };
      }),
      oldestSequence: range.newest < range.oldest ? null : range.oldest,
    };
  };
  return { range, store: { list } as EventStore };
}

const numbers = ({ events }: { readonly events: readonly EventRecord[] }): number[] =>
  events.map(({ sequence }) => sequence);

describe('the history of events', () => {
  it.each([
    [1, 0],
    [1, 1],
    [1, eventsPerPage],
    [1, eventsPerPage + 1],
    [1, 1_000_003],
    [37, 36],
    [37, 40],
    [999_990, 1_000_003],
    [500, 7_777],
  ])('of events %i to %i begins with the newest and visits each once', async (oldest, newest) => {
    const { store } = numbered(oldest, newest);
    const history = createHistory(store);
    const expected = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => newest - index);
    const seen: number[] = [];
    let before: number | null = null;
    for (let pages = 0; pages < 3; pages += 1) {
      const page = await history.page(owner, before);
      expect(page.newerThan === null).toBe(pages === 0);
      seen.push(...numbers(page));
      expect(page.olderThan === null).toBe(seen.length === expected.length);
      before = page.olderThan;
      if (before === null) break;
    }
    expect(seen).toEqual(expected.slice(0, 3 * eventsPerPage));
  });

  it('leads back to newer events', async () => {
    const history = createHistory(numbered(1, 100).store);
    const second = await history.page(owner, (await history.page(owner, null)).olderThan);
    expect(numbers(second)[0]).toBe(80);
    expect(numbers(await history.page(owner, second.newerThan))[0]).toBe(100);
    expect(numbers(await history.page(owner, 1_000_000))[0]).toBe(100);
  });

  it('finds the end in a few steps, remembers it, and follows it either way', async () => {
    const { range, store } = numbered(1, 1_000_000);
    const history = createHistory(store);
    await history.page(owner, null);
    expect(range.calls).toBeLessThan(45);
    range.calls = 0;
    range.newest += 3;
    expect(numbers(await history.page(owner, null))[0]).toBe(1_000_003);
    expect(range.calls).toBe(2);
    range.newest += 5_000;
    expect(numbers(await history.page(owner, null))[0]).toBe(1_005_003);
    // A database that was set back.
    range.newest = 12;
    expect(numbers(await history.page(owner, null))).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    range.oldest = 13;
    expect(await history.page(owner, null)).toEqual({ events: [], newerThan: null, olderThan: null });
  });

  it('is paged by links', async () => {
    const kit = await consoleKit();
    const key = await kit.key();
    const ids: string[] = [];
    for (let count = 0; count < eventsPerPage + 2; count += 1) ids.push(await kit.event(key));
    const browser = await kit.signedIn(key);
    const shown = (text: string) => Array.from(text.matchAll(/<li id="(evt_\w+)"/g), ([, id]) => id);
    const first = (await browser.get('/sandbox')).text;
    expect(shown(first)).toEqual(ids.toReversed().slice(0, eventsPerPage));
    const older = /href="([^"]+)">Older events/.exec(first)?.[1] ?? '';
    const second = (await browser.get(older)).text;
    expect(shown(second)).toEqual([ids[1], ids[0]]);
    const newer = /href="([^"]+)">Newer events/.exec(second)?.[1] ?? '';
    expect(shown((await browser.get(newer)).text)).toEqual(shown(first));
    for (const nonsense of ['before=0', 'before=x', 'before=1&before=2', 'before=-5', 'before=1e9']) {
      expect(shown((await browser.get(`/sandbox?${nonsense}`)).text)).toEqual(shown(first));
    }
  });

  it('counts the latest 20 deliveries of an event, and says when there are older ones', async () => {
    const kit = await consoleKit();
    const key = await kit.key();
    for (let count = 0; count < 20; count += 1) await kit.endpoint(key, `/${count}`);
    const event = await kit.event(key);
    const browser = await kit.signedIn(key);
    const home = async () => (await browser.get('/sandbox')).text;
    expect(await home()).toContain('20 waiting');
    expect(await home()).not.toContain('and older ones');
    await kit.attempt({});
    kit.provider.clock.advance(1_000);
    await act(browser, `/sandbox/events/${event}/redeliver`, { endpoint: await kit.endpoint(key, '/late') });
    const later = await home();
    for (const words of ['1 waiting', '19 delivered', 'and older ones']) expect(later).toContain(words);
  });

  it('pages deliveries too', async () => {
    const kit = await consoleKit();
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    for (let count = 0; count < 13; count += 1) {
      await kit.event(key);
      kit.provider.clock.advance(1_000);
    }
    const browser = await kit.signedIn(key);
    const shown = (text: string) => Array.from(text.matchAll(/class="delivery" id="(\w+)"/g), ([, id]) => id);
    const first = (await browser.get(`/sandbox/endpoints/${endpoint}`)).text;
    const older = /href="([^"]+)">Older deliveries/.exec(first)?.[1] ?? '';
    const second = (await browser.get(older)).text;
    expect([shown(first).length, shown(second).length]).toEqual([10, 3]);
    expect(new Set([...shown(first), ...shown(second)]).size).toBe(13);
    const odd = (await browser.get(`/sandbox/endpoints/${endpoint}?after=nonsense`)).text;
    expect(shown(odd)).toEqual(shown(first));
  });
});
