import { expect } from 'vitest';

/** What a library that checks values, or Node, says by itself. */
export const libraryWords =
  /Invalid (input|option|string|number|key|value|element|discriminator|type|date|regex|ISO|URL|UUID)|[Ee]xpected (one of|string|number|int|boolean|array|object|record|tuple|date|never|map|set|"|')|\breceived\b|Unrecognized|Too (big|small)|must match pattern|[<>]=|Option '|ERR_|parseArgs|undefined|NaN|\[object/;

/** That something is said in words of ours, about a field. */
export function expectPlain(text: string, about: string): void {
  expect.soft(text, about).not.toMatch(libraryWords);
  expect.soft(text.trim(), about).not.toBe('');
}
