import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '../../../docs');

/**
 * Finds a code block of the documentation.
 * @param file - page in the folder `docs`
 * @param heading - heading above the block
 * @param part - text that only this block below the heading contains
 * @throws Error if no block, or several, contain the text
 */
export function blockOf(file: string, heading: string, part: string): string {
  const text = readFileSync(join(docs, file), 'utf8');
  const section = text.split(/^## /m).find((candidate) => candidate.startsWith(`${heading}\n`)) ?? '';
  const blocks = Array.from(section.matchAll(/^( *)```\w+\n([\s\S]*?)^ *```$/gm), ([, indent, block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  const [found, ...others] = blocks.filter((block) => block.includes(part));
  if (found === undefined || others.length > 0)
    throw new Error(`docs/${file} has no block, or several, with ${part} below ${heading}`);
  return found;
}
