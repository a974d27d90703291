import { describe, expect, it } from 'vitest';
import { excessiveCost } from '../../src/admin/secret-hash-cost.ts';

const tail = 'c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA';

describe('excessiveCost', () => {
  it.each([
    `$2b$10$${'a'.repeat(53)}`,
    `$2y$14$${'a'.repeat(53)}`,
    `$argon2id$v=19$m=65536,t=3,p=4$${tail}`,
    `$argon2i$m=262144,t=10,p=1$${tail}`,
    `$scrypt$ln=17,r=8,p=1$${tail}`,
    `$pbkdf2-sha256$i=600000,l=32$${tail}`,
    `$pbkdf2-sha512$210000$${tail}`,
    'a format of the host',
  ])('accepts %s', (hash) => expect(excessiveCost(hash)).toBe(null));

  it.each([
    [`$2b$15$${'a'.repeat(53)}`, /bcrypt: cost 15, at most 14/],
    [`$2b$31$${'a'.repeat(53)}`, /bcrypt: cost 31/],
    [`$argon2id$v=19$m=4194304,t=3,p=4$${tail}`, /argon2: memory in KiB 4194304/],
    [`$argon2id$v=19$m=65536,t=4000,p=4$${tail}`, /argon2: iterations 4000/],
    [`$scrypt$ln=24,r=8,p=1$${tail}`, /scrypt: ln 24/],
    [`$scrypt$ln=16,r=1024,p=1$${tail}`, /scrypt: r 1024/],
    [`$scrypt$ln=16,r=8,p=64$${tail}`, /scrypt: p 64/],
    [`$pbkdf2-sha256$i=50000000,l=32$${tail}`, /pbkdf2: iterations 50000000/],
    [`$pbkdf2$50000000$${tail}`, /pbkdf2: iterations 50000000/],
  ])('refuses %s', (hash, reason) => expect(excessiveCost(hash)).toMatch(reason));
});
