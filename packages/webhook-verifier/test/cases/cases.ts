/**
 * Test cases that the verifier must pass in every runtime. They only use features that all runtimes have, so
 * that any test runner can run them.
 */
import type * as Package from '../../src/index.ts';
import type { Vector } from '../vectors/vectors.ts';

/** A test case. Its promise rejects if the package is wrong. */
export interface Case {
  readonly name: string;
  run(): Promise<void>;
}

const secret = 'correct horse battery staple';
const other = 'another secret, long enough';
const timestamp = 1_780_000_000;
const now = timestamp * 1000;
const event = {
  id: 'evt_01J8ZQ4N5T',
  type: 'webhook.test',
  createdAt: '2026-05-28T20:26:40.000Z',
  mode: 'test',
  data: { message: 'Café 🦉' },
};
const text = JSON.stringify(event);
const signing = { secret, id: event.id, type: event.type, timestamp, partner: 'acme' };

function same(actual: unknown, expected: unknown, about = ''): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${about} expected ${right}, got ${left}`);
}

function fromBase64(encoded: string): Uint8Array {
  return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
}

/** Makes the helper functions of the test cases from the package under test. */
function kitOf(verifier: typeof Package) {
  const { signWebhook, verify, WebhookVerificationError } = verifier;

  /** Returns the outcome of a call: `accepted`, an error code, or `TypeError`. */
  async function outcome(attempt: () => Promise<unknown>): Promise<string> {
    try {
      await attempt();
      return 'accepted';
    } catch (error) {
      if (error instanceof WebhookVerificationError) return error.code;
      return error instanceof TypeError ? 'TypeError' : String(error);
    }
  }

  /** Returns the outcome of verifying a valid webhook with one change. */
  async function verified(change: {
    readonly body?: unknown;
    readonly headers?: object;
    readonly options?: object;
  }): Promise<string> {
    const delivery = await signWebhook(text, signing);
    const { body = delivery.body, headers, options } = change;
    const all = { ...delivery.headers, ...headers } as Package.WebhookHeaders;
    return outcome(() => verify(body as string, all, { secret, now, ...options }));
  }
  return { ...verifier, outcome, verified };
}

type Kit = ReturnType<typeof kitOf>;
type Cases = { readonly [name: string]: (kit: Kit) => Promise<void> };

const deliveries: Cases = {
  'a signed delivery is verified, in every form': async ({ signWebhook, verify }) => {
    for (const prefix of [undefined, 'acme']) {
      const { headers, body } = await signWebhook(text, { ...signing, attempt: 5, prefix });
      const lower = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      const upper = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
      );
      const list = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
      const bare = Object.assign(Object.create(null), lower);
      const map = new Map(Object.entries(lower)) as unknown as Package.WebhookHeaders;
      const forms = [headers, lower, upper, list, new Headers(headers), bare, map];
      const larger = new Uint8Array(body.length + 8);
      larger.set(body, 4);
      const bodies = [
        text,
        body,
        body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength),
        new DataView(larger.buffer, 4, body.length),
      ];
      for (const raw of bodies) {
        for (const given of forms) {
          const delivery = await verify(raw as string, given, { secrets: [other, secret], now, prefix });
          same(
            [delivery.event, delivery.id, delivery.type, delivery.timestamp, delivery.attempt],
            [event, event.id, event.type, timestamp, 5],
          );
          same([delivery.partner, delivery.matchedSecret], ['acme', 1]);
        }
      }
    }
  },

  'a delivery with the six headers of the specification is accepted, in every form': async ({
    signWebhook,
    verify,
  }) => {
    const { body, headers } = await signWebhook(text, signing);
    const { 'X-SVC-Attempt': _, ...six } = headers;
    same(Object.keys(six).length, 6);
    for (const given of [six, new Headers(six), { ...six, 'x-svc-attempt': [] }]) {
      const { event: received, attempt, partner } = await verify(body, given, { secret, now });
      same([received, attempt, partner], [event, null, 'acme']);
    }
  },

  'bytes that are signed are given back as they are': async ({ signWebhook }) => {
    const bytes = new TextEncoder().encode(text);
    const { headers, body } = await signWebhook(bytes, signing);
    same(body === bytes, true);
    same((await signWebhook(text, signing)).headers, headers);
    same((await signWebhook(bytes.buffer, signing)).headers, headers);
  },

  'what cannot be received is not signed': async ({ outcome, signWebhook }) => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ timestamp: timestamp + 0.5 }, 'TypeError'],
      [{ timestamp: 0 }, 'TypeError'],
      [{ timestamp: -1 }, 'TypeError'],
      [{ timestamp: 999_999_999_999 }, 'accepted'],
      [{ timestamp: 1_000_000_000_000 }, 'TypeError'],
      [{ timestamp: 1 }, 'accepted'],
      [{ attempt: 0 }, 'TypeError'],
      [{ attempt: 1.5 }, 'TypeError'],
      [{ attempt: 9_999 }, 'accepted'],
      [{ attempt: 10_000 }, 'TypeError'],
      [{ prefix: 'SVC' }, 'TypeError'],
      [{ prefix: 'a'.repeat(16) }, 'accepted'],
      [{ secret: '' }, 'weak_secret'],
    ];
    for (const [change, code] of wrong) {
      same(await outcome(() => signWebhook(text, { ...signing, ...change })), code, JSON.stringify(change));
    }
    same(await outcome(() => signWebhook('\uD800', signing)), 'body_not_utf8');
    same(await outcome(() => signWebhook(event as never, signing)), 'body_already_parsed');
  },

  'every tampered copy is refused for what was done': async ({ safeVerify, signWebhook, tamper }) => {
    for (const prefix of [undefined, 'acme']) {
      const delivery = await signWebhook(text, { ...signing, prefix });
      const copies = tamper(delivery, { prefix });
      same(copies.length > 30, true);
      for (const { name, code, headers, body } of copies) {
        const result = await safeVerify(body, headers, { secret, now, prefix });
        same(result.ok ? 'accepted' : result.error.code, code, name);
      }
    }
  },
};

const formats: Cases = {
  'a header that came twice is refused, in every form': async ({ verified, signWebhook }) => {
    const { headers } = await signWebhook(text, signing);
    for (const [name, value] of Object.entries(headers)) {
      if (name === 'Content-Type') continue;
      same(await verified({ headers: { [name.toLowerCase()]: value } }), 'malformed_header', name);
      same(await verified({ headers: { [name]: [value, value] } }), 'malformed_header', name);
      same(await verified({ headers: { [name]: `${value}, ${value}` } }), 'malformed_header', name);
      same(await verified({ headers: { [name.toLowerCase()]: undefined } }), 'accepted', name);
      same(await verified({ headers: { [name.toLowerCase()]: null } }), 'accepted', name);
      const without = name === 'X-SVC-Attempt' ? 'accepted' : 'missing_header';
      for (const missing of [undefined, null, []]) {
        same(await verified({ headers: { [name]: missing } }), without, name);
      }
      for (const wrong of ['', ' ', 7, {}, 'é', 'a'.repeat(300)]) {
        same(await verified({ headers: { [name]: wrong } }), 'malformed_header', name);
      }
    }
    same(await verified({ headers: { 'x-other': 'a', 'X-SVC-Other': 'b', Yellow: 'c' } }), 'accepted');
  },

  'the formats of headers have their bounds': async ({ verified, signWebhook }) => {
    const formats: readonly (readonly [string, readonly string[], readonly string[]])[] = [
      ['X-SVC-Partner', ['ab', 'a'.repeat(40), '0-9'], ['a', 'a'.repeat(41), 'A-b', 'a_b']],
      ['X-SVC-Attempt', ['1', '10', '9999'], ['0', '01', '10000', '-1', '1.0', '１']],
    ];
    for (const [name, right, wrong] of formats) {
      for (const value of right) same(await verified({ headers: { [name]: value } }), 'accepted', value);
      for (const value of wrong)
        same(await verified({ headers: { [name]: value } }), 'malformed_header', value);
    }
    const long = 'e'.repeat(256);
    const { body, headers } = await signWebhook(JSON.stringify({ ...event, id: long }), {
      ...signing,
      id: long,
    });
    same(await verified({ body, headers }), 'malformed_header');
  },
};

const receiving: Cases = {
  'the age has its bounds': async ({ verified }) => {
    for (const [age, code] of [
      [0, 'accepted'],
      [300_000, 'accepted'],
      [300_001, 'timestamp_too_old'],
      [-300_000, 'accepted'],
      [-300_001, 'timestamp_too_new'],
    ] as const) {
      same(await verified({ options: { now: now + age } }), code, `${age}`);
      same(await verified({ options: { now: () => now + age } }), code, `${age}`);
    }
    same((await verified({ options: { now: undefined } })) === 'accepted', false);
    same(await verified({ options: { tolerance: 3_600, now: now + 3_600_000 } }), 'accepted');
    same(await verified({ options: { tolerance: 0.001, now: now + 1 } }), 'accepted');
    same(await verified({ options: { tolerance: 0.001, now: now + 2 } }), 'timestamp_too_old');
  },

  'wrong options are a TypeError': async ({ outcome, verified, safeVerify, signWebhook, verify }) => {
    const wrong: readonly object[] = [
      { tolerance: 0 },
      { tolerance: -1 },
      { tolerance: Number.NaN },
      { tolerance: 3_601 },
      { tolerance: Number.POSITIVE_INFINITY },
      { now: timestamp },
      { now: Number.NaN },
      { now: Number.POSITIVE_INFINITY },
      { now: 99_999_999_999 },
      { now: 8.64e15 + 1 },
      { secrets: [secret] },
      { secret: undefined, secrets: [] },
      { secret: undefined, secrets: secret },
      { prefix: 'SVC' },
      { prefix: 7 },
      { prefix: 'a' },
      { prefix: 'X-svc' },
      { prefix: 'svc-x' },
      { prefix: 'a'.repeat(17) },
    ];
    for (const options of wrong) same(await verified({ options }), 'TypeError', JSON.stringify(options));
    same(await verified({ options: { now: 100_000_000_000 } }), 'timestamp_too_new');
    same(await verified({ options: { now: 8.64e15 } }), 'timestamp_too_old');
    const { body, headers } = await signWebhook(text, signing);
    for (const options of [undefined, null, 'secret']) {
      same(await outcome(() => verify(body, headers, options as never)), 'TypeError');
      same(await outcome(() => safeVerify(body, headers, options as never)), 'TypeError');
    }
    for (const given of [undefined, null, 'headers']) {
      same(await outcome(() => verify(body, given as never, { secret, now })), 'TypeError');
    }
  },

  'weak secrets are refused': async ({ verified, weaknessOf }) => {
    const weak = [
      '',
      'undefined',
      'null',
      'NaN',
      '[object Promise]',
      'undefinedundefined',
      ' '.repeat(16),
      '\n'.repeat(16),
      'fifteen letters',
      'a lone surrogate \uD800',
      undefined,
      null,
      7,
      {},
      [secret],
      new TextEncoder().encode(secret),
    ];
    for (const each of weak) {
      same(await verified({ options: { secret: each } }), 'weak_secret', `${each}`);
      same(
        await verified({ options: { secret: undefined, secrets: [secret, each] } }),
        'weak_secret',
        `${each}`,
      );
      same(typeof weaknessOf(each), 'string');
    }
    same(weaknessOf(''), 'is empty or not set');
    same(weaknessOf('sixteen letters!'), null);
    same(weaknessOf(secret), null);
  },

  'every secret counts, and the first that matches is named': async ({ verified, signWebhook, verify }) => {
    const { body, headers } = await signWebhook(text, signing);
    for (const [secrets, index] of [
      [[secret, other], 0],
      [[other, secret], 1],
      [[other, other, secret], 2],
      [[secret, secret], 0],
    ] as const) {
      same((await verify(body, headers, { secrets, now })).matchedSecret, index);
    }
    same(await verified({ options: { secret: other } }), 'signature_mismatch');
  },
};

const contents: Cases = {
  'a body that is no raw body is refused': async ({ outcome, verified, signWebhook, verify }) => {
    same(await verified({ body: null }), 'body_missing');
    const { headers } = await signWebhook(text, signing);
    same(await outcome(() => verify(undefined as never, headers, { secret, now })), 'body_missing');
    for (const body of [event, [1], 7, true]) same(await verified({ body }), 'body_already_parsed');
    same(await verified({ body: `${text}\uD800` }), 'body_not_utf8');
  },

  'the message of a mismatch tells a lossy decoder from a changed body': async ({
    safeVerify,
    signWebhook,
    verify,
  }) => {
    for (const [body, words] of [
      [text.replace('é', '\uFFFD'), 'decoded wrongly'],
      [`${text} `, 'parsed and written again'],
    ] as const) {
      const { headers } = await signWebhook(text, signing);
      const result = await safeVerify(body, headers, { secret, now });
      same(result.ok ? '' : result.error.message.includes(words), true);
    }
    const kept = JSON.stringify({ ...event, data: '\uFFFD' });
    const { body, headers } = await signWebhook(kept, signing);
    same((await verify(body, headers, { secret, now })).event, JSON.parse(kept));
  },

  'a body that is changed while it is verified is not trusted': async ({ signWebhook, verify }) => {
    const { body, headers } = await signWebhook(text, signing);
    const bytes = body.slice();
    const verification = verify(bytes, headers, { secret, now });
    bytes.fill(32);
    same((await verification).event, event);
  },
};

async function decide({ safeVerify }: Kit, vector: Vector): Promise<void> {
  const { body, headers, secrets, tolerance, prefix, expected } = vector;
  const options = { secrets, tolerance, prefix, now: vector.now * 1000 };
  const result = await safeVerify(fromBase64(body), headers, options);
  if (!result.ok) {
    same({ valid: false, code: result.error.code }, expected);
    same(result.error.name, 'WebhookVerificationError');
    return;
  }
  const { event: parsed, ...rest } = result.delivery;
  const { valid, ...members } = expected as { valid: boolean } & typeof rest;
  same(valid, true);
  same(Object.keys(rest).sort(), Object.keys(members).sort());
  for (const [member, value] of Object.entries(members)) {
    same(rest[member as keyof typeof rest], value, member);
  }
  same(parsed, JSON.parse(new TextDecoder().decode(fromBase64(body))));
}

/** Makes all test cases for the package under test, however the package was loaded. */
export function casesOf(verifier: typeof Package, vectors: readonly Vector[]): Case[] {
  const kit = kitOf(verifier);
  const decisions = vectors.map((vector) => ({
    name: `vector: ${vector.name}`,
    run: () => decide(kit, vector),
  }));
  const others = Object.entries({ ...deliveries, ...formats, ...receiving, ...contents });
  return [...decisions, ...others.map(([name, run]) => ({ name, run: () => run(kit) }))];
}

/** Runs all test cases; returns the number that passed, and the errors of the others. */
export async function runCases(cases: readonly Case[]): Promise<{ passed: number; failures: string[] }> {
  const failures: string[] = [];
  for (const { name, run } of cases) {
    try {
      await run();
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { passed: cases.length - failures.length, failures };
}
