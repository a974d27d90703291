import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/proof.ts';

const deploy = resolve(import.meta.dirname, '../../../deploy');

/** Number of seconds of the proof that stand for a minute of the alert rules. */
const minuteSeconds = 2;

/** Shortens the times of alert rules, so that a proof need not wait for an hour. */
const shortened = (rules: string): string =>
  rules.replace(/\b(\d+)([mh])\b/g, (_, count: string, unit: string) => {
    return `${Number(count) * minuteSeconds * (unit === 'h' ? 60 : 1)}s`;
  });

/** A real Prometheus that scrapes with `deploy/prometheus.yml` and evaluates `deploy/alerts.yml`, in fast motion. */
export type Prometheus = Awaited<ReturnType<typeof openPrometheus>>;

/** Starts Prometheus. @param targets - addresses of the processes, instead of the names of the compose file */
export async function openPrometheus(
  ends: AsyncDisposableStack,
  program: string,
  targets: readonly string[],
) {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-prometheus-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const { scrape_configs: jobs, ...config } = parse(await readFile(join(deploy, 'prometheus.yml'), 'utf8'));
  const { dns_sd_configs: _, ...job } = jobs[0];
  await writeFile(
    join(folder, 'prometheus.yml'),
    // YAML contains JSON.
    JSON.stringify({
      ...config,
      // A process waits up to a second for the database before it leaves those metrics out.
      global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
      scrape_configs: [{ ...job, static_configs: [{ targets }] }],
    }),
  );
  await writeFile(join(folder, 'alerts.yml'), shortened(await readFile(join(deploy, 'alerts.yml'), 'utf8')));
  const origin = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${new URL(origin).host}`,
      '--log.level=warn',
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  ends.defer(async () => {
    child.kill('SIGTERM');
    await ended;
  });

  async function ask(path: string, query: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${origin}/api/v1/${path}?${new URLSearchParams(query)}`);
    const { status, data, error } = await response.json();
    if (status !== 'success') throw new Error(`Prometheus: ${error}: ${JSON.stringify(query)}`);
    return data;
  }

  const isReady = await until(async () => (await fetch(`${origin}/-/ready`).catch(() => null))?.ok === true);
  if (!isReady) throw new Error('Prometheus is not ready');

  return {
    /** Returns the names of the alerts that are firing. */
    async firing(): Promise<ReadonlySet<string>> {
      const { alerts } = await ask('alerts');
      const firing = alerts.filter(({ state }: { readonly state: string }) => state === 'firing');
      return new Set(
        firing.map(({ labels }: { readonly labels: { readonly alertname: string } }) => labels.alertname),
      );
    },
    /** Evaluates an expression over a time. @returns the number of values that are numbers */
    async count(expr: string, { from, to }: { readonly from: number; readonly to: number }): Promise<number> {
      const { result } = await ask('query_range', {
        query: expr,
        start: String(from / 1_000),
        end: String(to / 1_000),
        step: '1',
      });
      const values = result.flatMap(({ values }: { readonly values: readonly [number, string][] }) => values);
      return values.filter(([, value]: readonly [number, string]) => value !== 'NaN').length;
    },
  };
}
