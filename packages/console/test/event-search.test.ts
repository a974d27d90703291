import { describe, expect, it } from 'vitest';
import { endOf } from '../src/event-filter.ts';
import { visited } from './console-kit.ts';

const shown = (text: string) => Array.from(text.matchAll(/<li id="(evt_\w+)"/g), ([, id]) => id);
const linkIn = (text: string, words: string) =>
  new RegExp(`href="([^"]+)">${words}`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';

/**
 * Starts a partner with events in four states: without an endpoint, dropped, delivered and pending, each a
 * minute after the previous one.
 */
async function history() {
  const { kit, key, browser } = await visited();
  const { clock } = kit.provider;
  const nowhere = await kit.event(key);
  const later = () => clock.advance(60_000);
  const started = clock.now();
  later();
  const one = await kit.endpoint(key, '/one');
  const dropped = await kit.event(key);
  await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
  later();
  const two = await kit.endpoint(key, '/two');
  const delivered = await kit.event(key, 'kyc.updated');
  await kit.attempt({});
  later();
  const waiting = await kit.event(key);
  const minute = (after: number) => new Date(started + after * 60_000).toISOString().slice(0, 16);
  const page = async (query: string) => browser.get(`/sandbox?${query}`);
  return { kit, key, browser, nowhere, dropped, delivered, waiting, one, two, minute, page };
}

describe('events', () => {
  it('are found by type, state, endpoint and time, and by their combination', async () => {
    const { nowhere, dropped, delivered, waiting, one, two, minute, page } = await history();
    const all = [waiting, delivered, dropped, nowhere];
    const cases: [string, string[]][] = [
      ['', all],
      ['type=&state=&endpoint=&until=', all],
      ['type=kyc.updated', [delivered]],
      ['state=pending', [waiting]],
      ['state=delivered', [delivered]],
      ['state=dropped', [dropped]],
      ['state=cancelled', []],
      ['state=none', [nowhere]],
      [`endpoint=${one}`, [waiting, delivered, dropped]],
      [`endpoint=${two}`, [waiting, delivered]],
      [`endpoint=${two}&state=dropped`, []],
      [`endpoint=we_${'0'.repeat(32)}`, []],
      [`until=${minute(2)}`, [delivered, dropped, nowhere]],
      [`until=${minute(1)}:59`, [dropped, nowhere]],
      [`until=${minute(-1)}`, []],
      [`until=${minute(2)}&state=delivered&type=kyc.updated&endpoint=${two}`, [delivered]],
      [`until=${minute(1)}&state=delivered&type=kyc.updated&endpoint=${two}`, []],
      ['state=nonsense&endpoint=nonsense&type=nonsense', all],
    ];
    for (const [query, expected] of cases) {
      const { status, text } = await page(query);
      expect.soft([query, status, shown(text)]).toEqual([query, 200, expected]);
      if (expected.length === 0) expect.soft(text).toContain('Nothing fits this filter.');
    }
  });

  it('keep the filter in the form, in the search for an id and on other pages', async () => {
    const { kit, key, two, minute, page } = await history();
    for (let count = 0; count < 21; count += 1) await kit.event(key, 'webhook.test');
    const chosen = { type: 'webhook.test', state: 'pending', endpoint: two, until: minute(9) };
    const { text } = await page(String(new URLSearchParams(chosen)));
    for (const option of ['webhook.test', 'pending', two]) {
      expect.soft(text).toContain(`<option value="${option}" selected>`);
    }
    expect(text).toContain(`type="datetime-local" value="${chosen.until}"`);
    for (const [name, value] of Object.entries(chosen)) {
      expect.soft(text).toContain(`<input type="hidden" name="${name}" value="${value}">`);
    }
    const older = new URL(linkIn(text, 'Older events'));
    expect(Object.fromEntries(older.searchParams)).toEqual({ ...chosen, before: expect.any(String) });
    const second = await page(older.search.slice(1));
    expect(shown(second.text)).toHaveLength(2);
    expect(Object.fromEntries(new URL(linkIn(second.text, 'Newest events')).searchParams)).toEqual(chosen);
  });

  it('of a removed endpoint are still found', async () => {
    const { kit, key, two, page, delivered, waiting } = await history();
    await kit.storage.webhooks.remove({ partner: key.partner, mode: 'test' }, two, kit.provider.clock.now());
    const { text } = await page(`endpoint=${two}`);
    expect(shown(text)).toEqual([waiting, delivered]);
    expect(text).toContain(`<option value="${two}" selected>Removed endpoint`);
  });

  it('are opened by their id, and an unknown id is reported at its field', async () => {
    const { kit, browser, dropped, page } = await history();
    const found = await page(`id=%20${dropped}%20&state=none`);
    expect([found.status, found.location]).toEqual([
      303,
      expect.stringMatching(`/sandbox/events/${dropped}$`),
    ]);
    const stranger = await kit.key();
    const strange = await kit.event(stranger);
    for (const id of [strange, `evt_${'0'.repeat(32)}`, '"><script>alert(1)</script>', '../requests']) {
      const { status, text } = await browser.get(`/sandbox?id=${encodeURIComponent(id)}&state=none`);
      expect.soft([id, status]).toEqual([id, 200]);
      expect
        .soft(text)
        .toMatch(
          /aria-invalid="true" aria-describedby="id-wrong" autofocus.*There is no event with this id/s,
        );
      expect
        .soft(text)
        .toContain(`value="${id.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')}"`);
      expect.soft(text).toContain('<option value="none" selected>');
      expect.soft(text).not.toContain('<script>alert');
    }
  });

  it('ignore an invalid time, which stays in its field with an explanation', async () => {
    const { nowhere, page } = await history();
    for (const until of ['yesterday', '2026-02-30T10:00', '2026-13-01T10:00', '"><b>']) {
      const { status, text } = await page(`state=none&until=${encodeURIComponent(until)}`);
      expect.soft([until, status, shown(text)]).toEqual([until, 400, [nowhere]]);
      expect
        .soft(text)
        .toMatch(/aria-invalid="true" aria-describedby="until-wrong" autofocus.*Write a time as/s);
      expect
        .soft(text)
        .toContain(
          `value="${until.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}"`,
        );
      expect.soft(text).not.toContain('<b>');
    }
  });

  it('are searched 5,000 at a time, and the rest on the next page', async () => {
    const { kit, key, browser, nowhere, page } = await history();
    await kit.attempt({});
    kit.provider.clock.advance(60_000);
    const owner = { partner: key.partner, mode: 'test' } as const;
    const [stored] = (await kit.storage.events.list({ ...owner, after: 0, limit: 1 })).events;
    const body = stored?.body ?? '';
    const now = kit.provider.clock.now();
    // Enough events to put the first one just beyond the newest 5,000.
    const many = Array.from({ length: 4_997 }, (_, number) => ({
      ...{
        ...owner,
        id: `evt_${number}`,
        deliveryId: `dl_${number}`,
        type: 'webhook.test',
        body,
        createdAt: now,
      },
    }));
    await kit.storage.events.publish(many, { idempotency: null, now });
    const { text } = await page('state=none');
    expect(text).toContain('Nothing fits this filter among the events that were searched');
    const older = linkIn(text, 'Search older events');
    const rest = (await browser.get(older)).text;
    expect(shown(rest)).toEqual([nowhere]);
    expect(rest).not.toContain('Search older events');
    // Without a filter by delivery or time, the page need not search.
    expect((await page('type=payment.failed')).text).toContain('Nothing fits this filter.');
    // Removed events are not searched.
    await kit.storage.purge({ now: now + 1, before: 0, eventsBefore: now - 1, limit: 100 });
    expect((await kit.storage.events.list({ ...owner, after: 0, limit: 1 })).oldestSequence).toBe(5);
    const purged = (await page('state=cancelled')).text;
    expect(purged).toContain('Nothing fits this filter.');
    expect(purged).not.toContain('Search older events');
  });
});

it('include those of the whole minute or second of the latest time', () => {
  const times: [string, string | null][] = [
    ['2026-01-31T12:00', '2026-01-31T12:00:59.999Z'],
    ['2026-01-31T12:00:05', '2026-01-31T12:00:05.999Z'],
    ['2026-01-31T12:00:05.123', '2026-01-31T12:00:05.999Z'],
    ['2024-02-29T23:59', '2024-02-29T23:59:59.999Z'],
    ['2026-02-29T23:59', null],
    ['2026-01-31T24:00', null],
    ['2026-01-31T25:00', null],
    ['2026-01-31', null],
    ['2026-01-31T12:00Z', null],
  ];
  expect(times.map(([typed]) => [typed, endOf(typed)])).toEqual(times);
});
