import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/**
 * Maximum size of the function `verify` in a bundle, minified and gzipped, in bytes. The test fails above nine
 * tenths of it, so that a tenth stays free for additions.
 */
const budget = 2_500;

/** Measures the gzipped size that `import { verify }` adds to an application, in bytes. */
async function bundledSize(options: BuildOptions): Promise<number> {
  const { outputFiles } = await build({
    stdin: {
      contents: "import { verify } from '@ostiary/webhook-verifier'; globalThis.verify = verify;",
      resolveDir: resolve(import.meta.dirname, '..'),
    },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    ...options,
  });
  return gzipSync(outputFiles?.[0]?.contents ?? '', { level: 9 }).length;
}

describe('the bundle of an application that verifies', () => {
  it.each<[string, BuildOptions]>([
    ['Node', { platform: 'node', conditions: ['ostiary-source'] }],
    ['browsers', { platform: 'browser', conditions: ['ostiary-source'] }],
    ['Workers', { platform: 'neutral', conditions: ['ostiary-source', 'workerd'] }],
  ])('for %s has at most 2.5 KB, minified and gzipped, a tenth of it free', async (name, options) => {
    const size = await bundledSize(options);
    console.log(`verify for ${name}: ${size} of ${budget} bytes, minified and gzipped`);
    expect(size).toBeGreaterThan(1_500);
    expect(size).toBeLessThanOrEqual(0.9 * budget);
  });
});
