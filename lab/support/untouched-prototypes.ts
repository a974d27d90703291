import { afterEach } from 'vitest';

/** Members that every JavaScript object has from the start. */
const known: ReadonlySet<string | symbol> = new Set(Reflect.ownKeys(Object.prototype));

/**
 * Fails any test after which every object has a new member. In that case some code has used text of a caller,
 * such as the client id `__proto__`, as the member name of a plain object. The new member is removed again,
 * so that only the test that caused it fails.
 */
afterEach(() => {
  const added = Reflect.ownKeys(Object.prototype).filter((key) => !known.has(key));
  for (const key of added) Reflect.deleteProperty(Object.prototype, key);
  if (added.length > 0) throw new Error(`Object.prototype was given ${added.map(String).join(', ')}`);
});
