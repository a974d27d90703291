import { describe, expect, it } from 'vitest';
import { pkce } from '../support/provider.ts';
import { path, pushing } from '../support/pushing.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ pushedRequests: {}, privateKeyJwt: true });
const app = await provider.client();
const { push, pushed, parametersOf } = pushing(provider, app);
const second = 1000;

describe('the endpoint', () => {
  it('refuses what the authorization endpoint refuses, in JSON', async () => {
    for (const [outcome, changes] of [
      ['400 invalid_request', { response_type: undefined }],
      ['400 unsupported_response_type', { response_type: 'token' }],
      ['400 invalid_request', { redirect_uri: undefined }],
      ['400 invalid_request', { redirect_uri: 'https://evil.example/' }],
      ['400 invalid_scope', { scope: 'openid admin' }],
      ['400 invalid_request', { scope: undefined }],
      ['400 invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }],
      ['400 invalid_request', { ...pkce().bound, code_challenge_method: 'plain' }],
      ['400 invalid_request', { prompt: 'none login' }],
      ['400 invalid_request', { max_age: '-1' }],
      ['400 invalid_request', { response_mode: 'fragment' }],
      ['400 invalid_request', { state: 'x'.repeat(5000) }],
      ['400 request_not_supported', { request: 'x.y.z' }],
      ['400 invalid_request', { request_uri: await pushed() }],
      ['400 invalid_request', { client_id: undefined, client_secret: undefined }],
    ] as const)
      expect([changes, (await push(app, changes)).outcome]).toEqual([changes, outcome]);
    const open = await provider.client({ public: true });
    expect((await push(open)).outcome, 'without PKCE').toBe('400 invalid_request');
  });

  it('refuses a request of another client', async () => {
    const closed = await provider.client();
    await provider.ostiary.admin.clients.disable(closed.id);
    for (const [client, changes] of [
      [app, { client_secret: 'wrong' }],
      [app, { client_secret: undefined }],
      [app, { client_secret: undefined, ...pkce().bound }],
      [closed, {}],
      [{ ...app, id: 'nobody' }, {}],
    ] as const)
      expect((await push(client, changes)).outcome).toBe('401 invalid_client');
  });

  it('limits addresses, clients, and the number of requests', async () => {
    const byAddress = await startProvider({ pushedRequests: {}, limits: { pushedRequests: 2 } });
    const client = await byAddress.client();
    const outcomes = [1, 2, 3].map(() => push(client, {}, byAddress));
    expect((await Promise.all(outcomes)).map(({ status }) => status).sort()).toEqual([201, 201, 429]);

    const perClient = await startProvider({ pushedRequests: {}, limits: { pushedRequestsPerClient: 1 } });
    const [one, other, open] = [
      await perClient.client(),
      await perClient.client(),
      await perClient.client({ public: true }),
    ];
    await pushed(one, {}, perClient);
    const full = await push(one, {}, perClient);
    expect([full.outcome, full.headers.get('retry-after')]).toEqual(['429 slow_down', '60']);
    await pushed(other, {}, perClient);
    for (let index = 0; index < 3; index += 1) await pushed(open, pkce().bound, perClient);

    const altogether = await startProvider({ pushedRequests: {}, limits: { unfinishedInteractions: 2 } });
    const its = await altogether.client();
    await pushed(its, {}, altogether);
    await pushed(its, {}, altogether);
    expect((await push(its, {}, altogether)).outcome).toBe('429 slow_down');
    altogether.clock.advance(60 * second);
    await pushed(its, {}, altogether);
  });

  it('counts failures with those of the token endpoint', async () => {
    const limited = await startProvider({ pushedRequests: {}, limits: { failedClientAuthentications: 2 } });
    const client = await limited.client();
    await push(client, { client_secret: 'wrong' }, limited);
    await limited.exchange({ ...client, secret: 'wrong' }, 'x');
    expect((await push(client, {}, limited)).outcome).toBe('429 slow_down');
  });

  it('takes POST alone, and answers pages of the client', async () => {
    const answer = await provider.request(path);
    expect([answer.outcome, answer.headers.get('allow')]).toEqual(['405 invalid_request', 'POST, OPTIONS']);
    const headers = { origin: 'https://app.example' };
    const ofPage = await provider.call(path, parametersOf(app), headers);
    expect(ofPage.headers.get('access-control-allow-origin')).toBe('https://app.example');
  });
});

describe('metadata', () => {
  const metadata = '/.well-known/oauth-authorization-server';

  it('contains the endpoint, and whether every client must use it', async () => {
    expect((await provider.request(metadata)).json()).toMatchObject({
      pushed_authorization_request_endpoint: `${provider.origin}${path}`,
      require_pushed_authorization_requests: false,
    });
    const strict = await startProvider({ pushedRequests: { required: true } });
    expect((await strict.request(metadata)).json().require_pushed_authorization_requests).toBe(true);
  });

  it('does not without the option: there is no such endpoint, and its references mean nothing', async () => {
    const without = await startProvider();
    const client = await without.client();
    expect((await without.request(metadata)).text).not.toContain('pushed');
    expect((await push(client, {}, without)).outcome).toBe('404 not_found');
    const request_uri = 'urn:ietf:params:oauth:request_uri:x';
    expect(await without.attempt(client, { request_uri })).toBe('request_uri_not_supported');
  });
});
