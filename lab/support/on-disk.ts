import { mkdtempSync } from 'node:fs';

/**
 * Makes a new folder on the disk. Other temporary files of the tests are in memory, but pnpm keeps a store
 * beside its installations, and Deno allows no writes below /dev.
 */
export const newFolderOnDisk = (name: string): string => mkdtempSync(`/tmp/ostiary-${name}-`);
