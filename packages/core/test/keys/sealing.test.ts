import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSealer, UnsealError } from '../../src/keys/sealing.ts';
import { systemRandom } from '../../src/secrets/random.ts';

const [one, two, three] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const sealer = (...keys: Uint8Array[]) => createSealer(keys, systemRandom);

describe('a sealed value', () => {
  it('contains its format and the id of its key, and is different every time', () => {
    const [first, second] = [sealer(one).seal('x', 'row/1'), sealer(one).seal('x', 'row/1')];
    expect(first).toMatch(/^v1\.[0-9a-f]{12}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
    expect(first.split('.')[1]).toBe(second.split('.')[1]);
    expect(first.split('.')[1]).not.toBe(sealer(two).seal('x', 'row/1').split('.')[1]);
    expect(first).not.toBe(second);
  });

  it('opens where it was sealed, with previous keys too, wherever they stand', () => {
    for (const plaintext of ['', 'secret', 'ünï 🙂', 'x'.repeat(10_000)]) {
      const sealed = sealer(one).seal(plaintext, 'row/1');
      for (const keys of [[one], [two, one], [three, two, one]])
        expect(sealer(...keys).open(sealed, 'row/1')).toBe(plaintext);
    }
  });

  it('opens neither in another row or column nor with another key, and errors never contain the content', () => {
    const sealed = sealer(one).seal('top secret', 'signing_keys/a/private_jwk');
    const failure = (message: RegExp) => expect.objectContaining({ message: expect.stringMatching(message) });
    for (const context of ['signing_keys/b/private_jwk', 'signing_keys/a/other', ''])
      expect(() => sealer(one).open(sealed, context)).toThrow(failure(/^(?!.*top secret)/));
    const open = () => sealer(two).open(sealed, 'signing_keys/a/private_jwk');
    expect(open).toThrow(failure(/^(?!.*top secret).*not among sealingKeys/));
  });

  it('does not open when any of its parts was changed', () => {
    const sealed = sealer(one, two).seal('secret', 'row/1');
    const [version = '', id = '', iv = '', body = ''] = sealed.split('.');
    const flipped = (text: string) => {
      const [first = 0, ...rest] = Buffer.from(text, 'base64url');
      return Buffer.from([first ^ 1, ...rest]).toString('base64url');
    };
    const otherId = sealer(two).currentKeyId;
    for (const forged of [
      `v2.${id}.${iv}.${body}`,
      `${version}.${otherId}.${iv}.${body}`,
      `${version}.${id}.${flipped(iv)}.${body}`,
      `${version}.${id}.${iv}.${flipped(body)}`,
      `${version}.${id}.${iv}.${body.slice(0, -4)}`,
      `${version}.${id}.${iv}.`,
      `${version}.${id}..${body}`,
      `${version}.${id}`,
      '',
    ])
      expect(() => sealer(one, two).open(forged, 'row/1'), forged).toThrow(UnsealError);
    expect(sealer(one, two).open(sealed, 'row/1')).toBe('secret');
  });

  it('is made with the first key, known as current by it alone, and renewed under it, in its place', () => {
    const sealed = sealer(one, two).seal('secret', 'row/1');
    expect([sealer(one, two), sealer(two, one)].map((by) => by.isCurrent(sealed))).toEqual([true, false]);
    const renewed = sealer(two, one).renew(sealed, 'row/1');
    expect(sealer(two).open(renewed, 'row/1')).toBe('secret');
    expect(sealer(two, one).renew(renewed, 'row/1')).toBe(renewed);
    expect(() => sealer(two, one).renew(sealed, 'row/2')).toThrow(UnsealError);
    expect(() => sealer(two).renew(sealed, 'row/1')).toThrow(UnsealError);
  });
});

it('has previous keys when there is another one than the first', () => {
  expect([[one], [one, one], [one, two]].map((keys) => sealer(...keys).hasPrevious)).toEqual([
    false,
    false,
    true,
  ]);
});

it('derived keys are the same for the same sealing key, the current one first, and differ for every purpose', () => {
  const [forms, cookies] = [sealer(one).derive('forms')[0], sealer(one).derive('cookies')[0]];
  expect(forms).toHaveLength(32);
  for (const other of [cookies, one]) expect(forms).not.toEqual(other);
  expect(sealer(one, two).derive('forms')).toEqual([forms, ...sealer(two).derive('forms')]);
});
