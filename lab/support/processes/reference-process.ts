import { serverProcess } from './server-process.ts';

type Settings = Readonly<Record<string, string>>;

/** The reference server in a process of its own, as it is deployed: stopped with SIGTERM, started again, also otherwise. */
export type ReferenceProcess = ReturnType<typeof referenceProcess>;

export function referenceProcess(name: string, port: number, env: Settings) {
  let settings = env;
  let process = serverProcess(name, port, settings);
  return {
    name,
    origin: process.origin,
    /** Resolves when it is ready. @throws Error when it ends instead */
    start: () => process.start(),
    /** Ends it as whoever runs it does. @returns its exit code, or `null` where a signal ended it */
    stop: () => process.stop(),
    /** Stops it and starts it again, with other settings. @returns its exit code in between */
    async restart(changes: Settings): Promise<number | null> {
      const code = await process.stop();
      settings = { ...settings, ...changes };
      process = serverProcess(name, port, settings);
      await process.start();
      return code;
    },
  };
}
