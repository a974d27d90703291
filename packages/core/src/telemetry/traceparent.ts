import type { SpanContext } from '@opentelemetry/api';

/** Form of a `traceparent`: version, trace id, span id and flags (W3C Trace Context, section 3.2). */
const format = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Formats the ids of a span as a `traceparent`; `null` if they are all zeros, as without a tracer provider. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string | null {
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return null;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Parses the ids of a span that another process has stored; `null` if the text is no `traceparent`. */
export function spanContextOf(traceparent: string): SpanContext | null {
  const [, traceId, spanId, flags] = format.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
