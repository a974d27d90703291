import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { until } from '../proof.ts';
import {
  authority,
  clientCertificate,
  clientKey,
  nameCertificate,
  otherAuthority,
  serverCertificate,
  serverKey,
} from './certificates.ts';
import { owner } from './system-postgres.ts';

/** Paths of certificates and keys of the tests. PostgreSQL and PgBouncer can read all of them. */
export type TlsFiles = ReturnType<typeof tlsFiles>;

/** Writes the certificates and keys of the tests into a folder. */
export function tlsFiles(folder: string) {
  const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, ...owner() };
  chmodSync(folder, 0o755);
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    chownSync(file, uid, gid);
    return file;
  };
  return {
    authority: write('authority.pem', authority),
    authorityText: authority,
    otherAuthority: write('other-authority.pem', otherAuthority),
    /** Certificate of a server for `localhost` and `127.0.0.1`. */
    certificate: write('server.pem', serverCertificate),
    /** Certificate of a server for `localhost` only, with the same key. */
    nameCertificate: write('name.pem', nameCertificate),
    key: write('server.key', serverKey),
    clientCertificate: write('client.pem', clientCertificate),
    clientKey: write('client.key', clientKey),
  };
}

/** Turns TLS on in a running PostgreSQL server. Resolves once new connections can use TLS. */
export async function turnTlsOn(
  superuser: Pool,
  files: TlsFiles,
  certificate = files.certificate,
): Promise<void> {
  const settings = {
    ssl_cert_file: certificate,
    ssl_key_file: files.key,
    ssl: 'on',
  };
  for (const [name, value] of Object.entries(settings))
    await superuser.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  await superuser.query('SELECT pg_reload_conf()');
  const isOn = await until(async () => (await superuser.query('SHOW ssl')).rows[0].ssl === 'on', {
    withinMs: 10_000,
  });
  if (!isOn) throw new Error('PostgreSQL does not turn TLS on');
}
