import { Child } from './child.ts';

/** Options of the process that runs an application with Ostiary. */
export interface HostSettings {
  readonly file: string;
  readonly sealingKey: string;
}

/** Starts a host on a SQLite file; several hosts may share a file. Resolves when the host listens. */
export async function startHost(
  settings: HostSettings,
  env: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const host = new Child(new URL('./host-process.ts', import.meta.url), settings, { env });
  await host.ready;
  return host;
}
