/** A step did not hold. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
}

/** Writes down what happens, with secrets shortened, and counts. */
export interface Report {
  step(title: string): void;
  sent(line: string, fields?: Readonly<Record<string, unknown>> | null): void;
  received(line: string, fields?: Readonly<Record<string, unknown>> | null): void;
  /** @throws {@link StepFailed} unless it holds */
  check(holds: boolean, claim: string): void;
  readonly checks: number;
}

const secretNames: ReadonlySet<string> = new Set([
  'access_token',
  'client_secret',
  'code',
  'code_challenge',
  'code_verifier',
  'csrf',
  'id_token',
  'key',
  'nonce',
  'password',
  'secret',
  'state',
  'token',
]);

function shorten(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // An interaction's id is in the address where the sign-in page returns to.
  if (name === 'password' || name === 'return_to') return '…';
  if ((secretNames.has(name) || name.endsWith('-Signature')) && text.length > 12)
    return `${text.slice(0, 10)}…`;
  return text.length > 90 ? `${text.slice(0, 87)}…` : text;
}

/** An address on one line: ids of interactions and secret parameters are shortened, nested addresses left out. */
export function shortUrl(href: string): string {
  const url = new URL(href);
  const path = url.pathname.replace(/(\/oauth\/(?:authorize|interaction)\/)(.{6}).+/, '$1$2…');
  const query = [...url.searchParams].map(([name, value]) => `${name}=${shorten(name, value)}`).join('&');
  return `${url.origin}${path}${query === '' ? '' : `?${query}`}`;
}

export function createReport(write: (line: string) => void): Report {
  let steps = 0;
  let checks = 0;
  const fieldsOf = (fields: Readonly<Record<string, unknown>> | null | undefined): void => {
    for (const [name, value] of Object.entries(fields ?? {}))
      write(`       ${name}: ${shorten(name, value)}`);
  };
  return {
    get checks() {
      return checks;
    },
    step(title) {
      steps += 1;
      write(`\n${steps}. ${title}`);
    },
    sent(line, fields) {
      write(`   → ${line}`);
      fieldsOf(fields);
    },
    received(line, fields) {
      write(`   ← ${line}`);
      fieldsOf(fields);
    },
    check(holds, claim) {
      if (!holds) {
        write(`   ✗ ${claim}`);
        throw new StepFailed(claim);
      }
      checks += 1;
      write(`   ✓ ${claim}`);
    },
  };
}
