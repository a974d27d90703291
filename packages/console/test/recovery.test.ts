import { describe, expect, it } from 'vitest';
import { act, target, visited } from './console-kit.ts';

/** Formats a time as a browser's `datetime-local` field does, in UTC. */
const typed = (time: number): string => new Date(time).toISOString().slice(0, 16);

const minute = 60_000;

describe('the recovery of dropped deliveries', () => {
  it('delivers them again from a time on, in UTC, and shows their number', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const { clock } = kit.provider;
    const drop = async () => {
      await kit.event(key);
      expect(await kit.attempt({ error: 'timeout', httpStatus: null }, 'dropped')).toBe(1);
    };
    await drop();
    clock.advance(10 * minute);
    const since = clock.now() + minute;
    clock.advance(2 * minute);
    await drop();
    await drop();
    const form = await browser.get(`/sandbox/endpoints/${id}`);
    expect(form.text).toMatch(
      /<label for="since">Since \(UTC\)<\/label>\s*<input type="datetime-local" required/,
    );
    const answer = await act(browser, `/sandbox/endpoints/${id}`, { action: 'recover', since: typed(since) });
    expect(target(answer)).toBe(`/sandbox/endpoints/${id}?queued=2`);
    expect((await browser.get(answer.location ?? '')).text).toContain('Deliveries queued again: 2.');
    expect(await kit.attempt({})).toBe(2);
    const none = await act(browser, `/sandbox/endpoints/${id}`, { action: 'recover', since: typed(since) });
    expect((await browser.get(none.location ?? '')).text).toContain(
      'There is nothing to recover since then.',
    );
  });

  it.each([
    ['2026-01-31T14:05', '2026-01-31T14:05:00.000Z'],
    ['2026-01-31T14:05:30', '2026-01-31T14:05:30.000Z'],
    [' 2026-01-31 14:05 ', '2026-01-31T14:05:00.000Z'],
    ['2026-01-31T14:05Z', '2026-01-31T14:05:00.000Z'],
  ])('is found since %s', async (since, expected) => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const { deliveries } = kit.storage;
    const recover = deliveries.recover.bind(deliveries);
    const asked: number[] = [];
    deliveries.recover = (call) => {
      asked.push(call.since);
      return recover(call);
    };
    expect((await act(browser, `/sandbox/endpoints/${id}`, { action: 'recover', since })).status).toBe(303);
    expect(asked.map((time) => new Date(time).toISOString())).toEqual([expected]);
  });

  it('shows the form again with its input if the time is invalid', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    for (const since of [
      'yesterday',
      '2026-02-30T10:00',
      '2026-01-31',
      '2026-01-31T25:00',
      '2026-01-31T14:05+02:00',
      '',
    ]) {
      const { status, text } = await act(browser, `/sandbox/endpoints/${id}`, { action: 'recover', since });
      expect.soft([since, status]).toEqual([since, 400]);
      expect.soft(text).toContain(`<input type="datetime-local" required value="${since}" id="since"`);
      expect.soft(text).toContain('Give a date and a time');
      expect.soft(text).toContain('https://receiver.example/hook');
    }
    expect((await act(browser, `/sandbox/endpoints/${id}`, { action: 'recover' })).status).toBe(400);
  });

  it('waits until a disabled endpoint is enabled', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    await act(browser, `/sandbox/endpoints/${id}`, { action: 'disable' });
    const { text } = await browser.get(`/sandbox/endpoints/${id}`);
    expect([text.includes('name="since"'), text.includes('Enable the endpoint first.')]).toEqual([
      false,
      true,
    ]);
    // The form was opened before the endpoint was disabled.
    const form = { action: 'recover', since: '2026-01-31T14:05' };
    const late = await act(browser, `/sandbox/endpoints/${id}`, form);
    expect([late.status, /role="alert".*enable it first/s.test(late.text)]).toEqual([400, true]);
  });

  it('may need several calls, and the URL cannot change the text of the page', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const page = async (queued: string) =>
      (await browser.get(`/sandbox/endpoints/${id}?queued=${encodeURIComponent(queued)}`)).text;
    expect(await page('1000')).toContain('Deliveries queued again: 1,000. There may be more');
    expect(await page('999')).not.toContain('There may be more');
    for (const queued of ['-1', '10000', '1e3', '<b>', '', '007', '1 hour'])
      expect.soft([queued, (await page(queued)).includes('class="notice')]).toEqual([queued, false]);
  });
});
