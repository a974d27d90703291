import { join, resolve } from 'node:path';
import { run } from '../../support/program.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Folder of the chart. */
export const chart = join(root, 'deploy/helm/ostiary');

/** Folder of the plain manifests, which are rendered from the chart. */
export const manifests = join(root, 'deploy/kubernetes');

/** Values of the plain manifests. Operators replace them, so they are obviously examples. */
export const exampleValues = [
  ...['image.repository=registry.example.com/ostiary', 'secret.name=ostiary'],
  ...['authUrl=https://id.example.com', 'baseUrl=https://api.example.com', 'trustedProxies={10.0.0.0/8}'],
  ...['ingress.enabled=true', 'ingress.tlsSecretName=ostiary-tls'],
];

/** Values that turn on every part of the chart. */
export const allValues = [
  ...exampleValues,
  ...['web.autoscaling.enabled=true', 'worker.autoscaling.enabled=true', 'networkPolicy.enabled=true'],
  ...['metrics.serviceMonitor.enabled=true', 'metrics.serviceMonitor.labels.release=prometheus'],
  ...['networkPolicy.ingressNamespace.name=ingress', 'networkPolicy.monitoringNamespace.name=monitoring'],
  ...['secret.smtpUrlKey=smtp-url', 'settings.OSTIARY_NOTICES_TO=ops@example.com'],
  ...['settings.OSTIARY_NOTICES_FROM=id@example.com'],
  ...['secret.databaseCaKey=ca', 'migration.secretName=ostiary-owner', 'imagePullSecrets[0].name=registry'],
  ...['web.autoscaling.metric=eventLoop', 'settings.OSTIARY_NAME=Kafe', 'ingress.className=nginx'],
  ...['podLabels.team=identity', 'podAnnotations.note=here', 'web.nodeSelector.pool=web'],
];

/** Runs helm on the chart with some values. @returns the output of helm */
export const runHelm = (
  helm: string,
  command: readonly string[],
  values: readonly string[],
): Promise<string> =>
  run(helm, [...command, '--kube-version', '1.33.0', ...values.flatMap((value) => ['--set', value])]);

/** Renders the chart as `helm install ostiary` would. @param more - further options of `helm template` */
export const render = (
  helm: string,
  values: readonly string[],
  ...more: readonly string[]
): Promise<string> => runHelm(helm, ['template', 'ostiary', chart, ...more], values);
