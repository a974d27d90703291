import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { root, siteLink } from './repository.ts';

/**
 * Returns the id of a heading, as GitHub makes it, so that links of pages work both on GitHub and in the
 * site.
 */
export const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

interface PageEnvironment {
  readonly path?: string;
  readonly realPath?: string;
}

/**
 * Embeds a diagram in its page, so that the diagram has the colours of the page; a diagram in a file of its
 * own has its own style.
 */
const diagram = (file: string): string =>
  readFileSync(file, 'utf8')
    .replace(/\s*<style>[\s\S]*?<\/style>/, '')
    .replace(/\s*\n\s*/g, '');

const groupOfBlocks = /^<!-- code-group -->\n([\s\S]*?)^<!-- \/code-group -->$/gm;
const labelledBlock = /^\*\*(.+)\*\*\n\n(```\w+)$/gm;

/**
 * Shows code blocks between two comments as tabs. In the repository, where nothing is shown as tabs, a bold
 * line above each block names the block.
 */
export function codeGroups(markdown: MarkdownRenderer): void {
  markdown.core.ruler.before('normalize', 'code_groups', (state) => {
    state.src = state.src.replace(
      groupOfBlocks,
      (_group, blocks: string) => `::: code-group\n${blocks.replace(labelledBlock, '$2 [$1]')}:::`,
    );
  });
}

/**
 * Shows a form that sends an API request, in place of the comment below each operation of the partner API.
 */
export function formsToTry(markdown: MarkdownRenderer): void {
  markdown.core.ruler.before('normalize', 'forms_to_try', (state) => {
    state.src = state.src.replace(/^<!-- try (\w+) -->$/gm, '<TryCall operation="$1" />');
  });
}

/**
 * Changes links of pages to their place in the site, finds pictures that are named in HTML, embeds diagrams,
 * and removes empty headings of tables, which a screen reader would announce.
 */
export function linksOfPages(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('links_of_pages', ({ tokens, env }) => {
    const { path, realPath = path }: PageEnvironment = env;
    // Headings are also rendered alone, without a page.
    if (realPath === undefined) return;
    const page = relative(root, realPath);
    const all = tokens.flatMap((block) => [block, ...(block.children ?? [])]);
    for (const [at, token] of all.entries()) {
      if (token.type === 'link_open') token.attrSet('href', siteLink(page, token.attrGet('href') ?? ''));
      if (token.type === 'th_open' && all[at + 1]?.content === '')
        for (const side of all
          .slice(at)
          .filter(({ type }) => type.startsWith('th_'))
          .slice(0, 2))
          side.tag = 'td';
      if (token.type === 'image' && token.attrGet('src')?.endsWith('.svg')) {
        token.type = 'html_inline';
        token.content = diagram(join(root, dirname(page), token.attrGet('src') ?? ''));
        continue;
      }
      if (token.type.startsWith('html_'))
        token.content = token.content.replace(/(<img src=")(?=\w+\/)/g, '$1./');
    }
  });
}
