import { readFileSync } from 'node:fs';

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/** Version of `@ostiary/core`, such as `1.2.3`. Builds inline it (`scripts/built-in-modules.ts`). */
export const version = manifest.version;
