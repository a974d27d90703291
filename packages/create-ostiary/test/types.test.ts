import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compilers } from '../../../lab/support/compilers.ts';
import { start } from '../../../lab/support/shell.ts';
import { appFiles } from '../src/app.ts';
import { frameworks, storages } from '../src/choices.ts';
import { writeFiles } from '../src/folder.ts';

// Only the workflow uses the compiler of the apps, too, because it takes a quarter of a minute.
const versions = process.env.TEST_EVERY_APP === undefined ? ([7] as const) : ([7, 6] as const);

it.each(versions)(
  'TypeScript %i finds no wrong type in any app',
  async (version) => {
    // In this package, whose development dependencies include those of the apps.
    const parent = resolve(import.meta.dirname, `../.data/types-${process.pid}`);
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
    for (const framework of frameworks)
      for (const storage of storages)
        for (const mcp of [true, false]) {
          const folder = join(parent, `${framework}-${storage}${mcp ? '-mcp' : ''}`);
          writeFiles(folder, appFiles({ folder, framework, storage, languages: ['en'], mcp }));
        }
    // One program for all apps, because the types of Ostiary and of the frameworks take the most time.
    const settings = {
      extends: './node-sqlite/tsconfig.json',
      // For the sources of Ostiary, which this repository has instead of a build.
      compilerOptions: { customConditions: ['ostiary-source'], exactOptionalPropertyTypes: true },
      include: ['**/*.ts'],
    };
    writeFileSync(join(parent, 'tsconfig.json'), JSON.stringify(settings));
    const tsc = start(parent, `node ${compilers[version]}`);
    await tsc.ended;
    expect(tsc.said()).toBe('');
  },
  240_000,
);
