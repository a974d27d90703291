import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answering, register, webhookProvider } from '../partner/webhook-shop.ts';
import { hostMetrics } from '../support/metrics.ts';
import { payment } from '../support/partner-api.ts';

/**
 * Starts a provider with telemetry, and collects the data that the host application's meter and tracer
 * receive.
 */
async function watched() {
  const exporter = new InMemorySpanExporter();
  const points = hostMetrics();
  onTestFinished(() => trace.disable());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
  );
  const { provider, rail } = await webhookProvider({ telemetry: true });
  const key = await provider.key();
  const spans = () => exporter.getFinishedSpans();
  return { provider, rail, key, spans, points };
}

describe('telemetry', () => {
  it('measures requests under the path of their route, with any target', async () => {
    const { provider, key, spans, points } = await watched();
    await provider.partnerCall(key, 'GET /v1/partner/users/phone/%2B50937001122');
    await provider.partnerCall(null, 'GET /v1/partner/whoami');
    await provider.partnerCall(key, 'GET /v1/nowhere/svc_live_secret');
    expect(spans().map(({ name }) => name)).toEqual([
      'GET /v1/partner/users/phone/:phone',
      'GET /v1/partner/whoami',
      'GET none',
    ]);
    const measured = (route: string, status: number) => {
      const attributes = { 'http.route': route, 'http.response.status_code': status };
      return {
        name: 'ostiary.request.duration',
        attributes: { 'http.request.method': 'GET', ...attributes },
        count: 1,
      };
    };
    expect(await points()).toEqual([
      measured('/v1/partner/users/phone/:phone', 404),
      measured('/v1/partner/whoami', 401),
      measured('none', 404),
      // Starts at 0: an alert on an increase would miss the first event of a counter that starts with it.
      { name: 'ostiary.payments.execution.unknown', attributes: {}, count: 0 },
      { name: 'ostiary.payments.contradiction', attributes: {}, count: 0 },
    ]);
  });

  it('measures jobs and attempts with their outcomes', async () => {
    const { provider, rail, key, spans, points } = await watched();
    await register(provider, key, (await answering(204)).url, { events: ['payment.completed'] });
    await register(provider, key, (await answering(500)).url, { events: ['payment.completed'] });
    await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
    await provider.ostiary.worker.runDue();
    await provider.ostiary.worker.runDue();
    rail.answer = () => Promise.reject(new Error('the rail knows +50937001122'));
    await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
    await provider.ostiary.worker.runDue();

    const counted = await points();
    const of = (metric: string) =>
      counted
        .filter(({ name }) => name === metric)
        .map(({ attributes, count }) => [Object.values(attributes).map(String).toSorted().join(' '), count]);
    for (const job of ['transfer', 'Error transfer'])
      expect(of('ostiary.job.duration')).toContainEqual([job, 1]);
    expect(of('ostiary.webhook.attempt.duration').toSorted()).toEqual([
      ['204 delivered payment.completed', 1],
      ['500 failed payment.completed', 1],
    ]);
    expect(of('ostiary.webhook.attempt.lag')).toEqual([['payment.completed', 2]]);

    const attempts = spans().filter(({ name }) => name === 'webhook attempt');
    expect(attempts).toHaveLength(2);
    for (const { attributes } of attempts) expect(attributes['ostiary.delivery.id']).toMatch(/^dl_/);
    const told = JSON.stringify(
      spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    );
    for (const secret of [key.key, '50937001122', 'whsec_']) expect(told).not.toContain(secret);
  });

  it('loads nothing while it is off', () => {
    const script = `
      import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) { if (url.includes('@opentelemetry')) console.log(url); return next(url, context); } });
      const { createOstiary } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))});
      const { memoryStorage } = await import(${JSON.stringify(join(import.meta.dirname, '../../../testing/src/memory.ts'))});
      const start = (telemetry) => createOstiary({
        authUrl: 'http://localhost', storage: memoryStorage(), sealingKeys: [new Uint8Array(32)], telemetry,
        users: { find: async () => null }, login: { authenticate: async () => null, loginUrl: () => '/' },
      });
      await (await start(false)).close();
      console.log('off');
      await (await start(true)).close();`;
    const flags = ['--conditions=ostiary-source', '--input-type=module', '--eval', script];
    const output = execFileSync(process.execPath, flags, { encoding: 'utf8' });
    expect(output.startsWith('off\n')).toBe(true);
    expect(output).toContain('@opentelemetry/api');
  });
});
