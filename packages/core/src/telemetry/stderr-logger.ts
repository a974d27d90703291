import { escapeControls } from '../text/printable.ts';
import type { Logger } from './logger.ts';

/**
 * Maximum number of errors that are logged of a chain of causes, including the first error. Of an
 * `AggregateError`, at most four members are logged.
 */
const mostErrors = 5;

const mostOfValue = 500;
const mostOfStack = 8_000;

const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

function fieldText(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[\w./:@+-]+$/.test(value);
  return shortened(isPlain ? value : (JSON.stringify(value) ?? String(value)), mostOfValue);
}

/**
 * Returns name, message, stack and code of an error and its causes. Leaves out other members, because HTTP
 * and database clients keep whole requests there, including secrets.
 */
function linesOf(thrown: unknown, left = mostErrors): string[] {
  if (!(thrown instanceof Error)) {
    // Do not print an object that is no error: it may contain anything, including secrets.
    const what = Object(thrown) === thrown ? 'an object' : String(thrown);
    return shortened(`thrown, and no Error: ${what}`, mostOfValue).split('\n');
  }
  const { name, message, stack, cause, code } = thrown as Error & { readonly code?: unknown };
  const text = stack ? stack : `${name}: ${message}`;
  const lines = shortened(text, mostOfStack).split('\n');
  if (typeof code === 'string' && !text.includes(code)) lines.push(`code: ${shortened(code, mostOfValue)}`);
  const others = thrown instanceof AggregateError ? thrown.errors : [];
  for (const other of [...(cause === undefined ? [] : [cause]), ...others].slice(0, left - 1)) {
    const [first = '', ...rest] = linesOf(other, left - 1);
    lines.push(`caused by: ${first}`, ...rest);
  }
  return lines;
}

/** Formats a log record: time, level, message and fields in one line, and the error below it, indented. */
function recordOf(level: string, fields: object, message: string, time: Date): string {
  const { err, ...others } = fields as { readonly err?: unknown } & Record<string, unknown>;
  const head = [
    time.toISOString(),
    level,
    message,
    ...Object.entries(others).map(([name, value]) => `${name}=${fieldText(value)}`),
  ];
  const below = 'err' in fields ? linesOf(err).map((line) => `    ${line}`) : [];
  return escapeControls([head.join(' ').replaceAll('\n', ' '), ...below].join('\n'), '\n\t');
}

/**
 * Default logger, which writes warnings and errors to stderr for people. Uses `console`, which keeps working
 * when the program that reads stderr has ended.
 */
export const stderrLogger: Logger = Object.freeze({
  debug() {},
  info() {},
  warn: (fields: object, message: string) => tell('WARN ', fields, message),
  error: (fields: object, message: string) => tell('ERROR', fields, message),
});

function tell(level: string, fields: object, message: string): void {
  const time = new Date();
  let record: string;
  try {
    record = recordOf(level, fields, message, time);
  } catch {
    // Formatting can fail, for a stack that throws or a recursive value; the request must not fail with it.
    record = `${time.toISOString()} ${level} ${message}`;
  }
  console.error(record);
}
