import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { access, link, open, rename, rm } from 'node:fs/promises';
import { onExit } from 'signal-exit';
import { CommandUsageError } from './command.ts';

/** Returns a temporary file, and the files that SQLite makes beside a database while it writes it. */
const withFilesBeside = (file: string): readonly string[] =>
  ['', '-journal', '-wal', '-shm'].map((end) => `${file}${end}`);

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

const taken = (file: string) =>
  new CommandUsageError(`--file: there is a file ${file} already; name another one`);

/**
 * Writes a file atomically and for its owner only: `make` writes and verifies a temporary file beside it,
 * which is flushed to the disk and then renamed.
 * @throws CommandUsageError if the file exists, if its folder does not, or if the folder may not be written
 */
export async function writeFileAtomically<Result>(
  file: string,
  make: (unfinished: string) => Promise<Result>,
): Promise<Result> {
  if (await exists(file)) throw taken(file);
  const unfinished = `${file}.${process.pid}.unfinished`;
  await create(unfinished, file);
  // Nothing in `finally` runs if a signal ends the process. Programs that write the file are stopped first.
  const remove = () => {
    for (const each of withFilesBeside(unfinished)) rmSync(each, { force: true });
  };
  const done = onExit(remove, { alwaysLast: true });
  try {
    const result = await make(unfinished);
    const handle = await open(unfinished, 'r+');
    await handle.sync();
    await handle.close();
    await publish(unfinished, file);
    return result;
  } finally {
    await rm(unfinished, { force: true });
    done();
  }
}

/**
 * Creates the file with its permissions before anything is written, so that no other user can ever read it.
 */
async function create(unfinished: string, file: string): Promise<void> {
  // A process with the same id, as in containers, may have been killed.
  for (const each of withFilesBeside(unfinished)) await rm(each, { force: true });
  try {
    await (await open(unfinished, 'wx', 0o600)).close();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new CommandUsageError(`--file: there is no folder for ${file}; make it first`);
    if (code === 'EACCES')
      throw new CommandUsageError(`--file: ${file} cannot be written: permission denied`);
    throw error;
  }
}

/** Renames the finished temporary file. Fails if a file with the new name exists. */
async function publish(unfinished: string, file: string): Promise<void> {
  try {
    await link(unfinished, file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST' || (await exists(file))) throw taken(file);
    // Some file systems have no hard links.
    await rename(unfinished, file);
  }
}

/** Computes the SHA-256 of a file in hexadecimal: of its first `bytes` bytes, by default of all of them. */
export async function digestOf(file: string, bytes = Number.POSITIVE_INFINITY): Promise<string> {
  const hash = createHash('sha256');
  if (bytes === 0) return hash.digest('hex');
  for await (const chunk of createReadStream(file, { end: bytes - 1 })) hash.update(chunk);
  return hash.digest('hex');
}
