import { builtin, hex, randomBytes } from '../http/platform.ts';

type FileSystem = typeof import('node:fs/promises');

/**
 * Writes bytes to a file that appears when they are complete, in place of one that is there. The only file of this package that
 * needs a file system, and it asks for it when it is used.
 */
export async function saveTo(path: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const { open, rename, rm } = (await builtin('fs/promises')) as FileSystem;
  // Beside its target: a file is not renamed from one disk to another.
  const temporary = `${path}.${hex(await randomBytes()).slice(48)}.part`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    for await (const part of parts) await file.writeFile(part);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}
