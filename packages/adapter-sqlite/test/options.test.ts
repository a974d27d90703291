import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sqliteStorage } from '../src/index.ts';
import { assertNodeVersion } from '../src/node-version.ts';
import { temporaryFile } from './temporary.ts';

/** Passes options of any type, as a host application without TypeScript might. */
const withOptions = (options: unknown) => () => Reflect.apply(sqliteStorage, undefined, [options]);

test('options that are missing, wrong or unknown are a TypeError that names them', () => {
  const wrong: [unknown, string][] = [
    [undefined, 'must be an object'],
    ['ostiary.db', 'must be an object'],
    [{}, 'options.file'],
    [{ file: '' }, 'options.file must be the path of the database file, and is missing; is its environment'],
    [{ file: undefined }, 'is its environment variable set?'],
    [{ file: 7 }, 'options.file'],
    [{ file: ':memory:' }, 'plain path'],
    [{ file: 'file:ostiary.db?mode=memory' }, 'plain path'],
    [{ file: 'ostiary.db ' }, 'plain path'],
    [{ file: 'ostiary\0.db' }, 'plain path'],
    [{ file: 'ostiary.db', synchronous: 'off' }, 'unknown option "synchronous"'],
    [{ file: 'ostiary.db', File: 'x' }, 'unknown option "File"'],
    [{ fil: 'ostiary.db' }, 'sqliteStorage: unknown option "fil"; there is file'],
  ];
  for (const [options, message] of wrong) {
    expect(withOptions(options), JSON.stringify(options)).toThrow(TypeError);
    expect(withOptions(options), JSON.stringify(options)).toThrow(message);
  }
});

test('making a storage touches no file', () => {
  expect(withOptions({ file: '/does/not/exist/ostiary.db' })).not.toThrow();
});

test('Node before 22 is refused', () => {
  for (const version of ['18.20.8', '20.20.2', '21.7.3']) {
    expect(() => assertNodeVersion(version)).toThrow(`needs Node 22 or later and this is Node ${version}`);
  }
  for (const version of ['22.0.0', '22.18.0', '24.21.0', '100.0.0']) {
    expect(() => assertNodeVersion(version)).not.toThrow();
  }
});

test('an old Node is refused before the driver is loaded', async () => {
  const script = `
    import { createRequire } from 'node:module';
    const { sqliteStorage } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url))});
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((f) => f.includes('better-sqlite3'));
    const real = process.versions.node;
    const pretend = (node) =>
      Object.defineProperty(process, 'versions', { configurable: true, value: { ...process.versions, node } });
    pretend('20.20.2');
    let message;
    try { sqliteStorage({ file: 'x.db' }) } catch (error) { message = error.message }
    const before = loaded();
    pretend(real);
    const storage = sqliteStorage({ file: process.env.TEST_FILE });
    await storage.open();
    await storage.close();
    console.log(JSON.stringify({ message, before, after: loaded() }));
  `;
  const args = ['--conditions=ostiary-source', '--input-type=module', '--eval', script];
  const env = { ...process.env, TEST_FILE: temporaryFile() };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(JSON.parse(stdout)).toEqual({
    message: expect.stringContaining('this is Node 20.20.2'),
    before: false,
    after: true,
  });
});
