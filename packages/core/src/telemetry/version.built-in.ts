import { readFileSync } from 'node:fs';

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/** The version of `@ostiary/core`, such as `1.2.3`. A build contains it (`scripts/built-in-modules.ts`). */
export const version = manifest.version;
