import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runHere } from '../../../lab/support/processes/run-here.ts';
import { createLogger } from '../src/http/logging.ts';
import { loadConfig, startReferenceServer } from '../src/index.ts';
import { run } from './support/processes.ts';
import { environment } from './support/server.ts';

const program = join(import.meta.dirname, '../src/main.ts');

interface Conversation {
  readonly socket: Socket;
  /** Resolves when everything received so far contains the text. */
  until(text: string): Promise<string>;
  readonly ended: Promise<string>;
}

async function talk(port: number): Promise<Conversation> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  let received = '';
  const listeners = new Set<() => void>();
  socket.on('data', (text: string) => {
    received += text;
    for (const listener of listeners) listener();
  });
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return {
    socket,
    ended,
    until: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (received.includes(text)) resolve(received);
        };
        listeners.add(look);
        look();
      }),
  };
}

/** A form of which the server has seen the head and not the body: a request that is under way for sure. */
async function halfSent(port: number): Promise<Conversation> {
  const conversation = await talk(port);
  conversation.socket.write(
    [
      'POST /login HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 8',
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  );
  await conversation.until('100 Continue');
  return conversation;
}

describe('the server process', () => {
  test('finishes what is under way after SIGTERM, takes nothing new, and ends with 0', async () => {
    const env = await environment();
    const program = run('main.ts', [], env);
    await program.until('listening');
    const port = Number(env.PORT);
    const idle = await talk(port);
    const busy = await halfSent(port);
    program.child.kill('SIGTERM');
    await program.until('closing');
    await idle.ended;
    await expect(talk(port)).rejects.toThrow('ECONNREFUSED');
    busy.socket.write('handle=a');
    expect(await busy.ended).toMatch(/HTTP\/1\.1 403 [\s\S]*connection: close[\s\S]*<\/html>/i);
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('"msg":"closed"');
    // Whoever closes last tidies up: the log of the database is merged into it.
    expect(existsSync(join(env.OSTIARY_DATA_DIR ?? '', 'ostiary.sqlite-wal'))).toBe(false);
  });

  test('ends at once on the second signal', async () => {
    const env = await environment();
    const program = run('main.ts', [], env);
    await program.until('listening');
    await halfSent(Number(env.PORT));
    program.child.kill('SIGINT');
    await program.until('closing');
    program.child.kill('SIGINT');
    expect(await program.ended).toBe(1);
    expect(program.output()).not.toContain('"msg":"closed"');
  });

  test('keeps its files to itself', async () => {
    const env = await environment();
    const program = run('main.ts', [], env);
    await program.until('listening');
    const file = await stat(join(env.OSTIARY_DATA_DIR ?? '', 'ostiary.sqlite'));
    expect(file.mode & 0o077).toBe(0);
  });

  test.each([
    ['without a secret', { OSTIARY_SEALING_KEYS: undefined }, 'OSTIARY_SEALING_KEYS is missing'],
    ['with an unknown setting', { OSTIARY_COLOR: 'x' }, 'OSTIARY_COLOR is not a setting'],
    ['with http in production', { NODE_ENV: 'production' }, 'OSTIARY_AUTH_URL must be https'],
    ['with a name that is too long', { OSTIARY_NAME: 'x'.repeat(61) }, 'OSTIARY_NAME'],
    [
      'with a folder that cannot be',
      { OSTIARY_DATA_DIR: '/dev/null/x' },
      'OSTIARY_DATA_DIR cannot be created',
    ],
    ['as a worker on SQLite', { OSTIARY_ROLE: 'worker' }, 'OSTIARY_ROLE=worker needs DATABASE_URL'],
    ['on an address of others', { HOST: '192.0.2.1' }, 'HOST 192.0.2.1 is no address of this machine'],
  ])('refuses to start %s, in one line', async (_, changes, message) => {
    const { code, errors } = await runHere(program, [], await environment(changes));
    expect(code).toBe(1);
    expect(errors).toMatch(/^ostiary: .*\n$/);
    expect(errors).toContain(message);
  });

  test('refuses to start with another sealing key, in one line', async () => {
    const env = await environment();
    await (await startReferenceServer(loadConfig(env), { logger: createLogger('silent') })).close();
    const { code, errors } = await runHere(program, [], {
      ...env,
      OSTIARY_SEALING_KEYS: Buffer.alloc(32).toString('base64url'),
    });
    expect(code).toBe(1);
    expect(errors).toMatch(/^ostiary: .*\n$/);
  });

  test('says in one line that its port is taken', async () => {
    const env = await environment();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(Number(env.PORT), '127.0.0.1', resolve));
    const program = run('main.ts', [], env);
    expect(await program.ended).toBe(1);
    expect(program.errors()).toBe(
      `ostiary: port ${env.PORT} is taken; set PORT to a free one, or stop the other program\n`,
    );
    await new Promise((resolve) => other.close(resolve));
  });
});
