import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Source of idiomorph. A build contains it (`scripts/built-in-modules.ts`). */
export const idiomorph = readFileSync(
  createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js'),
  'utf8',
);
