import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { webhookErrorCodes } from '../../src/index.ts';
import { type Kind, type Rule, type Vector, vectors } from './vectors.ts';

type Verdict = Rule | 'accepted';

/**
 * Decides a case by the rules of verification, in order, implemented from the documentation alone. The first
 * broken rule refuses the delivery.
 */
function verdictOf({ body, headers, secrets, now }: Vector): Verdict {
  const bytes = Buffer.from(body, 'base64');
  const one = (name: string): string => {
    const [, value = ''] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
    return typeof value === 'string' ? value : (value[0] ?? '');
  };
  const [type, id, timestamp, signature] = ['event', 'eventid', 'timestamp', 'signature'].map((name) =>
    one(`x-svc-${name}`),
  ) as [string, string, string, string];
  if ([type, id, timestamp, signature].includes('')) return 2;

  if (!/^[0-9]+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > 300) return 3;

  const key = Buffer.from(secrets[0] ?? '');
  if (key.length < 16 || !/^[0-9a-f]{64}$/i.test(signature)) return 4;
  const digest = createHmac('sha256', key).update(`${timestamp}.`).update(bytes).digest();
  if (!timingSafeEqual(digest, Buffer.from(signature, 'hex'))) return 4;

  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return event.id === id && event.type === type ? 'accepted' : 5;
  } catch {
    return 5;
  }
}

/**
 * Checks whether a test vector uses the usual configuration: one secret, the default prefix, the default
 * tolerance.
 */
const isUsual = ({ secrets, tolerance, prefix }: Vector): boolean =>
  secrets.length === 1 && tolerance === 300 && prefix === 'svc';

const ofKind = (kind: Kind): readonly Vector[] => vectors.filter((vector) => vector.kind === kind);

// `cases/` checks in every runtime how this package decides each vector.
describe('vectors.json', () => {
  it('has a case for every error code that body and headers alone can cause', () => {
    const codes = vectors.map(({ expected }) => (expected.valid ? 'valid' : expected.code));
    const others = [
      'body_missing',
      'body_already_parsed',
      'body_already_read',
      'body_too_large',
      'body_incomplete',
    ];
    const wanted = webhookErrorCodes.filter((code) => !others.includes(code));
    expect(new Set(codes)).toEqual(new Set([...wanted, 'valid']));
  });

  it('has a name for each case, and cases of the contract for each rule', () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
    expect(new Set(ofKind('contract').map(({ rule }) => rule))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  });
});

describe('the six rules', () => {
  it.each(ofKind('contract'))('decide, by the one that is named: $name', (vector) => {
    expect(isUsual(vector)).toBe(true);
    expect(verdictOf(vector)).toBe(vector.expected.valid ? 'accepted' : vector.rule);
  });

  it.each(ofKind('strictness'))('leave open what this package refuses: $name', (vector) => {
    expect(isUsual(vector)).toBe(true);
    expect([verdictOf(vector), vector.expected.valid]).toEqual(['accepted', false]);
  });

  it.each(ofKind('configuration'))('know nothing of an option: $name', (vector) => {
    expect(isUsual(vector)).toBe(false);
  });

  it('need the original bytes: a parsed and serialized body has another signature', () => {
    const ofRuleOne = vectors.filter(({ rule }) => rule === 1);
    const rewritten = ofRuleOne.map((vector) => {
      const event = JSON.parse(Buffer.from(vector.body, 'base64').toString());
      return { ...vector, body: Buffer.from(JSON.stringify(event)).toString('base64') };
    });
    expect(ofRuleOne.map(verdictOf)).toEqual(ofRuleOne.map(() => 'accepted'));
    expect(rewritten.map(verdictOf)).toContain(4);
  });

  it('identify a repeated event by its id alone: in a retry everything else is new', () => {
    const [first, retry] = ['a delivery', 'a retry'].map((name) =>
      vectors.find((vector) => vector.name.startsWith(name)),
    );
    if (!first?.expected.valid || !retry?.expected.valid) throw new Error('there is no retry');
    expect([retry.rule, retry.expected.id, retry.body]).toEqual([6, first.expected.id, first.body]);
    expect(retry.headers['X-SVC-Signature']).not.toBe(first.headers['X-SVC-Signature']);
    expect(retry.expected.timestamp).not.toBe(first.expected.timestamp);
  });
});
