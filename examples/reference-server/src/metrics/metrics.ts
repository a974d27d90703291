import { metrics as global } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { type Address, listen } from '@ostiary/web-kit';
import { ConfigError, type ServerConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { observeDatabase } from './database.ts';
import { observeProcess } from './process.ts';
import { views } from './series.ts';

/** Metrics of this process, on a port of their own. */
export interface Metrics {
  /** Adds what only the database knows. */
  watch(database: Database, now: () => number): void;
  close(): Promise<void>;
}

/**
 * Answers `/metrics` for Prometheus. Has to be there before Ostiary is, which measures for the provider that it finds.
 *
 * @throws AddressError when the port cannot be had
 * @throws {@link ConfigError} when something else in this process collects metrics already
 */
export async function startMetrics(address: Address, role: ServerConfig['role']): Promise<Metrics> {
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    // The name of the process, which would be a path of this machine; and which library measured.
    withoutTargetInfo: true,
    withoutScopeInfo: true,
  });
  const provider = new MeterProvider({ readers: [exporter], views });
  if (!global.setGlobalMeterProvider(provider)) {
    throw new ConfigError('OSTIARY_METRICS_PORT: this process has a provider of metrics already');
  }
  const meter = provider.getMeter('ostiary-server');
  const stopObserving = observeProcess(meter, role);

  async function stop(): Promise<void> {
    stopObserving();
    global.disable();
    await provider.shutdown();
  }

  try {
    const http = await listen(
      address,
      (request, response) => {
        if (request.method === 'GET' && request.url?.split('?', 1)[0] === '/metrics')
          exporter.getMetricsRequestHandler(request, response);
        else response.writeHead(404).end();
      },
      { variables: { host: 'OSTIARY_METRICS_HOST', port: 'OSTIARY_METRICS_PORT' }, maxConnections: 100 },
    );
    return {
      watch: (database, now) => observeDatabase(meter, database, now),
      async close() {
        await http.close(1_000);
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
