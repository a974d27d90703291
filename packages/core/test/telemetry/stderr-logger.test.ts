import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type OstiaryOptions, silentLogger } from '../../src/index.ts';
import { stderrLogger } from '../../src/telemetry/stderr-logger.ts';
import { ana, Host } from '../support/directory.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';

function fail(what: string): never {
  const cause = new RangeError(`why ${what} broke`);
  throw Object.assign(new TypeError(`${what} broke`, { cause }), { card: '4000-0000-0000-0002' });
}

/** Returns the output of the logger when host functions throw, and the secrets that it must not contain. */
async function printed(logger?: OstiaryOptions['logger']) {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => print.mockRestore());
  let isBroken = false;
  const { users } = new Host();
  const options: Partial<OstiaryOptions> = {
    users: {
      ...users,
      find: (sub, scopes) => (isBroken ? fail('users.find') : users.find(sub, scopes)),
      findByKid: (kid) => (isBroken ? fail('users.findByKid') : (users.findByKid?.(kid) ?? null)),
    },
    login: { authenticate: () => fail('login.authenticate'), loginUrl: () => '/login' },
    payments: { execute: async () => fail('payments.execute') },
  };
  // Sets the logger also if it is undefined, because hosts may start Ostiary without one.
  Reflect.set(options, 'logger', logger);
  const { provider } = await partnerProvider(options);
  const key = await provider.key();
  const { token } = await provider.ostiary.passports.issue(ana.sub);
  await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
  await provider.ostiary.worker.runDue();
  isBroken = true;
  for (const answer of [
    await provider.request('/account/apps'),
    await provider.partnerCall(key, 'POST /v1/partner/verify', { token }),
    await provider.partnerCall(key, 'GET /v1/partner/users/KID-ANA'),
  ])
    expect(answer.status).toBe(500);
  return { records: print.mock.calls.map(String), secrets: [key.key, key.signingSecret, token, '4000-0000'] };
}

describe('a host that has said nothing about a logger', () => {
  it('sees on stderr what its callbacks threw, with where and why, and no secret', async () => {
    const { records, secrets } = await printed();
    const failed = (code: string, path: string) =>
      `ERROR request failed: ${code} requestId=\\S+ path=${path}`;
    const told = [
      ['payments.execute', 'WARN  a job failed; it is tried again job=\\S+ kind=transfer attempt=1'],
      ['login.authenticate', failed('server_error', '/account/apps')],
      ['users.find', failed('internal_error', '/v1/partner/verify')],
      ['users.findByKid', failed('internal_error', '/v1/partner/users/:kid')],
    ];
    expect(records).toEqual(
      told.map(([what, line]) =>
        expect.stringMatching(
          `^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z ${line}\n    TypeError: ${what} broke\n` +
            `        at .*stderr-logger\\.test\\.ts:\\d+[^]*\n    caused by: RangeError: why ${what} broke\n`,
        ),
      ),
    );
    for (const secret of secrets) expect(records.join()).not.toContain(secret);
  });

  it('gets no lines with silentLogger', async () => {
    expect((await printed(silentLogger)).records).toEqual([]);
  });
});

describe('lines for people', () => {
  const bare = '2023-11-14T22:13:20.000Z WARN  something happened';
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** Returns the line that the logger writes for a warning. */
  function written(fields: object, message = 'something happened'): string {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 });
    const { mock } = vi.spyOn(console, 'error').mockImplementation(() => {});
    mock.calls.length = 0;
    stderrLogger.debug(fields, message);
    stderrLogger.info(fields, message);
    expect(mock.calls).toEqual([]);
    stderrLogger.warn(fields, message);
    expect(mock.calls).toEqual([[expect.any(String)]]);
    return String(mock.calls[0]?.[0]);
  }

  it('are one for a record without an error', () => {
    const fields = {
      delivery: 'dl_1',
      attempts: 5,
      at: null,
      list: [1, 'a'],
      words: 'two words',
      none: undefined,
    };
    expect(written(fields)).toBe(
      `${bare} delivery=dl_1 attempts=5 at=null list=[1,"a"] words="two words" none=undefined`,
    );
  });

  it('cannot be forged by the content of a value or an error', () => {
    const forged = '\n2023-11-14T22:13:20.000Z ERROR forged \u001b[2J\r\u2028\u009b\u202e';
    const record = written({ id: forged, err: new Error(forged) }, `x${forged}`);
    expect(record.split('\n').filter((line) => !line.startsWith('    '))).toHaveLength(1);
    expect(record).toMatch(/\\u001b\[2J\\u000d\\u2028\\u009b\\u202e/);
    expect(record).not.toMatch(/[^\P{Cc}\n]|\u2028|\u202e/u);
  });

  it('show of an error its stack, code and causes, and nothing else that it carries', () => {
    const carried = { code: 'ECONNREFUSED', address: '10.0.0.7' };
    const refused = Object.assign(new Error('connect refused'), carried);
    const both = new AggregateError([refused, new Error('no route')], 'nobody answers');
    const request = { headers: { authorization: 'Bearer of-somebody' } };
    const err = Object.assign(new Error('outer', { cause: both }), { request, config: request });
    const record = written({ err });
    const causes = ['caused by: AggregateError: nobody answers', 'caused by: Error: connect refused'];
    for (const text of ['    Error: outer\n', ...causes, '    code: ECONNREFUSED\n', 'no route'])
      expect(record).toContain(text);
    for (const text of ['of-somebody', '10.0.0.7']) expect(record).not.toContain(text);
  });

  it('describe any thrown value', () => {
    for (const [err, text] of [
      ['boom', 'thrown, and no Error: boom'],
      [undefined, 'thrown, and no Error: undefined'],
      [{ password: 'hunter2' }, 'thrown, and no Error: an object'],
      [Object.assign(new RangeError('bare'), { stack: '' }), 'RangeError: bare'],
    ])
      expect(written({ err })).toBe(`${bare}\n    ${text}`);
  });

  it('are short for what is long, has no end or cannot be read', () => {
    const endless = new Error('endless');
    endless.cause = endless;
    expect(written({ err: endless }).match(/caused by/g)).toHaveLength(4);
    const many = Array.from({ length: 10_000 }, () => new Error('one of many'));
    const wide = new AggregateError(many, 'wide');
    expect(written({ err: wide, text: 'x'.repeat(100_000) }).length).toBeLessThan(20_000);
    expect(written({ err: new Error('x'.repeat(100_000)) }).length).toBeLessThan(10_000);
    const get = () => {
      throw new Error('no stack');
    };
    const unreadable = Object.defineProperty(new Error('never read'), 'stack', { get });
    for (const fields of [{ err: unreadable }, { amount: 5n }]) expect(written(fields)).toBe(bare);
  });
});
