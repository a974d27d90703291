import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually } from '../walkthrough/found.ts';
import { StepFailed } from '../walkthrough/report.ts';

/** A reference server in a process of its own, that can be killed and started again. */
export type ServerProcess = ReturnType<typeof serverProcess>;

type Settings = Readonly<Record<string, string>>;

const reference = new URL(import.meta.resolve('@ostiary/reference-server'));

/** How a program of the reference server's package is run with Node. */
export const programOf = (file: string): readonly string[] => [
  '--conditions=source',
  fileURLToPath(new URL(file, reference)),
];

/** What a child sees of this process: how programs are found, where Node keeps what it compiled, and nothing that could be a setting. */
export function childEnvironment(env: Settings): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { ...env, NODE_ENV: 'development', PATH, NODE_COMPILE_CACHE };
}

/** Whether a process wants requests. */
export async function isReady(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

export function serverProcess(name: string, port: number, settings: Settings) {
  const origin = `http://127.0.0.1:${port}`;
  const env = childEnvironment({ ...settings, PORT: String(port) });
  let child: ChildProcess | undefined;
  let ended: Promise<number | null> = Promise.resolve(null);

  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    child?.kill(signal);
    return ended;
  };

  return {
    name,
    /** Where this one process is reached, whatever stands in front of it. */
    origin,
    async start(): Promise<void> {
      const stdio = ['ignore', 'ignore', 'pipe'] as const;
      const started = spawn(process.execPath, programOf('./main.ts'), { env, stdio: [...stdio] });
      child = started;
      let said = '';
      started.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const look = { isOver: false };
      ended = new Promise((resolve) => started.once('close', resolve));
      void ended.then(() => {
        look.isOver = true;
      });
      const ready = async () => {
        if (look.isOver) throw new StepFailed(`${name} ended: ${said.trim()}`);
        return (await isReady(origin)) || undefined;
      };
      await eventually(`${name} is ready`, ready, { withinMs: 60_000 });
    },
    /** `kill -9`: it gets no chance to tidy up. */
    kill: () => end('SIGKILL'),
    /** SIGTERM. @returns its exit code */
    stop: () => end('SIGTERM'),
  };
}
