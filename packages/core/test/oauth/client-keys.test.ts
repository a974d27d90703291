import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { assertionOf, type ClientKey, clientKey, withAssertion } from '../support/client-keys.ts';
import { serve, startProvider } from '../support/running.ts';

const provider = await startProvider({ privateKeyJwt: true, webhooks: { allowPrivateTargets: true } });
const [first, second] = [await clientKey('ES256', 'first'), await clientKey('PS256', 'second')];
const minute = 60_000;

/** Serves a JWK Set, which a test may change, and registers a client with its URL. */
async function published(document: unknown) {
  const state = { document, status: 200, fetched: 0 };
  const origin = await serve((_request, response) => {
    state.fetched += 1;
    const body = typeof state.document === 'string' ? state.document : JSON.stringify(state.document);
    response.writeHead(state.status, { 'content-type': 'application/json', location: '/' }).end(body);
  });
  // A path of its own, because a later server may get the port of an earlier one, and URLs are remembered.
  const client = await provider.client({ jwksUri: `${origin}/${randomUUID()}` });
  const redeem = async (key: ClientKey, header = {}) =>
    provider.redeem(client, await provider.code(client), {
      ...withAssertion(await assertionOf(provider, client, key, { header })),
    });
  return { state, client, redeem };
}

const setOf = (...keys: readonly ClientKey[]) => ({ keys: keys.map(({ publicJwk }) => publicJwk) });

describe('keys at a URL', () => {
  it('are fetched once, and used for ten minutes', async () => {
    const { state, redeem } = await published(setOf(first));
    expect(await redeem(first)).toBe('200 ok');
    expect(await redeem(first)).toBe('200 ok');
    provider.clock.advance(9 * minute);
    expect(await redeem(first)).toBe('200 ok');
    expect(state.fetched).toBe(1);
    provider.clock.advance(minute);
    expect(await redeem(first)).toBe('200 ok');
    expect(state.fetched).toBe(2);
  });

  it('are fetched once more for an unknown id, and no more often than every half minute', async () => {
    const { state, redeem } = await published(setOf(first));
    expect(await redeem(first)).toBe('200 ok');
    state.document = setOf(first, second);
    expect(await redeem(second), 'too early').toBe('401 invalid_client');
    provider.clock.advance(minute / 2);
    expect(await redeem(second)).toBe('200 ok');
    expect(state.fetched).toBe(2);
    // Many key ids that no key of the client has.
    const stranger = await clientKey('ES256', 'stranger');
    for (let index = 0; index < 20; index += 1) {
      provider.clock.advance(1_000);
      expect(await redeem(stranger, { kid: `unknown ${index}` })).toBe('401 invalid_client');
    }
    expect(state.fetched).toBe(2);
  });

  it('are fetched once by requests that come together', async () => {
    const { state, redeem } = await published(setOf(first));
    expect(new Set(await Promise.all([1, 2, 3, 4, 5].map(() => redeem(first))))).toEqual(new Set(['200 ok']));
    expect(state.fetched).toBe(1);
  });

  it('no longer work when they were taken out of the document', async () => {
    const { state, redeem } = await published(setOf(first, second));
    expect(await redeem(first)).toBe('200 ok');
    state.document = setOf(second);
    provider.clock.advance(10 * minute);
    expect(await redeem(first)).toBe('401 invalid_client');
    expect(await redeem(second)).toBe('200 ok');
  });

  it('work for an hour while the document cannot be fetched, which is no failure of the client', async () => {
    const { state, redeem } = await published(setOf(first));
    expect(await redeem(first)).toBe('200 ok');
    state.status = 500;
    provider.clock.advance(59 * minute);
    expect(await redeem(first)).toBe('200 ok');
    provider.clock.advance(minute);
    expect(await redeem(first)).toBe('503 temporarily_unavailable');
    expect(state.fetched).toBe(3);
    state.status = 200;
    provider.clock.advance(minute);
    expect(await redeem(first)).toBe('200 ok');
  });

  it('are fetched again after the clock was set back, also if the last fetch failed', async () => {
    const { state, redeem } = await published(setOf(first, second));
    expect(await redeem(first)).toBe('200 ok');
    state.document = setOf(second);
    provider.clock.advance(-60 * minute);
    expect(await redeem(first)).toBe('401 invalid_client');
    state.status = 500;
    const broken = await published(setOf(first));
    broken.state.status = 500;
    expect(await broken.redeem(first)).toBe('503 temporarily_unavailable');
    broken.state.status = 200;
    provider.clock.advance(-60 * minute);
    expect(await broken.redeem(first)).toBe('200 ok');
  });

  it.each<readonly [name: string, status: number, document: unknown]>([
    ['a redirect', 302, setOf(first)],
    ['an error', 404, setOf(first)],
    ['no JSON', 200, '<html></html>'],
    ['no set', 200, { key: first.publicJwk }],
    ['no keys', 200, { keys: [] }],
    ['10,000 members', 200, { keys: Array(10_000).fill(first.publicJwk) }],
    ['more keys than a client may have', 200, { keys: Array(51).fill(first.publicJwk) }],
    ['more than 64 KiB', 200, { ...setOf(first), more: 'x'.repeat(70_000) }],
  ])('are not used where their document is %s', async (_name, status, document) => {
    const { state, redeem } = await published(document);
    state.status = status;
    expect(await redeem(first)).toBe('503 temporarily_unavailable');
    expect(await redeem(first)).toBe('503 temporarily_unavailable');
    expect(state.fetched, 'and it is not fetched for each request').toBe(1);
  });

  it('are the usable ones of the document: no private key, and none for encryption', async () => {
    const { redeem, state } = await published({
      keys: [
        { ...first.privateJwk },
        { ...second.publicJwk, use: 'enc' },
        { kty: 'oct', k: 'c2VjcmV0', kid: 'third' },
        'no key',
      ],
    });
    expect(await redeem(first)).toBe('401 invalid_client');
    expect(await redeem(second)).toBe('401 invalid_client');
    expect(state.fetched).toBe(1);
  });
});

it('a client may not name a URL that webhooks could not have', async () => {
  const strict = await startProvider({ privateKeyJwt: true });
  const origin = await serve((_request, response) => response.end(JSON.stringify(setOf(first))));
  for (const jwksUri of [
    origin,
    'https://127.0.0.1/jwks',
    'https://169.254.169.254/',
    'https://localhost/',
    'x',
  ])
    await expect(strict.client({ jwksUri })).rejects.toThrow(/^jwksUri: The /);
});
