import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../../../lab/support/free-port.ts';
import { programOf } from '../../../../lab/support/program.ts';
import { approve, createPartner, receiver } from '../support/partners.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { anaika, jean, startServer } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

const promtool = programOf('promtool');

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
}, 120_000);
afterAll(() => postgres?.remove(), 60_000);

const dashboard: { readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[] } =
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../../deploy/grafana/dashboard.json'), 'utf8'));

interface RuleGroup {
  readonly rules: readonly { readonly alert: string; readonly expr: string }[];
}
const alerts: { readonly groups: readonly RuleGroup[] } = parse(
  readFileSync(join(import.meta.dirname, '../../../../deploy/alerts.yml'), 'utf8'),
);

/** Prometheus expressions of all panels of the dashboard and of all alert rules. */
const expressions: readonly string[] = [
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
];

/** Lists the metrics in Prometheus expressions, except `up`, which Prometheus makes itself. */
function askedMetrics(): readonly string[] {
  const withoutLabels = expressions.map((expr) => expr.replace(/\{[^}]*\}|\bby \([^)]*\)/g, ''));
  return [...new Set(withoutLabels.flatMap((expr) => expr.match(/\b[a-z0-9]+_\w+/g) ?? []))].filter(
    (name) => !/^(?:histogram_quantile|min_over_time)$/.test(name),
  );
}

/**
 * Lists the labels in Prometheus expressions, with their metrics. `job` belongs to Prometheus; `error_type`
 * only appears with failed jobs.
 */
function askedLabels(): readonly (readonly [metric: string, label: string])[] {
  const selectors = expressions.flatMap((expr) => Array.from(expr.matchAll(/(\w+)\{([^}]*)\}/g)));
  return selectors.flatMap(([, metric = '', labels = '']) =>
    Array.from(labels.matchAll(/(\w+)[!=]/g), ([, label = '']) => [metric, label] as const).filter(
      ([, label]) => label !== 'job' && label !== 'error_type',
    ),
  );
}

describe('metrics', () => {
  test('exist for every panel and every alert after a small flow, and contain no personal data', async () => {
    const metricsPort = await freePort();
    const DATABASE_URL = await postgres.createDatabase('metrics');
    const OSTIARY_METRICS_PORT = String(metricsPort);
    const { server, origin } = await startServer({}, { OSTIARY_METRICS_PORT, DATABASE_URL });
    const partner = await createPartner(server, 'kafe');
    const { url, received } = await receiver();
    expect((await partner.register(url)).status).toBe(201);
    const visitor = new Visitor(origin);
    await visitor.signIn(anaika.handle, anaika.password);
    await approve(visitor, partner.clientId, 'openid kyc');
    await server.installation.identityChecks.change(anaika.handle, { kycTier: 3 });
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(1);

    const scrape = async (path = '/metrics') => fetch(`http://127.0.0.1:${metricsPort}${path}`);
    const text = async () => (await scrape()).text();
    const seen = async () =>
      new Set(Array.from((await text()).matchAll(/^([a-z]\w+)[{ ]/gm), ([, name = '']) => name));
    const asked = askedMetrics();
    expect(asked.length).toBeGreaterThan(20);
    expect(askedLabels().length).toBeGreaterThan(3);
    // Garbage collections and the worker's metrics appear only after some time.
    const missing = async () => {
      const names = await seen();
      return asked.filter((name) => !names.has(name));
    };
    await expect.poll(missing, { timeout: 20_000 }).toEqual([]);
    const told = await text();
    for (const [metric, label] of askedLabels())
      expect(told, metric).toMatch(new RegExp(`^${metric}\\{(?:[^}]*,)?${label}="`, 'm'));
    // The counter must exist before the first contradiction, since an alert on its increase would miss it
    // otherwise.
    expect(told).toMatch(/^ostiary_payments_contradiction_total 0$/m);
    expect(told).toContain('ostiary_build_info{');
    expect(told).toMatch(
      /^http_server_request_duration_seconds_count\{[^}]*http_route="\/v1\/partner\/webhooks"/m,
    );
    const { handle, phone } = anaika;
    for (const secret of [handle, phone, jean.name, partner.clientId, 'kafe', url, process.cwd()])
      expect(told).not.toContain(secret);
    // The delay excludes the sampling interval of 10 ms. On a busy machine the process may only be idle a
    // moment later.
    const idleDelay = async () =>
      Number(/^nodejs_eventloop_delay_p50_seconds (.*)$/m.exec(await text())?.[1]);
    await expect.poll(idleDelay, { interval: 500 }).toBeLessThan(0.009);
    expect(told).toMatch(
      /^db_client_connections\{db_client_connection_pool_name="ostiary",db_client_connection_state="idle"\} \d+$/m,
    );
    for (const [, name = '', type = ''] of told.matchAll(/^# TYPE (\w+) (\w+)$/gm))
      expect([type === 'histogram', name]).not.toEqual([
        false,
        expect.stringMatching(/_(?:count|sum|bucket)$/),
      ]);
    if (promtool !== undefined) {
      const lint = spawnSync(promtool, ['check', 'metrics'], { input: told, encoding: 'utf8' });
      expect([lint.status, lint.stdout, lint.stderr]).toEqual([0, '', '']);
    } else process.stderr.write('promtool is not installed: the page of metrics is not linted\n');
    // Metrics are served on a separate port, which has no other path, and not on the public port.
    expect((await scrape('/')).status).toBe(404);
    expect((await fetch(new URL('/metrics', origin))).status).toBe(404);
  });

  test('leave out what the database does not answer, and do not count their own query', async () => {
    const metricsPort = await freePort();
    const database = await startPostgres();
    onTestFinished(() => database.remove());
    await startServer(
      {},
      {
        OSTIARY_METRICS_PORT: String(metricsPort),
        DATABASE_URL: await database.createDatabase('metrics'),
      },
    );
    /** Returns the values of the waiting jobs and of the calls that wait for a connection; `null` for a missing metric. */
    const values = async () => {
      const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const metricOf = (name: string) =>
        new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(page)?.[1] ?? null;
      return [metricOf('ostiary_jobs_due'), metricOf('db_client_connection_pending_requests')];
    };
    // On a busy machine, a job or a call of the server itself may wait at first.
    await expect.poll(values, { timeout: 20_000 }).toEqual(['0', '0']);
    await database.stop();
    await expect.poll(values, { timeout: 20_000 }).toEqual([null, '0']);
    await database.start();
    await expect.poll(values, { timeout: 20_000 }).toEqual(['0', '0']);
  });

  test('have one series per route and status class, even for unknown paths', async () => {
    const metricsPort = await freePort();
    const { server, origin } = await startServer({}, { OSTIARY_METRICS_PORT: String(metricsPort) });
    const many = (path: string) => Array.from({ length: 20 }, (_, at) => `${path}${at}`);
    const paths = [
      ...[
        '/oauth/authorize',
        '/v1/oauth/token',
        '/v1/oauth/userinfo',
        '/v1/partner/payments',
        '/account/apps',
      ],
      ...['/v1/partner/users/K', '/oauth/interaction/id-', '/v1/partner/nowhere/'].flatMap(many),
    ];
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
    const statuses = new Set<string>();
    for (const path of paths) {
      const asked = methods.map((method) => fetch(`${origin}${path}`, { method, redirect: 'manual' }));
      for (const { status } of await Promise.all(asked))
        statuses.add(`${path.replace(/[\w-]*\d+$/, ':id')} ${status}`);
    }
    await server.installation.ostiary.close();
    const body = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://app.example/' },
      ...{ client_id: 'app', client_secret: 'x', code_verifier: 'v'.repeat(43) },
    });
    expect((await fetch(`${origin}/v1/oauth/token`, { method: 'POST', body })).status).toBe(503);
    // The requests provoke many combinations of route and status. With methods, there would be more than
    // twice as many series.
    expect(statuses.size).toBeGreaterThan(12);
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const series = Array.from(
      text.matchAll(/^http_server_request_duration_seconds_count\{(.*)\} \d+$/gm),
      ([, labels = '']) => labels,
    );
    expect(series.length).toBeGreaterThan(5);
    for (const labels of series) {
      expect(labels).toMatch(
        /^(?:http_route="[^"\d]*(?:\/v1\/[^"\d]*)?",)?http_response_status_class="[2345]xx"$/,
      );
    }
    expect(new Set(series).size).toBe(series.length);
    expect(series.length).toBeLessThanOrEqual(9 * 4);
    expect(series).toContain('http_route="/v1/oauth/token",http_response_status_class="5xx"');
    expect(series).toContain('http_route="/v1/partner/users/:kid",http_response_status_class="4xx"');
    expect(text).toContain('class="4xx",le="0.0025"}');
    expect(JSON.stringify(dashboard)).toContain('http_response_status_class=');
    expect(JSON.stringify(dashboard)).not.toMatch(/status_code|request_method/);
  });

  test('are off by default, and report a port in use', async () => {
    const { server } = await startServer();
    expect(server.config.metrics).toBeNull();
    const taken = { OSTIARY_METRICS_PORT: String(server.port) };
    await expect(startServer({}, taken)).rejects.toThrow('set OSTIARY_METRICS_PORT to a free one');
    // The failed start has left nothing behind.
    const port = await freePort();
    await startServer({}, { OSTIARY_METRICS_PORT: String(port) });
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
  });
});
