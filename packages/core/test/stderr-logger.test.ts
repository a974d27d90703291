import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stderrLogger } from '../src/stderr-logger.ts';

const program = join(import.meta.dirname, 'support/failing-host.ts');

/** What a process prints whose host throws in every callback. */
async function failingHost(logger: 'default' | 'silent') {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--conditions=source', program], {
    env: { LOGGER: logger },
  });
  const [secrets = '', ...answers] = stdout.trim().split('\n').reverse();
  return { answers: answers.reverse(), secrets: JSON.parse(secrets) as Record<string, string>, stderr };
}

const failures = ['500 /account/apps', '500 /v1/partner/verify', '500 /v1/partner/users/KID-ANA'];

describe('a host that has said nothing about a logger', () => {
  it('sees on stderr what its callbacks threw, with where and why, and no secret', async () => {
    const { answers, secrets, stderr } = await failingHost('default');
    expect(answers).toEqual(['201 /v1/partner/payments', ...failures]);
    const records = stderr.trim().split(/\n(?! )/);
    expect(
      records.map((record) =>
        record
          .replace(/^\S+ /, '')
          .split('\n')[0]
          ?.replace(/=\S{16,}/g, '=…'),
      ),
    ).toEqual([
      'WARN  a job failed; it is tried again job=… kind=transfer attempt=1',
      'ERROR request failed: server_error requestId=… path=/account/apps',
      'ERROR request failed: internal_error requestId=… path=…',
      'ERROR request failed: internal_error requestId=… path=…',
    ]);
    for (const record of records) expect(record).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /);
    const callbacks = ['payments.execute', 'login.authenticate', 'users.find', 'users.findByKid'];
    for (const [index, what] of callbacks.entries()) {
      expect(records[index]).toContain(`\n    TypeError: ${what} broke\n`);
      expect(records[index]).toMatch(/\n {8}at .*failing-host\.ts:\d+/);
      expect(records[index]).toContain(`\n    caused by: RangeError: why ${what} broke\n`);
    }
    for (const secret of [...Object.values(secrets), '4000-0000']) expect(stderr).not.toContain(secret);
  });

  it('is told nothing once it asks for that', async () => {
    const { answers, stderr } = await failingHost('silent');
    expect(answers.slice(1)).toEqual(failures);
    expect(stderr).toBe('');
  });
});

describe('lines for people', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** What is written of one warning. */
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
    expect(
      written({
        delivery: 'dl_1',
        attempts: 5,
        at: null,
        list: [1, 'a'],
        words: 'two words',
        none: undefined,
      }),
    ).toBe(
      '2023-11-14T22:13:20.000Z WARN  something happened delivery=dl_1 attempts=5 at=null list=[1,"a"] words="two words" none=undefined',
    );
  });

  it('cannot be forged by what stands in a value or in an error', () => {
    const forged = '\n2023-11-14T22:13:20.000Z ERROR forged \u001b[2J\r\u2028\u009b';
    const record = written({ id: forged, err: new Error(forged) }, `x${forged}`);
    expect(record.split('\n').filter((line) => !line.startsWith('    '))).toHaveLength(1);
    expect(record).toMatch(/\\u001b\[2J\\u000d\\u2028\\u009b/);
    expect(record).not.toMatch(/[^\P{Cc}\n]|\u2028/u);
  });

  it('show of an error its stack, code and causes, and nothing else that it carries', () => {
    const refused = Object.assign(new Error('connect refused'), {
      code: 'ECONNREFUSED',
      address: '10.0.0.7',
    });
    const both = new AggregateError([refused, new Error('no route')], 'nobody answers');
    const request = { headers: { authorization: 'Bearer of-somebody' } };
    const record = written({
      err: Object.assign(new Error('outer', { cause: both }), { request, config: request }),
    });
    for (const text of [
      '    Error: outer\n',
      'caused by: AggregateError: nobody answers',
      'caused by: Error: connect refused',
    ])
      expect(record).toContain(text);
    expect(record).toContain('    code: ECONNREFUSED\n');
    expect(record).toContain('no route');
    for (const text of ['of-somebody', '10.0.0.7']) expect(record).not.toContain(text);
  });

  it.each([
    ['text', 'boom', 'thrown, and no Error: boom'],
    ['nothing', undefined, 'thrown, and no Error: undefined'],
    ['an object', { password: 'hunter2' }, 'thrown, and no Error: an object'],
    ['an error without a stack', Object.assign(new RangeError('bare'), { stack: '' }), 'RangeError: bare'],
  ])('tell of %s that was thrown', (_name, thrown, text) => {
    expect(written({ err: thrown })).toMatch(new RegExp(`\n {4}${text}$`));
  });

  it('are short for what is long, has no end or cannot be read', () => {
    const endless = new Error('endless');
    endless.cause = endless;
    expect(written({ err: endless }).match(/caused by/g)).toHaveLength(4);
    const wide = new AggregateError(
      Array.from({ length: 10_000 }, () => new Error('one of many')),
      'wide',
    );
    expect(written({ err: wide, text: 'x'.repeat(100_000) }).length).toBeLessThan(20_000);
    expect(written({ err: new Error('x'.repeat(100_000)) }).length).toBeLessThan(10_000);
    const unreadable = Object.defineProperty(new Error('never read'), 'stack', {
      get() {
        throw new Error('no stack');
      },
    });
    expect(written({ err: unreadable })).toBe('2023-11-14T22:13:20.000Z WARN  something happened');
    expect(written({ amount: 5n })).toBe('2023-11-14T22:13:20.000Z WARN  something happened');
  });
});
