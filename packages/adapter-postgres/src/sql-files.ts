import { readdirSync, readFileSync } from 'node:fs';

/** An SQL file: its name without a folder, and its text. */
export interface SqlFile {
  readonly name: string;
  readonly text: string;
}

/** Reads the `.sql` files of a folder, ordered by name. */
export function readSqlFiles(folder: URL): readonly SqlFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
}
