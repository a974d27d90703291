import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { HostScopes, Notice } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { basic, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const [notes, files] = ['https://notes.example', 'https://files.example'];
const texts = (title: string) => ({
  en: { title, detail: 'In your name.' },
  fr: { title, detail: 'En votre nom.' },
});
const scopes: HostScopes = {
  read: { consent: texts('Read') },
  share: { consent: texts('Share') },
  move: { consent: texts('Move') },
};
const resources = {
  [notes]: { name: 'Notes', scopes: ['read', 'share'] },
  [files]: { name: 'Files', scopes: ['read', 'share', 'move'] },
};
const notices: Notice[] = [];
const provider = await startProvider({
  ...{ scopes, resources, refreshTokens: {}, introspection: true },
  notify: async (notice) => void notices.push(notice),
});
const { admin, consents, tokens } = provider.ostiary;
const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });

/** Registers a client, and returns the steps of its user in one browser. */
async function appOf(optionalScopes: string[] = []) {
  const allowedScopes = ['openid', 'offline_access', ...Object.keys(scopes)];
  const client = await provider.client({ allowedScopes, optionalScopes });
  const browser = provider.browser();
  const urlFor = (asked: readonly string[], scope: string) =>
    provider.authorizeUrl(client, { scope }) +
    asked.map((uri) => `&resource=${encodeURIComponent(uri)}`).join('');
  return {
    client,
    /** Opens the consent page, which the request must need. */
    open: (resource: string, scope: string, prompt?: string) =>
      openConsent(provider, client, { scope, resource, prompt }, browser),
    /** Requests access without a page. */
    request: (asked: readonly string[], scope: string) => browser.get(urlFor(asked, scope)),
  };
}

type Page = Awaited<ReturnType<typeof openConsent>>;
type Answer = Awaited<ReturnType<Page['finish']>>;

/** Exchanges the code of a callback. */
const tokensOf = async (client: TestClient, { callback }: Answer) =>
  (await provider.exchange(client, callback.get('code') ?? '')).json();

/** Approves everything but the optional scopes that were `offered` and not `taken`. */
async function approve(page: Page, offered: string, taken = ''): Promise<Answer> {
  const boxes = taken.split(' ').map((scope) => [`allow:${scope}`, 'on']);
  const { location } = await page.post({ decision: 'approve', offered, ...Object.fromEntries(boxes) });
  return page.browser.get(location ?? '');
}

describe('a scope of several resources', () => {
  it('that was approved for one is asked for at the other, although both names were approved', async () => {
    const { client, open, request } = await appOf();
    await (await open(notes, 'read')).finish();
    await (await open(files, 'move')).finish();
    expect((await request([files], 'read')).outcome).toBe('303 interaction');
    expect((await request([notes, files], 'read')).outcome).toBe('303 interaction');
    const page = await open(files, 'read move');
    expect([page.titles, page.marked]).toEqual([['Read', 'Move'], ['Read']]);
    const answer = await tokensOf(client, await page.finish());
    expect(await tokens.verify(String(answer.access_token), { resource: files })).toMatchObject({
      ...{ active: true, scopes: ['read', 'move'] },
    });
    for (const asked of [[files], [notes], [notes, files]])
      expect((await request(asked, 'read')).outcome).toBe('303 code');
  });

  it('is asked for at a resource that was approved without its scopes', async () => {
    const { open, request } = await appOf();
    await (await open(notes, 'openid read')).finish();
    await (await open(files, 'openid')).finish();
    expect((await request([files], 'openid')).outcome).toBe('303 code');
    expect((await request([files], 'openid read')).outcome).toBe('303 interaction');
  });

  it('that the host moves to another approved resource is asked for there', async () => {
    const shared = { scopes, storage: memoryStorage() };
    const namedAt = (first: string[], second: string[]) => ({
      [notes]: { name: 'Notes', scopes: first },
      [files]: { name: 'Files', scopes: second },
    });
    const before = await startProvider({ ...shared, resources: namedAt(['read'], ['move']) });
    const client = await before.client({ allowedScopes: Object.keys(scopes) });
    for (const [scope, resource] of [
      ['read', notes],
      ['move', files],
    ])
      await (await openConsent(before, client, { scope, resource })).finish();
    await before.ostiary.ready();
    const after = await startProvider({ ...shared, resources: namedAt([], ['read', 'move']) }, before.host);
    for (const [scope, outcome] of [
      ['read', '303 interaction'],
      ['move', '303 code'],
    ] as const) {
      const url = after.authorizeUrl(client, { scope, resource: files });
      expect([scope, (await after.browser().get(url)).outcome]).toEqual([scope, outcome]);
    }
  });

  it('is in no grant of the other resource', async () => {
    const { client, open } = await appOf();
    await (await open(notes, 'read')).finish();
    const page = await open(files, 'move offline_access');
    const { refresh_token } = await tokensOf(client, await page.finish());
    const refresh = (changes: Record<string, string>) =>
      provider.call('/v1/oauth/token', {
        ...{ grant_type: 'refresh_token', refresh_token, client_id: client.id },
        ...{ client_secret: client.secret, ...changes },
      });
    expect((await refresh({ scope: 'read', resource: files })).outcome).toBe('400 invalid_scope');
    expect((await refresh({ resource: notes })).outcome).toBe('400 invalid_target');
    expect((await refresh({ resource: files })).json().scope).toBe('move offline_access');
  });
});

describe('an optional scope of several resources', () => {
  it('that was left out at one is asked for at the other, and stays left out at the first', async () => {
    const { client, open, request } = await appOf(['read']);
    await approve(await open(notes, 'openid read'), 'read');
    await (await open(files, 'openid')).finish();
    const left = await tokensOf(client, await request([notes], 'openid read'));
    expect(left.scope).toBe('openid');
    const page = await open(files, 'openid read');
    expect(page.text).toContain('name="allow:read" form="decision" checked');
    expect((await tokensOf(client, await approve(page, 'read', 'read'))).scope).toBe('openid read');
    for (const [asked, scope] of [
      [[files], 'openid read'],
      [[notes], 'openid'],
      [[notes, files], 'openid'],
    ] as const)
      expect((await tokensOf(client, await request(asked, 'openid read'))).scope).toBe(scope);
  });

  it('can be approved later where it was left out, and is not asked for again', async () => {
    const { client, open, request } = await appOf(['read']);
    await approve(await open(notes, 'openid read'), 'read');
    const page = await open(notes, 'openid read', 'consent');
    expect(page.text).toContain('name="allow:read" form="decision">');
    await approve(page, 'read', 'read');
    const answer = await request([notes], 'openid read');
    expect((await tokensOf(client, answer)).scope).toBe('openid read');
  });

  it('that the user takes back at one ends all tokens with it, and is asked for at the other', async () => {
    const { client, open, request } = await appOf(['read']);
    await (await open(notes, 'openid read')).finish();
    const issued = await tokensOf(client, await (await open(files, 'openid read')).finish());
    await approve(await open(notes, 'openid read', 'consent'), 'read');
    expect(await tokens.verify(String(issued.access_token), { resource: files })).toMatchObject({
      active: false,
    });
    expect((await tokensOf(client, await request([notes], 'openid read'))).scope).toBe('openid');
    await (await open(files, 'openid read')).finish();
    expect((await tokensOf(client, await request([files], 'openid read'))).scope).toBe('openid read');
    expect((await tokensOf(client, await request([notes], 'openid read'))).scope).toBe('openid');
  });

  it('that was left out with a resource is asked for if nothing else is requested', async () => {
    const { open, request } = await appOf(['read']);
    await approve(await open(notes, 'openid read'), 'read');
    expect((await request([notes], 'read')).outcome).toBe('303 interaction');
  });
});

it('the names of scopes are shown alone, everywhere', async () => {
  const { client, open } = await appOf(['share']);
  const page = await approve(await open(notes, 'openid read share'), 'share');
  const { access_token: token, scope } = await tokensOf(client, page);
  expect(scope).toBe('openid read');
  const own = ({ clientId }: { readonly clientId: string }) => clientId === client.id;
  const shown = { scopes: ['openid', 'read'] };
  expect((await consents.list(ana.sub)).filter(own)).toMatchObject([shown]);
  expect((await admin.consents.list(ana.sub)).filter(own)).toMatchObject([shown]);
  expect(await tokens.verify(String(token), { resource: notes })).toMatchObject(shown);
  const introspected = await provider.call(
    '/v1/oauth/introspect',
    { token },
    { authorization: basic(api.id, api.secret) },
  );
  expect(introspected.json()).toMatchObject({ scope: 'openid read', aud: notes });
  while ((await provider.ostiary.worker.runDue()) > 0);
  expect(notices.filter((notice) => notice.type === 'app.connected').filter(own)).toMatchObject([
    { scopes: ['openid', 'read', notes] },
  ]);
});
