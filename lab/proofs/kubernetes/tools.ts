import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { programOf, run } from '../../support/program.ts';

/** Versions of the programs that render and check the chart. */
const versions = { helm: 'v3.22.0', kubeconform: 'v0.8.0', schemas: '1.37.0', prometheusOperator: 'v0.85.0' };

/**
 * Versions of Kubernetes whose schemas the manifests must match: the oldest supported one, and newer ones.
 */
export const kubernetesVersions = ['1.27.0', '1.33.0', '1.37.0'];

/** Programs and files that check the chart. */
export interface Tools {
  readonly helm: string;
  readonly kubeconform: string;
  /** Templates of the paths at which kubeconform finds the JSON schemas. */
  readonly schemas: readonly string[];
}

/** Returns a program of this machine, or compiles it from the Go registry. */
async function goProgram(name: string, module: string, bin: string): Promise<string> {
  const installed = programOf(name);
  if (installed !== undefined) return installed;
  const environment = [`GOBIN=${bin}`, 'CGO_ENABLED=0', 'GOTOOLCHAIN=auto', 'GOFLAGS=-buildvcs=false'];
  await run('env', [...environment, 'go', 'install', module]);
  return join(bin, name);
}

/**
 * Installs the Python package `kubernetes-validate` for the strict schemas that it contains, and copies them
 * without the ids and absolute references that would lead kubeconform to the internet.
 */
async function provideKubernetesSchemas(folder: string): Promise<string> {
  const target = join(folder, 'kubernetes-validate');
  const wanted = `kubernetes-validate==${versions.schemas}`;
  await run('python3', [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '--upgrade',
    '--target',
    target,
    wanted,
  ]);
  for (const version of kubernetesVersions) {
    const from = join(target, 'kubernetes_validate/kubernetes-json-schema', `v${version}-local-strict`);
    const to = join(folder, 'schemas', `v${version}`);
    await mkdir(to, { recursive: true });
    for (const name of await readdir(from)) {
      const text = await readFile(join(from, name), 'utf8');
      const { $id: _, ...schema } = JSON.parse(
        text.replaceAll('"/api/_definitions.json#', '"_definitions.json#'),
      );
      await writeFile(join(to, name), JSON.stringify(schema));
    }
  }
  return join(folder, 'schemas/{{.NormalizedKubernetesVersion}}/{{.ResourceKind}}{{.KindSuffix}}.json');
}

/** Takes the schema of a ServiceMonitor from the Go module of the Prometheus Operator. */
async function provideServiceMonitorSchema(folder: string): Promise<string> {
  const module = `github.com/prometheus-operator/prometheus-operator@${versions.prometheusOperator}`;
  const { Dir: source } = JSON.parse(await run('go', ['mod', 'download', '-json', module]));
  const file = 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml';
  const [version] = parse(await readFile(join(source, file), 'utf8')).spec.versions;
  await mkdir(join(folder, 'schemas'), { recursive: true });
  const schema = join(folder, 'schemas/servicemonitor-monitoring-v1.json');
  await writeFile(schema, JSON.stringify(version.schema.openAPIV3Schema));
  return join(folder, 'schemas/{{.ResourceKind}}{{.KindSuffix}}.json');
}

/**
 * Provides the programs and schemas, and keeps what it compiles and installs for the next run.
 * @returns `null` if this machine has no Go or Python to get them
 */
export async function provideTools(): Promise<Tools | null> {
  if (programOf('go') === undefined || programOf('python3') === undefined) return null;
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'ostiary-kubernetes');
  await mkdir(folder, { recursive: true });
  const conform = `github.com/yannh/kubeconform/cmd/kubeconform@${versions.kubeconform}`;
  return {
    helm: await goProgram('helm', `helm.sh/helm/v3/cmd/helm@${versions.helm}`, folder),
    kubeconform: await goProgram('kubeconform', conform, folder),
    schemas: [await provideKubernetesSchemas(folder), await provideServiceMonitorSchema(folder)],
  };
}
