import { Child } from './child.ts';

/** Options of the process that runs an application with Ostiary. */
export interface HostSettings {
  readonly file: string;
  readonly sealingKey: string;
}

/**
 * Starts an application with Ostiary on a SQLite file; several such applications may share a file. Resolves
 * when the application listens.
 */
export async function startHost(
  settings: HostSettings,
  env: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const host = new Child(new URL('./host-process.ts', import.meta.url), settings, { env });
  await host.ready;
  return host;
}
