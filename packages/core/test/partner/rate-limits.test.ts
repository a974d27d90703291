import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { fixedWindows } from '../../src/fixed-windows.ts';
import type { Answer } from '../support/browser.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { partnerProvider, testPayment } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';

const day = '2024-01-01';

/** A request of each group that succeeds, and the limit of the specification. */
const groups: readonly (readonly [
  string,
  number,
  number,
  number,
  (provider: TestProvider, key: TestKey) => Promise<() => Promise<Answer>>,
])[] = [
  [
    'verify',
    60,
    60,
    200,
    async (provider, key) => {
      const minted = await provider.partnerCall(key, 'POST /v1/partner/sandbox/passports', {});
      const { token } = minted.json();
      return () => provider.partnerCall(key, 'POST /v1/partner/verify', { token });
    },
  ],
  [
    'payments',
    120,
    60,
    201,
    async (provider, key) => () => provider.partnerCall(key, 'POST /v1/partner/payments', testPayment),
  ],
  [
    'users',
    300,
    60,
    200,
    async (provider, key) => () => provider.partnerCall(key, 'GET /v1/partner/users/KID-TEST-APPROVED'),
  ],
  [
    'reconciliation',
    10,
    3_600,
    200,
    async (provider, key) => () => provider.partnerCall(key, `GET /v1/partner/reconciliation?date=${day}`),
  ],
  [
    'other',
    200,
    60,
    200,
    async (provider, key) => () => provider.partnerCall(key, 'GET /v1/partner/payments'),
  ],
];

const header = (answer: Answer, name: string) => Number(answer.headers.get(name) ?? Number.NaN);

describe('rate limits', () => {
  it.each(groups)(
    'of %s are exact: of %i and one parallel requests one is refused',
    async (_group, limit, seconds, success, prepare) => {
      const { provider } = await partnerProvider({ partnerLimits: {} });
      const key = await provider.key({ mode: 'test' });
      const ask = await prepare(provider, key);
      const answers = await Promise.all(Array.from({ length: limit + 1 }, ask));
      const refused = answers.filter(({ status }) => status === 429);
      expect(answers.filter(({ status }) => status === success)).toHaveLength(limit);
      expect(refused).toHaveLength(1);
      const reset = Math.ceil((provider.clock.now() + seconds * 1000) / 1000);
      for (const answer of answers) {
        expect(header(answer, 'x-ratelimit-limit')).toBe(limit);
        expect(header(answer, 'x-ratelimit-reset')).toBe(reset);
      }
      expect(
        answers
          .filter(({ status }) => status !== 429)
          .map((answer) => header(answer, 'x-ratelimit-remaining'))
          .sort((a, b) => a - b),
      ).toEqual(Array.from({ length: limit }, (_, left) => left));
      const [last] = refused;
      expect(last?.json().code).toBe('rate_limit_exceeded');
      expect(last && header(last, 'x-ratelimit-remaining')).toBe(0);
      expect(last && header(last, 'retry-after')).toBe(seconds);
      // Refused requests neither count nor move the end of the window.
      provider.clock.advance(seconds * 1000 - 1);
      const late = await ask();
      expect([late.status, header(late, 'retry-after'), header(late, 'x-ratelimit-reset')]).toEqual([
        429,
        1,
        reset,
      ]);
      provider.clock.advance(1);
      const fresh = await ask();
      expect([fresh.status, header(fresh, 'x-ratelimit-remaining')]).toEqual([success, limit - 1]);
    },
  );

  const two = { requests: 2, windowSeconds: 60 };
  const look = 'GET /v1/partner/users/KID-ANA';
  const statuses = async (provider: TestProvider, ...keys: readonly (TestKey | string)[]) => {
    const found: number[] = [];
    for (const key of keys) found.push((await provider.partnerCall(key, look)).status);
    return found;
  };

  it('are counted per key, and one group does not eat from another', async () => {
    const { provider } = await partnerProvider({ partnerLimits: { users: two, other: two } });
    const first = await provider.key();
    const second = await provider.key({ partner: first.partner });
    expect(await statuses(provider, first, first, first, second)).toEqual([200, 200, 429, 200]);
    const list = async () => (await provider.partnerCall(first, 'GET /v1/partner/payments')).status;
    const inspect = async () =>
      (await provider.partnerCall(first, `GET /v1/partner/payments/tr_${'0'.repeat(32)}`)).status;
    // Everything else is one bucket.
    expect([await list(), await inspect(), await list(), await inspect()]).toEqual([200, 404, 429, 429]);
  });

  it('are shared by a rolled key, its successor and the successor of that', async () => {
    const { provider } = await partnerProvider({ partnerLimits: { users: two } });
    const old = await provider.key();
    const next = await provider.ostiary.admin.apiKeys.roll(old.id);
    const last = await provider.ostiary.admin.apiKeys.roll(next.apiKey.id);
    expect(await statuses(provider, old, next.key, last.key, next.key, old)).toEqual([
      200, 200, 429, 429, 429,
    ]);
  });

  it('can be counted per partner, each mode apart', async () => {
    const { provider } = await partnerProvider({ partnerLimits: { users: two, per: 'partner' } });
    const first = await provider.key();
    const second = await provider.key({ partner: first.partner });
    const sandbox = await provider.key({ partner: first.partner, mode: 'test' });
    const stranger = await provider.key();
    expect(await statuses(provider, first, second, first, second, stranger)).toEqual([
      200, 200, 429, 429, 200,
    ]);
    expect((await provider.partnerCall(sandbox, 'GET /v1/partner/users/KID-TEST-APPROVED')).status).toBe(200);
  });

  it('are not eaten by strangers, nor by requests that did not reach them', async () => {
    const { provider } = await partnerProvider({ partnerLimits: { users: two } });
    const key = await provider.key();
    const typo = `${key.key.slice(0, -1)}${key.key.endsWith('0') ? '1' : '0'}`;
    const partner = key.partner;
    const [powerless, elsewhere] = [
      await provider.key({ partner, scopes: ['webhooks'] }),
      await provider.key({ partner, allowlist: ['192.0.2.1'] }),
    ];
    for (let round = 0; round < 5; round += 1) {
      for (const refused of [typo, 'nonsense', powerless, elsewhere]) {
        const answer = await provider.partnerCall(refused, look);
        expect([401, 403]).toContain(answer.status);
        expect([...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
      }
    }
    expect(await statuses(provider, key, key, key)).toEqual([200, 200, 429]);
  });

  it('headers are on every answer that reached the limiter, errors too', async () => {
    const database = fragileStorage();
    const { provider } = await partnerProvider({ storage: database.storage });
    const key = await provider.key();
    const named = async (target: string, body?: unknown, headers = {}) => {
      const answer = await provider.partnerCall(key, target, body, headers);
      return [answer.status, ...[...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))];
    };
    const all = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
    expect(await named('GET /v1/partner/users/nobody')).toEqual([404, ...all]);
    expect(await named('POST /v1/partner/payments', {})).toEqual([400, ...all]);
    expect(await named('POST /v1/partner/payments', {}, { 'x-svc-signature': 'x' })).toEqual([401, ...all]);
    expect(await named('POST /v1/partner/payments', '{}', { 'content-type': 'text/plain' })).toEqual([
      415,
      ...all,
    ]);
    database.breakWhen((call) => call === 'transfers.list');
    expect(await named('GET /v1/partner/payments')).toEqual([503, ...all]);
    expect(await named('GET /v1/partner/nothing')).toEqual([404]);
  });

  it('are shared by all processes on a storage that shares counts, and refuse with 503 when it fails', async () => {
    const database = fragileStorage();
    const options = {
      storage: database.storage,
      partnerLimits: { users: two },
      sealingKeys: [randomBytes(32)],
    };
    const { provider } = await partnerProvider(options);
    const key = await provider.key();
    const { provider: other } = await partnerProvider({ ...options, clock: provider.clock }, provider.host);
    expect(await statuses(provider, key)).toEqual([200]);
    expect(await statuses(other, key, key)).toEqual([200, 429]);
    expect(await statuses(provider, key)).toEqual([429]);
    database.breakWhen((call) => call === 'rateLimits.consumeOfKey');
    const refused = await provider.partnerCall(key, look);
    expect([refused.status, refused.json().code, refused.headers.get('retry-after') !== null]).toEqual([
      503,
      'internal_error',
      true,
    ]);
  });

  it('are kept by each process for itself on any other storage, or in a store of the host’s', async () => {
    const { rateLimits: _, ...storage } = memoryStorage();
    const options = { storage, partnerLimits: { users: two }, sealingKeys: [randomBytes(32)] };
    const { provider } = await partnerProvider(options);
    const key = await provider.key();
    const { provider: other } = await partnerProvider({ ...options, clock: provider.clock }, provider.host);
    for (const process of [provider, other])
      expect(await statuses(process, key, key, key)).toEqual([200, 200, 429]);

    const database = fragileStorage();
    const store = fixedWindows();
    const { provider: third } = await partnerProvider({
      storage: database.storage,
      partnerLimits: { store, users: two },
    });
    database.forget();
    expect(await statuses(third, ...Array(3).fill(await third.key()))).toEqual([200, 200, 429]);
    expect(database.calls.filter((call) => call.startsWith('rateLimits'))).toEqual([]);
  });
});
