import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Finds a program on this machine; `undefined` if the program is not installed. */
export const programOf = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
