import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSealer, UnsealError } from '../../src/keys/sealing.ts';
import { systemRandom } from '../../src/random.ts';

const [one, two, three] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const sealer = (...keys: Uint8Array[]) => createSealer(keys, systemRandom);

describe('a sealed value', () => {
  it.each(['', 'secret', 'ünï 🙂', 'x'.repeat(10_000)])('opens where it was sealed: %#', (plaintext) => {
    const sealed = sealer(one).seal(plaintext, 'row/1');
    expect(sealer(one).open(sealed, 'row/1')).toBe(plaintext);
    if (plaintext !== '') expect(sealed).not.toContain(plaintext);
  });

  it('names its format and its key, and looks different every time', () => {
    const [first, second] = [sealer(one).seal('x', 'row/1'), sealer(one).seal('x', 'row/1')];
    expect(first).toMatch(/^v1\.[0-9a-f]{12}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
    expect(first.split('.')[1]).toBe(second.split('.')[1]);
    expect(first.split('.')[1]).not.toBe(sealer(two).seal('x', 'row/1').split('.')[1]);
    expect(first).not.toBe(second);
  });

  it('does not open in another row or column', () => {
    const sealed = sealer(one).seal('secret', 'signing_keys/a/private_jwk');
    for (const context of ['signing_keys/b/private_jwk', 'signing_keys/a/other', '']) {
      expect(() => sealer(one).open(sealed, context)).toThrow(UnsealError);
    }
  });

  it('does not open when any of its parts was changed', () => {
    const sealed = sealer(one, two).seal('secret', 'row/1');
    const [version = '', id = '', iv = '', body = ''] = sealed.split('.');
    const flipped = (text: string) =>
      Buffer.from(
        Buffer.from(text, 'base64url').map((byte, index) => (index === 0 ? byte ^ 1 : byte)),
      ).toString('base64url');
    const otherId = sealer(two).seal('x', 'row/1').split('.')[1] ?? '';
    const forged = [
      ['v2', id, iv, body],
      [version, otherId, iv, body],
      [version, id, flipped(iv), body],
      [version, id, iv, flipped(body)],
      [version, id, iv, body.slice(0, -4)],
      [version, id, iv, ''],
      [version, id, '', body],
      [version, id],
      [''],
    ];
    for (const parts of forged)
      expect(() => sealer(one, two).open(parts.join('.'), 'row/1'), parts.join('.')).toThrow(UnsealError);
    expect(sealer(one, two).open(sealed, 'row/1')).toBe('secret');
  });

  it('opens with previous keys, wherever they stand, and with no other key', () => {
    const sealed = sealer(one).seal('secret', 'row/1');
    expect(sealer(two, one).open(sealed, 'row/1')).toBe('secret');
    expect(sealer(three, two, one).open(sealed, 'row/1')).toBe('secret');
    expect(() => sealer(two).open(sealed, 'row/1')).toThrow(/not among sealingKeys/);
  });

  it('is made with the first key, and known as current by it alone', () => {
    const sealed = sealer(one).seal('secret', 'row/1');
    expect(sealer(one, two).isCurrent(sealed)).toBe(true);
    expect(sealer(two, one).isCurrent(sealed)).toBe(false);
  });

  it('is renewed under the first key, in its place, and left alone when it is current', () => {
    const sealed = sealer(one).seal('secret', 'row/1');
    const renewed = sealer(two, one).renew(sealed, 'row/1');
    expect(sealer(two).open(renewed, 'row/1')).toBe('secret');
    expect(renewed.split('.')[1]).toBe(sealer(two).currentKeyId);
    expect(sealer(two, one).renew(renewed, 'row/1')).toBe(renewed);
    expect(() => sealer(two, one).renew(sealed, 'row/2')).toThrow(UnsealError);
    expect(() => sealer(two).renew(sealed, 'row/1')).toThrow(UnsealError);
  });

  it('never tells its content in an error', () => {
    const sealed = sealer(one).seal('top secret', 'row/1');
    for (const open of [() => sealer(two).open(sealed, 'row/1'), () => sealer(one).open(sealed, 'row/2')]) {
      expect(open).toThrow(expect.objectContaining({ message: expect.not.stringMatching(/top secret/) }));
    }
  });
});

it('has previous keys when there is another one than the first', () => {
  for (const [keys, expected] of [
    [[one], false],
    [[one, one], false],
    [[one, two], true],
  ] as const)
    expect(sealer(...keys).hasPrevious).toBe(expected);
});

describe('derived keys', () => {
  it('are the same for the same sealing key and purpose, the current one first', () => {
    const each = [one, two].flatMap((key) => sealer(key).derive('forms'));
    expect(sealer(one, two).derive('forms')).toEqual(each);
    expect(sealer(one).derive('forms')[0]).toHaveLength(32);
  });

  it('differ for every purpose, and from the sealing key', () => {
    const [forms, cookies] = [sealer(one).derive('forms')[0], sealer(one).derive('cookies')[0]];
    expect(forms).not.toEqual(cookies);
    expect(forms).not.toEqual(one);
  });
});
