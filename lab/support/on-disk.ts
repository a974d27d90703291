import { mkdtempSync } from 'node:fs';

/**
 * Makes a new folder on the disk, for files that cannot be in memory, where tests keep other temporary files.
 * pnpm keeps a store beside its installations, and Deno allows no writes below /dev.
 */
export const newFolderOnDisk = (name: string): string => mkdtempSync(`/tmp/ostiary-${name}-`);
