import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { type Commands, runCommandLine } from '../src/index.ts';
import { moveCommand } from '../src/move/index.ts';
import { grant, metadata } from './import/samples.ts';
import { installation, written } from './import/support.ts';
import { filledFile } from './move/samples.ts';
import { terminal } from './support.ts';

/** Returns the progress that a command shows at a terminal, including the first report of each step. */
const shownBy = async (
  run: (stderr: { write(text: string): unknown; isTTY: boolean }) => Promise<number>,
) => {
  let text = '';
  const code = await run({ write: (more) => (text += more), isTTY: true });
  expect(code).toBe(0);
  return text.split('\r\u001b[K');
};

it('import shows how many clients and consents it has imported', async () => {
  const { ostiary } = await installation({ verifyImportedSecret: () => true, refreshTokens: {} });
  const file = await written([metadata, grant]);
  const shown = await shownBy((stderr) =>
    runCommandLine({
      open: async () => ({ admin: ostiary.admin, close: async () => undefined }),
      argv: ['import', '--from', 'oidc-provider', '--file', file],
      stdout: { write: () => undefined },
      stderr,
    }),
  );
  expect(shown).toContainEqual(expect.stringMatching(/^importing consents: 1 of 1, 100 %/));
});

it('move shows which table it reads', async () => {
  const commands: Commands = {
    move: moveCommand({
      openFile: (file) => new Sqlite(file),
      openTarget: () => Promise.reject(new Error('nothing is moved')),
    }),
  };
  const file = await filledFile();
  const { run } = await terminal();
  const shown = await shownBy(
    async (stderr) => (await run(`move --from ${file} --check`, { commands, stderr })).code,
  );
  const tables = shown.flatMap((text) => /^verifying (\w+): \d+ of \d+ rows/.exec(text)?.[1] ?? []);
  expect(tables).toEqual(expect.arrayContaining(['partners', 'api_keys', 'events', 'deliveries']));
});

it('purge and reseal show how many rows and secrets they have processed', async () => {
  const { run, provider } = await terminal();
  await provider.key();
  const { admin } = provider.ostiary;
  const told: unknown[] = [];
  await admin.purge({ onProgress: (removed) => told.push(removed) });
  await admin.reseal({ onProgress: (...step) => told.push(step) });
  // The command processes endpoints, of which there are none, and keys.
  expect(told).toEqual([0, [0, 1], [1, 1]]);

  /** Lets a command take longer than the delay before progress is shown. */
  const slowly = (tell: () => void) => {
    for (const end = performance.now() + 200; performance.now() < end; ) tell();
  };
  const slow: typeof admin = {
    ...admin,
    as: () => slow,
    async purge({ onProgress } = {}) {
      slowly(() => onProgress?.(1_500));
      return admin.purge();
    },
    async reseal({ onProgress } = {}) {
      slowly(() => onProgress?.(1, 4));
      return admin.reseal();
    },
  };
  const open = async () => ({ admin: slow, close: async () => undefined });
  const shown = (line: string) => shownBy(async (stderr) => (await run(line, { stderr, open })).code);
  expect((await shown('purge'))[1]).toMatch(/^removing: 1,500 rows, [\d,]+\/s$/);
  expect((await shown('reseal'))[1]).toMatch(/^sealing again: 1 of 4 secrets, 25 %, \d+\/s, \d s left$/);
});
