import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { runHere } from '../../../lab/support/processes/run-here.ts';
import { run } from '../../reference-server/test/support/processes.ts';
import { ask } from './support/ask.ts';
import { UserAgent } from './support/user-agent.ts';

// The machines that run these tests may be slow and busy.
vi.setConfig({ testTimeout: 60_000 });

const main = join(import.meta.dirname, '../src/main.ts');

it('the program starts a mount, where a user can sign in, and ends on SIGTERM', async () => {
  const program = run(main, ['nest'], { PORT: String(await freePort()) });
  await program.until('\n');
  const [, site = '', request = ''] = /at (\S+)\/shop; sign in at (\S+)/.exec(program.output()) ?? [];
  expect((await ask(`${site}/shop`)).text).toBe('The shop of nobody');
  const { callback } = await new UserAgent(site, `${site}/shop`, 'user-ana').visit(request);
  expect(callback?.get('code')).toMatch(/./);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});

it('the program lists the available mounts', async () => {
  const { code, errors } = await runHere(main, ['tomcat'], {});
  expect(code).toBe(1);
  expect(errors).toContain('express | fastify | hono | koa | nest | node-http');
});
