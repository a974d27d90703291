import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../examples/reference-server/src/config.ts';
import {
  composeProject,
  exampleSettings,
  type Service,
  settingNames,
} from '../../support/compose/project.ts';

const root = resolve(import.meta.dirname, '../../..');
const deploy = join(root, 'deploy');
const read = (path: string): string => readFileSync(join(deploy, path), 'utf8');
const { services, networks, volumes } = composeProject(exampleSettings());
/** Returns the names of the services for which a condition holds. */
const servicesThat = (holds: (service: Service) => boolean | undefined): string[] =>
  Object.entries(services).flatMap(([name, service]) => (holds(service) ? [name] : []));
const membersOf = (network: string): string[] =>
  servicesThat((service) => service.networks?.includes(network));
const serversWith = (role: string): string[] =>
  servicesThat(({ environment }) => environment?.OSTIARY_ROLE === role);

/** Returns the files of the repository that a service mounts, each with its path in the container. */
const mountsOf = ({ volumes = [] }: Service): (readonly [source: string, target: string])[] =>
  volumes
    .map((volume) => volume.split(':'))
    .filter(([source = '']) => source.startsWith('./'))
    .map(([source = '', target = '']) => [source, target]);

const mounts = Object.values(services).flatMap((service) => mountsOf(service));
const targetOf = (file: string): string => mounts.find(([source]) => source === file)?.[1] ?? '';

describe('the compose file', () => {
  it('asks for exactly the settings of .env.example', () => {
    expect(settingNames().toSorted()).toEqual(Object.keys(exampleSettings()).toSorted());
  });

  it('gives its servers an environment that they take in production', () => {
    const servers = [...serversWith('web'), ...serversWith('worker')];
    expect(servers).toEqual(['web-1', 'web-2', 'worker']);
    for (const name of servers) {
      const { environment = {} } = services[name] ?? {};
      expect(loadConfig({ ...environment, NODE_ENV: 'production' })).toMatchObject({
        role: environment.OSTIARY_ROLE,
        authUrl: 'https://id.example.com',
        baseUrl: 'https://api.example.com',
      });
    }
  });

  it('lets web processes use PgBouncer, and workers not', () => {
    const hosts = ['web-1', 'web-2', 'worker'].map(
      (name) => new URL(services[name]?.environment?.DATABASE_URL ?? '').host,
    );
    expect(hosts).toEqual(['pgbouncer:6432', 'pgbouncer:6432', 'postgres-1:5432']);
    expect(read('pgbouncer.ini')).toMatch(/^listen_port = 6432$/m);
  });

  it('mounts files that are there, and scripts that can be executed', () => {
    expect(mounts.length).toBeGreaterThan(10);
    for (const [source, target] of mounts) {
      expect(existsSync(join(deploy, source)), source).toBe(true);
      if (target.startsWith('/usr/local/bin/')) accessSync(join(deploy, source), constants.X_OK);
    }
    const executed = Object.values(services).flatMap(({ entrypoint: [program] = [] }) => program ?? []);
    expect(executed.filter((program) => !mounts.some(([, target]) => target === program))).toEqual([]);
  });

  it('opens to the network only what the proxy serves', () => {
    const ports = Object.entries(services).flatMap(([name, service]) =>
      (service.ports ?? []).map((port) => `${name} ${port}`),
    );
    expect(ports.filter((port) => !port.includes(' 127.0.0.1:'))).toEqual([
      ...['proxy 80:80', 'proxy 443:443', 'proxy 443:443/udp'],
    ]);
  });

  it('runs its own programs without capabilities, and lets only PostgreSQL write to its files', () => {
    expect(servicesThat(({ cap_drop: dropped }) => dropped?.includes('ALL'))).toEqual([
      ...['postgres-1', 'postgres-2', 'pgbouncer', 'web-1', 'web-2', 'worker', 'backup'],
    ]);
    expect(servicesThat((service) => service.read_only)).toEqual([
      ...['pgbouncer', 'web-1', 'web-2', 'worker', 'backup'],
    ]);
  });

  it('trusts the addresses of a network in which only the proxy is besides the web processes', () => {
    expect(membersOf('front')).toEqual(['web-1', 'web-2', 'proxy']);
    expect(networks.front).toEqual({
      ipam: { config: [{ subnet: services['web-1']?.environment?.OSTIARY_TRUSTED_PROXIES }] },
    });
  });

  it('lets only workers and the proxy connect to the internet, and keeps the database apart', () => {
    expect(membersOf('outside')).toEqual(['worker', 'proxy']);
    expect(networks.inside).toEqual({ internal: true });
    expect(membersOf('inside')).not.toContain('proxy');
  });

  it('leads the proxy to every web process', () => {
    const [, upstreams = ''] = /reverse_proxy (.*) \{/.exec(read('Caddyfile')) ?? [];
    expect(upstreams.split(' ')).toEqual(serversWith('web').map((name) => `${name}:3000`));
  });

  it('stops PostgreSQL and PgBouncer with the signal that ends connections', () => {
    const stopped = servicesThat(({ stop_signal: signal }) => signal === 'SIGINT');
    expect(stopped).toEqual(['postgres-1', 'postgres-2', 'pgbouncer']);
  });

  it('declares the volumes that its services mount', () => {
    const sources = Object.values(services).flatMap((service) =>
      (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? ''),
    );
    const named = sources.filter((source) => !/^[./]/.test(source));
    expect(Object.keys(volumes).toSorted()).toEqual([...new Set(named)].toSorted());
  });

  it('leaves the standby out, unless its profile is chosen', () => {
    expect(servicesThat(({ profiles }) => profiles !== undefined)).toEqual(['postgres-2']);
    expect(services['postgres-2']?.profiles).toEqual(['standby']);
  });

  it('checks the backups with a command of their script', () => {
    const [, script, command = ''] = services.backup?.healthcheck?.test ?? [];
    expect(targetOf('./backup')).toBe(`/usr/local/bin/${script}`);
    expect(read('backup')).toMatch(new RegExp(`^  ([a-z]+ \\| )*${command}( \\| [a-z]+)*\\) `, 'm'));
  });

  it('gives a server more time to end than it takes', () => {
    for (const name of ['web-1', 'web-2', 'worker']) {
      const { environment = {}, stop_grace_period: grace = '' } = services[name] ?? {};
      const drain = Number(environment.OSTIARY_DRAIN_SECONDS ?? 0);
      expect(Number.parseInt(grace, 10)).toBeGreaterThanOrEqual(drain + 15);
    }
  });
});

describe('PgBouncer of the compose file', () => {
  it('has settings in which its script finds the host and the file of passwords', () => {
    const ini = read('pgbouncer.ini');
    expect(ini).toMatch(/^ostiary = host=\S+ port=5432 /m);
    expect(ini).toMatch(/^auth_file = /m);
  });
});

describe('Prometheus and Grafana of the compose file', () => {
  it('scrape every server', () => {
    const { scrape_configs: jobs } = parse(read('prometheus.yml'));
    const [{ names, port }] = jobs[0].dns_sd_configs;
    expect(names).toEqual(['web-1', 'web-2', 'worker']);
    for (const name of names)
      expect(services[name]?.environment).toMatchObject({
        OSTIARY_METRICS_PORT: String(port),
        OSTIARY_METRICS_HOST: '0.0.0.0',
      });
  });

  it('show the dashboard with the data of Prometheus', () => {
    const [{ type, url }] = parse(read('grafana/datasource.yaml')).datasources;
    expect([type, url]).toEqual(['prometheus', 'http://prometheus:9090']);
    const { networks = [] } = services.prometheus ?? {};
    expect(networks.filter((name) => services.grafana?.networks?.includes(name))).toEqual(['watching']);
    expect(targetOf('./grafana/datasource.yaml')).toMatch(/^\/etc\/grafana\/provisioning\/datasources\//);
    expect(targetOf('./grafana/dashboards.yaml')).toMatch(/^\/etc\/grafana\/provisioning\/dashboards\//);
    const [{ options }] = parse(read('grafana/dashboards.yaml')).providers;
    const dashboard = targetOf('./grafana/dashboard.json');
    expect(dashboard.startsWith(`${options.path}/`)).toBe(true);
    expect(services.grafana?.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(dashboard);
  });
});
