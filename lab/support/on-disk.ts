import { mkdtempSync } from 'node:fs';

/**
 * Makes a new folder on the disk. The tests' other temporary files are in memory, but pnpm keeps a store
 * beside its installations, and Deno allows no writes below /dev.
 */
export const newFolderOnDisk = (name: string): string => mkdtempSync(`/tmp/ostiary-${name}-`);
