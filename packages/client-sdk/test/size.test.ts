import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/**
 * Maximum size of the package's main entry point, minified and gzipped, in bytes. The test fails above nine
 * tenths of it, so that a tenth stays free for additions.
 */
const budget = 8_000;

/** Measures the gzipped size of the package's main entry point with all its exports, in bytes. */
async function bundledSize(options: BuildOptions): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [resolve(import.meta.dirname, '../src/index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    ...options,
  });
  return gzipSync(outputFiles?.[0]?.contents ?? '', { level: 9 }).length;
}

describe('the bundle of the main entry', () => {
  it.each(['node', 'browser', 'neutral'] as const)(
    'for the platform %s has at most 8 KB, minified and gzipped, a tenth of it free, and needs no module of Node',
    async (platform) => {
      const size = await bundledSize({ platform });
      console.log(`client-sdk for ${platform}: ${size} of ${budget} bytes, minified and gzipped`);
      expect(size).toBeGreaterThan(5_000);
      expect(size).toBeLessThanOrEqual(0.9 * budget);
    },
  );
});
