/**
 * Error for a wrong environment variable, or for a database or file that cannot be used. The message is for
 * the operator, and never contains a secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
