import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';

type Collected = Awaited<ReturnType<PrometheusExporter['collect']>>['resourceMetrics'];

/**
 * Suffixes of Prometheus names, by OpenTelemetry unit. Units in braces, such as `{request}`, are only
 * descriptions.
 */
const suffixes: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': 'ratio' };

/**
 * Replacements for names whose suffix has a special meaning in Prometheus: `_count` belongs to histograms.
 */
const reserved: Readonly<Record<string, string>> = { 'db.client.connection.count': 'db.client.connections' };

function prometheusName(name: string, unit: string): string {
  const suffix = suffixes[unit];
  const plain = reserved[name] ?? name;
  return suffix === undefined ? plain : `${plain}.${suffix}`;
}

/**
 * Names metrics as Prometheus does, with their unit at the end (OpenTelemetry, compatibility with
 * Prometheus).
 */
export const withPrometheusNames = (collected: Collected): Collected => ({
  ...collected,
  scopeMetrics: collected.scopeMetrics.map((scope) => ({
    ...scope,
    metrics: scope.metrics.map((metric) => ({
      ...metric,
      descriptor: {
        ...metric.descriptor,
        name: prometheusName(metric.descriptor.name, metric.descriptor.unit),
      },
    })),
  })),
});
