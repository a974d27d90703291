import { isStorageFailure } from '../errors.ts';
import type { Logger } from './logger.ts';

/** Time for which the repetitions of a log line are only counted, in milliseconds. */
const intervalMs = 60_000;

/** Maximum number of kinds of log lines that are counted at the same time. Lines of further kinds are logged whole. */
const mostKinds = 1_000;

/** Fields of log lines of which there is one for each request, job or delivery, so that an outage repeats them. */
const ofMany = ['err', 'delivery', 'status'];

/** Fields whose values make lines with the same message different kinds. */
const telling = ['kind', 'endpoint', 'path', 'route', 'status'];

type Level = 'warn' | 'error';
type Fields = Readonly<Record<string, unknown>>;

/** Logger that counts the repetitions of warnings and errors. */
export interface CountingLogger extends Logger {
  /** Logs the counts of repetitions that were not logged yet. */
  close(): void;
}

/** Replaces words that contain a digit, such as ids and ports, because they differ from one error to the next. */
const withoutNumbers = (text: string): string =>
  text.slice(0, 500).replace(/[\w-]+/g, (word) => (/\d/.test(word) ? '0' : word));

/** Starts a timer of Node that does not keep the process running. Returns a function that cancels the timer. */
function startTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms).unref();
  return () => clearTimeout(timer);
}

/** Describes an error by what its repetitions have in common: name, message, and the place where it was thrown. */
function kindOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { name, stack = '' } = error;
  const message = withoutNumbers(error.message);
  const place = /^ +at .*$/m.exec(stack)?.[0] ?? '';
  // A storage fails at many places for one reason.
  return isStorageFailure(error) ? message : `${name}: ${message}${place}`;
}

/** Returns what a log line has in common with its repetitions; `null` for a line that no outage repeats. */
function kindOf(level: Level, fields: Fields, message: string): string | null {
  if (!ofMany.some((name) => name in fields)) return null;
  const values = telling.map((name) => fields[name]);
  return JSON.stringify([level, message, 'err' in fields && kindOfError(fields.err), ...values]);
}

/**
 * Wraps a logger, so that an outage does not fill the log with the same lines. Of warnings and errors with the fields `err`,
 * `delivery` or `status`, the first one is logged whole. Its repetitions are logged with the level `debug`, without the error,
 * and one line a minute has their number (`repeated`). After a minute without a repetition, the next line is whole again. A
 * line with another message, another error, or another value of `kind`, `endpoint`, `path`, `route` or `status` is no repetition.
 * Ostiary wraps the option `logger` in this way.
 * @param schedule - starts a timer, and returns a function that cancels it; by default a timer that does not keep the process
 * running
 */
export function countRepetitions({
  logger,
  schedule = startTimer,
}: {
  readonly logger: Logger;
  readonly schedule?: ((callback: () => void, ms: number) => () => void) | undefined;
}): CountingLogger {
  const kinds = new Map<string, { repeated: number; last: () => void; cancel: () => void }>();

  function log(level: Level, fields: Fields, message: string): void {
    const kind = kindOf(level, fields, message);
    const counted = kind === null ? undefined : kinds.get(kind);
    if (counted === undefined) {
      if (kind !== null && kinds.size < mostKinds) kinds.set(kind, startCounting(kind));
      logger[level](fields, message);
      return;
    }
    const { err, ...others } = fields;
    logger.debug(others, message);
    counted.repeated += 1;
    counted.last = () => {
      const reason = err instanceof Error ? { reason: err.message } : {};
      const count = { repeated: counted.repeated, seconds: intervalMs / 1_000 };
      logger[level]({ ...others, ...reason, ...count }, message);
    };
  }

  function startCounting(kind: string) {
    return { repeated: 0, last: () => undefined, cancel: schedule(() => endInterval(kind), intervalMs) };
  }

  /** Logs the number of repetitions, and forgets a kind of line that was not repeated. */
  function endInterval(kind: string): void {
    const counted = kinds.get(kind);
    if (counted === undefined) return;
    kinds.delete(kind);
    if (counted.repeated === 0) return;
    counted.last();
    kinds.set(kind, startCounting(kind));
  }

  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => log('warn', fields as Fields, message),
    error: (fields, message) => log('error', fields as Fields, message),
    close() {
      for (const { repeated, last, cancel } of kinds.values()) {
        cancel();
        if (repeated > 0) last();
      }
      kinds.clear();
    },
  };
}
