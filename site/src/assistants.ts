import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addressOf, pages, root, siteLink } from './repository.ts';
import { groups } from './sidebar.ts';
import { version } from './version.ts';

/** Returns the URL of a page's Markdown, from the root of the host if the site's own URL is unknown. */
const markdownAddress = (page: string): string => {
  const origin = version.home === '' ? '' : new URL(version.home).origin;
  return `${origin}${version.base}${pages.get(page)}`;
};

/**
 * Returns the target of a link in the published Markdown, in which links to other pages lead to Markdown,
 * too.
 */
function publishedLink(page: string, link: string): string {
  const target = siteLink(page, link);
  const [address, anchor] = target.split('#');
  const linked = Array.from(pages.keys()).find((other) => addressOf(other) === address);
  if (linked === undefined) return target;
  return `${markdownAddress(linked)}${anchor === undefined ? '' : `#${anchor}`}`;
}

/**
 * Returns the Markdown of a page for programs: with links to the Markdown of other pages, without comments.
 */
export function markdownOf(page: string, text: string): string {
  // Odd parts are blocks of code, which stay as they are.
  return text
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .split(/(^ *```[\s\S]*?^ *```$)/m)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .replace(/^<!--.*-->\n/gm, '')
            .replace(/\]\(([^)\s]+)\)/g, (_link, target: string) => `](${publishedLink(page, target)})`),
    )
    .join('');
}

/** Lists every page of the sidebar for AI assistants, in the format of https://llmstxt.org. */
export function llmsText(): string {
  const sections = groups.map(
    ([reader, listed]) =>
      `## ${reader}\n\n${listed.map(([text, page]) => `- [${text}](${markdownAddress(page)})`).join('\n')}\n`,
  );
  return [
    '# Ostiary\n',
    '> An OAuth 2.0 and OpenID Connect identity provider that you embed in your own server (TypeScript, Node), with a partner API and signed webhooks.\n',
    ...sections,
  ].join('\n');
}

/**
 * Writes `llms.txt` into the folder of a built documentation site, and the Markdown of each page beside the
 * page.
 */
export async function writeForAssistants(dist: string): Promise<void> {
  await writeFile(join(dist, 'llms.txt'), llmsText());
  for (const [page, name] of pages) {
    const file = join(dist, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, markdownOf(page, await readFile(join(root, page), 'utf8')));
  }
}
