import { hex, randomBytes } from '../http/platform.ts';
import { builtin } from '../platform/builtin.ts';

/**
 * Writes bytes to a file. The file appears once they are complete, and replaces an existing file. No other
 * function of the package needs a file system.
 * @throws TypeError on platforms without a file system
 */
export async function saveTo(path: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const fs = builtin('fs/promises');
  if (fs === undefined) throw new TypeError('this platform has no file system: read the rows instead');
  const { open, rename, rm } = fs;
  // In the same folder, because rename does not work across file systems.
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
