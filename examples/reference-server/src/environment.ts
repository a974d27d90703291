import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { type Setting, settings } from './settings.ts';

/**
 * Suffixes of the variables that Kubernetes sets for a Service. The variable `NAME_PORT` is recognized by its
 * value instead.
 */
const serviceLink =
  /_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;

/**
 * Checks whether Kubernetes has set the variable for a Service of the namespace. A Service named
 * `ostiary-metrics` sets `OSTIARY_METRICS_PORT=tcp://10.0.0.1:9464`.
 */
function isServiceLink(variable: string, value: string): boolean {
  return serviceLink.test(variable) || (variable.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));
}

/** Returns the number of characters to insert, delete or replace to turn one text into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, character] of [...from].entries()) {
    const next = [line + 1];
    for (let at = 0; at < to.length; at += 1) {
      const replaced = (row[at] ?? 0) + (to[at] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

const secrets = Object.entries<Setting>(settings)
  .filter(([, setting]) => setting.isSecret === true)
  .map(([variable]) => variable);
/**
 * Names of all environment variables that the server reads: the settings, and for each secret the variable
 * that names a file.
 */
export const knownVariables = new Set([
  ...Object.keys(settings),
  ...secrets.map((variable) => `${variable}_FILE`),
]);

/**
 * Checks whether an unknown variable is probably a misspelt setting of this server. Short names such as
 * `PORT` are not compared, because they resemble too many others.
 */
function isMisspelt(variable: string): boolean {
  if (knownVariables.has(variable)) return false;
  const name = variable.toUpperCase();
  if (name.startsWith('OSTIARY_')) return true;
  return [...knownVariables].some((setting) => {
    if (!setting.includes('_')) return false;
    const atMost = setting.startsWith('OSTIARY_') ? 2 : 1;
    return Math.abs(setting.length - name.length) <= atMost && editDistance(name, setting) <= atMost;
  });
}

/** Reads a secret from the file that the variable `*_FILE` names, without white space around the secret. */
function readSecret(variable: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new ConfigError(`${variable}_FILE names a file that cannot be read${code}`);
  }
  const secret = text.trim();
  if (secret === '') throw new ConfigError(`${variable}_FILE names a file that is empty`);
  return secret;
}

/**
 * Returns the environment variables, and the names of those that are probably misspelt settings. Secrets in
 * files are read, and variables that Kubernetes sets for Services are removed.
 *
 * @throws {@link ConfigError} if a file cannot be read or is empty, or a secret is set twice
 */
export function readEnvironment(env: NodeJS.ProcessEnv) {
  const given = Object.entries(env).filter(([variable, value = '']) => !isServiceLink(variable, value));
  const variables: NodeJS.ProcessEnv = Object.fromEntries(given);
  for (const secret of secrets) {
    const file = variables[`${secret}_FILE`] ?? '';
    if (file === '') continue;
    if ((variables[secret] ?? '') !== '') throw new ConfigError(`${secret} and ${secret}_FILE are both set`);
    variables[secret] = readSecret(secret, file);
  }
  return { variables, misspelt: Object.keys(variables).filter(isMisspelt) };
}
