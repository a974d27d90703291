import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OstiaryPartner, type OstiaryPartnerOptions } from '../src/index.ts';
import { exportReconciliation } from '../src/reconciliation/index.ts';
import { answer, type Fault, fakeKey, faulty, refusal, resetBefore } from './support/faulty.ts';
import { against, clientOf, failureOf } from './support/partner.ts';

const good: OstiaryPartnerOptions = { apiKey: fakeKey, baseUrl: 'https://api.example' };
const signingSecret = 'svc_sign_0123456789abcdef';
const make = (changes: object) => () => new OstiaryPartner({ ...good, ...changes });

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}

afterEach(() => vi.unstubAllGlobals());

describe('options', () => {
  it.each<readonly [string, object]>([
    ['no key', { apiKey: undefined }],
    ['an empty key', { apiKey: '' }],
    ['a key that was not filled in', { apiKey: 'undefined' }],
    ['a key with a line break', { apiKey: `${fakeKey}\n` }],
    ['a key of no mode', { apiKey: fakeKey.replace('_test_', '_prod_') }],
    ['a key that is a list', { apiKey: [fakeKey] }],
    ['an access token', { apiKey: 'svc_at_0123456789abcdef0123456789abcdef' }],
    ['another prefix', { prefix: 'acme' }],
    ['no address', { baseUrl: undefined }],
    ['half an address', { baseUrl: 'api.example' }],
    ['plain http', { baseUrl: 'http://api.example' }],
    ['plain http to what only begins like this machine', { baseUrl: 'http://localhost.example' }],
    ['plain http to 127.example', { baseUrl: 'http://127.0.0.1.example' }],
    ['plain http with this machine as a user', { baseUrl: 'http://localhost:80@api.example' }],
    ['a user', { baseUrl: 'https://me:pw@api.example' }],
    ['a query', { baseUrl: 'https://api.example?x' }],
    ['a fragment', { baseUrl: 'https://api.example#x' }],
    ['another protocol', { baseUrl: 'ftp://api.example' }],
    ['a short secret', { signingSecret: 'short' }],
    ['an empty secret', { signingSecret: '' }],
    ['a secret with the line break of its file', { signingSecret: `${signingSecret}\n` }],
    ['no time', { timeout: 0 }],
    ['a time that is none', { timeout: Number.NaN }],
    ['a time that timers do not know', { totalTimeout: 2 ** 31 }],
    ['a time as text', { timeout: '1000' }],
    ['half a retry', { maxRetries: 0.5 }],
    ['less than none', { maxRetries: -1 }],
    ['no end', { maxRetries: Number.POSITIVE_INFINITY }],
    ['no function', { fetch: 'fetch' }],
    ['no logger', { logger: {} }],
    ['an option that nobody knows', { maxRetry: 0 }],
    ['a misspelt one', { apikey: 'x' }],
  ])('with %s are refused at once, in words without the key', (_name, changes) => {
    const error = thrownBy(make(changes));
    expect(error).toBeInstanceOf(TypeError);
    expect(`${inspect(error)}${error.stack}`).not.toContain(fakeKey.slice(9));
  });

  it.each([null, undefined, 'svc_test_key', 7])('that are %j are refused', (options) => {
    expect(thrownBy(() => new OstiaryPartner(options as never))).toBeInstanceOf(TypeError);
  });

  it('of one call are checked, too, for example a misspelt idempotencyKey', async () => {
    const { seen, ostiary } = await against();
    const payment = { amount: '1.00', currency: 'HTG', recipient: { kid: 'KID' } } as const;
    for (const options of [
      { idempotencykey: 'a' },
      { idempotencyKey: '' },
      { idempotencyKey: 'é' },
      { idempotencyKey: 'a'.repeat(256) },
      { idempotencyKey: 'a\n' },
      { timeout: -1 },
      { signal: 'now' },
      null,
    ]) {
      expect(await failureOf(ostiary.payments.create(payment, options as never))).toBeInstanceOf(TypeError);
    }
    expect(await failureOf(ostiary.whoami({ idempotencyKey: 'a' } as never))).toBeInstanceOf(TypeError);
    expect(seen).toEqual([]);
  });

  it('may be http on this machine', () => {
    for (const baseUrl of ['http://localhost:3000', 'http://127.0.0.1:3000/', 'http://[::1]:3000']) {
      expect(make({ baseUrl })().mode).toBe('test');
    }
    expect(make({ apiKey: fakeKey.replace('test', 'live'), prefix: 'svc' })().mode).toBe('live');
  });

  it('are refused in a browser, unless the danger is accepted', () => {
    vi.stubGlobal('window', { document: {} });
    expect(thrownBy(make({})).message).toContain('browser');
    expect(make({ dangerouslyAllowBrowser: true })()).toBeInstanceOf(OstiaryPartner);
    vi.unstubAllGlobals();
    // Globals of a worker, and of early versions of Deno.
    vi.stubGlobal('window', {});
    expect(make({})()).toBeInstanceOf(OstiaryPartner);
  });
});

describe('the key and the secret', () => {
  const secrets = [fakeKey, fakeKey.slice(9), signingSecret];
  /** Returns all text that logging an object would show. */
  function shown(thing: unknown): string {
    const parts = [
      inspect(thing, { depth: 20, showHidden: true }),
      JSON.stringify(thing) ?? '',
      String(thing),
    ];
    for (let error = thing; error instanceof Error; error = error.cause)
      parts.push(error.stack ?? '', error.message);
    return parts.join('\n');
  }
  const expectClean = (thing: unknown): void => {
    for (const secret of secrets) expect(shown(thing)).not.toContain(secret);
  };
  /** A proxy that repeats the request in every part of its response. */
  const echo: Fault = (response, { seen }) => {
    const key = String(seen.headers['x-api-key']);
    const body = {
      code: 'internal_error',
      message: `Failed: ${key}`,
      details: [{ path: key, message: key }],
    };
    response.writeHead(500, { 'content-type': key, 'x-request-id': key, 'x-echo': key });
    response.end(JSON.stringify(body));
  };

  it('are not visible in a printed client', () => {
    const { ostiary } = clientOf('https://api.example', fakeKey, { signingSecret });
    expectClean(ostiary);
    expectClean({ ...ostiary });
    expectClean(ostiary.payments.list());
    expectClean(exportReconciliation(ostiary, { date: '2026-03-01' }));
  });

  it.each<readonly [string, Fault]>([
    ['a refusal', refusal(403, 'insufficient_scope')],
    ['a server that echoes them', echo],
    ['a page that echoes them', (response) => void response.writeHead(500).end(`<html>${fakeKey}</html>`)],
    ['a broken connection', resetBefore],
    ['a redirect', answer(302, {}, { location: `https://other.example/?${fakeKey}` })],
  ])('are not to be seen in errors and logs after %s', async (_name, fault) => {
    const { origin } = await faulty([fault]);
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => void lines.push(line);
    const logger = { debug: log, info: log, warn: log, error: log };
    const { ostiary } = clientOf(origin, fakeKey, { signingSecret, logger, maxRetries: 0 });
    expectClean(
      await failureOf(ostiary.webhooks.create({ url: 'https://a.example', events: ['*'], secret: 's' })),
    );
    expect(lines).toHaveLength(1);
    expectClean(lines);
  });

  it('are not visible in an error if fetch quotes them', async () => {
    const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
      throw new TypeError(`fetch failed: ${JSON.stringify(init)}`, {
        cause: new Error(JSON.stringify(init)),
      });
    };
    const { ostiary } = clientOf('https://api.example', fakeKey, { fetch, maxRetries: 0 });
    const error = await failureOf(ostiary.whoami());
    expect(error.message).toContain('[redacted]');
    expectClean(error);
  });
});

describe('a phone number', () => {
  it('is not visible in an error if fetch quotes the URL', async () => {
    const fetch = async (url: string): Promise<Response> => {
      throw new TypeError(`error sending request for url (${url})`);
    };
    const { ostiary } = clientOf('https://api.example', fakeKey, { fetch, maxRetries: 0 });
    const error = await failureOf(ostiary.users.retrieveByPhone('+50937000001'));
    expect(error.message).toBe('No connection: error sending request for url ([redacted])');
  });
});

describe('a logger', () => {
  it('gets the calls and their results, without personal data', async () => {
    const { origin } = await faulty([refusal(503, 'internal_error'), answer(200, {})]);
    const lines: (readonly [string, object])[] = [];
    const log = (level: string) => (fields: object) => void lines.push([level, fields]);
    const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
    const { ostiary } = clientOf(origin, fakeKey, { logger });
    await ostiary.users.retrieveByPhone('+50937000001');
    const common = { method: 'GET', path: '/v1/partner/users/phone/{phone}', durationMs: expect.any(Number) };
    expect(lines).toEqual([
      [
        'warn',
        { ...common, attempt: 1, status: 503, code: 'internal_error', requestId: 'req-1', retryInMs: 0 },
      ],
      ['debug', { ...common, attempt: 2, status: 200, requestId: 'req-1' }],
    ]);
    expect(JSON.stringify(lines)).not.toContain('37000001');
  });

  it('that throws does not affect the call', async () => {
    const { origin } = await faulty([refusal(503, 'internal_error'), answer(200, { partner: 'acme' })]);
    const log = () => {
      throw new Error('disk full');
    };
    const { ostiary } = clientOf(origin, fakeKey, {
      logger: { debug: log, info: log, warn: log, error: log },
    });
    expect(await ostiary.whoami()).toEqual({ partner: 'acme' });
  });
});
