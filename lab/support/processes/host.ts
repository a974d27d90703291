import { Child } from './child.ts';

/** What a host's process is started with. */
export interface HostSettings {
  readonly file: string;
  readonly sealingKey: string;
  /** Its configured address, which is not where it listens. */
  readonly authUrl: string;
}

/** A host in a process of its own. */
export type HostProcess = Child;

/** Starts a host on a SQLite file; several may share one. Resolves when it listens. */
export async function startHost(
  settings: HostSettings,
  env: Readonly<Record<string, string>> = {},
): Promise<HostProcess> {
  const host = new Child(new URL('./host-process.ts', import.meta.url), settings, { env });
  await host.ready;
  return host;
}
