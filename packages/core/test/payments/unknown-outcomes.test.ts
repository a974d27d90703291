import { setImmediate } from 'node:timers/promises';
import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { TransferResult } from '../../src/index.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { partnerProvider, payment, testPayment } from '../support/partner-api.ts';

class TestReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

afterEach(() => metrics.disable());

/** A shop whose rail a test steers, and what the host's metrics and log say about it. */
async function shop() {
  const database = fragileStorage();
  const { provider, rail } = await partnerProvider({ storage: database.storage });
  // A host may well register its provider after it has built Ostiary.
  const reader = new TestReader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const key = await provider.key();
  await provider.ostiary.worker.runDue();
  const pay = (body: object = payment, by = key) =>
    provider.partnerCall(by, 'POST /v1/partner/payments', body).then(({ json }) => String(json().id));
  const counted = async () => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    return resourceMetrics.scopeMetrics
      .filter(({ scope }) => scope.name === 'ostiary')
      .flatMap((scope) => scope.metrics)
      .map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints.map(({ value, attributes }) => [value, attributes]),
      ]);
  };
  const lines = () => provider.logged.filter(({ message }) => message.includes('tried again'));
  return { database, provider, rail, pay, counted, lines };
}

/** One number, with nothing beside it that could tell of somebody. */
const unknown = (times: number) => [['ostiary.payments.execution.unknown', [[times, {}]]]];

describe('an execution with an unknown outcome', () => {
  it('is counted and logged on each try, whatever is unknown about it', async () => {
    const { provider, rail, pay, counted, lines } = await shop();
    const id = await pay();
    const answers: (() => Promise<TransferResult>)[] = [
      () => Promise.reject(new Error('connection reset')),
      () => {
        throw new Error('not even a promise');
      },
      async () => ({ status: 'done' }) as never,
    ];
    for (const [index, answer] of answers.entries()) {
      rail.answer = answer;
      await provider.ostiary.worker.runDue();
      expect(await counted()).toEqual(unknown(index + 1));
      expect(lines()).toHaveLength(index + 1);
      expect(lines().at(-1)).toMatchObject({
        level: 'warn',
        fields: { job: `transfer:${id}`, kind: 'transfer', attempt: index + 1 },
      });
      provider.clock.advance(3_600_000);
    }
  });

  it('is one where the rail did not answer in time', async () => {
    const { provider, rail, pay, counted, lines } = await shop();
    const timer = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timer.signal);
    rail.answer = () => new Promise(() => {});
    await pay();
    const round = provider.ostiary.worker.runDue();
    await vi.waitFor(() => expect(rail.orders).toHaveLength(1), patient);
    timer.abort();
    await round;
    timeout.mockRestore();
    expect(await counted()).toEqual(unknown(1));
    expect(lines()).toHaveLength(1);
  });

  it('leaves nothing behind that would end the process where the rail throws at once', async () => {
    const { provider, rail, pay } = await shop();
    const timer = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timer.signal);
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => {
      timeout.mockRestore();
      process.off('unhandledRejection', unhandled);
    });
    rail.answer = () => {
      throw new Error('not even a promise');
    };
    await pay();
    await provider.ostiary.worker.runDue();
    timer.abort();
    await setImmediate();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('is none where the rail has said something, nor where the database failed after it', async () => {
    const { database, provider, rail, pay, counted, lines } = await shop();
    const test = await provider.key({ mode: 'test' });
    const results: TransferResult[] = [
      { status: 'completed' },
      { status: 'pending' },
      { status: 'failed', code: 'no', message: 'No.' },
    ];
    for (const result of results) {
      rail.answer = async () => result;
      await pay();
      await provider.ostiary.worker.runDue();
    }
    for (const amount of ['1.00', '1.01', '1.02']) {
      await pay({ ...testPayment, amount }, test);
      await provider.ostiary.worker.runDue();
    }
    expect(lines()).toEqual([]);
    rail.answer = async () => ({ status: 'completed' });
    await pay();
    database.breakWhen((call) => call === 'transfers.settle');
    await provider.ostiary.worker.runDue();
    expect(lines()).toHaveLength(1);
    expect(await counted()).toEqual([]);
  });

  it('is logged as well where the host measures nothing', async () => {
    const { provider, rail, pay, counted, lines } = await shop();
    metrics.disable();
    rail.answer = () => Promise.reject(new Error('connection reset'));
    await pay();
    await provider.ostiary.worker.runDue();
    expect(lines()).toHaveLength(1);
    expect(await counted()).toEqual([]);
  });
});
