import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../proof.ts';

type Settings = Readonly<Record<string, string>>;

const program = fileURLToPath(new URL('../../../examples/reference-server/src/main.ts', import.meta.url));

/**
 * Returns the environment of a child process: its own settings, `NODE_ENV=development`, the path of programs,
 * and Node's compile cache.
 */
function childEnvironment(env: Settings): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { ...env, NODE_ENV: 'development', PATH, NODE_COMPILE_CACHE };
}

/** Checks whether a process is ready for requests. */
export async function isReady(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Reference server in a separate process, which runs from its source. */
export type ReferenceProcess = ReturnType<typeof referenceProcess>;

export function referenceProcess(name: string, port: number, settings: Settings) {
  const origin = `http://127.0.0.1:${port}`;
  let env = childEnvironment({ ...settings, PORT: String(port) });
  let child: ChildProcess | undefined;
  let log = '';
  let ended: Promise<number | null> = Promise.resolve(null);

  const referenceServer = {
    name,
    /** Origin of this server process itself, without the load balancer. */
    origin,
    /**
     * Starts the server process. Resolves when the process is ready. @throws Error if the process ends
     * instead
     */
    async start(): Promise<void> {
      const stdio = ['ignore', 'pipe', 'pipe'] as const;
      const started = spawn(process.execPath, ['--conditions=ostiary-source', program], {
        env,
        stdio: [...stdio],
      });
      child = started;
      started.stdout?.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
      let said = '';
      started.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      let isOver = false;
      ended = new Promise((resolve) => started.once('close', resolve));
      void ended.then(() => {
        isOver = true;
      });
      const isUp = await until(async () => {
        if (isOver) throw new Error(`${name} ended: ${said.trim()}`);
        return isReady(origin);
      });
      if (!isUp) throw new Error(`${name} is not ready`);
    },
    /** Returns what the server process has logged since the last call. */
    takeLog(): string {
      const taken = log;
      log = '';
      return taken;
    },
    /**
     * Sends SIGTERM to the server process. @returns the exit code, or `null` if a signal ended the process
     */
    stop(): Promise<number | null> {
      child?.kill('SIGTERM');
      return ended;
    },
    /**
     * Stops the server process and restarts it with other settings. @returns the exit code of the stopped
     * process
     */
    async restart(changes: Settings): Promise<number | null> {
      const code = await referenceServer.stop();
      env = { ...env, ...changes };
      await referenceServer.start();
      return code;
    },
  };
  return referenceServer;
}
