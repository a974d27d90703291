/**
 * Error for a wrong environment variable. The message is one line for the operator, and never contains a
 * value.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
