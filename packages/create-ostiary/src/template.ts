import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { Choices } from './choices.ts';
import { type Files, nameOf } from './folder.ts';
import { installCommand, isReleased, packedFolder } from './install.ts';

/** Beside `src`, and beside `dist` in the package. */
const templates = join(import.meta.dirname, '../templates');

/**
 * Lines that only some apps have: they stand between `# <next>` and `# </next>`, in programs between `// <next>` and
 * `// </next>`, in pages between comments of HTML.
 */
const marked = /^ *(?:# |\/\/ |<!-- )<([\w-]+)>(?: -->)?\n([\s\S]*?)^ *(?:# |\/\/ |<!-- )<\/\1>(?: -->)?\n/gm;

/** Keeps the marked lines of an app's own tags, also within other marked lines. */
function keepTagged(text: string, tags: readonly string[]): string {
  return text.replace(marked, (_, tag: string, lines: string) =>
    tags.includes(tag) ? keepTagged(lines, tags) : '',
  );
}

/** A template with the words of an app in it. */
function rendered(text: string, choices: Choices): string {
  const { folder, framework, storage, languages } = choices;
  const tags: readonly string[] = [
    framework,
    storage,
    ...(framework === 'next' ? [] : ['not-next']),
    isReleased ? 'released' : 'not-released',
  ];
  return keepTagged(text, tags)
    .replaceAll('{{name}}', nameOf(folder))
    .replaceAll('{{install}}', installCommand(choices))
    .replaceAll('{{packed}}', packedFolder(choices))
    .replace(
      "languages: ['en', 'fr']",
      `languages: [${languages.map((language) => `'${language}'`).join(', ')}]`,
    );
}

/** `_gitignore` is `.gitignore` in the app: npm leaves some of these out of a package. */
const pathInApp = (path: string): string => join(dirname(path), basename(path).replace(/^_/, '.'));

/** The files of the templates: what all apps share, then what the framework and the storage have of their own. */
export function templateFiles(choices: Choices): Files {
  const files = new Map<string, string>();
  for (const layer of ['shared', choices.framework, choices.storage]) {
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
