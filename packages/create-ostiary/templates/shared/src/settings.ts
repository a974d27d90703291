import { readFileSync } from 'node:fs';

/**
 * Settings that differ between machines come from the environment. On your machine, `npm start` reads `.env`.
 */
const { PORT = '3000', AUTH_URL, TRUSTED_PROXIES = '' } = process.env;

/**
 * Reads a secret from the file that the variable `NAME_FILE` names, as in containers, or else from the
 * variable `NAME`.
 */
export function readSecret(name: string): string {
  const file = process.env[`${name}_FILE`];
  return file === undefined ? (process.env[name] ?? '') : readFileSync(file, 'utf8').trim();
}

export const port = Number(PORT);

// <not-next>
/**
 * Time for which idle connections stay open, in milliseconds. It must be longer than the proxy's time (60 s
 * in most), or the proxy returns 502 now and then.
 */
export const keepAliveMs = Number(process.env.KEEP_ALIVE_SECONDS ?? '75') * 1_000;

// </not-next>
/**
 * URL of this server as browsers see it. Behind a proxy with TLS it differs from the address on which this
 * process listens.
 */
export const authUrl = AUTH_URL ?? `http://localhost:${port}`;

/** True unless `authUrl` leads to this machine only: to `localhost` or to a loopback address. */
export const isPublic = !/^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(authUrl).hostname);

/** Key that encrypts secrets in the database: 32 random bytes, as base64url. */
export const sealingKey = readSecret('SEALING_KEY');

/** IP addresses and ranges of your proxies. Only their `X-Forwarded-For` is trusted. */
export const trustedProxies = TRUSTED_PROXIES.split(',').filter((address) => address !== '');
