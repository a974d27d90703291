import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';

/** A promise of the storage ports that any test runner can run. */
export interface ContractCase {
  /** The promise, such as `grants: of many parallel redemptions exactly one wins`. */
  readonly name: string;
  /** Rejects, with an `AssertionError` where a promise is broken. */
  run(): Promise<void>;
}

/** A case before it knows which storage it runs on. */
export interface StorageCase {
  readonly name: string;
  run(storage: Storage): Promise<void>;
}

/**
 * A sample of each call of a port. `within` needs a transaction of the host; the adapters' tests cover it.
 */
export type Calls<Port extends keyof Storage> = {
  readonly [Call in Exclude<keyof Storage[Port], 'within'>]: (storage: Storage) => Promise<unknown>;
};

/** Prefixes the names of cases with their noun. */
export function casesOf(
  noun: string,
  cases: { readonly [name: string]: (storage: Storage) => Promise<void> },
): readonly StorageCase[] {
  return Object.entries(cases).map(([name, run]) => ({ name: `${noun}: ${name}`, run }));
}

/** Compares by value, whichever kind of byte array an adapter returns. */
export function assertSame(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(comparable(actual), comparable(expected), message);
}

/** Compares one field of each record, in their order. */
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

/** A rejection that core turns into a 503: the code counts, the class is the adapter's own. */
export async function assertUnavailable(call: () => Promise<unknown>, message?: string): Promise<void> {
  await assert.rejects(call, { code: 'STORAGE_UNAVAILABLE' }, message);
}

/** Counts how often each result was returned. */
export function countAnswers(answers: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[String(answer)] = (counts[String(answer)] ?? 0) + 1;
  return counts;
}

/** Calls `count` times without waiting in between, and waits for all. */
export function inParallel<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

/** Makes calls at the same time; in every other round the other way round. */
export function alternating<T>(round: number, calls: readonly (() => Promise<T>)[]): Promise<T[]> {
  return Promise.all((round % 2 === 0 ? calls : calls.toReversed()).map((call) => call()));
}

/** 1, 2, 3, … */
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
