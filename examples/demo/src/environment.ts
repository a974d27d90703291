import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, demoDataDir, isLoopbackUrl } from '@ostiary/reference-server';

/** Returns a variable of the environment; `undefined` if the variable is missing or empty. */
function read(env: NodeJS.ProcessEnv, variable: string): string | undefined {
  return env[variable] === '' ? undefined : env[variable];
}

function port(env: NodeJS.ProcessEnv, variable: string, fallback: number): number {
  const value = Number(read(env, variable) ?? fallback);
  if (!Number.isInteger(value) || value < 1 || value > 65_535) {
    throw new ConfigError(`${variable} must be a port number from 1 to 65535`);
  }
  return value;
}

/**
 * Reads the settings of the demo. Refuses production settings, because the demo prints passwords.
 *
 * @throws {@link ConfigError}
 */
export function readDemoEnvironment(env: NodeJS.ProcessEnv) {
  const instead = 'the demo runs on this machine only; examples/reference-server is the server to deploy';
  if (env.NODE_ENV === 'production') throw new ConfigError(`NODE_ENV is production, but ${instead}`);
  for (const variable of ['OSTIARY_AUTH_URL', 'OSTIARY_BASE_URL']) {
    const url = read(env, variable);
    if (url !== undefined && !isLoopbackUrl(url))
      throw new ConfigError(`${variable} leads to another machine, but ${instead}`);
  }
  for (const variable of ['OSTIARY_SEALING_KEYS', 'OSTIARY_SEALING_KEYS_FILE']) {
    if (read(env, variable) !== undefined)
      throw new ConfigError(`${variable} is set, but the demo keeps a key of its own: ${instead}`);
  }
  if (read(env, 'OSTIARY_WEBHOOK_PRIVATE_TARGETS') === 'off') {
    throw new ConfigError(`OSTIARY_WEBHOOK_PRIVATE_TARGETS is off, but ${instead}, and so does its shop`);
  }
  const serverPort = port(env, 'PORT', 3000);
  const partnerPort = port(env, 'PARTNER_PORT', 4000);
  if (serverPort === partnerPort) throw new ConfigError('PORT and PARTNER_PORT must differ');
  const authUrl = read(env, 'OSTIARY_AUTH_URL') ?? `http://localhost:${serverPort}`;
  return {
    dataDir: resolve(read(env, 'OSTIARY_DATA_DIR') ?? demoDataDir),
    authUrl,
    baseUrl: read(env, 'OSTIARY_BASE_URL') ?? authUrl,
    port: serverPort,
    partnerUrl: `http://localhost:${partnerPort}`,
    partnerPort,
  };
}

/**
 * Returns the environment with the arguments as variables: `--prefix acme` sets `OSTIARY_PREFIX=acme`.
 *
 * @throws {@link ConfigError} for any other argument
 */
export function withArguments(env: NodeJS.ProcessEnv, argv: readonly string[]): NodeJS.ProcessEnv {
  try {
    const { values } = parseArgs({ args: [...argv], options: { prefix: { type: 'string' } }, strict: true });
    return values.prefix === undefined ? env : { ...env, OSTIARY_PREFIX: values.prefix };
  } catch {
    throw new ConfigError('the only argument is --prefix <prefix>, as in: npm start -- --prefix acme');
  }
}
