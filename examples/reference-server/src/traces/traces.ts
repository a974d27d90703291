import { hostname } from 'node:os';
import { context, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '@ostiary/core';
import type { ServerConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { inTime } from '../http/in-time.ts';
import { version } from '../version.ts';

/** Time limit for sending spans, in milliseconds. Spans that could not be sent in time are lost. */
const patienceMs = 5_000;

/**
 * Starts to send spans to an OpenTelemetry collector. Call it before creating Ostiary, which uses the tracer provider that
 * is registered then. Registers no propagator: each request begins a trace of its own, so that callers cannot write
 * into the traces of others.
 *
 * @throws {@link ConfigError} if other code in this process already makes traces
 */
export function startTraces(
  { url, percent }: NonNullable<ServerConfig['traces']>,
  role: ServerConfig['role'],
  logger: Logger,
): { close(): Promise<void> } {
  // A collector that does not respond is an error of each batch.
  const failed = (message: string): void => logger.warn({ err: new Error(message) }, 'traces cannot be sent');
  diag.setLogger({ error: failed, warn: failed, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'ostiary',
      'service.version': version,
      'service.instance.id': `${hostname()}:${process.pid}`,
      'ostiary.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(percent / 100) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url, timeoutMillis: patienceMs }),
        exportTimeoutMillis: patienceMs,
      }),
    ],
  });
  if (!trace.setGlobalTracerProvider(provider))
    throw new ConfigError('OSTIARY_TRACES_URL: this process has a provider of traces already');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return {
    async close() {
      await inTime(provider.shutdown(), patienceMs);
      trace.disable();
      context.disable();
      diag.disable();
    },
  };
}
