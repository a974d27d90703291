import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  installCommand as installApp,
  isReleased,
  notReleased,
} from '../packages/create-ostiary/src/install.ts';

const root = resolve(import.meta.dirname, '..');
const scope = '@ostiary/';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Returns a package and the packages of this repository that must be installed with it. */
function withOwn(name: string): string[] {
  if (!name.startsWith(scope)) return [name];
  const file = join(root, 'packages', name.slice(scope.length), 'package.json');
  const manifest: Manifest = JSON.parse(readFileSync(file, 'utf8'));
  const { dependencies, peerDependencies, peerDependenciesMeta = {} } = manifest;
  const needed = Object.keys({ ...dependencies, ...peerDependencies }).filter(
    (other) => peerDependenciesMeta[other]?.optional !== true,
  );
  const own = needed.filter((other) => other.startsWith(scope));
  return [name, ...own.flatMap(withOwn)];
}

/**
 * Returns the path of a package's tarball by `npm run pack`, from a folder beside the checkout. Packages of
 * other projects keep their names.
 */
function tarballOf(name: string): string {
  if (name === 'create-ostiary') return `../ostiary/packed/${name}.tgz`;
  return name.startsWith(scope) ? `../ostiary/packed/ostiary-${name.slice(scope.length)}.tgz` : name;
}

/**
 * Returns the command that installs the given packages.
 *
 * @param words packages and options of `npm install`, as they are after the first release
 */
export function installCommand(words: readonly string[], released: boolean): string {
  const all = released ? words : [...new Set(words.flatMap(withOwn))].map(tarballOf);
  return `npm install ${all.join(' ')}`;
}

function told(commands: readonly string[], released: boolean): string {
  const block = `\`\`\`sh\n${commands.join('\n')}\n\`\`\``;
  if (released) return block;
  return `${notReleased}\n\n${block}`;
}

/** Returns the commands that create an app and install the app's packages. */
export function createCommands(app: string, released: boolean): readonly string[] {
  const create = released
    ? `npm create ostiary@latest ${app}`
    : `npx --yes ${tarballOf('create-ostiary')} ${app} --yes`;
  return [create, `cd ${app}`, installApp({ folder: app, storage: 'sqlite' }, released)];
}

/**
 * Lists pages with commands that install packages or create an app, together with the right commands. Install
 * commands stand between \`<!-- install … -->\`, which names the packages, and \`<!-- /install -->\`;
 * commands that create an app stand between \`<!-- create … -->\`, which names the app, and \`<!-- /create
 * -->\`.
 */
export function pagesThatInstall(released = isReleased): ReadonlyMap<string, string> {
  // The first release creates this changelog. From then on the pages must not say that nothing is released.
  if (!released && existsSync(join(root, 'packages/core/CHANGELOG.md')))
    throw new Error(
      'there is a release: set isReleased in packages/create-ostiary/src/install.ts, and run npm run docs',
    );
  const pages = globSync('**/*.md', {
    cwd: root,
    exclude: (name) => /(?:^|\/)(?:node_modules|dist|\.\w+)$/.test(String(name)),
  });
  return new Map(
    pages.flatMap((page): [string, string][] => {
      const text = readFileSync(join(root, page), 'utf8');
      const marked = /(<!-- (install|create) (.*) -->\n)[\s\S]*?(?=\n<!-- \/\2 -->)/g;
      if (!marked.test(text)) return [];
      const written = text.replace(marked, (_, mark: string, what: string, words: string) => {
        const commands =
          what === 'create' ? createCommands(words, released) : [installCommand(words.split(' '), released)];
        return `${mark}${told(commands, released)}`;
      });
      return [[page, written]];
    }),
  );
}
