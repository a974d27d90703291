import type { BatchObservableResult, Meter } from '@opentelemetry/api';

/** Descriptions and units of the gauges, by name. */
export type Gauges = Readonly<Record<string, readonly [description: string, unit: string]>>;

/** Value of a gauge metric, or several values with labels. */
type Value = number | readonly (readonly [value: number, labels: Readonly<Record<string, string>>])[];

/**
 * Creates gauges whose values are read together at each scrape. If `read` returns `null`, the scrape contains
 * none of these gauges.
 */
export function observe<Table extends Gauges>(
  meter: Meter,
  table: Table,
  read: () => Promise<Readonly<Record<keyof Table, Value>> | null> | Readonly<Record<keyof Table, Value>>,
): void {
  const gauges = Object.entries(table).map(([name, [description, unit]]) => ({
    name,
    gauge: meter.createObservableGauge(name, { description, unit }),
  }));
  const callback = async (result: BatchObservableResult): Promise<void> => {
    const values: Readonly<Record<string, Value>> | null = await read();
    if (values === null) return;
    for (const { name, gauge } of gauges) {
      const value = values[name];
      if (typeof value === 'number') result.observe(gauge, value);
      else for (const [one, labels] of value ?? []) result.observe(gauge, one, labels);
    }
  };
  meter.addBatchObservableCallback(
    callback,
    gauges.map(({ gauge }) => gauge),
  );
}
