import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../examples/reference-server/src/config.ts';
import { environmentOf, objectsOf, podsOf } from '../../support/kubernetes/pods.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifests = ['migration.yaml', 'ostiary.yaml'].map((name) => read(`deploy/kubernetes/${name}`));
const pods = manifests.flatMap((text) => podsOf(text));

it('the plain manifests have everything that a cluster runs', () => {
  const kinds = manifests.flatMap((text) => objectsOf(text)).map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual([
    ...['Deployment', 'Deployment', 'Ingress', 'Job'],
    ...['PodDisruptionBudget', 'PodDisruptionBudget', 'Service', 'Service'],
  ]);
  expect(pods.map(({ name }) => name)).toEqual(['ostiary-migration', 'ostiary-web', 'ostiary-worker']);
});

it('the server takes the environment and the secret files of every pod, in production', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'sealing-keys'), `${randomBytes(32).toString('base64url')}\n`);
  writeFileSync(
    join(folder, 'database-url'),
    'postgres://ostiary:0a1b@db.internal:5432/ostiary?sslmode=require\n',
  );
  for (const pod of pods) {
    const [{ mountPath }] = pod.containers[0].volumeMounts;
    const environment = Object.entries(environmentOf(pod));
    const env = Object.fromEntries(
      environment.map(([name, value]) => [name, value.replace(mountPath, folder)]),
    );
    expect(loadConfig(env)).toMatchObject({
      role: pod.name === 'ostiary-web' ? 'web' : 'worker',
      authUrl: 'https://id.example.com',
      baseUrl: 'https://api.example.com',
    });
  }
});

it('every pod can have pages for operators whom a proxy signs in', () => {
  const operators = {
    OSTIARY_OPERATORS: 'on',
    OSTIARY_OPERATORS_HEADER: 'Remote-User',
    OSTIARY_OPERATORS_ROLES: 'helpdesk=support',
  };
  for (const pod of pods) {
    const env = { ...environmentOf(pod), ...operators };
    const given = {
      OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
      DATABASE_URL: 'postgres://db/ostiary',
    };
    const {
      OSTIARY_SEALING_KEYS_FILE: _,
      DATABASE_URL_FILE: __,
      ...settings
    } = env as Record<string, string>;
    expect(loadConfig({ ...settings, ...given }).operators, pod.name).not.toBeNull();
  }
});

it('a pod has more time to end than the server takes', () => {
  for (const pod of pods.filter(({ isJob }) => !isJob)) {
    const drain = Number(environmentOf(pod).OSTIARY_DRAIN_SECONDS ?? 0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + 15);
  }
});

it('the Job runs a command that is there', () => {
  const [, program = '', name = ''] = pods.find(({ isJob }) => isJob)?.containers[0].command ?? [];
  expect(existsSync(join(root, 'examples/reference-server', program))).toBe(true);
  expect(read('packages/cli/src/storage.ts')).toContain(`  ${name}: {`);
});

it('the chart has the version of the server', () => {
  const { version } = JSON.parse(read('examples/reference-server/package.json'));
  expect(read('deploy/helm/ostiary/Chart.yaml')).toContain(`\nappVersion: "${version}"\n`);
});

it('kubelets can tell that the user of the image is not root', () => {
  // Names of users are not enough for `runAsNonRoot`.
  expect(read('deploy/Dockerfile')).toMatch(/^USER \d+/m);
});
