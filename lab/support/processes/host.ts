import { forked } from './forked.ts';

/** What a host's process is started with. */
export interface HostSettings {
  readonly file: string;
  readonly sealingKey: string;
  /** Its configured address, which is not where it listens. */
  readonly authUrl: string;
}

/** A host in a process of its own. */
export type HostProcess = Awaited<ReturnType<typeof startHost>>;

/** Starts a host on a SQLite file; several may share one. Resolves when it listens. */
export async function startHost(settings: HostSettings, env: Readonly<Record<string, string>> = {}) {
  const process = forked(new URL('./host-process.ts', import.meta.url), {
    ...env,
    SETTINGS: JSON.stringify(settings),
  });
  return { ...process, origin: await process.origin };
}
