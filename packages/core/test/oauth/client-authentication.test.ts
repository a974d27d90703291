import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import type { Answer } from '../support/browser.ts';
import { basic, pkce, type TestClient, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

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
type Outcome = '200 ok' | '400 invalid_grant' | '401 invalid_client';

interface Case {
  readonly kind: Kind;
  readonly bound: boolean;
  readonly secret: Secret;
  readonly verifier: Verifier;
}

/** Returns the outcome that the rules of client authentication require. */
function expected({ kind, bound, secret, verifier }: Case): Outcome {
  // A wrong secret is always refused, even beside a right verifier. A client without a secret has no right
  // one.
  if (secret === 'wrong' || (secret === 'right' && kind === 'public')) return '401 invalid_client';
  const hasSecret = secret === 'right';
  if (!hasSecret && kind.includes('requireSecret')) return '401 invalid_client';
  const verifierSent = verifier !== 'missing' && verifier !== 'empty';
  // Without a secret, PKCE decides if a verifier was sent or the code was bound. Otherwise the client is
  // unknown.
  if (!hasSecret && !verifierSent && !bound) return '401 invalid_client';
  if (bound) return verifier === 'right' ? '200 ok' : '400 invalid_grant';
  return verifierSent ? '400 invalid_grant' : '200 ok';
}

const cases: Case[] = [];
const clients = new Map<Kind, TestClient>();
for (const kind of Object.keys(kinds) as Kind[]) {
  clients.set(kind, await provider.client(kinds[kind]));
  // A client that requires PKCE cannot get a code without a challenge.
  for (const bound of kind === 'public' || kind.includes('requirePkce') ? [true] : [true, false]) {
    for (const secret of ['right', 'wrong', 'empty', 'missing'] as const) {
      for (const verifier of ['right', 'wrong', 'missing', 'empty', 'short'] as const)
        cases.push({ kind, bound, secret, verifier });
    }
  }
}
const clientOf = (kind: Kind): TestClient => clients.get(kind) as TestClient;

/** Exchanges a new code, with the client's credentials in one of the possible places. */
async function present({ kind, bound, secret, verifier }: Case, way: string): Promise<Answer> {
  const client = clientOf(kind);
  const pair = pkce();
  const code = await provider.code(client, bound ? pair.bound : {});
  const secrets = {
    right: client.secret ?? 'any',
    wrong: `${client.secret ?? ''}x`,
    empty: '',
    missing: null,
  };
  const verifiers = {
    right: pair.verifier,
    wrong: pkce().verifier,
    empty: '',
    short: pair.verifier.slice(0, 42),
  };
  const sentSecret = secrets[secret];
  const form = new URLSearchParams(tokenRequest({ ...client, secret: sentSecret }, code));
  if (verifier !== 'missing') form.set('code_verifier', verifiers[verifier]);
  if (way === 'json') return provider.call('/v1/oauth/token', Object.fromEntries(form));
  if (way === 'form') return provider.call('/v1/oauth/token', form);
  for (const name of ['client_id', 'client_secret']) form.delete(name);
  return provider.call('/v1/oauth/token', form, { authorization: basic(client.id, sentSecret ?? '') });
}

// The method of the credentials is settled before the kind of the client matters, so that two kinds cover the
// other methods.
const ofTwoKinds = cases.filter(({ kind }) => kind === 'confidential' || kind === 'public');

describe.each([
  ['json', cases],
  ['form', ofTwoKinds],
  ['basic', ofTwoKinds],
] as const)('client authentication, credentials sent by %s', (way, sent) => {
  it.each(sent.map((one) => ({ ...one, outcome: expected(one) })))(
    '$kind, code bound: $bound, secret $secret, verifier $verifier → $outcome',
    async ({ outcome, ...one }) => {
      const answer = await present(one, way);
      expect(answer.outcome).toBe(outcome);
      // The header is sent only if the request had an Authorization header (RFC 6749, section 5.2).
      const challenged = way === 'basic' && outcome === '401 invalid_client';
      expect(answer.headers.get('www-authenticate')).toBe(
        challenged ? 'Basic realm="token", charset="UTF-8"' : null,
      );
    },
  );
});

it('the table above has every combination, and every outcome in it', () => {
  expect(cases).toHaveLength(7 * 4 * 5);
  expect(new Set(cases.map(expected)).size).toBe(3);
});

it.each<readonly [changes: Record<string, unknown>, outcome: Outcome | '400 invalid_request']>([
  [{ client_secret: undefined }, '401 invalid_client'],
  [{ client_secret: undefined, client_id: '' }, '400 invalid_request'],
  [{ client_secret: undefined, client_id: undefined }, '400 invalid_request'],
  [{ client_secret: undefined, code_verifier: pkce().verifier }, '400 invalid_grant'],
  ...['unknown', 'ä', ' ', 'x'.repeat(10_000)].map((code) => [{ code }, '400 invalid_grant'] as const),
])('an unknown code with %j is %s', async (changes, outcome) => {
  expect(await provider.redeem(clientOf('confidential'), 'unknown', changes)).toBe(outcome);
});

it('after a rotation the old secret works together with the new one until the exact end of the overlap', async () => {
  for (const [options, ms, outcome] of [
    [{ overlapSeconds: 60 }, 59_999, '200 ok'],
    [{ overlapSeconds: 60 }, 60_000, '401 invalid_client'],
    [undefined, 0, '401 invalid_client'],
  ] as const) {
    const client = await provider.client();
    const { clientSecret: secret } = await provider.ostiary.admin.clients.rotateSecret(client.id, options);
    provider.clock.advance(ms);
    expect(await provider.redeem(client, await provider.code(client))).toBe(outcome);
    expect(await provider.redeem({ ...client, secret }, await provider.code(client))).toBe('200 ok');
  }
});

it('a secret that is wrong only by white space around it is reported in the log, but not in the response', async () => {
  const client = await provider.client();
  const around = 'the client_secret is wrong: it would be right without the white space around it';
  for (const secret of [
    `${client.secret}\n`,
    `${client.secret}\r\n`,
    ` ${client.secret}`,
    `${client.secret}x`,
  ]) {
    provider.logged.length = 0;
    const answer = await provider.exchange({ ...client, secret }, 'any');
    expect(answer.outcome).toBe('401 invalid_client');
    expect(answer.json().error_description).toBe('Client authentication failed.');
    const reason = secret.endsWith('x') ? 'the client_secret is wrong' : around;
    expect(provider.logged.map(({ fields }) => fields)).toEqual([{ client: client.id, reason }]);
  }
});
