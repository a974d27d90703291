import { readFileSync } from 'node:fs';

/**
 * Parameters of a connection string that name TLS files, what each file must hold, and the line with which
 * that part of the file begins (RFC 7468).
 */
const files = {
  sslrootcert: { holds: 'certificate', begins: /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/ },
  sslcert: { holds: 'certificate', begins: /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/ },
  sslkey: { holds: 'private key', begins: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
} as const;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
};

function contentOf(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new TypeError(
      `${setting} names the file ${file}, which ${reasons[code] ?? `cannot be read (${code})`}`,
    );
  }
}

/**
 * Reads the files that a connection string names, because the driver would report a missing file as `ENOENT`
 * without the parameter.
 *
 * @throws TypeError that names the parameter and the file, if a file cannot be read or has other content, or
 * if `sslrootcert` is `system`
 */
export function assertTlsFiles(connectionString: string, what: string): void {
  if (!URL.canParse(connectionString)) return;
  const { searchParams } = new URL(connectionString);
  for (const [name, { holds, begins }] of Object.entries(files)) {
    const file = searchParams.get(name);
    if (file === null || file === '') continue;
    const setting = `${what}: ${name}`;
    if (name === 'sslrootcert' && file === 'system') {
      throw new TypeError(
        `${setting} is 'system', which the driver does not know: leave it out, and set NODE_OPTIONS=--use-system-ca`,
      );
    }
    if (!begins.test(contentOf(file, setting))) {
      throw new TypeError(`${setting} names the file ${file}, which has no ${holds} (PEM) in it`);
    }
  }
}
