import { onTestFinished } from 'vitest';
import { createLogger } from '../../src/http/logging.ts';
import { loadConfig, startReferenceServer } from '../../src/index.ts';
import { run } from './processes.ts';
import { cheap, environment } from './server.ts';

/** A server, and the environment in which commands find its data folder. */
export async function running() {
  const env = await environment();
  const server = await startReferenceServer(loadConfig(env), {
    passwordCost: cheap,
    logger: createLogger('silent'),
  });
  onTestFinished(() => server.close());
  return { env, server, origin: env.OSTIARY_AUTH_URL ?? '' };
}

/** Runs a command, such as `users list`, to its end. */
export async function command(name: string, args: readonly string[], env: NodeJS.ProcessEnv, input?: string) {
  const program = run('cli/main.ts', [...name.split(' ').filter(Boolean), ...args], env, input);
  const code = await program.ended;
  return {
    code,
    output: program.output(),
    errors: program.errors(),
    json: () => JSON.parse(program.output()),
  };
}
