/** Renders the plain manifests of `deploy/kubernetes` from the chart: `npm run manifests`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exampleValues, manifests, render } from './chart.ts';
import { provideTools } from './tools.ts';

const files = {
  'migration.yaml': ['--show-only', 'templates/migration.yaml'],
  'ostiary.yaml': ['--no-hooks'],
};

/**
 * Matches the lines of a rendered manifest that only Helm needs: its labels, its namespace and its comments.
 */
const ofHelm = /^ *(?:helm\.sh\/\S+|app\.kubernetes\.io\/managed-by|namespace): .*\n|^# Source: .*\n/gm;

/** Renders the text of each plain manifest. */
export async function renderManifests(helm: string): Promise<ReadonlyMap<string, string>> {
  const head =
    '# Rendered from deploy/helm/ostiary by `npm run manifests`. Replace what contains example.com.\n';
  const rendered = new Map<string, string>();
  for (const [name, options] of Object.entries(files)) {
    const text = await render(helm, exampleValues, ...options);
    const plain = text.replaceAll(ofHelm, '').replaceAll(/^ *annotations:\n(?! {4})/gm, '');
    rendered.set(name, `${head}${plain}\n`);
  }
  return rendered;
}

if (import.meta.main) {
  const tools = await provideTools();
  if (tools === null) throw new Error('Go and Python are needed');
  await mkdir(manifests, { recursive: true });
  for (const [name, text] of await renderManifests(tools.helm)) await writeFile(join(manifests, name), text);
}
