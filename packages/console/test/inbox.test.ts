import type { InboxRequest } from '@ostiary/core/storage';
import { describe, expect, it } from 'vitest';
import { act, target, visited } from './console-kit.ts';

const idIn = (location: string | null): string => /we_[0-9a-f]{32}/.exec(location ?? '')?.[0] ?? '';

/** Starts a partner who has clicked "Use an inbox here". */
async function withInbox() {
  const visit = await visited();
  const { browser, kit, key } = visit;
  const added = await act(browser, '/sandbox/inboxes', {});
  const id = idIn(added.location);
  const owner = { partner: key.partner, mode: 'test' } as const;
  return {
    ...visit,
    ...{ added, id, owner, path: `/sandbox/endpoints/${id}/inbox` },
    work: () => kit.provider.ostiary.worker.runDue(),
  };
}

describe('an inbox', () => {
  it('is registered with one click, gets a test event with another, and shows its signed request', async () => {
    const { browser, added, id, path, work } = await withInbox();
    expect((await browser.get('/sandbox/endpoints')).text).toContain('Use an inbox here');
    expect(target(added)).toBe(`${path}?notice=inbox_added`);
    expect((await browser.get(path)).text).toContain('Nothing has arrived yet');
    expect(target(await act(browser, path, { send: 'yes' }))).toBe(`${path}?notice=sent`);
    await work();
    const { text } = await browser.get(path);
    expect(text).toContain('Signature valid');
    expect(text).toContain('Answered 200');
    const request = /\/sandbox\/inbox\/in_[0-9a-f]{32}/.exec(text)?.[0] ?? '';
    const shown = (await browser.get(request)).text;
    for (const part of [
      'X-SVC-Signature: ',
      'X-SVC-Event: webhook.test',
      '&quot;type&quot;:&quot;webhook.test&quot;',
    ])
      expect(shown).toContain(part);
    const event = (await browser.get(`/sandbox/endpoints/${id}`)).text;
    expect(event).toContain(path);
    expect(event).not.toContain('curl --globoff --request &#39;POST&#39; &#39;inbox:');
  });

  it('answers as its form says', async () => {
    const { browser, kit, owner, id, path, work } = await withInbox();
    expect(target(await act(browser, path, { url: 'inbox:500' }))).toBe(`${path}?notice=endpoint_saved`);
    expect((await kit.storage.webhooks.find(owner, id))?.url).toBe('inbox:500');
    await act(browser, path, { send: 'yes' });
    await work();
    expect((await browser.get(path)).text).toContain('Answered 500');
    for (const url of ['inbox:listen', 'https://evil.example/', 'toString', ''])
      expect((await act(browser, path, { url })).status).toBe(400);
    expect((await kit.storage.webhooks.find(owner, id))?.url).toBe('inbox:500');
  });

  it('belongs to its partner', async () => {
    const { kit, key: owned, owner, id, path, work, browser } = await withInbox();
    await act(browser, path, { send: 'yes' });
    await work();
    const [request] = await kit.storage.inbox.list({ ...owner, endpointId: id, limit: 1 });
    const stranger = await kit.signedIn(await kit.key());
    expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.get(`/sandbox/inbox/${request?.id}`)).status).toBe(404);
    expect((await act(stranger, path, { url: 'inbox:timeout' })).status).toBe(404);
    for (const form of [{ url: 'inbox:500' }, { send: 'yes' }])
      expect((await browser.post(path, { ...form, csrf: 'forged' })).status).toBe(403);
    const other = await kit.endpoint(owned);
    expect((await browser.get(`/sandbox/endpoints/${other}/inbox`)).status).toBe(404);
    expect((await kit.provider.browser(null).get(`/sandbox/inbox/${request?.id}`)).status).toBe(303);
    for (const method of ['POST', 'PUT'] as const) {
      const answer = await kit.provider.request(`${path}`, { method, body: '{"id":"evt_x"}' });
      expect(answer.status).toBeGreaterThanOrEqual(300);
    }
    expect(await kit.storage.inbox.list({ ...owner, endpointId: id, limit: 9 })).toHaveLength(1);
  });

  it('shows hostile headers and bodies as text', async () => {
    const { browser, kit, owner, id, path } = await withInbox();
    const script = '</pre><script>alert(1)</script>\u202e"\'<img src=x onerror=alert(1)>';
    const request: InboxRequest = {
      ...{ id: `in_${'0'.repeat(32)}`, ...owner, endpointId: id, receivedAt: kit.provider.clock.now() },
      headers: [[script, script]],
      body: JSON.stringify({ type: script }),
      signatureError: script,
      answer: { httpStatus: null, error: script, response: script },
    };
    await kit.storage.inbox.add(request, 50);
    await kit.storage.inbox.add(
      { ...request, id: `in_${'1'.repeat(32)}`, body: 'no JSON', answer: null },
      50,
    );
    for (const page of [path, `/sandbox/inbox/${request.id}`]) {
      const { status, text } = await browser.get(page);
      expect(status).toBe(200);
      expect(text).not.toContain('<script>alert');
      expect(text).not.toContain('<img src=x');
      expect(text).not.toContain('\u202e');
    }
  });
});
