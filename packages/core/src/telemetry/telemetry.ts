import type { IncomingHttpHeaders } from 'node:http';
import type { Attributes, Context, Histogram, SpanKind as Kind } from '@opentelemetry/api';
import { spanContextOf, traceparentOf } from './traceparent.ts';

/**
 * Names of the metrics' histograms, with their descriptions. The unit is seconds. The name of the requests' histogram is
 * that of the semantic conventions of OpenTelemetry for HTTP servers.
 */
const durations = {
  'http.server.request.duration': 'Time from the arrival of a request to the start of its response.',
  'ostiary.job.duration': 'Duration of the jobs of a worker: executions of transfers, removal of old rows.',
  'ostiary.webhook.attempt.duration': 'Duration of the attempts to deliver an event to an endpoint.',
  'ostiary.webhook.attempt.lag': 'Time between the moment at which a delivery attempt was due and its start.',
} as const;

/** Boundaries of the histograms' buckets in seconds: from the time of a cached response to a minute. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Metric = keyof typeof durations;

/** Names of the metrics' counters, with their descriptions. */
const counters = {
  'ostiary.payments.execution.unknown': {
    description: 'Executions of transfers whose outcome is unknown; each is tried again.',
    unit: '{execution}',
  },
  'ostiary.payments.contradiction': {
    description:
      'Final transfers that were given the opposite outcome. A person must investigate each of them.',
    unit: '{transfer}',
  },
} as const;

/**
 * Adds one to a counter of the metrics, whether the option `telemetry` is on or not. Does nothing without a
 * meter provider.
 */
export async function count(counter: keyof typeof counters): Promise<void> {
  // Load on first use, which may never come.
  const { metrics } = await import('@opentelemetry/api');
  // Get the meter each time: the host may register its provider after loading this package.
  metrics.getMeter('ostiary').createCounter(counter, counters[counter]).add(1);
}

export type Telemetry = Awaited<ReturnType<typeof createTelemetry>>;

/** Cause of an operation: a request with its headers, or work that an earlier operation has stored for a worker. */
type Origin =
  | { readonly headers: IncomingHttpHeaders }
  | {
      /** Span that caused the work, from {@link Telemetry.traceparent}; `null` if it is unknown. */
      readonly traceparent: string | null;
      /** True if the work is a request to another server. @defaultValue false */
      readonly sends?: boolean;
    };

/** Functions with which a measured operation says what it turned out to be. */
interface Operation {
  /** Sets the span's name, once it is known. */
  rename(name: string): void;
  /** Adds labels, which have few values, to span and histogram. */
  label(labels: Attributes): void;
  /** Adds ids to the span. */
  describe(details: Attributes): void;
  /** Marks the operation as failed. @param type - class of the failure, from a short list */
  fail(type: string): void;
}

/**
 * Creates spans and metrics for the providers that this process registered with `@opentelemetry/api`. Loads
 * that package only for hosts that enable telemetry.
 */
export async function createTelemetry() {
  const { context, metrics, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import(
    '@opentelemetry/api'
  );
  const tracer = trace.getTracer('ostiary');
  const meter = metrics.getMeter('ostiary');
  const histograms = new Map<string, Histogram>(
    Object.entries(durations).map(([name, description]) => [
      name,
      meter.createHistogram(name, {
        description,
        unit: 's',
        advice: { explicitBucketBoundaries: boundaries },
      }),
    ]),
  );

  // Start counters at zero: an alert compares values, and would miss the first event of a series that starts
  // with it.
  for (const [name, options] of Object.entries(counters)) meter.createCounter(name, options).add(0);

  /**
   * Returns where the span of an operation begins. A request is a child of the active span, which an instrumentation of
   * the host made for the same request, or else of the span that the caller names in its headers. Work of a worker is a
   * child of the span that caused it, whatever span is active.
   */
  function startOf(origin: Origin): { readonly kind: Kind; readonly parent: Context } {
    if ('headers' in origin) {
      const active = context.active();
      return trace.getSpan(active) === undefined
        ? { kind: SpanKind.SERVER, parent: propagation.extract(active, origin.headers) }
        : { kind: SpanKind.INTERNAL, parent: active };
    }
    const cause = origin.traceparent === null ? null : spanContextOf(origin.traceparent);
    return {
      kind: origin.sends ? SpanKind.CLIENT : SpanKind.CONSUMER,
      parent: cause === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, cause),
    };
  }

  return {
    /**
     * Runs work in an active telemetry span and measures its duration. `labels`, which have few values, go to span and
     * histogram. `details`, such as ids, go to the span only: never a secret or a phone number. Of a thrown
     * error only the name is recorded, because messages may quote a client's input.
     */
    measure<T>(
      {
        metric,
        span: name,
        origin,
        labels,
        details,
      }: {
        readonly metric: Metric;
        readonly span: string;
        readonly origin: Origin;
        readonly labels?: Attributes;
        readonly details?: Attributes;
      },
      work: (operation: Operation) => Promise<T>,
    ): Promise<T> {
      const start = performance.now();
      let noted: Attributes = { ...labels };
      const { kind, parent } = startOf(origin);
      const options = { kind, attributes: { ...labels, ...details } };
      return tracer.startActiveSpan(name, options, parent, async (span) => {
        const fail = (type: string): void => {
          noted = { ...noted, 'error.type': type };
          span.setStatus({ code: SpanStatusCode.ERROR });
        };
        try {
          return await work({
            rename: (better) => void span.updateName(better),
            label: (more) => {
              noted = { ...noted, ...more };
            },
            describe: (more) => void span.setAttributes(more),
            fail,
          });
        } catch (error) {
          fail(error instanceof Error ? error.name : 'Error');
          throw error;
        } finally {
          span.setAttributes(noted);
          span.end();
          histograms.get(metric)?.record((performance.now() - start) / 1000, noted);
        }
      });
    },
    /** Records a duration in seconds that the caller measured. */
    record: (metric: Metric, seconds: number, labels: Attributes) =>
      histograms.get(metric)?.record(seconds, labels),
    /**
     * Returns the active span as a `traceparent` (W3C Trace Context), to be stored with the work that it causes; `null`
     * without a tracer provider or a context manager of the host.
     */
    traceparent(): string | null {
      const active = trace.getSpanContext(context.active());
      return active === undefined ? null : traceparentOf(active);
    },
  };
}
