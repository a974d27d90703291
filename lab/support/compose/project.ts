import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Folder of the compose file and of the files that its services mount. */
export const deployFolder = join(import.meta.dirname, '../../../deploy');

/** Members of a service of the compose file that tests read. */
export interface Service {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly stop_signal?: string;
  readonly profiles?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

/** Members of the compose file that tests read. */
interface Project {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** Settings of a `.env` file, by name. */
type Settings = Readonly<Record<string, string>>;

const composeFile = (): string => readFileSync(join(deployFolder, 'compose.yaml'), 'utf8');

/** Returns the settings of `deploy/.env.example`, with random values for the secrets, which are empty there. */
export function exampleSettings(): Settings {
  const lines = readFileSync(join(deployFolder, '.env.example'), 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm);
  const pairs = Array.from(lines, ([, name = '', value = '']) => {
    if (value !== '') return [name, value];
    return [name, randomBytes(32).toString(name === 'OSTIARY_SEALING_KEYS' ? 'base64url' : 'hex')];
  });
  return Object.fromEntries(pairs);
}

/** Returns the names of all settings that the compose file takes from `.env`. */
export function settingNames(): string[] {
  return [...new Set(Array.from(composeFile().matchAll(/\$\{([A-Z_]+)/g), ([, name = '']) => name))];
}

/** Returns the text of the compose file, in which settings have taken the place of their names. */
export function composeText(settings: Settings): string {
  return composeFile().replaceAll(/\$\{([A-Z_]+):\?\}/g, (_, name: string) => settings[name] ?? '');
}

/** Reads the compose file with settings. */
export function composeProject(settings: Settings): Project {
  return parse(composeText(settings), { merge: true });
}
