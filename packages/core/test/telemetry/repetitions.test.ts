import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serving } from '../../../../lab/support/http.ts';
import { assemble } from '../../src/internal.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { countRepetitions } from '../../src/telemetry/repetitions.ts';
import { Host } from '../support/directory.ts';

/** Creates a counting logger, whose timers a test ends with `minute`. */
function counting() {
  const lines: unknown[] = [];
  const timers = new Set<() => void>();
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push([level, message, fields]);
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const counted = countRepetitions({
    logger,
    schedule(callback, ms) {
      expect(ms).toBe(60_000);
      timers.add(callback);
      return () => void timers.delete(callback);
    },
  });
  return {
    counted,
    timers,
    /** Returns the lines since the last call. */
    taken: () => lines.splice(0),
    minute() {
      const due = [...timers];
      timers.clear();
      for (const end of due) end();
    },
  };
}

const away = () => Object.assign(new Error('the database cannot be used'), { code: 'STORAGE_UNAVAILABLE' });

describe('a logger that counts repetitions', () => {
  it('logs the first line whole, then a count a minute, and a line after a quiet minute whole again', () => {
    const { counted, taken, minute } = counting();
    const err = away();
    counted.error({ err, path: '/a', requestId: '1' }, 'request failed');
    expect(taken()).toEqual([['error', 'request failed', { err, path: '/a', requestId: '1' }]]);
    for (const requestId of ['2', '3'])
      counted.error({ err: away(), path: '/a', requestId }, 'request failed');
    expect(taken()).toEqual([
      ['debug', 'request failed', { path: '/a', requestId: '2' }],
      ['debug', 'request failed', { path: '/a', requestId: '3' }],
    ]);
    minute();
    const counts = { reason: 'the database cannot be used', repeated: 2, seconds: 60 };
    expect(taken()).toEqual([['error', 'request failed', { path: '/a', requestId: '3', ...counts }]]);
    counted.error({ err, path: '/a', requestId: '4' }, 'request failed');
    expect(taken()).toMatchObject([['debug', 'request failed', {}]]);
    minute();
    expect(taken()).toMatchObject([['error', 'request failed', { requestId: '4', repeated: 1 }]]);
    minute();
    expect(taken()).toEqual([]);
    counted.error({ err, path: '/a', requestId: '5' }, 'request failed');
    expect(taken()).toEqual([['error', 'request failed', { err, path: '/a', requestId: '5' }]]);
  });

  it('loses no first line of a different error', () => {
    const { counted, taken } = counting();
    const thrown = (message: string) => new TypeError(message);
    const elsewhere = () => new TypeError('x of undefined');
    const different: readonly (readonly [object, string])[] = [
      [{ err: away() }, 'request failed'],
      [{ err: thrown('x of undefined') }, 'request failed'],
      [{ err: elsewhere() }, 'request failed'],
      [{ err: thrown('y of undefined') }, 'request failed'],
      [{ err: away(), path: '/b' }, 'request failed'],
      [{ err: away() }, 'database unavailable'],
      [{ err: away(), kind: 'purge' }, 'a job failed'],
      [{ delivery: 'dl_1', endpoint: 'we_1' }, 'dropped'],
      [{ delivery: 'dl_1', endpoint: 'we_2' }, 'dropped'],
      [{ route: '/a', status: 503 }, 'request'],
      [{ route: '/a', status: 500 }, 'request'],
    ];
    for (const [fields, message] of different) counted.warn(fields, message);
    expect(taken()).toEqual(different.map(([fields, message]) => ['warn', message, fields]));
    counted.error({ err: away() }, 'request failed');
    expect(taken()).toMatchObject([['error', 'request failed', {}]]);
    // Ids and ports differ between repetitions.
    counted.warn(
      { err: new Error('connect ECONNREFUSED 127.0.0.1:5432'), job: 'transfer:tr_1' },
      'a job failed',
    );
    counted.warn(
      { err: new Error('connect ECONNREFUSED 127.0.0.1:5433'), job: 'transfer:tr_2' },
      'a job failed',
    );
    expect(taken()).toHaveLength(2);
  });

  it('passes other lines on, and counts no more kinds than it has room for', () => {
    const { counted, taken, timers } = counting();
    for (let index = 0; index < 3; index += 1)
      counted.warn({ client: 'a' }, 'a refresh token was presented again');
    for (let index = 0; index < 3; index += 1) counted.info({ route: '/a', status: 200 }, 'request');
    expect(taken()).toHaveLength(6);
    const names = 'abcdefghijklmnopqrstuvwxyz'.split('');
    for (const first of names)
      for (const second of [...names, ...names.map((name) => name + name)])
        counted.error({ err: away(), path: first + second }, 'request failed');
    expect(taken().length).toBe(26 * 52);
    expect(timers.size).toBe(1_000);
  });

  it('has a timer that does not keep the process running', () => {
    const started = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => started.mockRestore());
    const counted = countRepetitions({ logger: silentLogger });
    counted.error({ err: away() }, 'request failed');
    const [{ value: timer } = {}] = started.mock.results;
    expect(timer.hasRef()).toBe(false);
    counted.close();
  });

  it('is closed with the service', async () => {
    const repeated = vi.fn();
    const failing = new Host();
    failing.login.authenticate = () => Promise.reject(new TypeError('the host has a defect'));
    const ostiary = await assemble(
      {
        ...{ authUrl: 'http://127.0.0.1:1', storage: memoryStorage(), sealingKeys: [new Uint8Array(32)] },
        ...{
          users: { find: () => null },
          login: failing.login,
          logger: { ...silentLogger, error: repeated },
        },
      },
      {},
    );
    await serving(ostiary.handler, async (origin) => {
      for (let time = 0; time < 3; time += 1)
        expect((await fetch(`${origin}/account/apps`)).status).toBe(500);
    });
    expect(repeated).toHaveBeenCalledTimes(1);
    await ostiary.close();
    expect(repeated).toHaveBeenCalledTimes(2);
    expect(repeated).toHaveBeenLastCalledWith(expect.objectContaining({ repeated: 2 }), expect.any(String));
  });

  it('logs the counts that are left when it is closed', () => {
    const { counted, taken, timers } = counting();
    counted.error({ err: away() }, 'once');
    for (let index = 0; index < 5; index += 1) counted.error({ err: away() }, 'often');
    taken();
    counted.close();
    expect(taken()).toMatchObject([['error', 'often', { repeated: 4 }]]);
    expect(timers.size).toBe(0);
  });
});
