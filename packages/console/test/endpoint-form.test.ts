import { describe, expect, it } from 'vitest';
import type { TestBrowser } from '../../core/test/support/browser.ts';
import { act, signIn, target, visited } from './console-kit.ts';
import { markedFields } from './form-checks.ts';

const secret = 'a secret of this test';
const allTypes = { 'type *': 'on' };

/** Returns those settings of an endpoint that its form can change. */
const settingsOf = async ({ kit, key }: Awaited<ReturnType<typeof visited>>, id: string) => {
  const found = await kit.storage.webhooks.find({ partner: key.partner, mode: 'test' }, id);
  return found && { url: found.url, events: found.events, version: found.version };
};

const edit = (browser: TestBrowser, id: string, form: Record<string, string>) =>
  act(browser, `/sandbox/endpoints/${id}/edit`, form);

describe('an endpoint', () => {
  it('is edited on a separate page, which its page links to', async () => {
    const visit = await visited();
    const { kit, key, browser } = visit;
    const id = await kit.endpoint(key, '/hook', ['kyc.updated', 'webhook.test']);
    expect((await browser.get(`/sandbox/endpoints/${id}`)).text).toContain(`/endpoints/${id}/edit">`);
    const { status, text } = await browser.get(`/sandbox/endpoints/${id}/edit`);
    expect(status).toBe(200);
    expect(text).toContain('value="https://receiver.example/hook"');
    expect(text.match(/name="type [^"]+" value="on" checked/g)).toEqual([
      'name="type kyc.updated" value="on" checked',
      'name="type webhook.test" value="on" checked',
    ]);
    expect(text).not.toContain('type="password"');
    const saved = await edit(browser, id, { url: ' https://Receiver.example:443/new ', ...allTypes });
    expect(target(saved)).toBe(`/sandbox/endpoints/${id}?notice=endpoint_saved`);
    expect((await browser.get(saved.location ?? '')).text).toContain('The endpoint is saved.');
    expect(await settingsOf(visit, id)).toEqual({
      url: 'https://receiver.example/new',
      events: ['*'],
      version: 2,
    });
    expect((await browser.get(`/sandbox/endpoints/${id}/edit`)).text).toContain(
      'name="type *" value="on" checked',
    );
  });

  it('keeps unchanged values, also an event type that the service no longer has', async () => {
    const visit = await visited();
    const { kit, key, browser } = visit;
    const id = await kit.endpoint(key, '/hook', ['webhook.test']);
    const owner = { partner: key.partner, mode: 'test' } as const;
    const stored = await kit.storage.webhooks.find(owner, id);
    if (stored === null) throw new Error('not registered');
    const events = ['webhook.test', 'order.shipped'];
    await kit.storage.webhooks.replace({ ...stored, events, version: 2 }, kit.provider.clock.now());
    const same = { url: 'https://receiver.example/hook', 'type webhook.test': 'on' };
    expect(target(await edit(browser, id, same))).toContain('endpoint_saved');
    expect(await settingsOf(visit, id)).toEqual({ url: same.url, events, version: 2 });
    await edit(browser, id, { ...same, url: 'https://receiver.example/other' });
    expect(await settingsOf(visit, id)).toMatchObject({ url: 'https://receiver.example/other', events });
    await edit(browser, id, { ...same, 'type kyc.updated': 'on' });
    expect((await settingsOf(visit, id))?.events).toEqual(['kyc.updated', 'webhook.test']);
  });

  it('keeps what a program of the partner has changed while its form was open', async () => {
    const visit = await visited();
    const { kit, key, browser } = visit;
    const [url, other, types] = ['https://receiver.example/hook', 'https://receiver.example/new', allTypes];
    const id = await kit.endpoint(key, '/hook', ['*']);
    const { text } = await browser.get(`/sandbox/endpoints/${id}/edit`);
    const shown = /name="shown" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const change = (changes: object) =>
      kit.provider.partnerCall(key, `PATCH /v1/partner/webhooks/${id}`, changes);
    await change({ url: other });
    await edit(browser, id, { shown, url, 'type kyc.updated': 'on' });
    expect(await settingsOf(visit, id)).toMatchObject({ url: other, events: ['kyc.updated'] });
    await change({ url, events: ['webhook.test'] });
    await edit(browser, id, { shown, url: other, ...types });
    expect(await settingsOf(visit, id)).toMatchObject({ url: other, events: ['webhook.test'] });
    await change({ events: ['kyc.updated', 'webhook.test'] });
    const page = await browser.get(`/sandbox/endpoints/${id}/edit`);
    const both = /name="shown" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    await change({ events: ['webhook.test'] });
    const ticked = { 'type kyc.updated': 'on', 'type webhook.test': 'on', 'type payment.failed': 'on' };
    await edit(browser, id, { shown: both, url: other, ...ticked });
    expect((await settingsOf(visit, id))?.events.toSorted()).toEqual(['payment.failed', 'webhook.test']);
  });

  it('does not change its secret or whether it is enabled when it is edited', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const owner = { partner: key.partner, mode: 'test' } as const;
    await act(browser, `/sandbox/endpoints/${id}`, { action: 'disable' });
    const before = await kit.storage.webhooks.find(owner, id);
    const form = {
      url: 'https://receiver.example/new',
      ...allTypes,
      secret: 'planted in the form',
      enabled: 'true',
    };
    await edit(browser, id, form);
    const after = await kit.storage.webhooks.find(owner, id);
    expect(after).toMatchObject({ enabled: false, sealedSecret: before?.sealedSecret });
  });

  it('that was removed while its form was open gives 404, and is not created again', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const forms = [
      [`/sandbox/endpoints/${id}/edit`, { url: 'https://receiver.example/new', ...allTypes }],
      [`/sandbox/endpoints/${id}/secret`, { step: 'generate' }],
      [`/sandbox/endpoints/${id}/secret`, { step: 'use', secret }],
      [`/sandbox/endpoints/${id}`, { action: 'recover', since: '2026-01-01T00:00' }],
      [`/sandbox/endpoints/${id}`, { action: 'enable' }],
      [`/sandbox/endpoints/${id}`, { action: 'remove' }],
    ] as const;
    await act(browser, `/sandbox/endpoints/${id}`, { action: 'remove' });
    for (const [path, form] of forms) {
      const { status, text } = await act(browser, path, form);
      expect.soft([path, form, status]).toEqual([path, form, 404]);
      expect.soft(text).toContain('Nothing was changed: the endpoint no longer exists.');
    }
    for (const page of ['edit', 'secret'])
      expect((await browser.get(`/sandbox/endpoints/${id}/${page}`)).status).toBe(404);
    expect(await kit.storage.webhooks.list({ partner: key.partner, mode: 'test' })).toEqual([]);
  });

  it('that is removed between the check of a form and its change gives 404', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const owner = { partner: key.partner, mode: 'test' } as const;
    const { webhooks } = kit.storage;
    const replace = webhooks.replace.bind(webhooks);
    webhooks.replace = async (...change) => {
      await webhooks.remove(owner, id, kit.provider.clock.now());
      return replace(...change);
    };
    expect((await edit(browser, id, { url: 'https://receiver.example/new', ...allTypes })).status).toBe(404);
    expect(await webhooks.list(owner)).toEqual([]);
  });
});

describe('a URL that another endpoint has', () => {
  const spellings = [
    'https://receiver.example/hook',
    'HTTPS://Receiver.EXAMPLE:443/a/../hook',
    ' https://receiver.example/hook ',
  ];

  it.each(spellings)('is pointed out when an endpoint is added: %s', async (url) => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const owner = { partner: key.partner, mode: 'test' } as const;
    const form = { url, secret, 'type kyc.updated': 'on' };
    const { status, text } = await act(browser, '/sandbox/endpoints', form);
    expect(status).toBe(400);
    expect(markedFields(text)).toEqual(['url']);
    expect(text).toMatch(new RegExp(`id="url-wrong".*/sandbox/endpoints/${id}"`, 's'));
    expect(text).toContain(`value="${url.trim()}"`);
    expect(text).toContain('name="type kyc.updated" value="on" checked');
    expect(text).not.toContain(secret);
    expect(text).toContain('type it again');
    expect(await kit.storage.webhooks.list(owner)).toHaveLength(1);
    const anyway = /name="anyway" value="(\d+)"/.exec(text)?.[1] ?? '';
    // After confirming a second endpoint, the partner still sees the other problems.
    const short = await act(browser, '/sandbox/endpoints', { ...form, anyway, secret: 'too-brief' });
    expect([markedFields(short.text), short.text.includes('name="anyway" value="1" checked')]).toEqual([
      ['secret'],
      true,
    ]);
    expect(target(await act(browser, '/sandbox/endpoints', { ...form, anyway }))).toContain('endpoint_added');
    expect(await kit.storage.webhooks.list(owner)).toHaveLength(2);
    // Submitting the form again, like a reload, does not register a third endpoint.
    expect((await act(browser, '/sandbox/endpoints', { ...form, anyway })).status).toBe(400);
    expect(await kit.storage.webhooks.list(owner)).toHaveLength(2);
  });

  it('causes a warning if an endpoint is changed to it, but not if the endpoint already has it', async () => {
    const visit = await visited();
    const { kit, key, browser } = visit;
    const [first, second] = [await kit.endpoint(key), await kit.endpoint(key, '/second')];
    const form = { url: 'https://receiver.example:443/hook', ...allTypes };
    const { status, text } = await edit(browser, second, form);
    expect([status, markedFields(text)]).toEqual([400, ['url']]);
    expect(text).toContain(first);
    expect((await settingsOf(visit, second))?.url).toBe('https://receiver.example/second');
    expect((await edit(browser, second, { ...form, anyway: '1' })).status).toBe(303);
    expect((await settingsOf(visit, second))?.url).toBe('https://receiver.example/hook');
    expect((await edit(browser, second, { ...form, 'type kyc.updated': 'on' })).status).toBe(303);
  });

  it('does not warn if it is the endpoint of another partner, or differs', async () => {
    const { kit, key, browser } = await visited();
    await kit.endpoint(await kit.key());
    await kit.endpoint(key, '/hook?x=1');
    for (const path of ['/hook', '/hook/', '/HOOK']) {
      const form = { url: `https://receiver.example${path}`, secret, ...allTypes };
      expect.soft([path, (await act(browser, '/sandbox/endpoints', form)).status]).toEqual([path, 303]);
    }
  });
});

describe('a refused form', () => {
  it('marks each wrong field with the reason, and focuses the first', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const url = 'https://receiver.example/"><script>alert(1)</script>';
    const cases: [string, Record<string, string>, string[]][] = [
      ['/sandbox/endpoints', { url: 'http://receiver.example', secret, ...allTypes }, ['url']],
      ['/sandbox/endpoints', { url: '', secret: 'too-brief', ...allTypes }, ['url', 'secret']],
      [
        '/sandbox/endpoints',
        { url: 'https://receiver.example/x', secret: ' '.repeat(20), ...allTypes },
        ['secret'],
      ],
      ['/sandbox/endpoints', { url: `${url}\\`, secret, 'type kyc.updated': 'on' }, ['url']],
      ['/sandbox/endpoints', { url: 'https://receiver.example/x', secret }, ['events']],
      ['/sandbox/endpoints', { url: 'https://receiver.example/hook', secret }, ['url', 'events']],
      [`/sandbox/endpoints/${id}/edit`, { url: 'https://10.0.0.1/', ...allTypes }, ['url']],
      [`/sandbox/endpoints/${id}/edit`, { url: `${url}\\` }, ['events']],
      [`/sandbox/endpoints/${id}/secret`, { step: 'use', secret: 'too-brief' }, ['secret']],
      [`/sandbox/endpoints/${id}/secret`, { step: 'use' }, ['secret']],
      [`/sandbox/endpoints/${id}`, { action: 'recover', since: '"><script>alert(1)</script>' }, ['since']],
      ['/sandbox/trigger', { type: 'webhook.test', step: 'send', data: '{"message":1}' }, ['data']],
      ['/sandbox/trigger', { type: 'webhook.test', step: 'send', data: 'x' }, ['data']],
    ];
    for (const [path, form, fields] of cases) {
      const { status, text } = await act(browser, path, form);
      expect.soft([path, form, status, markedFields(text)]).toEqual([path, form, 400, fields]);
      expect.soft([path, text.match(/role="alert"/g)?.length]).toEqual([path, 1]);
      const links = [...text.matchAll(/<a href="#([^"]+)">/g)].map(([, name]) => name);
      expect.soft([path, [...new Set(links)]]).toEqual([path, fields]);
      expect.soft(text).not.toContain('<script>alert');
      if (form.secret !== undefined) expect.soft(text).not.toContain(form.secret);
    }
    const { text } = await act(browser, '/sandbox/endpoints', { url: `${url}\\`, secret, ...allTypes });
    expect(text).toContain(
      'value="https://receiver.example/&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\"',
    );
    // A form that was not submitted shows no errors.
    for (const path of [
      'endpoints',
      `endpoints/${id}`,
      `endpoints/${id}/edit`,
      `endpoints/${id}/secret`,
      'trigger?type=webhook.test',
    ]) {
      const fresh = await browser.get(`/sandbox/${path}`);
      expect
        .soft([path, /aria-invalid="|autofocus|role="alert"|-wrong"/.test(fresh.text)])
        .toEqual([path, false]);
    }
  });

  it('marks a key that is refused, but not one that is rate-limited', async () => {
    const { kit } = await visited();
    const browser = kit.provider.browser(null);
    const refused = await signIn(browser, 'svc_test_"><b>zebra');
    expect([refused.status, markedFields(refused.text), refused.text.includes('zebra')]).toEqual([
      401,
      ['key'],
      false,
    ]);
    for (let attempt = 2; attempt < 60; attempt += 1) await signIn(browser, 'svc_test_x');
    const late = await signIn(browser, 'svc_test_x');
    expect([late.status, markedFields(late.text)]).toEqual([429, []]);
    expect(late.text).toMatch(/role="alert".*There were too many attempts/s);
  });

  it('escapes event types and URLs from outside', async () => {
    const { kit, key, browser } = await visited();
    const id = await kit.endpoint(key);
    const { webhooks } = kit.storage;
    const stored = await webhooks.find({ partner: key.partner, mode: 'test' }, id);
    if (stored === null) throw new Error('not registered');
    const hostile = '<img src=x onerror=alert(1)>\u202e';
    const strange = { url: `https://receiver.example/"${hostile}`, events: ['webhook.test', hostile] };
    await webhooks.replace({ ...stored, ...strange, version: 2 }, kit.provider.clock.now());
    const planted = { [`type ${hostile}`]: 'on', url: strange.url };
    const pages = [
      await browser.get('/sandbox'),
      await browser.get(`/sandbox/endpoints/${id}`),
      await browser.get(`/sandbox/endpoints/${id}/edit`),
      await browser.get(`/sandbox/endpoints/${id}/secret`),
      await act(browser, '/sandbox/endpoints', planted),
      await act(browser, `/sandbox/endpoints/${id}/edit`, planted),
    ];
    for (const { text } of pages) {
      expect.soft(text).not.toContain('<img');
      expect.soft(text).toContain('&lt;img src=x');
    }
  });

  it('shows problems that belong to no field in its summary', async () => {
    const { kit, key, browser } = await visited();
    for (let count = 0; count < 50; count += 1) await kit.endpoint(key, `/${count}`);
    const form = { url: 'https://receiver.example/more', secret, ...allTypes };
    const { status, text } = await act(browser, '/sandbox/endpoints', form);
    expect([status, markedFields(text)]).toEqual([400, []]);
    expect(text).toMatch(/role="alert".*There are 50 webhook endpoints already/s);
    expect(text).toContain(`value="${form.url}"`);
  });
});
