import { describe, expect, it } from 'vitest';
import { act, csrfOf, target, visited } from './console-kit.ts';
import { forgeries } from './form-checks.ts';

const secret = 'a secret of this test';
const allTypes = { 'type *': 'on' };

describe('forms about an endpoint', () => {
  it('change nothing of another partner, nor of the same partner in live mode', async () => {
    const { kit, key, browser } = await visited();
    const live = await kit.provider.key({ mode: 'live', partner: key.partner });
    for (const other of [await kit.key(), live]) {
      const id = await kit.endpoint(other);
      const owner = { partner: other.partner, mode: other.mode };
      const before = await kit.storage.webhooks.find(owner, id);
      const forms = [
        ['/edit', { url: 'https://receiver.example/new', ...allTypes }],
        ['/edit', { url: 'http://refused', ...allTypes }],
        ['/secret', { step: 'generate' }],
        ['/secret', { step: 'use', secret }],
        ['', { action: 'recover', since: '2026-01-01T00:00' }],
        ['', { action: 'recover', since: 'x' }],
      ] as const;
      for (const [page, form] of forms) {
        const { status, text } = await act(browser, `/sandbox/endpoints/${id}${page}`, form);
        expect
          .soft([page, form, status, text.includes('receiver.example/hook')])
          .toEqual([page, form, 404, false]);
      }
      for (const page of ['/edit', '/secret'])
        expect((await browser.get(`/sandbox/endpoints/${id}${page}`)).status).toBe(404);
      expect(await kit.storage.webhooks.find(owner, id)).toEqual(before);
    }
  });

  it('change nothing if they are forged, or if the session has expired', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null }, 'dropped');
    const owner = { partner: key.partner, mode: 'test' } as const;
    const before = await kit.storage.webhooks.list(owner);
    const forms: [string, Record<string, string>][] = [
      ['/sandbox/endpoints', { url: 'https://receiver.example/new', ...allTypes }],
      [`/sandbox/endpoints/${id}/edit`, { url: 'https://receiver.example/new', ...allTypes }],
      [`/sandbox/endpoints/${id}/secret`, { step: 'generate' }],
      [`/sandbox/endpoints/${id}/secret`, { step: 'use', secret }],
      [`/sandbox/endpoints/${id}`, { action: 'recover', since: '2020-01-01T00:00' }],
      [`/sandbox/endpoints/${id}`, { action: 'remove' }],
    ];
    for (const [path, form] of forms) {
      for (const [name, proof, headers] of await forgeries(kit, key, browser)) {
        const { status, text } = await browser.post(path, { ...form, ...proof }, headers);
        expect.soft([path, name, status, text.includes('whsec_')]).toEqual([path, name, 403, false]);
      }
    }
    const csrf = csrfOf((await browser.get('/sandbox')).text);
    await kit.provider.ostiary.admin.apiKeys.revoke(key.id);
    for (const [path, form] of forms) {
      const ended = await browser.post(path, { ...form, csrf });
      const at = ended.location === null ? null : target(ended);
      expect
        .soft([path, ended.status, /^\/sandbox(\?notice=ended)?$/.test(at ?? '')])
        .toEqual([path, 303, true]);
    }
    expect(await kit.storage.webhooks.list(owner)).toEqual(before);
    expect(await kit.attempt({})).toBe(0);
  });
});
