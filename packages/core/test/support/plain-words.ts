import { expect } from 'vitest';

/** Matches default messages of validation libraries and of Node. */
export const libraryWords =
  /Invalid (input|option|string|number|key|value|element|discriminator|type|date|regex|ISO|URL|UUID)|[Ee]xpected (one of|string|number|int|boolean|array|object|record|tuple|date|never|map|set|"|')|\breceived\b|Unrecognized|Too (big|small)|must match pattern|[<>]=|Option '|ERR_|parseArgs|undefined|NaN|\[object/;

/** Checks that an error message about a field is Ostiary's own, and not a library's. */
export function expectPlain(text: string, about: string): void {
  expect.soft(text, about).not.toMatch(libraryWords);
  expect.soft(text.trim(), about).not.toBe('');
}
