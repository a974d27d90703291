import { expect, it } from 'vitest';
import { createOutageLog } from '../../src/telemetry/outage-log.ts';
import { TestClock } from '../support/provider.ts';

const gone = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'STORAGE_UNAVAILABLE' });

function outages() {
  const clock = new TestClock();
  const lines: (readonly [level: string, fields: object, message: string])[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message]);
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const outage = createOutageLog({ logger, clock, failing: 'it fails', working: 'it works' });
  return { clock, lines, outage };
}

it('logs an outage of a day in a few lines without stacks, and its end', () => {
  const { clock, lines, outage } = outages();
  for (let second = 0; second < 86_400; second += 1) {
    outage.failed(gone());
    clock.advance(1_000);
  }
  outage.succeeded();
  outage.succeeded();
  expect(lines[0]).toEqual(['warn', { reason: 'connect ECONNREFUSED' }, 'it fails']);
  expect(lines[1]?.[1]).toEqual({ reason: 'connect ECONNREFUSED', failures: 61, seconds: 60 });
  expect(lines.at(-1)).toEqual(['info', { failures: 86_400, seconds: 86_400 }, 'it works']);
  expect(lines.length).toBeLessThan(35);
  expect(JSON.stringify(lines).length).toBeLessThan(4_000);
});

it('begins again with the next outage, and keeps the stack of an error that is no outage', () => {
  const { lines, outage } = outages();
  outage.failed(gone());
  outage.succeeded();
  const bug = new TypeError('x is not a function');
  outage.failed(bug, { results: 2 });
  expect(lines.map(([, , message]) => message)).toEqual(['it fails', 'it works', 'it fails']);
  expect(lines[2]?.[1]).toEqual({ results: 2, err: bug });
});
