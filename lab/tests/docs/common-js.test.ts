import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from '../../support/documentation.ts';
import { freePort } from '../../support/free-port.ts';
import { packInto } from '../../support/packages/packed.ts';
import { run, start } from '../../support/shell.ts';

const folder = mkdtempSync(join(tmpdir(), 'ostiary-common-js-'));
const app = join(folder, 'app');

/** Writes a JavaScript block that begins with the name of its file to that file. */
function writeFromPage(page: string, file: string): void {
  const code = blocksOf(page, 'js').find((block) => block.startsWith(`// ${file}\n`));
  if (code === undefined) throw new Error(`${page} has no block for ${file}`);
  writeFileSync(join(app, file), code);
}

/** Finds the commands of a page that set up Jest. */
function commandsForJest(): string {
  const commands = blocksOf('docs/testing.md', 'sh').find((block) => block.includes('jest'));
  if (commands === undefined) throw new Error('docs/testing.md has no commands for Jest');
  return commands;
}

beforeAll(async () => {
  const packed = join(folder, 'packed');
  mkdirSync(packed);
  mkdirSync(app);
  const tarballs = await packInto(packed, ['adapter-sqlite', 'core', 'testing', 'webhook-verifier']);
  await run(app, 'npm init -y && npm pkg set type=commonjs');
  await run(app, `npm install ${[...tarballs.values()].join(' ')}`);
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('packed packages in a CommonJS project', () => {
  it('run in Jest with the commands and the test of the page', async () => {
    await run(app, `set -e\n${commandsForJest()}`);
    writeFromPage('docs/testing.md', 'passport.test.js');
    writeFileSync(
      join(app, 'required.test.js'),
      `const { createTestOstiary } = require('@ostiary/testing');
       test('is required', async () => (await createTestOstiary()).close());`,
    );
    writeFileSync(
      join(app, 'imported.test.mjs'),
      `import { createTestOstiary } from '@ostiary/testing';
       test('is imported', async () => (await createTestOstiary()).close());`,
    );
    const output = await run(app, "npm test -- --testMatch '**/*.test.?(m)js'");
    expect(output).toMatch(/^Tests: +3 passed, 3 total$/m);
    // Both errors that the page explains occur.
    for (const [file, message] of [
      ['required', /Must use import to load ES Module/],
      ['passport', /A dynamic import callback was invoked without --experimental-vm-modules/],
    ] as const)
      await expect(run(app, `npx jest ${file}`)).rejects.toThrow(message);
  }, 180_000);

  it('serve an app with the recipe', async () => {
    writeFromPage('docs/recipes.md', 'server.cjs');
    writeFileSync(
      join(app, 'users.cjs'),
      'module.exports = { findUser: () => null, sessionOf: () => null };',
    );
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const server = start(app, 'exec node server.cjs', {
      PORT: String(port),
      AUTH_URL: url,
      SEALING_KEY: randomBytes(32).toString('base64url'),
    });
    try {
      const issuer = async (): Promise<unknown> => {
        const response = await fetch(`${url}/.well-known/openid-configuration`);
        return Object(await response.json()).issuer;
      };
      await expect.poll(issuer, { message: server.said() }).toBe(url);
    } finally {
      await server.stop();
    }
  });
});
