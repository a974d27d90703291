import { expect } from 'vitest';

/** What a library that checks values, or Node, says by itself. */
const libraryWords =
  /Invalid (input|option|string|number|key|value|element|discriminator|type|date|regex|ISO|URL|UUID)|[Ee]xpected (one of|string|number|int|boolean|array|object|record|tuple|date|never|map|set|"|')|\breceived\b|Unrecognized|Too (big|small)|must match pattern|[<>]=|Option '|ERR_|parseArgs|undefined|NaN|\[object/;

const numbers = [0, -1, 1.5, 1e20, 99_999_999_999];
const texts = ['', ' ', 'wrong', 'x'.repeat(5_000), '2026-13-45T00:00:00Z'];
const lists = [[], [null], ['wrong'], ['*', '*']];

/** JSON of many kinds, of which a field takes few. */
export const wrongJson: readonly unknown[] = [
  null,
  true,
  ...numbers,
  ...texts,
  ...lists,
  Array.from({ length: 1_200 }, (_, index) => `entry-${index}`),
  {},
  { wrong: 1 },
  { '': 'empty name' },
  { ['n'.repeat(100)]: 'long name' },
  { kid: 1 },
  { phone: '37000001' },
];

/** The same and what only programs can give. */
export const wrongValues: readonly unknown[] = [
  ...wrongJson,
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  10n,
  Symbol('wrong'),
  () => 'wrong',
  new Date(Number.NaN),
  new Map(),
  new Uint8Array(3),
];

/** That something is said in words of ours, about a field. */
export function expectPlain(text: string, about: string): void {
  expect.soft(text, about).not.toMatch(libraryWords);
  expect.soft(text.trim(), about).not.toBe('');
}

/** Every object that differs from this one in one member, at any depth, and where. */
export function* spoiled(
  value: object,
  wrong: readonly unknown[],
  path = '',
): Generator<readonly [path: string, changed: Record<string, unknown>]> {
  yield [`${path}surplus`, { ...value, surplus: 1 }];
  for (const [name, member] of Object.entries(value)) {
    for (const bad of wrong) yield [`${path}${name}`, { ...value, [name]: bad }];
    const { [name]: _, ...rest } = value as Record<string, unknown>;
    yield [`${path}${name}`, rest];
    if (typeof member !== 'object' || member === null || Object.getPrototypeOf(member) !== Object.prototype)
      continue;
    for (const [inner, changed] of spoiled(member, wrong, `${path}${name}.`))
      yield [inner, { ...value, [name]: changed }];
  }
}
