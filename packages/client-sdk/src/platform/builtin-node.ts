import * as crypto from 'node:crypto';
import * as fs from 'node:fs/promises';
import type { Builtins } from './builtin.ts';

const builtins: Builtins = { crypto, 'fs/promises': fs };

/** Returns a module of Node. Replaces `builtin.ts` in the build for Node. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  return builtins[name];
}
