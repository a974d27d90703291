import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { environment } from './support/server.ts';

/** Returns the URLs of all modules that a server with the given settings has loaded once it is ready. */
async function loadedWith(settings: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { loadConfig, startReferenceServer } = await import(${JSON.stringify(import.meta.resolve('../src/index.ts'))});
    const server = await startReferenceServer(loadConfig(process.env));
    await server.close();
    process.stderr.write(JSON.stringify(loaded));
  `;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--conditions=ostiary-source', '--input-type=module', '--eval', script],
    { env: await environment({ NODE_OPTIONS: '', ...settings }), maxBuffer: 8 * 1024 ** 2 },
  );
  return JSON.parse(stderr);
}

it('loads the libraries of e-mail, metrics and passkeys with their settings only', async () => {
  const [without, loaded] = await Promise.all([
    loadedWith({}),
    loadedWith({
      OSTIARY_OPERATORS: 'on',
      OSTIARY_METRICS_PORT: String(await freePort()),
      OSTIARY_SMTP_URL: 'smtp://localhost:1025',
      OSTIARY_NOTICES_TO: 'ops@example.com',
      OSTIARY_NOTICES_FROM: 'id@example.com',
    }),
  ]);
  for (const library of ['/nodemailer/', '/@opentelemetry/sdk-metrics/', '/@simplewebauthn/server/']) {
    expect(without.filter((url) => url.includes(library))).toEqual([]);
    expect(loaded.some((url) => url.includes(library))).toBe(true);
  }
  expect(without.length).toBeLessThan(loaded.length - 300);
});
