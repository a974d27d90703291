import type { Storage } from '@ostiary/core/storage';

/** A storage that counts its running calls. */
export interface CountedStorage {
  readonly storage: Storage;
  callsUnderWay(): number;
}

/** Counts the running calls of a storage: simulated time must not pass while the database still works. */
export function countCalls(inner: Storage): CountedStorage {
  let underWay = 0;
  const counted = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member === 'object' && member !== null) return counted(member);
        if (typeof member !== 'function') return member;
        return (...parameters: unknown[]) => {
          const answer: unknown = Reflect.apply(member, target, parameters);
          if (!(answer instanceof Promise)) return answer;
          underWay += 1;
          return answer.finally(() => {
            underWay -= 1;
          });
        };
      },
    });
  return { storage: counted(inner), callsUnderWay: () => underWay };
}
