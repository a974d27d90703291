import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { memoryStorage } from '@ostiary/testing/memory';
import { Provider } from 'oidc-provider';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createSealer } from '../../../src/keys/sealing.ts';
import { SigningKeys } from '../../../src/keys/signing-keys.ts';
import { clientAddressFinder } from '../../../src/limits/client-address.ts';
import { currentRun, type EngineRun } from '../../../src/oauth/engine/adapter.ts';
import { createProvider } from '../../../src/oauth/engine/provider.ts';
import type { Core } from '../../../src/options/context.ts';
import { parseOptions } from '../../../src/options/parse.ts';
import { systemRandom } from '../../../src/secrets/random.ts';
import { tokenFormats } from '../../../src/secrets/tokens.ts';
import { ana } from '../../support/directory.ts';
import { fragileStorage } from '../../support/fragile-storage.ts';
import type { TestClient } from '../../support/provider.ts';
import { serve, startProvider } from '../../support/running.ts';

/**
 * Builds the dependencies of oidc-provider, over the storage of a test provider. That provider has one
 * client, with the user's consent to `openid`.
 */
async function engineCore(): Promise<{ readonly core: Core; readonly client: TestClient }> {
  const storage = memoryStorage();
  const sealingKeys = [randomBytes(32)];
  const given = { authUrl: 'https://id.example/auth', storage, sealingKeys };
  const provider = await startProvider(given);
  const client = await provider.client({ allowedScopes: ['openid', 'kyc'] });
  await provider.code(client);
  const { clock, host } = provider;
  const sealer = createSealer([sealingKeys[0] ?? randomBytes(32)], systemRandom);
  const signingKeys = new SigningKeys({ store: storage.signingKeys, sealer, clock, random: systemRandom });
  await signingKeys.start();
  const core: Core = {
    ...{ storage, clock, sealer, signingKeys },
    options: await parseOptions({ ...given, users: host.users, login: host.login }),
    random: systemRandom,
    tokens: tokenFormats('svc'),
    telemetry: null,
    counts: { add() {}, measure() {}, async flush() {}, async close() {} },
    clientDocuments: null,
    notifyWorkers: () => {},
    logMissingFields: () => {},
    readJwks: async () => ({ problem: 'nothing is read' }),
    clientAddress: clientAddressFinder([]),
  };
  return { core, client };
}

/**
 * Tests of oidc-provider as Ostiary configures it, called through its adapter with data of the host
 * application. The result is a URL or an error.
 */
describe('the protocol engine', async () => {
  const printed = ['log', 'info', 'warn', 'error'].map((name) => vi.spyOn(console, name as 'log'));
  afterAll(() => void vi.restoreAllMocks());
  const { core, client } = await engineCore();
  const provider = createProvider(core, await core.signingKeys.current());
  let last: { run: EngineRun; written: boolean } | undefined;
  const address = await serve(async (request, response) => {
    const url = { value: request.url, writable: true };
    const facade: IncomingMessage = Object.create(request, { url, originalUrl: { value: undefined } });
    const run: EngineRun = {
      authentication: { sub: ana.sub, authenticatedAt: new Date() },
      scope: null,
      redirectUri: client.redirectUri,
    };
    await currentRun.run(run, () => provider.callback()(facade, response));
    last = { run, written: response.writableEnded || response.headersSent };
    // Change the body, as the surrounding application does.
    response.removeHeader('content-length');
    response.end();
  });

  async function ask(path: string, init: RequestInit = {}) {
    await (await fetch(address + path, { redirect: 'manual', ...init })).text();
    if (last === undefined) throw new Error('the engine was not asked');
    return { ...last.run, written: last.written };
  }

  const query = (changes: Record<string, string> = {}) =>
    `/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: client.id, redirect_uri: client.redirectUri, scope: 'openid', ...changes })}`;

  /**
   * Returns the names of the models of oidc-provider whose method `save` is called during `work`, except
   * `Session`.
   */
  async function savedDuring(work: () => Promise<unknown>): Promise<string[]> {
    const spies = Object.getOwnPropertyNames(Provider.prototype)
      .filter((name) => /^[A-Z]/.test(name))
      .map((name): { save?: () => unknown } => Object(Reflect.get(provider, name)).prototype ?? {})
      .flatMap((model) => (model.save ? [vi.spyOn(model, 'save')] : []));
    await work();
    const saved = spies.flatMap(({ mock }) => mock.contexts.map((model) => Object(model).constructor.name));
    for (const spy of spies) spy.mockRestore();
    return [...new Set(saved)].filter((name) => name !== 'Session');
  }

  it('takes the user from the session that it is given, and hands the value of the code to the adapter as the id', async () => {
    const save = vi.spyOn(provider.AuthorizationCode.prototype, 'save');
    const { location, error, written } = await ask(query());
    expect([error, written]).toEqual([undefined, false]);
    const code = new URL(location ?? '').searchParams.get('code');
    expect(code).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await save.mock.results[0]?.value).toBe(code);
    save.mockRestore();
  });

  it('stores codes and interactions, a session that goes nowhere, and nothing else', async () => {
    expect(await savedDuring(() => ask(query()))).toEqual(['AuthorizationCode']);
    expect(await savedDuring(() => ask(query({ scope: 'openid kyc' })))).toEqual(['Interaction']);
    expect(await provider.Session.find('anything')).toBeUndefined();
    expect(await provider.Grant.find('anything')).toBeUndefined();
    expect(await provider.AccessToken.find('anything')).toBeUndefined();
  });

  it('takes nothing from a form: the address alone counts', async () => {
    const body = new URLSearchParams(query().split('?')[1]);
    const { location, authentication } = await ask('/oauth/authorize', { method: 'POST', body });
    expect([authentication?.sub, location ?? '']).toEqual([ana.sub, expect.not.stringContaining('code=')]);
  });

  it('prints nothing: no warning, no notice about what is not finished', () => {
    expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
  });
});

it('the library by itself runs the validator of a parameter after all parameters were checked, before its policy', async () => {
  // The library warns if it has no adapter and keys.
  for (const name of ['info', 'warn'] as const) vi.spyOn(console, name).mockImplementation(() => {});
  const order: string[] = [];
  const provider = new Provider('http://127.0.0.1', {
    clients: [
      { client_id: 'app', redirect_uris: ['https://app.example/cb'], token_endpoint_auth_method: 'none' },
    ],
    cookies: { keys: ['a key'] },
    pkce: { required: () => false },
    features: { devInteractions: { enabled: false } },
    extraParams: { scope: (_ctx, value) => void order.push(`validator ${value}`) },
    interactions: { url: (ctx) => `/interaction?${order.push(`interaction ${ctx.oidc.prompts.size}`)}` },
  });
  const base = `${await serve(provider.callback())}/auth?client_id=app&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&response_type=code&scope=openid`;
  for (const url of [base, `${base}&prompt=nonsense`])
    await (await fetch(url, { redirect: 'manual' })).text();
  expect(order).toEqual(['validator openid', 'interaction 0']);
  vi.restoreAllMocks();
});

describe('what Ostiary makes reachable of it', async () => {
  const database = fragileStorage();
  const provider = await startProvider({ storage: database.storage });

  it('returns 404 at default paths of the library, and at paths of features that are off', async () => {
    const short = 'auth token me jwks session/end request reg introspect revoke device backchannel';
    const ours = 'oauth/par v1/oauth/par v1/oauth/introspect oauth/device';
    for (const path of `${short} ${ours}`.split(' ')) {
      for (const method of ['GET', 'POST'])
        expect((await provider.request(`/${path}`, { method })).outcome, path).toBe('404 not_found');
    }
  });

  it('touches these stores in a whole flow, and no other', async () => {
    const client = await provider.client();
    database.forget();
    await provider.token(client);
    const expected = {
      clients: ['find'],
      consents: ['find', 'remember'],
      interactions: ['count', 'save', 'replace', 'find', 'remove'],
      interactionAnswers: ['save'],
      grants: ['issue', 'find', 'redeem'],
      rateLimits: ['consume', 'peek'],
    };
    const calls = Object.entries(expected).flatMap(([noun, verbs]) => verbs.map((verb) => `${noun}.${verb}`));
    expect(new Set(database.calls)).toEqual(new Set(calls));
  });
});
