import type { Dirent } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';

/** Contents of an exported image. Paths begin at the root of the image. */
export interface Contents {
  readonly root: string;
  readonly files: ReadonlyMap<string, { readonly size: number }>;
  readonly folders: readonly string[];
  /** Files and links in folders for programs, and native executables (ELF) elsewhere. */
  readonly programs: readonly string[];
}

const inProgramFolder = /^(?:usr\/)?(?:local\/)?s?bin\/./;
const library = /\.(?:so(?:\.[\d.]+)?|node)$/;

/** Checks whether a file is a native executable (ELF), and not a library. */
async function isProgram(root: string, path: string): Promise<boolean> {
  const { mode } = await stat(join(root, path));
  if ((mode & 0o111) === 0 || library.test(path)) return false;
  await using handle = await open(join(root, path));
  const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
  return buffer.toString('latin1') === '\x7fELF';
}

/** Lists what is in an exported image. */
export async function contentsOf(root: string): Promise<Contents> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const pathOf = ({ parentPath, name }: Dirent) => relative(root, join(parentPath, name));
  const paths = entries.filter((entry) => entry.isFile()).map(pathOf);
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(pathOf);
  const files = new Map<string, { readonly size: number }>();
  const programs = [...paths, ...links].filter((path) => inProgramFolder.test(path));
  for (const path of paths) {
    files.set(path, await stat(join(root, path)));
    if (!inProgramFolder.test(path) && (await isProgram(root, path))) programs.push(path);
  }
  const folders = entries.filter((entry) => entry.isDirectory()).map(pathOf);
  return { root, files, folders, programs: programs.toSorted() };
}

/** Sums the sizes of the files below a folder, in megabytes of 1,000,000 bytes. */
export function megabytesOf({ files }: Contents, folder = ''): number {
  const bytes = Array.from(files, ([path, { size }]) => (path.startsWith(folder) ? size : 0));
  return bytes.reduce((total, size) => total + size, 0) / 1_000_000;
}

const managers = ['npm', 'npx', 'corepack', 'pnpm', 'pnpx', 'yarn', 'yarnpkg', 'bun', 'deno'];

/** Lists package managers of JavaScript in an image: programs, and packages in any `node_modules`. */
export function managersIn({ programs, folders }: Contents): string[] {
  const packages = folders.filter((path) => /(?:^|\/)node_modules\/[^/]+$/.test(path));
  return [...programs, ...packages].filter((path) => managers.includes(basename(path, '.js')));
}

/** Lists the programs of an image that are Node. */
export const nodesIn = ({ programs }: Contents): string[] =>
  programs.filter((path) => /^node(?:js)?$/.test(basename(path)));

/** Name and version of a package, such as `pg@8.23.0`. */
export type PackageName = string;

/** Lists the npm packages that are installed below a folder of an image. */
export async function installedPackages(contents: Contents, folder: string): Promise<PackageName[]> {
  const manifest = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@]+\/package\.json$/;
  const own = [...contents.files.keys()].filter((path) => path.startsWith(folder) && manifest.test(path));
  const names = own.map(async (path) => {
    const { name, version } = JSON.parse(await readFile(join(contents.root, path), 'utf8'));
    return `${name}@${version}`;
  });
  return [...new Set(await Promise.all(names))].toSorted();
}
