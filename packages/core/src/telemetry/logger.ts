/** Receives structured log lines: pino, or any object with these four methods. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Value of the option `logger` that logs nothing, not even errors.
 *
 * @example
 * ```ts
 * const quiet: Pick<OstiaryOptions, 'logger'> = { logger: silentLogger };
 * ```
 */
export const silentLogger: Logger = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} });
