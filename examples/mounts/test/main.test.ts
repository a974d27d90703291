import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { ask } from './support/ask.ts';
import { onFreePort } from './support/deployment.ts';
import { UserAgent } from './support/user-agent.ts';

// Machines that run these are small and busy.
vi.setConfig({ testTimeout: 60_000 });

const script = resolve(import.meta.dirname, '../src/main.ts');

function run(name: string, port: number): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
  return spawn(process.execPath, ['--conditions=source', script, name], {
    env: { PATH, HOME, TMPDIR, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The first line that the program says; rejects when it ends before. */
async function firstLine(program: ChildProcess): Promise<string> {
  let [said, complained] = ['', ''];
  program.stderr?.setEncoding('utf8').on('data', (chunk) => {
    complained += chunk;
  });
  return new Promise((answer, reject) => {
    program.stdout?.setEncoding('utf8').on('data', (chunk) => {
      said += chunk;
      if (said.includes('\n')) answer(said);
    });
    program.once('exit', () => {
      const error = new Error(complained);
      reject(complained.includes('EADDRINUSE') ? Object.assign(error, { code: 'EADDRINUSE' }) : error);
    });
  });
}

it.each(['express', 'nest'])(
  'the program starts %s, where somebody can sign in, and ends on SIGTERM',
  async (name) => {
    const { program, line } = await onFreePort(async (port) => {
      const started = run(name, port);
      return { program: started, line: await firstLine(started) };
    });
    try {
      const [, site = '', request = ''] = /at (\S+)\/shop; sign in at (\S+)/.exec(line) ?? [];
      expect((await ask(`${site}/shop`)).text).toBe('The shop of nobody');
      const { callback } = await new UserAgent(site, `${site}/shop`, 'user-ana').visit(request);
      expect(callback?.get('code')).toMatch(/./);
    } finally {
      const exit = once(program, 'exit');
      program.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
    }
  },
);

it('the program names the mounts that there are', async () => {
  await expect(firstLine(run('tomcat', 0))).rejects.toThrow(
    /express \| fastify \| hono \| koa \| nest \| node-http/,
  );
});
