import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
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
import { fragileStorage } from '../../support/fragile-storage.ts';
import { TestClock } from '../../support/provider.ts';
import { serve, startProvider } from '../../support/running.ts';

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
  let address: string;
  let last: { run: EngineRun; written: boolean } | undefined;
  const printed = ['log', 'info', 'warn', 'error'].map((name) => vi.spyOn(console, name as 'log'));

  beforeAll(async () => {
    const core = await engineCore();
    provider = createProvider(core, await core.signingKeys.current(), runs);
    address = await serve(async (request, response) => {
      const facade = Object.create(request, {
        url: { value: request.url, writable: true },
        originalUrl: { value: undefined },
      }) as IncomingMessage;
      const run: EngineRun = {
        authentication: { sub: ana.sub, authenticatedAt: new Date() },
      };
      runs.set(facade, run);
      await provider.callback()(facade, response);
      last = { run, written: response.writableEnded || response.headersSent };
      // The application around sends a body of its own.
      response.removeHeader('content-length');
      response.end();
    });
  });
  afterAll(() => void vi.restoreAllMocks());

  async function ask(path: string, init: RequestInit = {}) {
    const response = await fetch(address + path, { redirect: 'manual', ...init });
    await response.text();
    if (last === undefined) throw new Error('the engine was not asked');
    return { ...last.run, written: last.written };
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
    const { location, error, written } = await ask(query());
    expect(error).toBeUndefined();
    expect(new URL(location ?? '').searchParams.has('code')).toBe(true);
    expect(written).toBe(false);
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
    const base = `${await serve(provider.callback())}/auth?client_id=app&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&response_type=code&scope=openid`;
    for (const url of [base, `${base}&display=page`, `${base}&prompt=nonsense`])
      await (await fetch(url, { redirect: 'manual' })).text();
    expect(order).toEqual(['validator undefined', 'interaction 0', 'validator page', 'interaction 0']);
    vi.restoreAllMocks();
  });
});

describe('what Ostiary makes reachable of it', async () => {
  const database = fragileStorage();
  const provider = await startProvider({ storage: database.storage });

  it.each([
    ...['/auth', '/token', '/me', '/jwks', '/session/end', '/request', '/reg', '/device', '/backchannel'],
    ...['/introspect', '/revoke', '/oauth/par', '/v1/oauth/introspect', '/v1/oauth/par', '/oauth/device'],
  ])('is nothing at %s', async (path) => {
    for (const method of ['GET', 'POST']) expect((await provider.request(path, { method })).status).toBe(404);
  });

  it('touches these stores in a whole flow, and no other', async () => {
    const client = await provider.client();
    database.forget();
    await provider.token(client);
    expect(new Set(database.calls)).toEqual(
      new Set([
        'clients.find',
        ...['consents.find', 'consents.remember'],
        ...['count', 'save', 'replace', 'find', 'remove'].map((call) => `interactions.${call}`),
        ...['grants.issue', 'grants.find', 'grants.redeem'],
        ...['rateLimits.consume', 'rateLimits.peek'],
      ]),
    );
  });
});
