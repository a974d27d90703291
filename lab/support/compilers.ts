import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Paths of the TypeScript compilers by their version. TypeScript 7 takes a fraction of the time. TypeScript 6
 * is the version of the apps of `create-ostiary`.
 */
export const compilers = {
  6: join(root, 'node_modules/typescript/bin/tsc'),
  7: join(root, 'lab/node_modules/typescript-7/bin/tsc'),
} as const;
