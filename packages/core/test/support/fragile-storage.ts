import { memoryStorage } from '@ostiary/testing/memory';
import type { Storage } from '../../src/storage.ts';
import { sharingCounts } from './shared-counts.ts';

/** A storage that remembers its calls, such as `grants.redeem`, and whose database can be made to fail. */
export interface FragileStorage {
  readonly storage: Storage;
  /** The calls since the last `forget`, in order. */
  readonly calls: readonly string[];
  /** What was given to those calls. */
  readonly given: readonly (readonly unknown[])[];
  forget(): void;
  /** From now on calls for which this answers true fail, before they change anything. `null`: none. */
  breakWhen(fails: ((call: string, index: number) => boolean) | null): void;
  /** What a call fails with. @defaultValue an error that says that the database does not answer */
  error: Error;
}

/** Wraps a storage; the wrapper counts from 0 after each `forget`. */
export function fragileStorage(inner: Storage = sharingCounts(memoryStorage())): FragileStorage {
  let calls: string[] = [];
  let handedIn: unknown[][] = [];
  const error = Object.assign(new Error('secret detail of the database'), { code: 'STORAGE_UNAVAILABLE' });
  let breaks: ((call: string, index: number) => boolean) | null = null;

  const watched = <Port extends object>(port: Port, prefix: string): Port =>
    new Proxy(port, {
      get(target, property, receiver) {
        const member: unknown = Reflect.get(target, property, receiver);
        const name = prefix + String(property);
        if (typeof member === 'object' && member !== null) return watched(member, `${name}.`);
        if (typeof member !== 'function') return member;
        return async (...given: unknown[]): Promise<unknown> => {
          calls.push(name);
          handedIn.push(given);
          if (breaks?.(name, calls.length - 1)) throw fragile.error;
          return Reflect.apply(member, target, given);
        };
      },
    });

  const fragile: FragileStorage = {
    error,
    storage: watched(inner, ''),
    get calls() {
      return calls;
    },
    get given() {
      return handedIn;
    },
    forget() {
      calls = [];
      handedIn = [];
    },
    breakWhen(fails) {
      breaks = fails;
    },
  };
  return fragile;
}

/** A storage of which some calls do something else. */
export function storageWith<Name extends keyof Storage>(
  storage: Storage,
  name: Name,
  changes: Partial<Storage[Name]>,
): Storage {
  return { ...storage, [name]: Object.assign({}, storage[name], changes) };
}
