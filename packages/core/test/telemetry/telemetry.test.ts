import { execFileSync } from 'node:child_process';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { context, propagation, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serving } from '../../../../lab/support/http.ts';
import { patient } from '../../../../lab/support/patient.ts';
import type { OstiaryOptions } from '../../src/index.ts';
import { answering, register, trigger, webhookProvider } from '../partner/webhook-shop.ts';
import { hostMetrics } from '../support/metrics.ts';
import { payment } from '../support/partner-api.ts';

/**
 * Starts a provider with telemetry, and collects the data that the host application's meter and tracer
 * receive.
 */
async function watched(options: Partial<OstiaryOptions> = {}) {
  const exporter = new InMemorySpanExporter();
  const points = hostMetrics();
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
  );
  const { provider, rail } = await webhookProvider({ telemetry: true, ...options });
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
      'GET',
    ]);
    const measured = (route: object, status: number) => {
      const known = { 'http.request.method': 'GET', 'url.scheme': 'http', 'network.protocol.version': '1.1' };
      return {
        name: 'http.server.request.duration',
        attributes: { ...known, ...route, 'http.response.status_code': status },
        count: 1,
      };
    };
    expect(await points()).toEqual([
      measured({ 'http.route': '/v1/partner/users/phone/:phone' }, 404),
      measured({ 'http.route': '/v1/partner/whoami' }, 401),
      measured({}, 404),
      // Starts at 0: an alert on an increase would miss the first event of a counter that starts with it.
      { name: 'ostiary.payments.execution.unknown', attributes: {}, count: 0 },
      { name: 'ostiary.payments.contradiction', attributes: {}, count: 0 },
    ]);
  });

  it('marks the span of a request that the service could not answer, with the id of the request', async () => {
    const away = () => Promise.reject(new Error('the directory is away'));
    const { provider, key, spans } = await watched({
      users: { find: away, findByKid: away, findByPhone: away },
    });
    const answer = await provider.partnerCall(key, 'GET /v1/partner/users/phone/%2B50937001122');
    expect(answer.status).toBe(500);
    await provider.partnerCall(key, 'GET /v1/partner/whoami');
    expect(spans()).toMatchObject([
      {
        status: { code: SpanStatusCode.ERROR },
        attributes: { 'error.type': '500', 'ostiary.request.id': answer.headers.get('x-request-id') },
      },
      { status: { code: SpanStatusCode.UNSET } },
    ]);
  });

  it('names the server of an endpoint in the span of an attempt, with the port of its protocol', async () => {
    const { provider, spans } = await watched();
    const key = await provider.key({ mode: 'test' });
    for (const url of ['https://127.0.0.1/hook', 'http://127.0.0.1:9/hook', 'inbox:200'])
      await register(provider, key, url);
    await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    const servers = spans()
      .filter(({ name }) => name === 'POST webhook')
      .map(({ attributes }) => [attributes['server.address'], attributes['server.port']]);
    expect(servers).toHaveLength(3);
    for (const server of [
      ['127.0.0.1', 443],
      ['127.0.0.1', 9],
      [undefined, undefined],
    ])
      expect(servers).toContainEqual(server);
  });

  it('makes a request a child of the span in its headers, if the host reads them', async () => {
    const { provider, spans } = await watched();
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const traceFlags = TraceFlags.SAMPLED;
    propagation.setGlobalPropagator({
      inject() {},
      fields: () => ['traceparent'],
      extract: (parent, { traceparent }) =>
        traceparent === undefined ? parent : trace.setSpanContext(parent, { traceId, spanId, traceFlags }),
    });
    onTestFinished(() => propagation.disable());
    for (const headers of [{ traceparent: `00-${traceId}-${spanId}-01` }, {}])
      await provider.partnerCall(null, 'GET /v1/partner/whoami', undefined, headers);
    expect(spans().map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([spanId, undefined]);
    for (const { kind } of spans()) expect(kind).toBe(SpanKind.SERVER);
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
      ['204 delivered live payment.completed', 1],
      ['500 500 failed live payment.completed', 1],
    ]);
    expect(of('ostiary.webhook.attempt.lag')).toEqual([['live payment.completed', 2]]);

    const attempts = spans().filter(({ name }) => name === 'POST webhook');
    expect(attempts).toHaveLength(2);
    for (const { attributes } of attempts) expect(attributes['ostiary.delivery.id']).toMatch(/^dl_/);
    const told = JSON.stringify(
      spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    );
    for (const secret of [key.key, '50937001122', 'whsec_']) expect(told).not.toContain(secret);
  });

  it('makes the delivery of an event a child of the job, and the job one of the request, through the database', async () => {
    const { provider, key, spans } = await watched();
    await register(provider, key, (await answering(204)).url, {
      events: ['payment.completed', 'webhook.test'],
    });
    await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
    await provider.ostiary.worker.runDue();
    await provider.ostiary.worker.runDue();
    const named = (name: string) => {
      const span = spans().find((one) => one.name === name);
      return { kind: span?.kind, id: span?.spanContext().spanId, parent: span?.parentSpanContext?.spanId };
    };
    const [request, job, delivery] = ['POST /v1/partner/payments', 'job transfer', 'POST webhook'].map(named);
    expect(request).toMatchObject({ kind: SpanKind.SERVER, parent: undefined });
    expect(job).toMatchObject({ kind: SpanKind.CONSUMER, parent: request?.id });
    expect(delivery).toMatchObject({ kind: SpanKind.CLIENT, parent: job?.id });
  });

  it('makes a request a child of the span that the host has made for it', async () => {
    const { provider, spans } = await watched();
    const handler: RequestListener = (request, response) =>
      trace.getTracer('host').startActiveSpan('host', (span) => {
        response.once('close', () => span.end());
        provider.ostiary.handler(request, response);
      });
    await serving(handler, async (origin) => {
      expect((await fetch(`${origin}/.well-known/jwks.json`)).status).toBe(200);
    });
    await vi.waitUntil(() => spans().length === 2, patient);
    const host = spans()
      .find(({ name }) => name === 'host')
      ?.spanContext().spanId;
    expect(spans().find(({ name }) => name !== 'host')).toMatchObject({
      name: 'GET /.well-known/jwks.json',
      kind: SpanKind.INTERNAL,
      parentSpanContext: { spanId: host },
    });
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
