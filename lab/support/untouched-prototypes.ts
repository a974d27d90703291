import { afterEach } from 'vitest';

/** Members that the language gives to every object. */
const known: ReadonlySet<string | symbol> = new Set(Reflect.ownKeys(Object.prototype));

/**
 * Fails each test after which every object has a new member: text of a caller, such as the client id `__proto__`, was used as a
 * name in a plain object. The member is removed, so that only the test that made it fails.
 */
afterEach(() => {
  const added = Reflect.ownKeys(Object.prototype).filter((key) => !known.has(key));
  for (const key of added) Reflect.deleteProperty(Object.prototype, key);
  if (added.length > 0) throw new Error(`Object.prototype was given ${added.map(String).join(', ')}`);
});
