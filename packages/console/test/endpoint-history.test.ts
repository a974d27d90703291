import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { consoleKit } from './console-kit.ts';

const hour = 3_600_000;

describe('the last 24 hours of an endpoint', () => {
  it('are shown in total, as a chart, and by hour', async () => {
    const kit = await consoleKit();
    const key = await kit.key();
    const { clock } = kit.provider;
    // Start at the beginning of an hour.
    clock.advance(hour - (clock.now() % hour));
    const id = await kit.endpoint(key);
    const shown = async () => {
      // A new session, because a session expires within a day.
      const browser = await kit.signedIn(key);
      const { text } = await browser.get(`/sandbox/endpoints/${id}`);
      const panel = /<div id="history" class="live-part" data-live>.*?<\/div>/s.exec(text)?.[0] ?? '';
      return {
        panel,
        bars: [...panel.matchAll(/<rect class="(\w+)" x="(\d+)"/g)].map(([, status, x]) => `${status} ${x}`),
        rows: [...panel.matchAll(/<time datetime="([^"]+)">.*?<\/tr>/gs)].map(([row, time]) => [
          time,
          ...[...row.matchAll(/<td>(\d+)</g)].map(([, count]) => Number(count)),
        ]),
      };
    };
    expect((await shown()).panel).toBe('<div id="history" class="live-part" data-live></div>');

    const began = clock.now();
    await kit.event(key);
    await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
    clock.advance(hour - 1);
    await kit.event(key);
    await kit.attempt({});
    clock.advance(22 * hour + 1);
    await kit.event(key);
    const full = await shown();
    for (const words of ['Queued: 1', 'Delivered: 1', 'Dropped: 2'])
      expect(full.panel).toContain(`${words}</span>`);
    expect(full.panel).toContain('aria-label="Queued: 1, Delivered: 1, Dropped: 2"');
    expect(full.panel).not.toContain('Cancelled');
    // The chart has 24 bars of 13 pixels, the last one for the current hour, and the first event is 23 hours
    // old.
    expect(full.bars).toEqual(['delivered 0', 'dropped 0', 'pending 299']);
    const at = (hours: number) => new Date(began + hours * hour).toISOString();
    expect(full.rows).toEqual([
      [at(0), 0, 1, 2],
      [at(23), 1, 0, 0],
    ]);

    clock.advance(hour - 1);
    expect((await shown()).rows).toHaveLength(2);
    clock.advance(1);
    expect((await shown()).rows).toEqual([[at(23), 1]]);
  });

  it('say so if there were more deliveries than are counted', async () => {
    const storage = memoryStorage();
    let count = 9_999;
    const countBySteps = async () => [
      { step: 23, state: 'delivered' as const, count },
      { step: 23, state: 'dropped' as const, count: 1 },
    ];
    Object.assign(storage.deliveries, { countBySteps });
    const kit = await consoleKit({}, storage);
    const key = await kit.key();
    const browser = await kit.signedIn(key);
    const path = `/sandbox/endpoints/${await kit.endpoint(key)}`;
    const cut = 'Only the newest 10,000 deliveries are counted.';
    expect((await browser.get(path)).text).toContain(cut);
    count = 9_998;
    const { text } = await browser.get(path);
    expect(text).not.toContain(cut);
    expect(text).toContain('Delivered: 9,998');
    // A single delivery among thousands is visible.
    expect(text).toMatch(/<rect class="dropped" x="299" y="0" width="10" height="2"/);
  });
});
