import type { KycState } from '@ostiary/core/console';
import { describe, expect, it } from 'vitest';
import { keyScopes } from '../../core/src/admin.ts';
import { operatorsConsole } from '../src/index.ts';
import { operatorsKit, submit } from './console-kit.ts';
import { markedFields } from './form-checks.ts';

describe('a refused form', () => {
  it('keeps the input, marks its field, and changes nothing', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const { partner, id } = await kit.key();
    await kit.provider.client({ clientId: 'app' });
    const app = { act: 'update', name: 'App', redirectUris: 'https://a.example/', 'scope openid': 'on' };
    const acts = await kit.acts();
    const cases: [string, Record<string, string>, string, string][] = [
      ['/partners', { act: 'create', slug: 'NO', name: 'x' }, 'slug', '2 to 40 of a-z'],
      ['/partners', { act: 'create', slug: partner, name: 'x' }, 'slug', 'There is already a partner'],
      ['/partners', { act: 'create', slug: 'okay', name: ' ' }, 'name', 'A name is needed'],
      [`/partners/${partner}`, { act: 'rename', name: 'a\u202eb' }, 'name', 'U.202E'],
      [
        `/partners/${partner}/keys`,
        { act: 'issue', 'scope webhooks': 'on', expiresAt: 'soon' },
        'expiresAt',
        'a time',
      ],
      [
        `/partners/${partner}/keys`,
        { act: 'issue', 'scope webhooks': 'on', expiresAt: '2090-02-30T00:00:00Z' },
        'expiresAt',
        'a time',
      ],
      [
        `/partners/${partner}/keys`,
        { act: 'issue', 'scope webhooks': 'on', expiresAt: '2001-01-01T00:00:00Z' },
        'expiresAt',
        'in the future',
      ],
      [
        `/partners/${partner}/keys`,
        { act: 'issue', 'scope webhooks': 'on', allowlist: 'home' },
        'allowlist',
        '1: This is not an IP address',
      ],
      [
        `/partners/${partner}/keys/${id}`,
        { act: 'roll', overlapSeconds: '-1' },
        'overlapSeconds',
        'whole number',
      ],
      [
        `/partners/${partner}/keys/${id}`,
        { act: 'roll', overlapSeconds: '99999999' },
        'overlapSeconds',
        'At most 7,776,000.',
      ],
      [
        '/clients/app',
        { ...app, redirectUris: 'http://a.example/' },
        'redirectUris',
        '1: http is for loopback',
      ],
      ['/clients/app', { ...app, partner: 'nobody' }, 'partner', 'There is no such partner'],
      [
        '/clients/app',
        { ...app, backchannelLogoutUri: 'https://10.0.0.1/' },
        'backchannelLogoutUri',
        'public',
      ],
      ['/clients/app', { act: 'rotate', overlapSeconds: 'x' }, 'overlapSeconds', 'whole number'],
      ['/new-client', { ...app, act: 'create', clientId: 'app' }, 'clientId', 'There is already a client'],
      ['/signing-keys', { act: 'rotate', activateAfterSeconds: '' }, 'activateAfterSeconds', 'whole number'],
    ];
    for (const [path, form, field, words] of cases) {
      const { status, text } = await submit(browser, path, form);
      const label = `${path} ${JSON.stringify(form)}`;
      expect.soft([label, status]).toEqual([label, 400]);
      const marked = new RegExp(
        `name="${field}"[^>]*aria-invalid="true" aria-describedby="${field}-wrong ${field}-hint" autofocus`,
      );
      expect.soft([label, marked.test(text)]).toEqual([label, true]);
      expect.soft([label, markedFields(text)]).toEqual([label, [field]]);
      const problem = new RegExp(`id="${field}-wrong">.*?<bdi>[^<]*${words}`);
      expect.soft([label, problem.exec(text)?.[0]]).toEqual([label, expect.any(String)]);
      // The message also appears above the form, with a link to the field.
      expect.soft([label, text.includes(`<a href="#${field}">`)]).toEqual([label, true]);
      const typed = form[field] ?? '';
      if (/^[\w:/.-]+$/.test(typed)) expect.soft(text).toMatch(new RegExp(`[">\\n]${typed}["<]`));
    }
    const none = await submit(browser, `/partners/${partner}/keys`, {
      act: 'issue',
      name: 'kept',
      mode: 'live',
    });
    expect(markedFields(none.text)).toEqual(['scopes']);
    const both = await submit(browser, '/new-client', {
      ...{ ...app, act: 'create', public: 'on', requireSecret: 'on' },
    });
    expect(markedFields(both.text)).toEqual(['requireSecret']);
    expect(both.text).toMatch(/name="requireSecret" value="on" checked/);
    expect(both.text).toMatch(/id="requireSecret-wrong">.*?<bdi>This needs a client with a secret/);
    expect(none.text).toContain('value="kept"');
    expect(none.text).toMatch(/<option value="live" selected>/);
    for (const scope of keyScopes) expect(none.text).toContain(`name="scope ${scope}"`);
    expect(await kit.acts()).toBe(acts);
  });

  it('of a client lists its problems in the order of its fields', async () => {
    const { text } = await submit((await operatorsKit()).browser('ana'), '/new-client', {
      ...{ act: 'create', name: '', termsUrl: 'x', privacyUrl: 'x', optionalScopes: 'x', clientId: '!' },
    });
    const summary = [...text.matchAll(/<a href="#(\w+)">/g)].map(([, name]) => name);
    const fields = [...text.matchAll(/ id="(\w+)" name="/g)].map(([, name]) => name);
    expect(summary).toHaveLength(5);
    expect(summary).toEqual(fields.filter((name) => summary.includes(name)));
  });

  it('shows problems that belong to no field at the top', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    const path = `/partners/${key.partner}/webhooks/${endpoint}?mode=test`;
    await submit(browser, path, { act: 'disable' });
    const { status, text } = await submit(browser, path, { act: 'recover', since: '2026-01-01T00:00:00Z' });
    expect(status).toBe(400);
    expect(text).toMatch(/role="alert">.*<p>Nothing was changed\.<\/p><p><bdi>[^<]*disabled/s);
    expect(markedFields(text)).toEqual([]);
  });
});

describe('a form that was open while somebody else changed the same client', () => {
  const settings = { 'scope openid': 'on', 'scope profile': 'on', idTokenAlg: 'RS256', profile: '' };
  const uris = ['https://a.example/', 'https://stolen.example/'];
  const form = { act: 'update', name: 'App', redirectUris: uris.join('\n'), ...settings };

  async function opened() {
    const kit = await operatorsKit();
    const { clients } = kit.admin;
    const allowedScopes = ['profile', 'openid'] as const;
    await clients.create({ clientId: 'app', name: 'App', redirectUris: uris, allowedScopes });
    const browser = kit.browser('ana');
    const shownIn = (text: string) => /name="shown" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const shown = shownIn((await browser.get('/operators/clients/app')).text);
    await clients.update('app', { redirectUris: ['https://a.example/'], requirePkce: true });
    return { kit, browser, shown, shownIn };
  }

  it('changes only what the operator has changed', async () => {
    const { kit, browser, shown } = await opened();
    await submit(browser, '/clients/app', { ...form, shown, name: 'Shop' });
    expect((await kit.lastAct()).details).toEqual({ name: 'Shop', before: { name: 'App' } });
    expect(await kit.admin.clients.get('app')).toMatchObject({
      ...{ name: 'Shop', redirectUris: ['https://a.example/'], requirePkce: true },
    });
  });

  it('does so also after it was refused', async () => {
    const { kit, browser, shown, shownIn } = await opened();
    const { status, text } = await submit(browser, '/clients/app', { ...form, shown, name: '' });
    expect([status, shownIn(text)]).toEqual([400, shown]);
    await submit(browser, '/clients/app', {
      ...form,
      shown: shownIn(text),
      name: 'Shop',
      requireSecret: 'on',
    });
    expect(await kit.admin.clients.get('app')).toMatchObject({
      ...{ name: 'Shop', redirectUris: ['https://a.example/'], requirePkce: true, requireSecret: true },
    });
  });

  it('adds and removes only the lines of a list that the operator has added and removed', async () => {
    const { kit, browser, shown } = await opened();
    const redirectUris = [...uris, 'https://b.example/'].join('\r\n');
    await submit(browser, '/clients/app', { ...form, shown, redirectUris });
    expect(await kit.admin.clients.get('app')).toMatchObject({
      redirectUris: ['https://a.example/', 'https://b.example/'],
    });
    await kit.admin.clients.update('app', { redirectUris: [...uris, 'https://c.example/'] });
    await submit(browser, '/clients/app', { ...form, shown, redirectUris: 'https://a.example/' });
    expect(await kit.admin.clients.get('app')).toMatchObject({
      redirectUris: ['https://a.example/', 'https://c.example/'],
    });
  });
});

it('the identity check of a user keeps what somebody else has changed while the page was open', async () => {
  let kyc: KycState = { kycStatus: 'pending', kycTier: 0 };
  const users = {
    search: async () => ({ users: [], next: null }),
    find: async (sub: string) => ({ sub, name: 'Ana', kyc }),
    changeKyc: async (_sub: string, changes: KycState) => {
      kyc = changes;
    },
  };
  const operators = { authenticate: () => ({ name: 'ana' }), pages: operatorsConsole({ users }) };
  const browser = (await operatorsKit({ operators })).browser();
  const page = '/user?sub=u-1';
  const shown = /name="shown" value="([^"]+)"/.exec((await browser.get(`/operators${page}`)).text)?.[1] ?? '';
  kyc = { kycStatus: 'approved', kycTier: 2 };
  await submit(browser, page, { act: 'kyc', shown, status: 'pending', tier: '1' });
  expect(kyc).toEqual({ kycStatus: 'approved', kycTier: 1 });
  await submit(browser, page, { act: 'kyc', shown, status: 'rejected', tier: '0' });
  expect(kyc).toEqual({ kycStatus: 'rejected', kycTier: 1 });
});
