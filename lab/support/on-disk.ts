import { mkdtempSync } from 'node:fs';

/**
 * A new folder on the disk, for what cannot be in memory, where other temporary files of tests may be: pnpm keeps a store beside
 * what it installs, and Deno lets nobody write below /dev.
 */
export const newFolderOnDisk = (name: string): string => mkdtempSync(`/tmp/ostiary-${name}-`);
