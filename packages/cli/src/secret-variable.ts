import { readFileSync } from 'node:fs';
import { CommandUsageError } from './command.ts';

/**
 * Reads a secret from an environment variable, or from the file that the variable with the suffix `_FILE`
 * names. Removes white space at both ends of the file's text.
 * @returns `null` if neither is set
 * @throws CommandUsageError if both are set, or if the file cannot be read or is empty
 */
export function secretVariable(variable: string, env: NodeJS.ProcessEnv): string | null {
  const value = env[variable] ?? '';
  const file = env[`${variable}_FILE`] ?? '';
  if (file === '') return value === '' ? null : value;
  if (value !== '') throw new CommandUsageError(`${variable} and ${variable}_FILE are both set`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new CommandUsageError(`${variable}_FILE names a file that cannot be read${code}`);
  }
  if (text === '') throw new CommandUsageError(`${variable}_FILE names a file that is empty`);
  return text;
}
