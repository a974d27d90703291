import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterwards } from './running.ts';

class TestReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/**
 * Registers a host application's metrics until the end of the test, and returns a function that reads them.
 */
export function hostMetrics() {
  const reader = new TestReader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  afterwards(() => metrics.disable());
  return async () => {
    const { resourceMetrics } = await reader.collect();
    return resourceMetrics.scopeMetrics
      .filter(({ scope }) => scope.name === 'ostiary')
      .flatMap((scope) => scope.metrics)
      .flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          name: descriptor.name,
          attributes,
          count: typeof value === 'object' && 'count' in value ? value.count : value,
        })),
      );
  };
}
