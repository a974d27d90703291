import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { type Mutant, mutantsOf } from './mutants.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'ostiary-mutants-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Everything that decides whether a delivery is accepted, for each of the two platforms. */
const decisive = ['verify.ts', 'headers.ts', 'options.ts', 'secrets.ts', 'body.ts', 'sign.ts'];

/** Mutants that behave like the source, with the reason. */
const equivalent: readonly (readonly [change: string, reason: string])[] = [
  ["verify.ts: typeof match === 'number' → false", 'awaits what is no promise'],
  ['verify.ts: age > 0: > → >=', 'an age of 0 is not off'],
  ['headers.ts: names === undefined → true', 'makes the same names again'],
  ['body.ts: body instanceof Uint8Array → false', 'makes another view of the same bytes'],
  ['platform/node.ts: cached !== undefined → false', 'makes the same key again'],
  ['platform/node.ts: keys.size >= mostKeys → ', 'is how many keys are remembered'],
  ['platform/node.ts: keys.size >= mostKeys: >= → ', 'is how many keys are remembered'],
  ['platform/web.ts: cached !== undefined → false', 'makes the same key again'],
  ['platform/web.ts: keys.size >= 1_000 → ', 'is how many keys are remembered'],
  ['platform/web.ts: keys.size >= 1_000: >= → ', 'is how many keys are remembered'],
];

function write(name: string, platform: string, mutant?: Mutant): void {
  const target = join(folder, name);
  mkdirSync(target);
  cpSync(join(root, 'src'), join(target, 'src'), { recursive: true });
  const manifest = { type: 'module', imports: { '#platform': `./src/platform/${platform}.ts` } };
  writeFileSync(join(target, 'package.json'), JSON.stringify(manifest));
  if (mutant !== undefined) writeFileSync(join(target, 'src', mutant.file), mutant.source);
}

describe('the source, broken in one place at a time', () => {
  it('fails a case each time, and none when it is whole', async () => {
    const platforms = ['node', 'web'] as const;
    for (const platform of platforms) write(`whole-${platform}`, platform);
    const mutants = [...decisive, 'platform/node.ts', 'platform/web.ts'].flatMap((file) =>
      mutantsOf(file, readFileSync(join(root, 'src', file), 'utf8')),
    );
    for (const [index, mutant] of mutants.entries()) {
      for (const platform of platforms) {
        const concerned = mutant.file !== `platform/${platform === 'node' ? 'web' : 'node'}.ts`;
        if (concerned) write(`${index}-${platform}`, platform, mutant);
      }
    }
    const runner = join(import.meta.dirname, 'run.ts');
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', runner, folder], {
      env: { ...process.env, NODE_OPTIONS: '' },
      maxBuffer: 64 * 1024 ** 2,
    });
    const failures: { readonly [name: string]: readonly string[] } = JSON.parse(stdout);
    expect([failures['whole-node'], failures['whole-web']]).toEqual([[], []]);
    expect(mutants.length).toBeGreaterThan(100);
    const survivors = mutants.filter((_mutant, index) =>
      platforms.every((platform) => (failures[`${index}-${platform}`] ?? []).length === 0),
    );
    const known = ({ file, change }: Mutant) =>
      equivalent.some(([allowed]) => `${file}: ${change}`.startsWith(allowed));
    expect(
      survivors
        .filter((mutant) => !known(mutant))
        .map(({ file, line, change }) => `${file}:${line}: ${change}`),
    ).toEqual([]);
  }, 120_000);
});
