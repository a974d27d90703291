import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pages, root } from './repository.ts';

/** How many words of text the pages may have together: what is longer is not read. */
export const wordsAtMost = 25_000;

/** The text that somebody wrote: without code, addresses, and what is generated. */
function textOf(page: string): string {
  const text = readFileSync(join(root, page), 'utf8');
  if (/^<!-- Written by /m.test(text)) return '';
  return text
    .replace(/<!-- (install|create|settings)\b[\s\S]*?<!-- \/\1 -->/g, '')
    .replace(/^ *```[\s\S]*?^ *```/gm, '')
    .replace(/<!--[\s\S]*?-->|\]\([^)]*\)|<[^>]+>|\|/g, ' ');
}

/** The words of one page, or of all. */
export function words(...which: readonly string[]): number {
  const chosen = which.length > 0 ? which : [...pages.keys()];
  return chosen
    .flatMap((page) => textOf(page).split(/\s+/))
    .filter((word) => /^[^\p{L}\p{N}]*[\p{L}\p{N}]/u.test(word)).length;
}

if (import.meta.main) {
  for (const page of pages.keys()) console.log(String(words(page)).padStart(6), page);
  console.log(String(words()).padStart(6), `of ${wordsAtMost}`);
}
