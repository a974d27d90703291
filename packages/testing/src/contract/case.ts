import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';

/** A test case of the storage contract, which any test runner can run. */
export interface ContractCase {
  /** Name of the case, such as `redemption: wrong verifiers burn the code when they reach the limit`. */
  readonly name: string;
  /** Runs the case. Rejects with an `AssertionError` if the storage breaks the contract. */
  run(): Promise<void>;
}

/** A test case of the contract suite; its function gets the storage to test. */
export interface StorageCase {
  readonly name: string;
  run(storage: Storage): Promise<void>;
}

/**
 * Sample calls of each method of a store. `within` is missing, because it needs a transaction of the host
 * application; the adapters' tests cover it.
 */
export type Calls<Port extends keyof Storage> = {
  readonly [Call in Exclude<keyof Storage[Port], 'within'>]: (storage: Storage) => Promise<unknown>;
};

/** Creates cases from functions and prefixes their names with the noun. */
export function casesOf(
  noun: string,
  cases: { readonly [name: string]: (storage: Storage) => Promise<void> },
): readonly StorageCase[] {
  return Object.entries(cases).map(([name, run]) => ({ name: `${noun}: ${name}`, run }));
}

/** Asserts that two values are deeply equal. Accepts any kind of byte array that an adapter returns. */
export function assertSame(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(comparable(actual), comparable(expected), message);
}

/** Asserts that one field of each record in a list has the expected value, in order. */
export function assertFields<Row, Name extends keyof Row>(
  rows: readonly Row[],
  name: Name,
  expected: readonly Row[Name][],
): void {
  assertSame(
    rows.map((row) => row[name]),
    expected,
  );
}

/**
 * Asserts that a storage call rejects with the code that the service turns into a 503. The class of the error
 * is up to the adapter.
 */
export async function assertUnavailable(call: () => Promise<unknown>, message?: string): Promise<void> {
  await assert.rejects(call, { code: 'STORAGE_UNAVAILABLE' }, message);
}

/** Counts how often each result of parallel calls occurs. */
export function countAnswers(answers: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[String(answer)] = (counts[String(answer)] ?? 0) + 1;
  return counts;
}

/** Makes `count` calls of a function at once, and waits for all of them. */
export function inParallel<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

/** Makes calls at once, in reverse order if `round` is odd. */
export function alternating<T>(round: number, calls: readonly (() => Promise<T>)[]): Promise<T[]> {
  return Promise.all((round % 2 === 0 ? calls : calls.toReversed()).map((call) => call()));
}

/** Returns the numbers from 1 to `count`. */
export function countedTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return value.map(comparable);
  if (value instanceof Set) return new Set([...value].map(comparable));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]));
}
