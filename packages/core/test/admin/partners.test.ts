import { describe, expect, it } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';
import { pkce } from '../support/provider.ts';

const { provider } = await partnerProvider();
const admin = provider.ostiary.admin.partners;
const iso = () => new Date(provider.clock.now()).toISOString();

describe('a partner', () => {
  it('has a slug, a name and times', async () => {
    const created = await admin.create({ slug: 'kafe-lakay', name: '  Kafe Lakay ' });
    const times = { createdAt: iso(), updatedAt: iso(), disabledAt: null };
    expect(created).toEqual({ slug: 'kafe-lakay', name: 'Kafe Lakay', ...times });
    expect(await admin.get('kafe-lakay')).toEqual(created);
    expect(await admin.get('Kafe-Lakay')).toBeNull();
  });

  it('may be renamed, and keeps its slug and its keys', async () => {
    const before = await admin.create({ slug: 'before', name: 'Before' });
    const { slug } = before;
    const key = await provider.key({ partner: slug });
    provider.clock.advance(1_000);
    expect(await admin.rename(slug, 'After')).toEqual({ ...before, name: 'After', updatedAt: iso() });
    expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).json().partner).toBe(slug);
    await expect(admin.rename(slug, ' ')).rejects.toThrow(TypeError);
    await expect(admin.create({ slug, name: 'x', id: 7 } as never)).rejects.toThrow(TypeError);
  });

  it('is disabled since the first time that somebody said so, until it is enabled', async () => {
    const { slug } = await admin.create({ slug: 'closed', name: 'Closed' });
    const disabledAt = iso();
    await admin.disable(slug);
    provider.clock.advance(1_000);
    expect((await admin.disable(slug)).disabledAt).toBe(disabledAt);
    expect((await admin.enable(slug)).disabledAt).toBeNull();
  });

  it('loses no change to somebody who changes it at the same moment', async () => {
    const { slug } = await admin.create({ slug: 'busy', name: 'Busy' });
    const rename = () => admin.rename(slug, 'Renamed');
    await Promise.all([rename(), admin.disable(slug), rename()]);
    expect(await admin.get(slug)).toMatchObject({ name: 'Renamed', disabledAt: iso() });
  });

  it('that is unknown cannot be changed, and owns no client', async () => {
    const unknown = { code: 'partner_not_found' };
    for (const change of [admin.rename('nobody', 'x'), admin.disable('nobody'), admin.enable('nobody')])
      await expect(change).rejects.toMatchObject(unknown);
    await expect(provider.client({ partner: 'nobody' })).rejects.toMatchObject(unknown);
    const { id } = await provider.client({ partner: 'busy' });
    const { clients } = provider.ostiary.admin;
    expect((await clients.get(id))?.partner).toBe('busy');
    await expect(clients.update(id, { partner: 'nobody' })).rejects.toMatchObject(unknown);
    expect((await clients.update(id, { partner: null })).partner).toBeNull();
  });
});

it('a disabled partner ends its clients: no page, no code, no token, no fields, no other origin', async () => {
  const { provider } = await partnerProvider();
  const { partners, clients } = provider.ostiary.admin;
  const key = await provider.key();
  const origin = 'https://only-here.example';
  const redirectUris = [`${origin}/callback`];
  const client = await provider.client({ partner: key.partner, redirectUris });
  const other = await provider.client();
  const browser = provider.browser();
  const token = await provider.token(client, 'openid profile', browser);
  const others = await provider.token(other, 'openid', browser);
  const { verifier, bound } = pkce();
  const code = await provider.code(client, bound, browser);
  const asked = (await browser.get(provider.authorizeUrl(client, { prompt: 'consent' }))).location ?? '';
  expect((await browser.get(asked)).status).toBe(200);
  const headers = { origin, 'access-control-request-method': 'POST' };
  const preflight = async () =>
    (await provider.request('/v1/oauth/token', { method: 'OPTIONS', headers })).headers.get(
      'access-control-allow-origin',
    );
  expect(await preflight()).toBe(origin);

  await partners.disable(key.partner);
  expect((await provider.userinfo(token)).json().error).toBe('invalid_token');
  const redeem = () => provider.redeem(client, code, { code_verifier: verifier });
  expect(await redeem()).toBe('401 invalid_client');
  const started = await browser.get(provider.authorizeUrl(client));
  expect([started.status, started.location]).toEqual([401, null]);
  expect((await browser.get(asked)).status).toBe(401);
  expect(await preflight()).toBeNull();
  expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(401);
  expect((await provider.userinfo(others)).status).toBe(200);
  // The user's own record of the consent stays, and can be revoked.
  expect((await browser.get(`${provider.origin}/account/apps`)).text).toContain('Test app');
  expect((await clients.get(client.id))?.disabledAt).toBeNull();
  expect(Object.keys((await clients.get(client.id)) ?? {})).not.toContain('partnerDisabled');

  await partners.enable(key.partner);
  expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(200);
  expect(await preflight()).toBe(origin);
  expect((await provider.userinfo(token)).status).toBe(401);
  expect(await redeem()).toBe('400 invalid_grant');
  // The consent is remembered, so that no page is shown.
  expect(await provider.attempt(client, { prompt: 'none' }, browser)).toBe('code');
});
