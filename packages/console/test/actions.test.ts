import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { act, target, visited } from './console-kit.ts';

/** Makes a pattern that matches a text which contains the given parts in this order. */
const inOrder = (...parts: readonly string[]): RegExp => new RegExp(parts.join('.*'), 's');

const eventIn = (location: string | null): string => /evt_[0-9a-f]{32}/.exec(location ?? '')?.[0] ?? '';

describe('the console', () => {
  it('triggers an event of any type with its example, and shows its deliveries', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    for (const type of ['payment.completed', 'payment.failed', 'kyc.updated', 'webhook.test']) {
      const answer = await act(browser, '/sandbox/trigger', { type, step: 'send' });
      expect(target(answer)).toMatch(/^\/sandbox\/events\/evt_[0-9a-f]{32}\?notice=sent$/);
      const id = eventIn(answer.location);
      const stored = await kit.storage.events.find({ partner: key.partner, mode: 'test' }, id);
      expect(stored?.type).toBe(type);
      const { text } = await browser.get(answer.location ?? '');
      for (const part of [
        'The test event is published. It goes to every enabled test endpoint that takes its type.',
        id,
        'Queued',
        'receiver.example/hook',
        endpoint,
      ])
        expect(text).toContain(part);
    }
  });

  it('shows attempts with the failure, its reason, advice, and the time of the next attempt', async () => {
    const { kit, key, browser } = await visited();
    await kit.endpoint(key);
    const id = await kit.event(key);
    const page = async () => (await browser.get(`/sandbox/events/${id}`)).text;
    expect(await page()).toContain('The first attempt has not ended yet.');
    await kit.attempt({ error: 'status', httpStatus: 500, response: 'boom', durationMs: 321 });
    const failed = await page();
    for (const part of ['Attempt 1 of 5', 'HTTP 500', '321 ms', 'The server failed', 'What to do:', 'boom'])
      expect(failed).toContain(part);
    const due = new Date(kit.provider.clock.now() + 60_000).toISOString();
    expect(failed).toMatch(new RegExp(`datetime="${due}".*\\(in 1 minute\\)`));
    kit.provider.clock.advance(60_000);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null });
    expect(await page()).toMatch(inOrder('Attempt 2 of 5', 'No answer<', 'No answer within 10 seconds'));
    kit.provider.clock.advance(60_000);
    await kit.attempt({ error: 'connection_refused', httpStatus: null, response: null }, 'dropped');
    const dropped = await page();
    expect(dropped).toContain('All attempts failed');
    expect(dropped).not.toContain('(in ');

    await act(browser, `/sandbox/events/${id}/redeliver`, {});
    await kit.attempt({ response: 'thanks' });
    const delivered = await page();
    expect(delivered).toMatch(inOrder('Delivered', 'Your endpoint took', 'thanks', 'Dropped', 'boom'));
  });

  it('delivers an event again: to all that match, or to one', async () => {
    const { kit, key, browser } = await visited();
    const [one, two] = [await kit.endpoint(key, '/one'), await kit.endpoint(key, '/two')];
    const id = await kit.event(key);
    expect(await kit.attempt({})).toBe(2);
    const path = `/sandbox/events/${id}/redeliver`;
    expect(target(await act(browser, path, {}))).toBe(`/sandbox/events/${id}?notice=redelivered`);
    expect(await kit.attempt({})).toBe(2);
    expect(target(await act(browser, path, { endpoint: two }))).toContain('notice=redelivered');
    expect(await kit.attempt({})).toBe(1);
    const deliveries = await kit.storage.deliveries.list({
      partner: key.partner,
      mode: 'test',
      endpointId: null,
      eventId: id,
      status: null,
      after: null,
      limit: 10,
    });
    const to = deliveries.map(({ endpointId }) => endpointId);
    expect([to.filter((id) => id === one).length, to.filter((id) => id === two).length]).toEqual([2, 3]);
  });

  it('says why an event was not delivered again', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key, '/kyc', ['kyc.updated']);
    const id = await kit.event(key);
    const again = async (form: Record<string, string>) => {
      const answer = await act(browser, `/sandbox/events/${id}/redeliver`, form);
      return (await browser.get(answer.location ?? '')).text;
    };
    expect(await again({})).toContain('no enabled endpoint takes this type');
    await act(browser, `/sandbox/endpoints/${endpoint}`, { action: 'disable' });
    expect(await again({ endpoint })).toContain('the endpoint is disabled');
    await act(browser, `/sandbox/endpoints/${endpoint}`, { action: 'remove' });
    expect(await again({ endpoint })).toContain('the endpoint no longer exists');
    const unknown = `/sandbox/events/evt_${'0'.repeat(32)}/redeliver`;
    expect((await act(browser, unknown, {})).status).toBe(404);
  });

  it('registers, disables, enables and removes endpoints', async () => {
    const { kit, key, browser } = await visited();
    const owner = { partner: key.partner, mode: 'test' } as const;
    const settings = { url: ' https://receiver.example/new ', secret: 'a secret of this test' };
    const created = await act(browser, '/sandbox/endpoints', {
      ...settings,
      'type kyc.updated': 'on',
      'type webhook.test': 'on',
    });
    expect(target(created)).toMatch(
      /^\/sandbox\/endpoints\/we_[0-9a-f]{32}\/receiver\?notice=endpoint_added$/,
    );
    const [endpoint] = await kit.storage.webhooks.list(owner);
    expect(endpoint).toMatchObject({
      url: 'https://receiver.example/new',
      events: ['kyc.updated', 'webhook.test'],
      enabled: true,
    });
    const id = endpoint?.id ?? '';
    const home = (await browser.get('/sandbox?notice=endpoint_added')).text;
    expect(home).toContain('https://receiver.example/new');
    expect(home).toContain('kyc.updated, webhook.test');
    const event = await kit.event(key);
    const change = (action: string) => act(browser, `/sandbox/endpoints/${id}`, { action });
    const page = async () => (await browser.get(`/sandbox/endpoints/${id}`)).text;

    expect(await page()).toContain('Queued');
    await kit.attempt({});
    expect(await page()).toContain('Deliver again here');
    await kit.event(key);
    expect(target(await change('disable'))).toBe(`/sandbox/endpoints/${id}?notice=endpoint_disabled`);
    expect(await page()).toMatch(inOrder('Disabled', 'Cancelled'));
    expect(await page()).not.toContain('Deliver again here');
    expect(target(await change('enable'))).toBe(`/sandbox/endpoints/${id}?notice=endpoint_enabled`);
    expect((await kit.storage.webhooks.find(owner, id))?.enabled).toBe(true);
    expect((await change('explode')).status).toBe(400);
    expect(target(await change('remove'))).toBe('/sandbox?notice=endpoint_removed');
    expect(await kit.storage.webhooks.list(owner)).toEqual([]);
    expect((await browser.get(`/sandbox/endpoints/${id}`)).status).toBe(404);
    expect((await browser.get(`/sandbox/events/${event}`)).text).toContain('Removed endpoint');
  });
});

describe('the form for an endpoint', () => {
  it('says what is wrong and keeps what was filled in, but never the secret', async () => {
    const { kit, key, browser } = await visited();
    const good = { url: 'https://receiver.example/x', secret: 'a secret of this test', 'type *': 'on' };
    const cases: [string, Record<string, string>, string][] = [
      ['no url', { ...good, url: ' ' }, 'id="url-wrong"'],
      ['long url', { ...good, url: `https://receiver.example/${'x'.repeat(2048)}` }, 'id="url-wrong"'],
      ['http', { ...good, url: 'http://receiver.example/x' }, 'The URL must begin with https://'],
      ['private', { ...good, url: 'https://10.0.0.1/' }, 'public addresses only'],
      ['script', { ...good, url: 'javascript:alert(1)//' }, 'The URL must begin with https://'],
      ['short secret', { ...good, secret: 'too short' }, 'has to have 16 to 256 characters'],
      ['long secret', { ...good, secret: 's'.repeat(257) }, 'has to have 16 to 256 characters'],
      ['no type', { url: good.url, secret: good.secret }, 'Choose at least one type'],
      ['unknown type', { url: good.url, secret: good.secret, 'type nope': 'on' }, 'Choose at least one'],
    ];
    for (const [name, form, words] of cases) {
      const { status, text } = await act(browser, '/sandbox/endpoints', form);
      expect.soft([name, status, text.includes(words)]).toEqual([name, 400, true]);
      expect.soft([name, text.includes(form.secret ?? '')]).toEqual([name, false]);
    }
    const kept = await act(browser, '/sandbox/endpoints', { ...good, secret: 'short' });
    expect(kept.text).toContain('value="https://receiver.example/x"');
    expect(kept.text).toContain('name="type *" value="on" checked');
    expect(await kit.storage.webhooks.list({ partner: key.partner, mode: 'test' })).toEqual([]);
  });
});

describe('the data of a test event', () => {
  it('can be edited, and is checked', async () => {
    const { kit, key, browser } = await visited();
    const edit = await act(browser, '/sandbox/trigger', { type: 'webhook.test', step: 'edit' });
    expect(target(edit)).toBe('/sandbox/trigger?type=webhook.test');
    expect((await browser.get(edit.location ?? '')).text).toContain('The webhook works.');
    const send = (data: string) =>
      act(browser, '/sandbox/trigger', { type: 'webhook.test', step: 'send', data });
    const refused: [string, string][] = [
      ['', 'not valid JSON'],
      ['[1]', 'id="data-wrong"'],
      ['null', 'id="data-wrong"'],
      ['{}, "type": "kyc.updated"', 'given twice'],
      ['{}} {', 'not valid JSON'],
      ['{"message":"a","message":"b"}', 'given twice'],
      ['{"message":1}', 'data.message: '],
      ['{"message":"</textarea><script>alert(1)</script>"', 'not valid JSON'],
    ];
    for (const [data, words] of refused) {
      const { status, text } = await send(data);
      expect.soft([data, status, text.includes(words)]).toEqual([data, 400, true]);
      expect.soft(text).not.toContain('<script>alert');
      expect
        .soft(text)
        .toContain(data.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'));
    }
    const owner = { partner: key.partner, mode: 'test' } as const;
    expect((await kit.storage.events.list({ ...owner, after: 0, limit: 10 })).events).toEqual([]);
    const sent = await send('{ "message": "of my own" }');
    expect(sent.status).toBe(303);
    const stored = await kit.storage.events.find(owner, eventIn(sent.location));
    expect(JSON.parse(stored?.body ?? '')).toMatchObject({ data: { message: 'of my own' } });
  });

  it('may have a type that the host defines, but no unknown type', async () => {
    const { browser } = await visited({
      events: { 'order.shipped': { schema: z.object({ order: z.string() }), example: { order: 'o-1' } } },
    });
    const page = await browser.get('/sandbox/trigger?type=order.shipped');
    expect(page.text).toContain('&quot;order&quot;: &quot;o-1&quot;');
    for (const type of ['nope', '', '__proto__', 'constructor']) {
      const page = await browser.get(`/sandbox/trigger?type=${type}`);
      expect(page.status).toBe(404);
      expect(page.text).toContain('There is no such type of event.');
      expect((await act(browser, '/sandbox/trigger', { type, step: 'send' })).status).toBe(404);
    }
  });
});
