import { columns, styles } from '../terminal.ts';

/** Error of a step of the walkthrough that failed. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
}

/** Members of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Names of secret values, which reports shorten. */
const secretNames: ReadonlySet<string> = new Set(
  'access_token client_secret code code_challenge code_verifier csrf id_token key nonce secret state token'.split(
    ' ',
  ),
);

/** Number of characters that reports show of a header with a secret, including its readable prefix. */
const shownStart: Readonly<Record<string, number>> = { Authorization: 17, 'X-API-Key': 12 };

function shorten(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Omit passwords, and values of the sign-in page's parameters, which contain interaction ids.
  if (name === 'password' || name === 'return_to' || name === 'app') return '…';
  const isSecret = (secretNames.has(name) || name.endsWith('-Signature')) && text.length > 12;
  const most = shownStart[name] ?? (isSecret ? 10 : text.length > 90 ? 87 : text.length);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/**
 * Formats a URL for one line of a report: interaction ids and secret parameters are shortened, the values of
 * `return_to` and `app` left out.
 */
export function shortUrl(href: string): string {
  const url = new URL(href);
  const path = url.pathname.replace(/(\/oauth\/(?:authorize|interaction)\/)(.{6}).+/, '$1$2…');
  const query = [...url.searchParams].map(([name, value]) => `${name}=${shorten(name, value)}`).join('&');
  return `${url.origin}${path}${query === '' ? '' : `?${query}`}`;
}

/** Reports the steps of the walkthrough, with secrets shortened, and counts the checks. */
export type Report = ReturnType<typeof createReport>;

export function createReport(write: (line: string) => void) {
  const steps: { readonly title: string; checks: number; held: boolean }[] = [];
  const told = (line: string, fields: Fields | null = null): void => {
    write(`   ${line}`);
    for (const [name, value] of Object.entries(fields ?? {}))
      write(styles.quiet(`       ${name}: ${shorten(name, value)}`));
  };
  return {
    step(title: string): void {
      steps.push({ title, checks: 0, held: true });
      write(`\n${styles.heading(`${steps.length}. ${title}`)}`);
    },
    sent: (line: string, fields?: Fields | null): void => told(`${styles.sent('→')} ${line}`, fields),
    received: (line: string, fields?: Fields | null): void => told(`${styles.quiet('←')} ${line}`, fields),
    /**
     * Reports statements that a step checks, with their results. @throws {@link StepFailed} if one is false
     */
    check(claims: Readonly<Record<string, boolean>>): void {
      for (const [claim, holds] of Object.entries(claims)) {
        told(holds ? styles.good(`✓ ${claim}`) : styles.bad(`✗ ${claim}`));
        const step = steps.at(-1);
        if (step !== undefined) Object.assign(step, { checks: step.checks + 1, held: holds });
        if (!holds) throw new StepFailed(claim);
      }
    },
    /** Returns a line for each step of the walkthrough, and the total number of checks. */
    summary(): { readonly checks: number; readonly lines: string } {
      const rows = steps.map(({ title, checks, held }) => [
        ...[held ? '✓' : '✗', title],
        checks === 1 ? '1 check' : `${checks} checks`,
      ]);
      const sign = (text: string): string => (text === '✓' ? styles.good(text) : styles.bad(text));
      const lines = columns(rows, [sign, (title) => title, styles.quiet]);
      return { checks: steps.reduce((sum, { checks }) => sum + checks, 0), lines };
    },
  };
}
