import { type Forked, forked } from './forked.ts';

/** What a host's process is started with. */
export interface HostSettings {
  readonly file: string;
  readonly sealingKey: string;
  /** Its configured address, which is not where it listens. */
  readonly authUrl: string;
  readonly isWorking: boolean;
  /** Ends the process between the commit of a transfer and its answer. */
  readonly diesAfterCommit?: boolean;
}

/** A host in a process of its own. */
export interface HostProcess extends Omit<Forked, 'origin'> {
  readonly origin: string;
}

/** Starts a host on a SQLite file; several may share one. Resolves when it listens. */
export async function startHost(
  settings: HostSettings,
  env: Readonly<Record<string, string>> = {},
): Promise<HostProcess> {
  const process = forked(new URL('./host-process.ts', import.meta.url), {
    ...env,
    SETTINGS: JSON.stringify(settings),
  });
  return { ...process, origin: await process.origin };
}

/** Runs a host that publishes, or settles a transfer, until it is killed next to the commit. Answers the signal. */
export async function runOutboxProcess(settings: {
  readonly file: string;
  readonly sealingKey: string;
  readonly partner: string;
  readonly kill: 'before the commit' | 'after the commit';
  /** Settles this transfer rather than publishing. */
  readonly transfer?: string;
}): Promise<number | NodeJS.Signals> {
  const { ended } = forked(new URL('./outbox-process.ts', import.meta.url), {
    DATABASE_FILE: settings.file,
    SEALING_KEY: settings.sealingKey,
    PARTNER: settings.partner,
    KILL: settings.kill,
    TRANSFER: settings.transfer ?? '',
  });
  return ended;
}
