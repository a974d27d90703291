import { join } from 'node:path';
import { type Ended, runHere } from '../../../../lab/support/processes/run-here.ts';
import { run } from './processes.ts';
import { environment, start } from './server.ts';

/** Starts a server, and returns the environment in which commands find its data folder. */
export async function running() {
  const env = await environment();
  const server = await start(env);
  return { env, server, origin: env.OSTIARY_AUTH_URL ?? '' };
}

const program = join(import.meta.dirname, '../../src/cli/main.ts');

const told = (ended: Ended) => ({ ...ended, json: () => JSON.parse(ended.output) });

/** Runs a command, such as `users list`, in this process. */
export async function command(name: string, args: readonly string[], env: NodeJS.ProcessEnv, input?: string) {
  return told(await runHere(program, [...name.split(' '), ...args], env, input));
}

/**
 * Runs a command in a separate process, as operators do, to test what happens at the end of the process.
 */
export async function commandProcess(...[name, args, env, input]: Parameters<typeof command>) {
  const { ended, output, errors } = run(program, [...name.split(' '), ...args], env, input);
  const code = await ended;
  return told({ code: code ?? -1, output: output(), errors: errors() });
}
