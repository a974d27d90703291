import type { Attributes, Histogram, Span } from '@opentelemetry/api';

/** Names of the metrics' histograms, with their descriptions. The unit is seconds. */
const durations = {
  'ostiary.request.duration': 'Requests, until their answer begins.',
  'ostiary.job.duration': 'Jobs of the worker: executions of transfers, removal of old rows.',
  'ostiary.webhook.attempt.duration': 'Attempts to deliver an event to an endpoint.',
  'ostiary.webhook.attempt.lag': 'How long after it was due an attempt began.',
} as const;

/**
 * Boundaries of the histograms' buckets in seconds: from the time of a cached response to the longest that an
 * endpoint may take.
 */
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

/**
 * Creates spans and metrics for the providers that this process registered with `@opentelemetry/api`. Loads
 * that package only for hosts that enable telemetry.
 */
export async function createTelemetry() {
  const { metrics, SpanStatusCode, trace } = await import('@opentelemetry/api');
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
   * Marks a telemetry span as failed. Records only the error's name, because messages may quote a client's
   * input.
   */
  function fail(span: Span, error: unknown): Attributes {
    const name = error instanceof Error ? error.name : 'Error';
    span.setStatus({ code: SpanStatusCode.ERROR, message: name });
    return { 'error.type': name };
  }

  return {
    /**
     * Runs work in an active telemetry span and measures its duration. `rename` sets the span's name once it
     * is known, and `label` adds labels. `labels`, which have few values, go to span and histogram. `details`
     * go to the span only and are ids: never a secret or a phone number.
     */
    measure<T>(
      {
        metric,
        span: name,
        labels,
        details,
      }: {
        readonly metric: Metric;
        readonly span: string;
        readonly labels?: Attributes;
        readonly details?: Attributes;
      },
      work: (operation: { rename(name: string): void; label(labels: Attributes): void }) => Promise<T>,
    ): Promise<T> {
      const start = performance.now();
      let noted: Attributes = { ...labels };
      return tracer.startActiveSpan(name, { attributes: { ...labels, ...details } }, async (span) => {
        try {
          return await work({
            rename: (better) => void span.updateName(better),
            label: (more) => {
              noted = { ...noted, ...more };
            },
          });
        } catch (error) {
          noted = { ...noted, ...fail(span, error) };
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
  };
}
