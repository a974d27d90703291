import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

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

/**
 * Returns the code blocks of a page, without the indentation of a list.
 * @param language - language of the blocks, or a regular expression
 */
export function blocksOf(page: string, language: string): string[] {
  const found = textOf(page).matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^\\1\`\`\``, 'gm'));
  return Array.from(found, ([, indent = '', block = '']) =>
    block.replace(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** Returns the only code block of a page that contains a text. @throws Error if no block, or several, contain it */
export function blockOf(page: string, part: string): string {
  const [block, ...others] = blocksOf(page, '\\w+').filter((candidate) => candidate.includes(part));
  if (block === undefined || others.length > 0)
    throw new Error(`${page} has no block, or several, with ${part}`);
  return block;
}
