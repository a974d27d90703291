import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../examples/reference-server/test/support/server.ts';
import { freePort } from '../../support/free-port.ts';
import { programOf } from '../../support/program.ts';
import { retry } from '../../support/retry.ts';

const nginxConfig = (port: number, target: number, folder: string, version: '1.0' | '1.1') => `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_max_body_size 100m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${target};
      proxy_http_version ${version};
      ${version === '1.1' ? 'proxy_set_header Connection "";' : ''}
    }
  }
}
`;

/**
 * Proxies for a receiver on this machine, each with few settings. nginx gets a limit of the body above what
 * the test sends.
 */
export const proxies = {
  Caddy: {
    program: programOf('caddy'),
    config: (port: number, target: number) => `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  reverse_proxy 127.0.0.1:${target}
}
`,
    args: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  'nginx with HTTP/1.1': {
    program: programOf('nginx'),
    config: (port: number, target: number, folder: string) => nginxConfig(port, target, folder, '1.1'),
    args: (file: string) => ['-c', file],
  },
  'nginx with HTTP/1.0, its default': {
    program: programOf('nginx'),
    config: (port: number, target: number, folder: string) => nginxConfig(port, target, folder, '1.0'),
    args: (file: string) => ['-c', file],
  },
  HAProxy: {
    program: programOf('haproxy'),
    config: (port: number, target: number) => `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind 127.0.0.1:${port}
  default_backend back
backend back
  server one 127.0.0.1:${target}
`,
    args: (file: string) => ['-f', file],
  },
} as const;

/** Starts a proxy in front of a port. The proxy stops at the end of the test. @returns the proxy's origin */
export async function startProxy(name: keyof typeof proxies, target: number): Promise<string> {
  const { program, config, args } = proxies[name];
  if (program === undefined) throw new Error(`${name} is not installed`);
  const folder = await temporaryFolder();
  const port = await freePort();
  const file = join(folder, 'proxy.conf');
  await writeFile(file, config(port, target, folder));
  const child = spawn(program, args(file), {
    stdio: 'ignore',
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const origin = `http://127.0.0.1:${port}`;
  await retry(async () => (await fetch(`${origin}/healthz`)).arrayBuffer());
  return origin;
}
