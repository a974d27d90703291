import { describe, expect, it } from 'vitest';
import { type HostScopes, scopeNames } from '../../src/index.ts';
import { usedProofsInMemory } from '../../src/resource-server/used-proofs.ts';
import { protectedResource, type RemoteResourceSettings } from '../../src/resource-server.ts';
import { athOf, type DpopKey, dpopKey, type ProofChanges } from '../support/dpop.ts';
import { TestClock } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const consent = {
  en: { title: 'Use tools', detail: 'In your name.' },
  fr: { title: 'Se servir d’outils', detail: 'En votre nom.' },
};
const scopes: HostScopes = { 'tools:run': { consent } };
const tools = 'https://tools.example/mcp';
const provider = await startProvider({
  ...{ scopes, introspection: true, dpop: true },
  resources: { [tools]: { name: 'Tools', scopes: ['tools:run'] } },
});
const app = await provider.client({ allowedScopes: [...scopeNames, 'tools:run'] });
const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
const key = await dpopKey(provider);
const logged: string[] = [];
const logger = {
  ...{ debug() {}, info() {}, warn() {} },
  error: ({ err }: { err?: unknown }) => void logged.push(String(err)),
};

const resourceWith = (dpop?: RemoteResourceSettings['dpop'], cacheSeconds = 0) =>
  protectedResource({
    ...{ resource: tools, scopes: ['tools:run'], clock: provider.clock, logger },
    remote: {
      issuer: provider.origin,
      introspectionEndpoint: `${provider.origin}/v1/oauth/introspect`,
      ...{ clientId: api.id, clientSecret: api.secret ?? '', cacheSeconds, timeoutSeconds: 2 },
    },
    ...(dpop !== undefined && { dpop }),
  });

/** Returns an access token for the test's resource, bound to the given DPoP key unless the key is `null`. */
async function tokenOf(bound: DpopKey | null = key): Promise<string> {
  const code = await provider.code(app, { scope: 'openid tools:run', resource: tools });
  const request = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri };
  const body = { ...request, client_id: app.id, client_secret: app.secret };
  const answer = await provider.call('/v1/oauth/token', body, bound === null ? {} : await bound.forToken());
  return String(answer.json().access_token);
}

const token = await tokenOf();

/** Signs a DPoP proof for a GET request to the test's resource with the access token. */
const proofOf = ({ claims, header = {} }: ProofChanges = {}, by = key): Promise<string> =>
  by.proof('GET', '/mcp', { claims: { htu: tools, ath: athOf(token), ...claims }, header });

const requestWith = (proof: string | null, { scheme = 'DPoP', url = tools, method = 'GET' } = {}) =>
  new Request(url, {
    method,
    headers: { authorization: `${scheme} ${token}`, ...(proof !== null && { dpop: proof }) },
  });

async function outcomeOf(resource: ReturnType<typeof resourceWith>, request: Request): Promise<string> {
  const access = await resource.check(request);
  return access.active ? 'active' : `${access.status} ${access.reason}`;
}

const seconds = () => Math.floor(provider.clock.now() / 1000);

describe('a resource in another process that accepts bound tokens', () => {
  const resource = resourceWith(true);

  it('names the algorithms of proofs in its document', () => {
    expect(resource.metadata.dpop_signing_alg_values_supported).toEqual([
      ...['ES256', 'PS256', 'EdDSA', 'Ed25519'],
    ]);
    expect(resourceWith().metadata).not.toHaveProperty('dpop_signing_alg_values_supported');
  });

  it('accepts a token with a proof of its key once, and the next proof again', async () => {
    for (let call = 0; call < 2; call += 1) {
      const request = requestWith(await proofOf());
      expect(await resource.check(request)).toMatchObject({ active: true, dpopJkt: key.jkt });
      expect(await outcomeOf(resource, request)).toBe('401 invalid_dpop_proof');
    }
    const query = requestWith(await proofOf(), { url: `${tools}?page=2` });
    expect(await outcomeOf(resource, query)).toBe('active');
  });

  it('ignores the origin that a caller writes, and the path of a router', async () => {
    const elsewhere = requestWith(await proofOf(), { url: 'https://evil.example/mcp' });
    expect(await outcomeOf(resource, elsewhere)).toBe('active');
    const copied = await proofOf({ claims: { htu: 'https://evil.example/mcp' } });
    expect(await outcomeOf(resource, requestWith(copied, { url: 'https://evil.example/mcp' }))).toBe(
      '401 invalid_dpop_proof',
    );
  });

  it.each<[string, ProofChanges]>([
    ['another method', { claims: { htm: 'POST' } }],
    ['another path', { claims: { htu: 'https://tools.example/other' } }],
    ['another origin', { claims: { htu: `${provider.origin}/mcp` } }],
    ['another token', { claims: { ath: athOf('another') } }],
    ['no token', { claims: { ath: undefined } }],
    ['no id', { claims: { jti: undefined } }],
    ['an old time', { claims: { iat: seconds() - 61 } }],
    ['a time ahead', { claims: { iat: seconds() + 62 } }],
    ['another type', { header: { typ: 'JWT' } }],
  ])('refuses a proof with %s', async (_what, changes) => {
    expect(await outcomeOf(resource, requestWith(await proofOf(changes)))).toBe('401 invalid_dpop_proof');
  });

  it('refuses a bound token as Bearer, without a proof, and with the proof of another key', async () => {
    const refused = '401 invalid_dpop_proof';
    expect(await outcomeOf(resource, requestWith(await proofOf(), { scheme: 'Bearer' }))).toBe(refused);
    expect(await outcomeOf(resource, requestWith(null))).toBe(refused);
    const thief = await dpopKey(provider);
    expect(await outcomeOf(resource, requestWith(await proofOf({}, thief)))).toBe(refused);
    expect(await outcomeOf(resource, requestWith('x'.repeat(5_000)))).toBe(refused);
    const answer = await resource.check(requestWith(null));
    if (!answer.active)
      expect(answer.headers['WWW-Authenticate']).toMatch(/^DPoP error="invalid_dpop_proof", .*algs="ES256 /);
  });

  it('accepts a token that is not bound as Bearer only', async () => {
    const free = await tokenOf(null);
    const bearing = (scheme: string) =>
      new Request(tools, { headers: { authorization: `${scheme} ${free}` } });
    expect(await outcomeOf(resource, bearing('Bearer'))).toBe('active');
    expect(await outcomeOf(resource, bearing('DPoP'))).toBe('401 invalid_dpop_proof');
  });

  it('checks proofs of a cached token too', async () => {
    const cached = resourceWith(true, 60);
    const request = requestWith(await proofOf());
    expect(await outcomeOf(cached, request)).toBe('active');
    expect(await outcomeOf(cached, request)).toBe('401 invalid_dpop_proof');
    expect(await outcomeOf(cached, requestWith(await proofOf()))).toBe('active');
  });

  it('of many requests with one proof, accepts one', async () => {
    const proof = await proofOf();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => outcomeOf(resource, requestWith(proof))),
    );
    expect(outcomes.filter((outcome) => outcome === 'active')).toHaveLength(1);
  });
});

it('without the setting, bound tokens are refused', async () => {
  for (const resource of [resourceWith(), resourceWith(false)])
    for (const scheme of ['Bearer', 'DPoP'])
      expect(await outcomeOf(resource, requestWith(await proofOf(), { scheme }))).toBe(
        scheme === 'Bearer' ? '401 invalid_dpop_proof' : '401 missing',
      );
});

describe('a store that processes share', () => {
  it('lets one of two processes accept a proof', async () => {
    const used = new Map<string, Date>();
    const use = async (id: string, expiresAt: Date) => !used.has(id) && used.set(id, expiresAt) === used;
    const [first, second] = [resourceWith({ use }), resourceWith({ use })];
    const proof = await proofOf();
    expect(await outcomeOf(first, requestWith(proof))).toBe('active');
    expect(await outcomeOf(second, requestWith(proof))).toBe('401 invalid_dpop_proof');
    expect([...used]).toEqual([[expect.stringMatching(/^[\w-]{43}$/), new Date((seconds() + 120) * 1000)]]);
  });

  it('that hangs gives a 503', async () => {
    const use = () => new Promise<boolean>(() => {});
    expect(await outcomeOf(resourceWith({ use }), requestWith(await proofOf()))).toBe('503 unavailable');
    expect(logged.at(-1)).toContain('dpop.use');
  });

  it('that fails gives a 503', async () => {
    const use = () => Promise.reject(new Error('the store is down'));
    expect(await outcomeOf(resourceWith({ use }), requestWith(await proofOf()))).toBe('503 unavailable');
    expect(logged.at(-1)).toContain('the store is down');
  });

  it('that has no function is refused', () => {
    expect(() => resourceWith({} as never)).toThrow('dpop');
  });
});

/** Makes a memory for three used proofs, with its clock. */
function smallMemory() {
  const clock = new TestClock();
  const ids = usedProofsInMemory(clock, 3);
  return { clock, use: (id: string) => ids.use(id, new Date(clock.now() + 120_000)) };
}

it('the memory is bounded, forgets no proof that is still valid, and refuses others while it is full', async () => {
  const { clock, use } = smallMemory();
  expect(await Promise.all(['a', 'b', 'a', 'c'].map(use))).toEqual([true, true, false, true]);
  await expect(use('d')).rejects.toThrow('3 DPoP proofs were used within three minutes');
  clock.advance(179_999);
  expect(await use('a')).toBe(false);
  await expect(use('d')).rejects.toThrow();
  clock.advance(1);
  expect(await use('d')).toBe(true);
});

it('a proof that was used before the clock was set back fills the memory with no others', async () => {
  const { clock, use } = smallMemory();
  expect(await use('ahead')).toBe(true);
  clock.advance(-3_600_000);
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    expect(await use(id)).toBe(true);
    expect(await use(id)).toBe(false);
    clock.advance(180_000);
  }
  expect(await use('ahead')).toBe(false);
});

it('ids that were used after the clock was set back by less than they are kept end in time', async () => {
  const { clock, use } = smallMemory();
  expect(await use('ahead')).toBe(true);
  clock.advance(-170_000);
  expect([await use('a'), await use('b')]).toEqual([true, true]);
  clock.advance(180_000);
  expect([await use('ahead'), await use('c')]).toEqual([false, true]);
});
