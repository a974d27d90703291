const names: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * Checks whether every JavaScript object has a member of this name, such as `__proto__` and `constructor`. As
 * a key of a plain object, such a name reads or writes `Object.prototype`, in any library.
 */
export const isReservedName = (name: string): boolean => names.has(name);

/** Error text for a name such as `__proto__` that every JavaScript object has. */
export const reservedWords = 'is a name that every object in JavaScript has';
