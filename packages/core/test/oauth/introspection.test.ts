import { describe, expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { basic, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const path = '/v1/oauth/introspect';
const provider = await startProvider({ introspection: true });
const app = await provider.client();
const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
const hour = 3_600_000;

const asked = (
  token: string,
  by: TestClient = api,
  sent: Record<string, unknown> = { client_id: by.id, client_secret: by.secret },
) => provider.call(path, { token, ...sent });

describe('the introspection endpoint', () => {
  it('says of a token whose it is and what it opens, whichever client has it', async () => {
    const issuedAt = provider.clock.now();
    const token = await provider.token(app, 'openid kyc');
    const answer = await asked(token);
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        active: true,
        scope: 'openid kyc',
        client_id: app.id,
        sub: ana.sub,
        token_type: 'Bearer',
        exp: Math.floor((issuedAt + hour) / 1000),
        iss: provider.origin,
      },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('takes a form or JSON, and credentials in the header or the body', async () => {
    const token = await provider.token(app);
    const header = { authorization: basic(api.id, api.secret) };
    const ofBody = { client_id: api.id, client_secret: api.secret ?? '' };
    for (const [body, headers] of [
      [{ token }, header],
      [new URLSearchParams({ token, token_type_hint: 'refresh_token' }), header],
      [new URLSearchParams({ token, ...ofBody }), {}],
    ] as const)
      expect((await provider.call(path, body, headers)).json()).toMatchObject({ active: true });
  });

  it('returns only that a token is not active, for anything that is not an access token', async () => {
    const [revoked, expired] = [await provider.token(app), await provider.token(app)];
    await provider.revoke(revoked);
    provider.clock.advance(hour);
    const { token: passport } = await provider.ostiary.passports.issue(ana.sub);
    const code = await provider.code(app);
    const unknown = `svc_at_${'a'.repeat(43)}`;
    for (const token of [revoked, expired, unknown, passport, code, app.secret ?? '', 'x', ' ']) {
      const answer = await asked(token);
      expect([token, answer.status, answer.text]).toEqual([token, 200, '{"active":false}']);
    }
  });
});

describe('strangers', () => {
  it('learn nothing: wrong or missing credentials, disabled clients, and apps that are no resource server', async () => {
    const token = await provider.token(app);
    const closed = await provider.client({ resourceServer: true });
    await provider.ostiary.admin.clients.disable(closed.id);
    const switchedOff = await provider.client({ resourceServer: true });
    await provider.ostiary.admin.clients.update(switchedOff.id, { resourceServer: false });
    const open = await provider.client({ public: true });
    for (const [outcome, by, sent] of [
      ['401 invalid_client', api, { client_id: api.id, client_secret: app.secret }],
      ['401 invalid_client', api, { client_id: api.id }],
      ['401 invalid_client', api, { client_id: 'nobody', client_secret: api.secret }],
      ['400 invalid_request', api, {}],
      ['401 invalid_client', closed, undefined],
      ['401 invalid_client', open, { client_id: open.id }],
      ['403 unauthorized_client', app, undefined],
      ['403 unauthorized_client', switchedOff, undefined],
    ] as const) {
      const answer = await asked(token, by, sent);
      expect([by.id, sent, answer.outcome]).toEqual([by.id, sent, outcome]);
      expect(answer.text).not.toContain(ana.sub);
    }
    const challenged = await provider.call(path, { token }, { authorization: basic(api.id, 'wrong') });
    expect(challenged.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  it('are refused after as many failures as at the token endpoint, counted together', async () => {
    const limited = await startProvider({ introspection: true, limits: { failedClientAuthentications: 2 } });
    const server = await limited.client({ resourceServer: true });
    const guess = { client_id: server.id, client_secret: 'guess' };
    await limited.call(path, { token: 'x', ...guess });
    await limited.exchange({ ...server, secret: 'guess' }, 'x');
    expect((await limited.call(path, { token: 'x', ...guess })).outcome).toBe('429 slow_down');
    expect(await limited.redeem(server, 'x')).toBe('429 slow_down');
  });

  it('cannot ask from a page, in a query, or by another method', async () => {
    const token = await provider.token(app);
    const origin = { origin: 'https://evil.example' };
    const fromPage = await provider.call(
      path,
      { token, client_id: api.id, client_secret: api.secret },
      origin,
    );
    const preflight = await provider.request(path, { method: 'OPTIONS', headers: origin });
    for (const { headers } of [fromPage, preflight])
      expect(headers.get('access-control-allow-origin')).toBeNull();
    const header = { authorization: basic(api.id, api.secret) };
    const inQuery = await provider.call(`${path}?token=${token}`, {}, header);
    expect(inQuery.outcome).toBe('400 invalid_request');
    const byGet = await provider.request(`${path}?token=${token}`, { headers: header });
    expect([byGet.outcome, byGet.headers.get('allow')]).toEqual(['405 invalid_request', 'POST']);
  });
});

describe('a resource server', () => {
  it('that is not an app has neither redirect URIs nor scopes, and no user can sign in to it', async () => {
    const shown = await provider.ostiary.admin.clients.get(api.id);
    expect(shown).toMatchObject({ resourceServer: true, redirectUris: [], allowedScopes: [] });
    const answer = await provider.browser().get(provider.authorizeUrl(api));
    expect([answer.status, answer.location]).toEqual([400, null]);
  });

  it('has a secret, and other clients have redirect URIs and scopes', async () => {
    const settings = {
      name: 'A',
      redirectUris: ['https://app.example/'],
      allowedScopes: ['openid'],
    } as const;
    for (const [changes, message] of [
      [{ resourceServer: true, public: true }, 'resourceServer: a public client has no secret'],
      [{ redirectUris: [] }, 'redirectUris: needs at least one'],
      [{ allowedScopes: [] }, 'allowedScopes: needs at least one'],
      [{ resourceServer: true, redirectUris: [] }, 'redirectUris: needs at least one'],
      [{ resourceServer: true, allowedScopes: [] }, 'allowedScopes: needs at least one'],
      [{ resourceServer: false, redirectUris: [], allowedScopes: [] }, 'allowedScopes: needs at least one'],
    ] as const)
      await expect(provider.ostiary.admin.clients.create({ ...settings, ...changes })).rejects.toThrow(
        new TypeError(message),
      );
    await expect(provider.ostiary.admin.clients.update(api.id, { resourceServer: false })).rejects.toThrow(
      'allowedScopes: needs at least one',
    );
  });
});

describe('without the option', () => {
  it('the endpoint does not exist, and discovery does not list it', async () => {
    const without = await startProvider();
    const server = await without.client({ resourceServer: true });
    const body = { token: 'x', client_id: server.id, client_secret: server.secret };
    expect((await without.call(path, body)).outcome).toBe('404 not_found');
    const metadata = '/.well-known/openid-configuration';
    expect((await without.request(metadata)).text).not.toContain('introspect');
    expect((await provider.request(metadata)).json()).toMatchObject({
      introspection_endpoint: `${provider.origin}${path}`,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
  });

  it('a client that never was a resource server is shown as before', async () => {
    expect(await provider.ostiary.admin.clients.get(app.id)).not.toHaveProperty('resourceServer');
  });
});
