import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { Choices } from './choices.ts';
import { type Files, nameOf } from './folder.ts';
import { installCommand, isReleased, packedFolder } from './install.ts';

/** Folder of the templates. The same relative path works from `src`, and from `dist` in the package. */
const templates = join(import.meta.dirname, '../templates');

/**
 * Matches lines of a template that only some apps have: between `# <next>` and `# </next>`, in programs
 * between `// <next>` and `// </next>`, and in pages between HTML comments.
 */
const marked = /^ *(?:# |\/\/ |<!-- )<([\w-]+)>(?: -->)?\n([\s\S]*?)^ *(?:# |\/\/ |<!-- )<\/\1>(?: -->)?\n/gm;

/**
 * Removes marked lines of a template unless their tag is one of the app's tags, also within other marked
 * lines.
 */
function keepTagged(text: string, tags: readonly string[]): string {
  return text.replace(marked, (_, tag: string, lines: string) =>
    tags.includes(tag) ? keepTagged(lines, tags) : '',
  );
}

/** Fills in a template for the choices of an app. */
function rendered(text: string, choices: Choices): string {
  const { folder, framework, storage, languages, mcp } = choices;
  const tags: readonly string[] = [
    framework,
    storage,
    ...(framework === 'next' ? [] : ['not-next']),
    isReleased ? 'released' : 'not-released',
    ...(mcp ? ['mcp'] : []),
  ];
  return (
    keepTagged(text, tags)
      // Blank lines around marked lines: keep one of them.
      .replaceAll(/\n{3,}/g, '\n\n')
      .replaceAll('{{name}}', nameOf(folder))
      .replaceAll('{{install}}', installCommand(choices))
      .replaceAll('{{packed}}', packedFolder(choices))
      .replace(
        "languages: ['en', 'fr']",
        `languages: [${languages.map((language) => `'${language}'`).join(', ')}]`,
      )
  );
}

/**
 * Returns the path of a template's file in the app: `_gitignore` becomes `.gitignore`, because npm omits some
 * dotfiles from packages.
 */
const pathInApp = (path: string): string => join(dirname(path), basename(path).replace(/^_/, '.'));

/**
 * Reads the template files: those shared by all apps, then those of the framework, of the storage and, if
 * chosen, of the MCP server.
 */
export function templateFiles(choices: Choices): Files {
  const files = new Map<string, string>();
  const layers = ['shared', choices.framework, choices.storage, ...(choices.mcp ? ['mcp'] : [])];
  for (const layer of layers) {
    const folder = join(templates, layer);
    for (const entry of globSync('**/*', { cwd: folder, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const path = pathInApp(file.slice(folder.length + 1)).replaceAll(sep, '/');
      files.set(path, rendered(readFileSync(file, 'utf8'), choices));
    }
  }
  return files;
}
