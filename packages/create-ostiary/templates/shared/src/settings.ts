import { readFileSync } from 'node:fs';

/**
 * Settings that differ between machines come from the environment. On your machine, `npm start` reads `.env`.
 */
const { PORT = '3000', AUTH_URL, TRUSTED_PROXIES = '' } = process.env;

/** Reads a secret from the file that the variable `NAME_FILE` names, as containers give it, or else from `NAME`. */
export function readSecret(name: string): string {
  const file = process.env[`${name}_FILE`];
  return file === undefined ? (process.env[name] ?? '') : readFileSync(file, 'utf8').trim();
}

export const port = Number(PORT);

// <not-next>
/**
 * Time for which idle connections stay open. It must be longer than the proxy's (60 s in most), or the proxy
 * returns 502 now and then.
 */
export const keepAliveMs = Number(process.env.KEEP_ALIVE_SECONDS ?? '75') * 1_000;

// </not-next>
/** The address that browsers know. Behind a proxy with TLS it is not where this process listens. */
export const authUrl = AUTH_URL ?? `http://localhost:${port}`;

/** True if browsers on other machines can reach the app, because its address is not on your own machine. */
export const isPublic = !/^(.+\.)?localhost$|^127\.|^\[::1\]$/.test(new URL(authUrl).hostname);

/** 32 random bytes, as base64url. They encrypt secrets in the database. */
export const sealingKey = readSecret('SEALING_KEY');

/** Addresses of your proxies, separated by commas: only their `X-Forwarded-For` is believed. */
export const trustedProxies = TRUSTED_PROXIES.split(',').filter((address) => address !== '');
