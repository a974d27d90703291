import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { blockOf } from '../../support/documentation.ts';
import { freePort } from '../../support/free-port.ts';
import { bodyOf, close, listen } from '../../support/http.ts';
import { programOf, run } from '../../support/program.ts';
import { until } from '../../support/proof.ts';

/** Version of the collector and of its builder. */
const version = 'v0.165.0';

/** Version of the collector's Go modules with a stable API. */
const stableVersion = 'v1.71.0';

/**
 * Compiles a collector from the Go registry, with a receiver for OTLP and an exporter that sends what arrived as JSON. Keeps
 * the program for the next run.
 * @returns `null` if this machine has no Go
 */
export async function provideCollector(): Promise<string | null> {
  const go = programOf('go');
  if (go === undefined) return null;
  const folder = join(
    process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
    `ostiary-collector-${version}`,
  );
  const program = join(folder, 'collector');
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const environment = ['CGO_ENABLED=0', 'GOTOOLCHAIN=auto', 'GOFLAGS=-buildvcs=false'];
  const module = (path: string) => ({ gomod: `go.opentelemetry.io/collector/${path} ${version}` });
  await writeFile(
    join(folder, 'builder.yaml'),
    // YAML contains JSON.
    JSON.stringify({
      dist: { name: 'collector', output_path: folder, go },
      receivers: [module('receiver/otlpreceiver')],
      exporters: [module('exporter/debugexporter'), module('exporter/otlphttpexporter')],
      // The scheme of values without a scheme is that of the environment.
      providers: ['env', 'file'].map((scheme) => ({
        gomod: `go.opentelemetry.io/collector/confmap/provider/${scheme}provider ${stableVersion}`,
      })),
    }),
  );
  await run('env', [
    ...environment,
    `GOBIN=${folder}`,
    ...['go', 'install', `go.opentelemetry.io/collector/cmd/builder@${version}`],
  ]);
  await run('env', [...environment, join(folder, 'builder'), `--config=${join(folder, 'builder.yaml')}`]);
  return program;
}

/** A span as the collector passed it on. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Attribute `ostiary.role` of the process that made the span. */
  readonly role: unknown;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const attributesOf = (list: readonly KeyValue[] = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Configuration of a collector that the documentation shows. */
interface Documented {
  readonly exporters: object;
  readonly service: {
    readonly pipelines: { readonly traces: { readonly receivers: string[]; readonly exporters: string[] } };
  };
}

/** Reads the configuration of the collector in the documentation. */
function documented(): Documented {
  return parse(blockOf('docs/telemetry.md', 'receivers:\n'));
}

/** A running collector, and everything that it has received. */
export type Collector = Awaited<ReturnType<typeof openCollector>>;

/** Starts the collector, and an HTTP server that gets its spans. */
export async function openCollector(ends: AsyncDisposableStack, program: string) {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-collector-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push((await bodyOf(request)).toString());
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const origin = await listen(server);
  ends.defer(() => close(server));
  const endpoint = `127.0.0.1:${await freePort()}`;
  const { exporters, service } = documented();
  await writeFile(
    join(folder, 'collector.yaml'),
    JSON.stringify({
      receivers: { otlp: { protocols: { http: { endpoint } } } },
      exporters: { ...exporters, otlp_http: { endpoint: origin, encoding: 'json', compression: 'none' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: {
          traces: {
            ...service.pipelines.traces,
            exporters: [...service.pipelines.traces.exporters, 'otlp_http'],
          },
        },
      },
    }),
  );
  const child = spawn(program, [`--config=file:${join(folder, 'collector.yaml')}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'exit');
  ends.defer(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const url = `http://${endpoint}/v1/traces`;
  const isReady = await until(
    async () => child.exitCode !== null || (await fetch(url).catch(() => null)) !== null,
  );
  if (!isReady || child.exitCode !== null) throw new Error(`the collector does not start: ${said}`);
  return {
    /** URL to which a server sends its traces. */
    url,
    /** Returns everything that the collector passed on, as text. */
    text: () => bodies.join('\n'),
    spans(): CollectedSpan[] {
      return bodies.flatMap((body) =>
        JSON.parse(body).resourceSpans.flatMap(
          ({
            resource,
            scopeSpans,
          }: {
            readonly resource: { readonly attributes: KeyValue[] };
            readonly scopeSpans: {
              readonly spans: (Omit<CollectedSpan, 'attributes'> & { readonly attributes?: KeyValue[] })[];
            }[];
          }) =>
            scopeSpans.flatMap(({ spans }) =>
              spans.map((span) => ({
                ...span,
                attributes: attributesOf(span.attributes),
                role: attributesOf(resource.attributes)['ostiary.role'],
              })),
            ),
        ),
      );
    },
  };
}
