import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Meter } from '@opentelemetry/api';
import type { ServerConfig } from '../config.ts';
import { version } from '../version.ts';
import { observe } from './observed.ts';

const nanoseconds = 1e9;

/** Interval between samples of the event loop's delay, in milliseconds. */
const samplingMs = 10;

const collections: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

function observeCollections(meter: Meter): () => void {
  const duration = meter.createHistogram('v8js.gc.duration', {
    description: 'Garbage collections, by their kind.',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5] },
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const kind = 'detail' in entry ? (entry.detail as { readonly kind?: number }).kind : undefined;
      duration.record(entry.duration / 1_000, { 'v8js.gc.type': collections[kind ?? -1] ?? 'other' });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

const gauges = {
  'nodejs.eventloop.delay.p50': ['Event loop delay since the previous scrape, median.', 's'],
  'nodejs.eventloop.delay.p99': ['Event loop delay since the previous scrape, 99 %.', 's'],
  'nodejs.eventloop.utilization': ['Busy share of the time since the previous scrape.', '1'],
  'v8js.memory.heap.used': ['Heap that objects take, by space.', 'By'],
  'v8js.memory.heap.limit': ['Heap that V8 has taken from the system, by space.', 'By'],
  'process.memory.usage': ['Memory of the process (RSS).', 'By'],
  'process.uptime': ['Since the start.', 's'],
  'ostiary.build.info': ['Always 1; the labels say what runs.', '{build}'],
} as const;

/**
 * Adds metrics of the process itself, with the names of OpenTelemetry. Returns a function that stops the
 * measurements.
 */
export function observeProcess(meter: Meter, role: ServerConfig['role']): () => void {
  const delay = monitorEventLoopDelay({ resolution: samplingMs });
  delay.enable();
  let before = performance.eventLoopUtilization();
  // Node reports the time between samples. Subtract the interval itself to get the delay.
  const seconds = (value: number): number =>
    Number.isFinite(value) ? Math.max(0, value / nanoseconds - samplingMs / 1_000) : 0;

  observe(meter, gauges, () => {
    const spaces = getHeapSpaceStatistics().map((space) => {
      return { ...space, label: { 'v8js.heap.space.name': space.space_name } };
    });
    const [p50, p99] = [seconds(delay.percentile(50)), seconds(delay.percentile(99))];
    delay.reset();
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return {
      'nodejs.eventloop.delay.p50': p50,
      'nodejs.eventloop.delay.p99': p99,
      'nodejs.eventloop.utilization': utilization,
      'v8js.memory.heap.used': spaces.map(({ space_used_size: used, label }) => [used, label] as const),
      'v8js.memory.heap.limit': spaces.map(({ space_size: size, label }) => [size, label] as const),
      'process.memory.usage': process.memoryUsage.rss(),
      'process.uptime': process.uptime(),
      'ostiary.build.info': [[1, { version, node: process.version, role }]],
    };
  });
  const stopCollections = observeCollections(meter);
  return () => {
    delay.disable();
    stopCollections();
  };
}
