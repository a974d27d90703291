import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../../..');

/** Folders without documentation pages, to which other tests write at the same time. */
const foreign = new Set(['node_modules', '.git', '.changeset', '.data', 'dist', 'coverage', 'api']);

/** Lists all pages of the documentation, by path from the root of the repository. */
export function pages(folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = join(folder, entry.name);
    if (entry.isDirectory()) return foreign.has(entry.name) ? [] : pages(name);
    return name.endsWith('.md') ? [name] : [];
  });
}

export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** Returns the code blocks of a page in a given language, without the indentation of a list. */
export function blocksOf(page: string, language: string): string[] {
  const found = textOf(page).matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^\\1\`\`\``, 'gm'));
  return Array.from(found, ([, indent = '', block = '']) =>
    block.replace(new RegExp(`^${indent}`, 'gm'), ''),
  );
}
