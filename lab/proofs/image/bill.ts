import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Claim, claim } from '../../support/proof.ts';
import { type Contents, installedPackages } from './contents.ts';

const billOfMaterials = z.object({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(z.object({ purl: z.string().optional() })),
});

/** Lists the components of a bill of materials of one kind, such as `npm`, by name and version. */
function listedIn(purls: readonly string[], kind: string): string[] {
  const own = purls.filter((purl) => purl.startsWith(`pkg:${kind}/`));
  const names = own.map((purl) =>
    decodeURIComponent(purl.slice(`pkg:${kind}/`.length).replace(/[?#].*$/, '')),
  );
  return [...new Set(names)].toSorted();
}

/** Returns what is in the list `wanted` and not in `list`. */
const missingIn = (list: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((name) => !list.includes(name));

/**
 * Compares the bill of materials of an image with what the image contains.
 * @param folder - folder of the app, with `node_modules` and `sbom.cdx.json`
 */
export async function proveBill(name: string, contents: Contents, folder: string): Promise<Claim[]> {
  const text = await readFile(join(contents.root, folder, 'sbom.cdx.json'), 'utf8');
  const purls = billOfMaterials.parse(JSON.parse(text)).components.map(({ purl = '' }) => purl);
  const listed = listedIn(purls, 'npm');
  const installed = await installedPackages(contents, `${folder}/`);
  const problems = [
    ...missingIn(listed, installed).map((missing) => `not listed: ${missing}`),
    ...missingIn(installed, listed).map((missing) => `not installed: ${missing}`),
  ];
  return [
    {
      name: `${name}: the bill of materials lists exactly the packages that are installed`,
      problems: installed.length > 0 ? problems : ['nothing is installed'],
      found: `${installed.length} packages`,
    },
  ];
}

/**
 * Checks that the lockfile has every npm package of the server that is not of this repository, in the same
 * version.
 */
export async function proveLockfile(contents: Contents, lockfile: string): Promise<Claim> {
  const { packages } = z.object({ packages: z.record(z.string(), z.unknown()) }).parse(parse(lockfile));
  const installed = await installedPackages(contents, 'server/');
  const foreign = installed.filter((name) => !name.startsWith('@ostiary/'));
  return {
    name: 'server: has the versions of the lockfile',
    problems: foreign.filter((name) => !Object.hasOwn(packages, name)),
  };
}

/** Compares the Debian packages and Node in the server's bill of materials with the image. */
export async function proveSystemBill(contents: Contents, node: string): Promise<Claim[]> {
  const text = await readFile(join(contents.root, 'server/sbom.cdx.json'), 'utf8');
  const purls = billOfMaterials.parse(JSON.parse(text)).components.map(({ purl = '' }) => purl);
  const status = await readFile(join(contents.root, 'var/lib/dpkg/status'), 'utf8');
  const installed = Array.from(
    status.matchAll(/^Package: (.*)\n(?:.+\n)*?Version: (.*)$/gm),
    ([, name, version]) => `debian/${name}@${version}`,
  );
  const listed = [...listedIn(purls, 'deb'), ...listedIn(purls, 'generic')];
  const wanted = [...installed.toSorted(), `node@${node}`];
  return [
    claim(
      'server: the bill of materials lists Node and the Debian packages',
      installed.length > 2 && listed.join() === wanted.join(),
      `${listed.join(', ')} instead of ${wanted.join(', ')}`,
    ),
  ];
}
