import { metrics as global } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  type IAttributesProcessor,
  InstrumentType,
  MeterProvider,
  type ViewOptions,
} from '@opentelemetry/sdk-metrics';
import { type Address, type HttpServer, listen } from '@ostiary/web-kit';
import type { ServerConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import type { Database } from '../database/database.ts';
import { observeDatabase } from './database.ts';
import { observeProcess } from './process.ts';
import { withPrometheusNames } from './prometheus-names.ts';

/** Returns the class of an HTTP status, such as `2xx`; `none` if there was no response. */
function classOf(status: unknown): string {
  const digit = Math.floor(Number(status) / 100);
  return digit >= 1 && digit <= 5 ? `${digit}xx` : 'none';
}

/**
 * Replaces HTTP statuses by their class, and leaves out the method, the protocol and the type of the error. Otherwise each
 * combination that a client or a webhook receiver can provoke would be a separate series, with every bucket of a histogram.
 */
const byClass: IAttributesProcessor = {
  process({
    'http.request.method': _method,
    'url.scheme': _scheme,
    'network.protocol.version': _version,
    'error.type': _error,
    'http.response.status_code': status,
    ...labels
  }: Parameters<IAttributesProcessor['process']>[0]) {
    return { ...labels, 'http.response.status_class': classOf(status) };
  },
};

/**
 * Histograms with statuses by class, because strangers and webhook receivers choose the statuses.
 */
const views: ViewOptions[] = ['http.server.request.duration', 'ostiary.webhook.attempt.duration'].map(
  (instrumentName) => ({ instrumentName, attributesProcessors: [byClass] }),
);

/**
 * Exporter that leaves out gauges without a value. By default, the SDK repeats the last value of a gauge, so that nobody sees
 * that the database no longer answers.
 */
class Exporter extends PrometheusExporter {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    return type === InstrumentType.OBSERVABLE_GAUGE
      ? AggregationTemporality.DELTA
      : super.selectAggregationTemporality(type);
  }
}

/**
 * Serves `/metrics` for Prometheus, and no other path.
 *
 * @throws AddressError if the server cannot listen at the address
 */
export function serveMetrics(address: Address, text: () => Promise<string>): Promise<HttpServer> {
  return listen(
    address,
    async (request, response) => {
      const isAsked = request.method === 'GET' && request.url?.split('?', 1)[0] === '/metrics';
      const page = isAsked ? await text().catch(() => null) : undefined;
      if (page == null) response.writeHead(page === null ? 500 : 404).end();
      else response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(page);
    },
    { variables: { host: 'OSTIARY_METRICS_HOST', port: 'OSTIARY_METRICS_PORT' }, maxConnections: 100 },
  );
}

/** Metrics of a running server. */
export type Metrics = Awaited<ReturnType<typeof startMetrics>>;

/**
 * Starts to collect metrics. Call it before creating Ostiary, which uses the meter provider that is
 * registered then.
 *
 * @param address - address that serves the metrics; `null` for a process whose primary collects them
 * @throws AddressError if the server of the metrics cannot listen at the address
 * @throws {@link ConfigError} if other code in this process already collects metrics
 */
export async function startMetrics(address: Address | null, role: ServerConfig['role']) {
  const exporter = new Exporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [exporter], views });
  if (!global.setGlobalMeterProvider(provider)) {
    throw new ConfigError('OSTIARY_METRICS_PORT: this process has a provider of metrics already');
  }
  await using opened = new AsyncDisposableStack();
  opened.defer(() => provider.shutdown());
  opened.defer(() => global.disable());
  const meter = provider.getMeter('ostiary-server');
  opened.defer(observeProcess(meter, role));
  // Leave out the process name, which would be a path of this machine, and the name of the measuring library.
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  /** Returns the page of metrics for Prometheus. */
  const text = async () =>
    serializer.serialize(withPrometheusNames((await exporter.collect()).resourceMetrics));
  if (address !== null) opened.adopt(await serveMetrics(address, text), (http) => http.close(1_000));
  const running = opened.move();
  return {
    /** Adds the metrics that are read from the database. */
    watch: (database: Database, now: () => number) => observeDatabase(meter, database, now),
    text,
    close: () => running.disposeAsync(),
  };
}
