import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import type { Answer } from '../support/browser.ts';
import { generousLimits, pkce, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());

const kinds = {
  confidential: {},
  'confidential, requireSecret': { requireSecret: true },
  'confidential, requirePkce': { requirePkce: true },
  'confidential, requirePkce and requireSecret': { requirePkce: true, requireSecret: true },
  public: { public: true },
} as const satisfies Record<string, Partial<NewClient>>;

type Kind = keyof typeof kinds;
type Secret = 'right' | 'wrong' | 'empty' | 'missing';
type Verifier = 'right' | 'wrong' | 'missing' | 'empty' | 'short';
type Outcome = '200' | '400 invalid_grant' | '401 invalid_client';

interface Case {
  readonly kind: Kind;
  readonly bound: boolean;
  readonly secret: Secret;
  readonly verifier: Verifier;
}

/** The row "Client authentication" of the decisions, word by word. */
function expected({ kind, bound, secret, verifier }: Case): Outcome {
  // Sent and wrong is always refused, even beside a right verifier; a client without a secret has no right
  // one.
  if (secret === 'wrong' || (secret === 'right' && kind === 'public')) return '401 invalid_client';
  const hasSecret = secret === 'right';
  if (!hasSecret && kind.includes('requireSecret')) return '401 invalid_client';
  const verifierSent = verifier !== 'missing' && verifier !== 'empty';
  // No secret: where a verifier was sent or the code was bound, PKCE decides; otherwise it is the client that
  // is not known.
  if (!hasSecret && !verifierSent && !bound) return '401 invalid_client';
  if (bound) return verifier === 'right' ? '200' : '400 invalid_grant';
  return verifierSent ? '400 invalid_grant' : '200';
}

const cases: Case[] = [];
for (const kind of Object.keys(kinds) as Kind[]) {
  for (const bound of [true, false]) {
    // Such a client cannot have a code that is bound to no challenge.
    if (!bound && (kind === 'public' || kind.includes('requirePkce'))) continue;
    for (const secret of ['right', 'wrong', 'empty', 'missing'] as const) {
      for (const verifier of ['right', 'wrong', 'missing', 'empty', 'short'] as const)
        cases.push({ kind, bound, secret, verifier });
    }
  }
}

/** Presents a fresh code in one of the ways in which credentials can be sent. */
async function present(
  { kind, bound, secret, verifier }: Case,
  way: 'json' | 'form' | 'basic',
): Promise<Answer> {
  const client = await clientOf(kind);
  const pair = pkce();
  const challenge = bound ? { code_challenge: pair.challenge, code_challenge_method: 'S256' } : {};
  const code = await provider.code(client, challenge);
  const secrets = {
    right: client.secret ?? 'any',
    wrong: `${client.secret ?? ''}x`,
    empty: '',
    missing: undefined,
  };
  const verifiers = {
    right: pair.verifier,
    wrong: pkce().verifier,
    missing: undefined,
    empty: '',
    short: pair.verifier.slice(0, 42),
  };
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
  });
  const sentVerifier = verifiers[verifier];
  const sentSecret = secrets[secret];
  if (sentVerifier !== undefined) form.set('code_verifier', sentVerifier);
  if (way === 'basic') {
    return provider.call('/v1/oauth/token', form, {
      authorization: `Basic ${btoa(`${client.id}:${sentSecret ?? ''}`)}`,
    });
  }
  form.set('client_id', client.id);
  if (sentSecret !== undefined) form.set('client_secret', sentSecret);
  return provider.call('/v1/oauth/token', way === 'form' ? form : Object.fromEntries(form));
}

const clients = new Map<Kind, Promise<TestClient>>();
function clientOf(kind: Kind): Promise<TestClient> {
  const known = clients.get(kind) ?? provider.client(kinds[kind]);
  clients.set(kind, known);
  return known;
}

describe.each(['json', 'form', 'basic'] as const)('client authentication, credentials sent by %s', (way) => {
  it.each(cases.map((one) => ({ ...one, outcome: expected(one) })))(
    '$kind, code bound: $bound, secret $secret, verifier $verifier → $outcome',
    async ({ outcome, ...one }) => {
      const answer = await present(one, way);
      const { error } = answer.json();
      expect(error === undefined ? String(answer.status) : `${answer.status} ${error}`).toBe(outcome);
      // Only where the request carried an Authorization header (RFC 6749, section 5.2).
      const challenged = way === 'basic' && outcome === '401 invalid_client';
      expect(answer.headers.get('www-authenticate')).toBe(
        challenged ? 'Basic realm="token", charset="UTF-8"' : null,
      );
    },
  );
});

it('the table above has every combination, and every outcome in it', () => {
  expect(cases).toHaveLength(7 * 4 * 5);
  expect(new Set(cases.map(expected))).toEqual(new Set(['200', '400 invalid_grant', '401 invalid_client']));
});

describe('a client that is not known', () => {
  const body = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://app.example/callback' };

  it.each(['nobody', 'a b', '../x', 'ä', 'x'.repeat(256)])(
    '%j answers like a wrong secret',
    async (client_id) => {
      const wrong = await provider.exchange({ ...(await clientOf('confidential')), secret: 'wrong' }, 'x');
      const answer = await provider.call('/v1/oauth/token', { ...body, client_id, client_secret: 'wrong' });
      expect([answer.status, answer.text]).toEqual([wrong.status, wrong.text]);
      expect(answer.status).toBe(401);
    },
  );

  it('missing or empty is invalid_request', async () => {
    for (const extra of [{}, { client_id: '' }]) {
      const answer = await provider.call('/v1/oauth/token', { ...body, ...extra });
      expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
    }
  });

  it('disabled is invalid_client, and works again once it is enabled', async () => {
    const client = await provider.client();
    await provider.ostiary.admin.clients.disable(client.id);
    expect((await provider.exchange(client, 'x')).json().error).toBe('invalid_client');
    await provider.ostiary.admin.clients.enable(client.id);
    expect((await provider.exchange(client, 'x')).json().error).toBe('invalid_grant');
  });
});

describe('an unknown code', () => {
  it.each([
    [{ client_secret: undefined }, '401 invalid_client'],
    [{ client_secret: undefined, code_verifier: pkce().verifier }, '400 invalid_grant'],
    [{}, '400 invalid_grant'],
  ])('with %j is %s', async (changes, outcome) => {
    const answer = await provider.exchange(await clientOf('confidential'), 'unknown', changes);
    expect(`${answer.status} ${answer.json().error}`).toBe(outcome);
  });
});

describe('HTTP Basic', () => {
  const form = async (client: TestClient) =>
    new URLSearchParams({
      grant_type: 'authorization_code',
      code: await provider.code(client),
      redirect_uri: client.redirectUri,
    });
  const percent = (text: string) =>
    [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

  it.each([
    ['as it is', (text: string) => text],
    ['form-encoded, as RFC 6749 asks', (text: string) => encodeURIComponent(text)],
    ['with every character percent-encoded', percent],
  ])('takes id and secret %s', async (_name, encode) => {
    const client = await provider.client({
      clientId: `Client_-${encode.length}-${Math.random().toString(36).slice(2)}`,
    });
    const authorization = `Basic ${btoa(`${encode(client.id)}:${encode(client.secret ?? '')}`)}`;
    expect((await provider.call('/v1/oauth/token', await form(client), { authorization })).status).toBe(200);
  });

  it('takes the scheme in any case, and a client_id in the body that agrees', async () => {
    const client = await clientOf('confidential');
    const body = await form(client);
    body.set('client_id', client.id);
    body.set('client_secret', '');
    const authorization = `bAsIc ${btoa(`${client.id}:${client.secret}`)}`;
    expect((await provider.call('/v1/oauth/token', body, { authorization })).status).toBe(200);
  });

  it('beside a secret in the body, or another client_id, is invalid_request', async () => {
    const client = await clientOf('confidential');
    const authorization = `Basic ${btoa(`${client.id}:${client.secret}`)}`;
    for (const extra of [{ client_secret: client.secret ?? '' }, { client_id: 'another' }]) {
      const body = await form(client);
      for (const [name, value] of Object.entries(extra)) body.set(name, value);
      const answer = await provider.call('/v1/oauth/token', body, { authorization });
      expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
    }
  });

  it.each([
    'Basic',
    'Basic ',
    'Basic !!!',
    `Basic ${btoa('no colon')}`,
    `Basic ${btoa('%zz:%zz')}`,
    'Bearer abc',
    'Digest x=y',
  ])('that is malformed (%s) is refused in kind', async (authorization) => {
    const answer = await provider.call('/v1/oauth/token', await form(await clientOf('confidential')), {
      authorization,
    });
    expect([answer.status, answer.json().error]).toEqual([401, 'invalid_client']);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });
});

describe('the rotation of a secret', () => {
  it('lets old and new work during the overlap, to its last millisecond, then only the new one', async () => {
    const client = await provider.client();
    const { clientSecret: secret } = await provider.ostiary.admin.clients.rotateSecret(client.id, {
      overlapSeconds: 60,
    });
    const next = { ...client, secret };
    const statuses = async () => {
      const answers = [];
      for (const one of [client, next])
        answers.push((await provider.exchange(one, await provider.code(client))).status);
      return answers;
    };
    expect(await statuses()).toEqual([200, 200]);
    provider.clock.advance(59_999);
    expect(await statuses()).toEqual([200, 200]);
    provider.clock.advance(1);
    expect(await statuses()).toEqual([401, 200]);
  });

  it('without overlap ends the old one at once', async () => {
    const client = await provider.client();
    const { clientSecret: secret } = await provider.ostiary.admin.clients.rotateSecret(client.id);
    const code = await provider.code(client);
    expect((await provider.exchange(client, code)).status).toBe(401);
    expect((await provider.exchange({ ...client, secret }, code)).status).toBe(200);
  });
});
