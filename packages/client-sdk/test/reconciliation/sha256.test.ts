import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sha256 } from '../../src/reconciliation/sha256.ts';

describe('the digest', () => {
  it('is SHA-256, for every length around its blocks', () => {
    for (let length = 0; length < 300; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 255);
      expect(new Sha256().update(bytes).hex()).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  });

  it('does not depend on how the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 30 }), (parts) => {
        const ours = new Sha256();
        const theirs = createHash('sha256');
        for (const part of parts) {
          ours.update(part);
          theirs.update(part);
        }
        expect(ours.hex()).toBe(theirs.digest('hex'));
      }),
    );
  });
});
