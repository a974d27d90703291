import { memoryStorage } from '@ostiary/testing/memory';
import type { Storage } from '../../src/storage.ts';
import { sharingCounts } from './shared-counts.ts';

/**
 * Wraps a storage so that it records its calls, such as `grants.redeem`, with their arguments, and can be
 * made to fail.
 */
export function fragileStorage(inner: Storage = sharingCounts(memoryStorage())) {
  const calls: string[] = [];
  const given: (readonly unknown[])[] = [];
  let breaks: ((call: string, index: number) => boolean | Promise<boolean>) | null = null;

  const watched = <Port extends object>(port: Port, prefix: string): Port =>
    new Proxy(port, {
      get(target, property, receiver) {
        const member: unknown = Reflect.get(target, property, receiver);
        const name = prefix + String(property);
        if (typeof member === 'object' && member !== null) return watched(member, `${name}.`);
        if (typeof member !== 'function') return member;
        return async (...handedIn: unknown[]): Promise<unknown> => {
          calls.push(name);
          given.push(handedIn);
          if (await breaks?.(name, calls.length - 1)) throw fragile.error;
          return Reflect.apply(member, target, handedIn);
        };
      },
    });

  const fragile = {
    /** Error with which a storage call fails. */
    error: Object.assign(new Error('secret detail of the database'), {
      code: 'STORAGE_UNAVAILABLE',
    }) as Error,
    storage: watched(inner, ''),
    /** Storage calls since the last `forget`, in order. */
    calls,
    given,
    forget() {
      calls.length = 0;
      given.length = 0;
    },
    /**
     * Makes the storage calls fail for which `fails` returns true, before they change anything. `null` ends
     * the failures.
     */
    breakWhen(fails: typeof breaks) {
      breaks = fails;
    },
  };
  return fragile;
}

/** Returns a storage in which some methods are replaced. */
export function storageWith<Name extends keyof Storage>(
  storage: Storage,
  name: Name,
  changes: Partial<Storage[Name]>,
): Storage {
  return { ...storage, [name]: Object.assign({}, storage[name], changes) };
}
