import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';

// Environment of a newcomer's machine: without the test runner's options for Node. Cached packages are not
// downloaded again.
const { NODE_OPTIONS: _, NODE_ENV: __, ...inherited } = process.env;
const environment = {
  ...inherited,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  NEXT_TELEMETRY_DISABLED: '1',
};

/** Starts a command in its own process group. */
export function start(folder: string, command: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: folder,
    env: { ...environment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const closed = once(child, 'close');
  return {
    said: () => output,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** Resolves with the exit code when the command ends. */
    ended: closed.then(([code]): number | null => code),
    /** Stops the command and the processes that it started, as Ctrl+C does. */
    async stop() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      await closed;
    },
  };
}

/** Runs a command to its end. @returns its output */
export async function run(
  folder: string,
  command: string,
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const program = start(folder, command, env);
  const code = await program.ended;
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${program.said()}`);
  return program.said();
}
