import { hex, randomBytes } from '../http/platform.ts';
import { builtin } from '../platform/builtin.ts';

/**
 * Writes bytes to a file that appears when they are complete, in place of one that is there. The only file of this package that
 * needs a file system, and it asks for it when it is used.
 * @throws TypeError on platforms without a file system
 */
export async function saveTo(path: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const fs = builtin('fs/promises');
  if (fs === undefined) throw new TypeError('this platform has no file system: read the rows instead');
  const { open, rename, rm } = fs;
  // Beside its target: a file is not renamed from one disk to another.
  const temporary = `${path}.${hex(randomBytes()).slice(48)}.part`;
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
