import { describe, expect, it } from 'vitest';
import { clientKey } from '../../core/test/support/client-keys.ts';
import { DocumentHost } from '../../core/test/support/document-host.ts';
import { pkce } from '../../core/test/support/provider.ts';
import { followed, operatorsKit, submit } from './console-kit.ts';

const redirectUri = 'http://127.0.0.1:40000/callback';

describe('clients that describe themselves with a metadata document', () => {
  async function kitWithApp() {
    const documents = await DocumentHost.start();
    const kit = await operatorsKit({
      clientMetadataDocuments: { scopes: ['openid'], allowPrivateDocuments: true },
    });
    const clientId = documents.document('/app?a=1&b=%2F', {
      client_name: '</bdi><script>alert(1)</script>\u202e Bank',
    });
    const app = { id: clientId, secret: null, redirectUri };
    const tokens = await kit.provider.tokens(app);
    return { kit, app, tokens, browser: kit.browser('ana') };
  }
  const pathOf = (id: string) => `/clients/${encodeURIComponent(id)}`;

  it('are listed apart from the others, and shown', async () => {
    const { kit, app, browser } = await kitWithApp();
    await kit.provider.client({ clientId: 'provisioned' });
    const list = (await browser.get('/operators/clients')).text;
    expect(list).toContain('/operators/clients/provisioned');
    expect(list).not.toContain(encodeURIComponent(app.id));
    expect(list).toContain('/operators/clients?documents=1');
    const documents = (await browser.get('/operators/clients?documents=1')).text;
    expect(documents).toContain(`/operators${pathOf(app.id)}"`);
    expect(documents).not.toContain('/operators/clients/provisioned');

    const { status, text } = await browser.get(`/operators${pathOf(app.id)}`);
    expect(status).toBe(200);
    expect(text).toContain(app.id.replaceAll('&', '&amp;'));
    expect(text).toContain('http://127.0.0.1/callback');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\ufffd Bank');
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    for (const act of ['update', 'rotate', 'set_logo', 'enable'])
      expect(text).not.toContain(`value="${act}"`);
  });

  it('the list pages both ways', async () => {
    const codesOf = (text: string) => Array.from(text.matchAll(/<span><code>([^<]+)</g), ([, id]) => id);
    const { kit, browser } = await kitWithApp();
    const sample = await kit.storage.clientDocuments.list({ after: null, limit: 1 });
    const request = { now: kit.provider.clock.now(), limit: 10_000 };
    for (const client of sample)
      for (let number = 0; number < 60; number += 1)
        await kit.storage.clientDocuments.insert(
          { ...client, clientId: `https://a.example/${number}` },
          request,
        );
    const first = (await browser.get('/operators/clients?documents=1')).text;
    const next = /href="[^"]*(\/operators\/clients\?documents=1&amp;after=[^"]+)"/.exec(first)?.[1] ?? '';
    const second = (await browser.get(next.replaceAll('&amp;', '&'))).text;
    expect(second).toContain(encodeURIComponent('https://a.example/9'));
    const back = /href="[^"]*(\/operators\/clients\?documents=1[^"]*before=[^"]*)"/.exec(second)?.[1] ?? '';
    expect(codesOf((await browser.get(back.replaceAll('&amp;', '&'))).text)).toEqual(codesOf(first));
  });

  it('are blocked and let in again, and the log names the operator', async () => {
    const { kit, app, tokens, browser } = await kitWithApp();
    const path = pathOf(app.id);
    expect((await followed(browser, path, { act: 'disable' })).text).toContain('It is disabled.');
    expect(await kit.lastAct()).toMatchObject({
      ...{ actor: 'ana', action: 'client.disable', target: `client:${app.id}` },
    });
    expect(await kit.provider.isAlive(tokens.access_token)).toBe(false);
    expect(await kit.provider.attempt(app, pkce().bound)).toContain('invalid_client');
    expect((await followed(browser, path, { act: 'enable' })).text).toContain('It is enabled.');
    expect((await kit.provider.tokens(app)).access_token).toEqual(expect.any(String));
  });

  it('cannot be changed, also by a forged form', async () => {
    const { kit, app, browser } = await kitWithApp();
    const acts = await kit.acts();
    for (const form of [
      { act: 'update', name: 'Mine' },
      { act: 'rotate', overlapSeconds: '0' },
      { act: 'replace_keys' },
      { act: 'remove_logo' },
    ]) {
      const { status, text } = await submit(browser, pathOf(app.id), form);
      expect([form.act, status]).toEqual([form.act, 400]);
      expect(text).toContain('is described by its metadata document');
    }
    expect(await kit.acts()).toBe(acts);
  });
});

it('a client with keys goes back to a secret, which is shown once', async () => {
  const kit = await operatorsKit({ privateKeyJwt: true, pushedRequests: {}, dpop: true });
  const { publicJwk } = await clientKey();
  await kit.provider.client({ clientId: 'keyed', jwks: { keys: [publicJwk] } });
  const browser = kit.browser('ana');
  expect((await browser.get('/operators/clients/keyed')).text).toContain('value="replace_keys"');
  const { status, text } = await followed(browser, '/clients/keyed', { act: 'replace_keys' });
  expect(status).toBe(200);
  const [, secret = ''] = /<code data-once>([\w-]{40,})<\/code>/.exec(text) ?? [];
  const app = { id: 'keyed', secret, redirectUri: 'https://app.example/callback' };
  expect(await kit.provider.redeem(app, await kit.provider.code(app))).toBe('200 ok');
  expect(await kit.lastAct()).toMatchObject({
    ...{ actor: 'ana', action: 'client.rotate_secret', details: { overlapSeconds: 0, replaceKeys: true } },
  });
  const page = (await browser.get('/operators/clients/keyed')).text;
  expect(page).not.toContain('value="replace_keys"');
  expect(page).toContain('value="rotate"');
  await kit.provider.client({ clientId: 'spa', public: true });
  // The profile allows no secret.
  await kit.provider.client({
    ...{ clientId: 'fapi', profile: 'fapi2', idTokenAlg: 'ES256', jwks: { keys: [publicJwk] } },
  });
  for (const id of ['spa', 'fapi'])
    expect((await browser.get(`/operators/clients/${id}`)).text).not.toContain('value="replace_keys"');
});

it('links to terms and privacy policy are set and removed', async () => {
  const kit = await operatorsKit();
  await kit.provider.client({ clientId: 'app', redirectUris: ['https://a.example/'] });
  const browser = kit.browser('ana');
  const form = { act: 'update', name: 'App', redirectUris: 'https://a.example/', 'scope openid': 'on' };
  const pages = { termsUrl: 'https://a.example/terms', privacyUrl: 'https://a.example/privacy' };
  await submit(browser, '/clients/app', { ...form, ...pages });
  expect(await kit.admin.clients.get('app')).toMatchObject(pages);
  expect((await browser.get('/operators/clients/app')).text).toContain(`value="${pages.termsUrl}"`);
  const wrong = await submit(browser, '/clients/app', { ...form, ...pages, termsUrl: 'http://a.example/' });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('id="termsUrl-wrong"')]);
  await submit(browser, '/clients/app', form);
  expect(await kit.admin.clients.get('app')).toMatchObject({ termsUrl: null, privacyUrl: null });
});
