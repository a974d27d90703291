import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { safeVerify, webhookErrorCodes } from '../../src/index.ts';
import { type Vector, vectors, vectorsFile } from './cases.ts';

/** What any language would write from the specification: no word of why, but the same yes or no. */
function accepts({ body, headers, secrets, now, tolerance, prefix }: Vector): boolean {
  const bytes = Buffer.from(body, 'base64');
  const only = (name: string): string => {
    const values = Object.entries(headers)
      .filter(([given]) => given.toLowerCase() === `x-${prefix}-${name}`)
      .flatMap(([, value]) => value);
    return values.length === 1 ? (values[0] ?? '') : '';
  };
  if (secrets.some((secret) => secret.trim().length < 16)) return false;
  const timestamp = only('timestamp');
  if (!/^[1-9]\d{9}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > tolerance) return false;
  const signed = (secret: string) =>
    createHmac('sha256', secret).update(`${timestamp}.`).update(bytes).digest('hex');
  if (!secrets.some((secret) => signed(secret) === only('signature'))) return false;
  if (!/^\d+$/.test(only('attempt')) || !/^[a-z0-9-]+$/.test(only('partner'))) return false;
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return event.id === only('eventid') && event.type === only('event');
  } catch {
    return false;
  }
}

describe('vectors.json', () => {
  it('is what the cases give (run `npm run vectors` in the package when it is not)', () => {
    expect(readFileSync(join(import.meta.dirname, '../../vectors.json'), 'utf8')).toBe(vectorsFile());
  });

  it('has a case for every code that bytes and headers alone can lead to', () => {
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

  it.each(vectors)('$name', async (vector) => {
    const { body, headers, secrets, now, tolerance, prefix, expected } = vector;
    expect(accepts(vector)).toBe(expected.valid);
    const bytes = Buffer.from(body, 'base64');
    const options = { secrets, now: now * 1000, tolerance, prefix };
    const result = await safeVerify(bytes, headers, options);
    if (!result.ok) {
      expect({ valid: false, code: result.error.code }).toEqual(expected);
      return;
    }
    const { event, ...rest } = result.delivery;
    expect({ valid: true, ...rest }).toEqual(expected);
    expect(event).toEqual(JSON.parse(bytes.toString()));
  });
});
