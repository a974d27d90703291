import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf } from '../program.ts';
import { until } from '../proof.ts';
import { isReady } from './reference-process.ts';

const deployed = (name: string): string =>
  readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8');

/** Ports of a proxy and of the two web processes behind it. */
interface Ports {
  readonly front: number;
  readonly webs: readonly [first: number, second: number];
}

/** Puts the ports of the web processes into a configuration that names 3000 and 3001, or web-1 and web-2. */
const withWebs = (text: string, { webs: [first, second] }: Ports): string =>
  text
    .replaceAll(/web-1:3000|127\.0\.0\.1:3000/g, `127.0.0.1:${first}`)
    .replaceAll(/web-2:3000|127\.0\.0\.1:3001/g, `127.0.0.1:${second}`);

/** Returns a whole configuration of nginx, with everything that it writes in one folder. */
const nginxConfig = (text: string, folder: string): string => `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  ${text}
}
`;

/**
 * Proxies with the configurations of `deploy/`, and one with hardly any settings. In the configurations of
 * `deploy/`, only the addresses differ, and there is no TLS, because the certificates are the operator's.
 */
export const proxies = {
  nginx: {
    program: programOf('nginx'),
    config: (ports: Ports, folder: string) =>
      nginxConfig(
        withWebs(deployed('nginx.conf'), ports)
          .replace('listen 443 ssl;', `listen 127.0.0.1:${ports.front};`)
          .replaceAll(/^\s*ssl_.*$/gm, '')
          .replace('server_name id.example.com api.example.com;', 'server_name localhost;'),
        folder,
      ),
    args: (file: string) => ['-c', file],
  },
  /**
   * nginx without settings for its connections to the server, with which it speaks HTTP/1.0 then. Bodies may
   * have 16 MiB.
   */
  'nginx with HTTP/1.0, its default': {
    program: programOf('nginx'),
    config: ({ front, webs: [web] }: Ports, folder: string) =>
      nginxConfig(
        `client_max_body_size 16m; server { listen 127.0.0.1:${front}; location / { proxy_pass http://127.0.0.1:${web}; } }`,
        folder,
      ),
    args: (file: string) => ['-c', file],
  },
  HAProxy: {
    program: programOf('haproxy'),
    config: (ports: Ports) =>
      withWebs(deployed('haproxy.cfg'), ports).replace(/bind :443 .*/, `bind 127.0.0.1:${ports.front}`),
    args: (file: string) => ['-f', file],
  },
  Caddy: {
    program: programOf('caddy'),
    config: (ports: Ports) => `{
	admin off
	auto_https off
}
${withWebs(deployed('Caddyfile'), ports).replace('{$AUTH_HOST}, {$API_HOST}', `http://localhost:${ports.front}`)}`,
    args: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
} as const;

/** Name of a proxy. */
export type ProxyName = keyof typeof proxies;

/**
 * Starts a proxy, and waits until the proxy forwards requests to a process. @throws Error if the proxy is not
 * installed or does not start
 */
export async function openProxy(name: ProxyName, ports: Ports) {
  const { program, config, args } = proxies[name];
  if (program === undefined) throw new Error(`${name} is not installed`);
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-front-'));
  const file = join(folder, 'proxy.conf');
  await writeFile(file, config(ports, folder));
  const child = spawn(program, args(file), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'exit');
  if (!(await until(() => isReady(`http://localhost:${ports.front}`), { withinMs: 30_000 })))
    throw new Error(`${name} is not ready: ${said}`);
  return {
    async close(): Promise<void> {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
