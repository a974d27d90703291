/**
 * Adds Node and the Debian packages of the container image to a bill of materials in CycloneDX format:
 *   node scripts/bill-of-image.ts <bill of materials> <root of the image>
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Part of the image that npm did not install. */
interface SystemComponent {
  readonly type: 'application' | 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly 'bom-ref': string;
  readonly cpe?: string;
}

function newComponent(component: Omit<SystemComponent, 'bom-ref' | 'purl'>, purl: string): SystemComponent {
  return { ...component, purl, 'bom-ref': purl };
}

/** Describes the Node that runs this script, which is the Node of the image. */
function nodeComponent(version: string): SystemComponent {
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  return newComponent({ type: 'application', name: 'node', version, cpe }, `pkg:generic/node@${version}`);
}

/** Reads one field of a text with a `Name: value` or `NAME="value"` line for each field. */
function fieldOf(text: string, name: string): string {
  const value = new RegExp(`^${name}(?:: |=)"?([^"\n]*)`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`there is no ${name} in: ${text.slice(0, 200)}`);
  return value;
}

/** Describes the Debian packages in the image's package database. */
function debianComponents(root: string): SystemComponent[] {
  const release = readFileSync(join(root, 'etc/os-release'), 'utf8');
  const distribution = `${fieldOf(release, 'ID')}-${fieldOf(release, 'VERSION_ID')}`;
  const packages = readFileSync(join(root, 'var/lib/dpkg/status'), 'utf8').split(/^(?=Package: )/m);
  return packages.map((text) => {
    const [name, version, architecture] = ['Package', 'Version', 'Architecture'].map((field) =>
      fieldOf(text, field),
    );
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version ?? '')}?arch=${architecture}&distro=${distribution}`;
    return newComponent({ type: 'library', name: name ?? '', version: version ?? '' }, purl);
  });
}

const [file, root] = process.argv.slice(2);
if (file === undefined || root === undefined) throw new Error('give the bill of materials and the root');
const bill: { readonly components: readonly unknown[] } = JSON.parse(readFileSync(file, 'utf8'));
const components = [...bill.components, nodeComponent(process.versions.node), ...debianComponents(root)];
writeFileSync(file, `${JSON.stringify({ ...bill, components }, null, 2)}\n`);
