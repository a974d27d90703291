import type { Attributes, Histogram, Span } from '@opentelemetry/api';

/** Names of the histograms, in seconds, and their descriptions. */
const durations = {
  'ostiary.request.duration': 'Requests, until their answer begins.',
  'ostiary.job.duration': 'Jobs of the worker: executions of transfers, removal of old rows.',
  'ostiary.webhook.attempt.duration': 'Attempts to deliver an event to an endpoint.',
  'ostiary.webhook.attempt.lag': 'How long after it was due an attempt began.',
} as const;

/** Boundaries in seconds: from what a cached answer takes to what an endpoint may take. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Metric = keyof typeof durations;

/** Names of the counters, and their descriptions. */
const counters = {
  'ostiary.payments.execution.unknown': {
    description: 'Executions of transfers whose outcome is unknown; each is tried again.',
    unit: '{execution}',
  },
  'ostiary.payments.contradiction': {
    description:
      'Final transfers that were given the opposite outcome. Each has to be looked into by a person.',
    unit: '{transfer}',
  },
} as const;

/** Counts one event of a kind, whether the option `telemetry` is on or not. Does nothing without a meter provider. */
export async function count(counter: keyof typeof counters): Promise<void> {
  // Loaded when there is something to count, which may be never.
  const { metrics } = await import('@opentelemetry/api');
  // Asked for each time: the host may register its provider after it has loaded this package.
  metrics.getMeter('ostiary').createCounter(counter, counters[counter]).add(1);
}

export type Telemetry = Awaited<ReturnType<typeof createTelemetry>>;

/**
 * Spans and metrics for the providers that this process has registered with `@opentelemetry/api`. Loads that
 * package only for hosts that enable telemetry.
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

  // Counters begin at zero: an alert compares values, and would miss the first event of a series that begins with it.
  for (const [name, options] of Object.entries(counters)) meter.createCounter(name, options).add(0);

  /** Record the name of the error only, because messages may quote a client's input. */
  function fail(span: Span, error: unknown): Attributes {
    const name = error instanceof Error ? error.name : 'Error';
    span.setStatus({ code: SpanStatusCode.ERROR, message: name });
    return { 'error.type': name };
  }

  return {
    /**
     * Runs work in a span that is the current one meanwhile, and measures how long it takes. `rename` says what it is, once
     * that is known, `label` adds labels. `labels`, names of few values,
     * are for span and histogram; `details`, for the span only, are ids: never anything secret, nor a phone number.
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
    /** Records a time in seconds that was measured otherwise. */
    record: (metric: Metric, seconds: number, labels: Attributes) =>
      histograms.get(metric)?.record(seconds, labels),
  };
}
