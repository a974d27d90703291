import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStorage } from '@ostiary/testing/memory';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Core } from '../../../src/context.ts';
import { clientAddressFinder } from '../../../src/http/client-address.ts';
import { createSealer } from '../../../src/keys/sealing.ts';
import { SigningKeys } from '../../../src/keys/signing-keys.ts';
import { createProvider, type EngineRun, type EngineRuns } from '../../../src/oauth/engine/provider.ts';
import { parseOptions } from '../../../src/options.ts';
import { systemRandom } from '../../../src/random.ts';
import { tokenFormats } from '../../../src/tokens.ts';
import { ana, Host } from '../../support/directory.ts';
import { TestClock } from '../../support/provider.ts';

/** Every model of the library that can be stored. */
const models = [
  'AccessToken',
  'AuthorizationCode',
  'BackchannelAuthenticationRequest',
  'ClientCredentials',
  'DeviceCode',
  'Grant',
  'InitialAccessToken',
  'Interaction',
  'PushedAuthorizationRequest',
  'RefreshToken',
  'RegistrationAccessToken',
  'ReplayDetection',
  'Session',
] as const;

async function engineCore(): Promise<Core> {
  const storage = memoryStorage();
  await storage.open();
  const clock = new TestClock();
  const { users, login } = new Host();
  const sealingKey = randomBytes(32);
  const options = parseOptions({
    authUrl: 'https://id.example/auth',
    storage,
    users,
    login,
    sealingKeys: [sealingKey],
  });
  const sealer = createSealer([sealingKey], systemRandom);
  const signingKeys = new SigningKeys({ store: storage.signingKeys, sealer, clock, random: systemRandom });
  await signingKeys.start();
  await storage.clients.insert({
    clientId: 'app',
    name: 'App',
    secrets: [],
    redirectUris: ['https://app.example/cb'],
    allowedScopes: ['openid', 'kyc'],
    requirePkce: false,
    requireSecret: false,
    firstParty: false,
    idTokenAlg: 'RS256',
    partner: null,
    createdAt: 0,
    updatedAt: 0,
    disabledAt: null,
    version: 1,
  });
  await storage.consents.remember({ sub: ana.sub, clientId: 'app', scopes: ['openid'], now: clock.now() });
  return {
    options,
    storage,
    clock,
    random: systemRandom,
    sealer,
    signingKeys,
    tokens: tokenFormats('svc'),
    telemetry: null,
    wake: () => {},
    clientAddress: clientAddressFinder([]),
  };
}

/**
 * The library as Ostiary configures it, asked through the seam: what the host says goes in, a location or an
 * error comes out.
 */

describe('the protocol engine', () => {
  const runs: EngineRuns = new WeakMap();
  let provider: Provider;
  let server: Server;
  let address: string;
  let signedIn = true;
  let last: { run: EngineRun; written: boolean } | undefined;
  const printed = ['log', 'info', 'warn', 'error'].map((name) => vi.spyOn(console, name as 'log'));

  beforeAll(async () => {
    const core = await engineCore();
    provider = createProvider(core, await core.signingKeys.current(), runs);
    server = createServer(async (request, response) => {
      const facade = Object.create(request, {
        url: { value: request.url, writable: true },
        originalUrl: { value: undefined },
      }) as IncomingMessage;
      const run: EngineRun = {
        authentication: signedIn ? { sub: ana.sub, authenticatedAt: new Date() } : null,
      };
      runs.set(facade, run);
      await provider.callback()(facade, response);
      last = { run, written: response.writableEnded || response.headersSent };
      // The application around sends a body of its own.
      response.removeHeader('content-length');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function ask(path: string, init: RequestInit = {}) {
    const response = await fetch(address + path, { redirect: 'manual', ...init });
    await response.text();
    if (last === undefined) throw new Error('the engine was not asked');
    return { ...last.run, written: last.written, headers: response.headers };
  }

  const query = (changes: Record<string, string> = {}) =>
    `/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: 'app', redirect_uri: 'https://app.example/cb', scope: 'openid', ...changes })}`;

  /** The models whose `save` was called while something happened. */
  async function savedDuring(work: () => Promise<unknown>): Promise<string[]> {
    const spies = models.map((model) => [model, vi.spyOn(provider[model].prototype, 'save')] as const);
    await work();
    const saved = spies.filter(([, spy]) => spy.mock.calls.length > 0).map(([model]) => model);
    for (const [, spy] of spies) spy.mockRestore();
    return saved;
  }

  it('believes the host through the validator of an extra parameter, although the parameter is not sent', async () => {
    signedIn = true;
    const { location, error, written } = await ask(query());
    expect(error).toBeUndefined();
    expect(new URL(location ?? '').searchParams.has('code')).toBe(true);
    expect(written).toBe(false);
  });

  it('starts an interaction at our address without the host’s word', async () => {
    signedIn = false;
    const { location, headers } = await ask(query());
    expect(location).toMatch(/^https:\/\/id\.example\/auth\/oauth\/interaction\/[A-Za-z0-9_-]+$/);
    const cookies = headers.getSetCookie().map((cookie) => cookie.split('=')[0]);
    expect(cookies.toSorted()).toEqual([
      'svc_interaction',
      'svc_interaction.sig',
      'svc_resume',
      'svc_resume.sig',
    ]);
    for (const cookie of headers.getSetCookie())
      expect(cookie).toMatch(/; path=\/auth\/oauth\/(interaction|authorize)\/[A-Za-z0-9_-]+;/);
    signedIn = true;
  });

  it('stores codes and interactions, a session that goes nowhere, and nothing else', async () => {
    expect((await savedDuring(() => ask(query()))).filter((model) => model !== 'Session')).toEqual([
      'AuthorizationCode',
    ]);
    expect(
      (await savedDuring(() => ask(query({ scope: 'openid kyc' })))).filter((model) => model !== 'Session'),
    ).toEqual(['Interaction']);
  });

  it('makes codes of 256 bits, and hands their value to the adapter as the id', async () => {
    const upsert = vi.spyOn(provider.AuthorizationCode.prototype, 'save');
    const { location } = await ask(query());
    expect(await upsert.mock.results[0]?.value).toBe(new URL(location ?? '').searchParams.get('code'));
    expect(new URL(location ?? '').searchParams.get('code')).toMatch(/^[A-Za-z0-9_-]{43}$/);
    upsert.mockRestore();
  });

  it('has no way to store a session', async () => {
    expect(await provider.Session.find('anything')).toBeUndefined();
    expect(await provider.Grant.find('anything')).toBeUndefined();
    expect(await provider.AccessToken.find('anything')).toBeUndefined();
  });

  it('takes nothing from a form: the address alone counts', async () => {
    const answer = await ask('/oauth/authorize', {
      method: 'POST',
      body: new URLSearchParams(query().split('?')[1]),
    });
    expect(answer.location ?? '').not.toContain('code=');
  });

  it('turns an unknown interaction into an error of ours, and throws what it cannot redirect', async () => {
    const { error, location } = await ask('/oauth/authorize/unknown');
    expect(location).toBeUndefined();
    expect(error).toMatchObject({ code: 'invalid_request', page: 'expired' });
    expect((await ask(query({ client_id: 'nobody' }))).error).toMatchObject({
      code: 'invalid_client',
      status: 401,
    });
  });

  it('lets no header say where it is', async () => {
    signedIn = false;
    const { location } = await ask(query(), {
      headers: {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      },
    });
    expect(location).toMatch(/^https:\/\/id\.example\/auth\//);
    signedIn = true;
  });

  it('prints nothing: no warning, no notice about what is not finished', () => {
    expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
  });
});

describe('the library by itself', () => {
  it('runs validators of extra parameters with and without the parameter, after the others were checked, before its policy', async () => {
    // Without an adapter and keys it warns.
    for (const name of ['info', 'warn'] as const) vi.spyOn(console, name).mockImplementation(() => {});
    const order: string[] = [];
    const provider = new Provider('http://127.0.0.1', {
      clients: [
        {
          client_id: 'app',
          redirect_uris: ['https://app.example/cb'],
          response_types: ['code'],
          grant_types: ['authorization_code'],
          token_endpoint_auth_method: 'none',
        },
      ],
      cookies: { keys: ['a key'] },
      pkce: { required: () => false },
      features: { devInteractions: { enabled: false } },
      extraParams: {
        display(_ctx, value) {
          order.push(`validator ${value}`);
        },
      },
      interactions: {
        url(ctx) {
          order.push(`interaction ${ctx.oidc.prompts.size}`);
          return '/interaction';
        },
      },
    });
    const server = createServer(provider.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth?client_id=app&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&response_type=code&scope=openid`;
    for (const url of [base, `${base}&display=page`, `${base}&prompt=nonsense`])
      await (await fetch(url, { redirect: 'manual' })).text();
    expect(order).toEqual(['validator undefined', 'interaction 0', 'validator page', 'interaction 0']);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    vi.restoreAllMocks();
  });
});
