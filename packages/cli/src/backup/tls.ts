import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';

/** Values of `sslmode` that `pg` treats as `verify-full`, unless the URL has `uselibpqcompat=true`. */
const verified = ['prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * The `sslmode` that makes libpq behave as `pg` does for the same URL; `undefined` if the URL has no TLS
 * parameter and libpq can take the mode of the environment, if any, as it is.
 * @param environmentMode - `PGSSLMODE` of this process, which both read
 */
export function sslModeOf(
  parameters: URLSearchParams,
  environmentMode: string | undefined,
): string | undefined {
  const mode = parameters.get('sslmode');
  if (mode !== null && parameters.get('uselibpqcompat') === 'true') return mode;
  if (mode === 'no-verify' || (mode === null && parameters.get('ssl') === 'no-verify')) return 'require';
  if (mode !== null) return verified.includes(mode) ? 'verify-full' : mode;
  if (['sslcert', 'sslkey', 'sslrootcert'].some((name) => parameters.has(name))) return 'verify-full';
  const ssl = parameters.get('ssl');
  if (ssl !== null) return ssl === 'false' || ssl === '0' ? 'disable' : 'verify-full';
  if (environmentMode === 'no-verify') return 'require';
  return environmentMode !== undefined && verified.includes(environmentMode) ? 'verify-full' : undefined;
}

/**
 * Writes the CA certificates that Node trusts to a file for libpq, which trusts none by default. Includes
 * those of `NODE_EXTRA_CA_CERTS` and `--use-system-ca`.
 * @returns the path of the file
 */
export async function writeAuthorities(folder: string): Promise<string> {
  const file = join(folder, 'authorities.pem');
  await writeFile(file, getCACertificates('default').join('\n'), { mode: 0o600 });
  return file;
}
