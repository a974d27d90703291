import { parseArgs } from 'node:util';
import { ConfigError } from '@ostiary/reference-server';

/**
 * The environment that the arguments ask for: `--prefix acme` is `OSTIARY_PREFIX=acme`.
 *
 * @throws {@link ConfigError} for any other argument
 */
export function withArguments(env: NodeJS.ProcessEnv, argv: readonly string[]): NodeJS.ProcessEnv {
  try {
    const { values } = parseArgs({ args: [...argv], options: { prefix: { type: 'string' } }, strict: true });
    return values.prefix === undefined ? env : { ...env, OSTIARY_PREFIX: values.prefix };
  } catch {
    throw new ConfigError('the only argument is --prefix <prefix>, as in: npm start -- --prefix acme');
  }
}
