import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { verify } from '@ostiary/webhook-verifier';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type PartnerFolder, partnerFolder } from '../../../lab/support/packages/installed.ts';
import { patient } from '../../../lab/support/patient.ts';
import { runtimes } from '../../../lab/tests/runtimes/installed.ts';
import { register, shop, trigger } from '../../core/test/partner/webhook-shop.ts';
import { sink } from '../../core/test/webhooks/support/sink.ts';

let installed: PartnerFolder;
beforeAll(async () => {
  installed = await partnerFolder(['listen']);
}, 300_000);
afterAll(() => installed.remove());

/**
 * Starts the program `listen` as it is published, with the oldest Node that it supports and no other packages
 * installed.
 */
function listening(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const [node = process.execPath] = runtimes['Node 20'] ?? [];
  const program = join(installed.folder, 'node_modules/@ostiary/listen/dist/main.js');
  const child: ChildProcess = spawn(node, [program, ...args], {
    cwd: installed.folder,
    env: { PATH: dirname(node), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout?.on('data', (text) => {
    output += text;
  });
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return {
    output: () => output,
    errors: () => errors,
    said: (text: string | RegExp) =>
      vi.waitFor(() => expect(output + errors).toMatch(text), { timeout: 30_000 }),
    ended: closed.then(([code]): number | null => code),
    async kill(signal: NodeJS.Signals = 'SIGINT') {
      child.kill(signal);
      await closed;
    },
  };
}

/**
 * Starts a service with a running worker, and a local server. Returns them with functions that start the
 * program and list the partner's endpoints.
 */
async function development() {
  const made = await shop();
  const { provider, key } = made;
  const local = await sink();
  provider.ostiary.worker.start();
  const settings = ['--to', local.url, '--base-url', provider.origin];
  return {
    ...{ ...made, local },
    listen: (args: readonly string[] = [], by = key.key) =>
      listening([...settings, ...args], { OSTIARY_API_KEY: by }),
    endpoints: async (): Promise<{ url: string; events: string[]; id: string }[]> =>
      (await made.call('GET /v1/partner/webhooks')).json().data as never,
  };
}

const secretIn = (output: string): string => /WEBHOOK_SECRET=(\S+)/.exec(output)?.[1] ?? '';

it('forwards events byte for byte, whose attempts end with the answer, and removes its endpoint', async () => {
  const { listen, local, provider, trigger, endpoints, deliveries } = await development();
  const program = listen();
  await program.said(/Ready: .*\n/);
  await program.said(/WEBHOOK_SECRET=\S+\n/);
  const event = await trigger();
  await program.said(`${event.id}  ->  204`);
  const [delivery, ...others] = local.received;
  expect(others).toEqual([]);
  expect(delivery?.body.toString()).toBe(JSON.stringify(event));
  expect(delivery?.headers['user-agent']).toBe('Ostiary-Webhooks/1');
  const secret = secretIn(program.output());
  const now = provider.clock.now();
  const verified = await verify(delivery?.body ?? '', delivery?.headers ?? {}, { secret, now });
  expect(verified).toMatchObject({ event, attempt: 1 });
  const [endpoint] = await endpoints();
  const id = endpoint?.id ?? '';
  await vi.waitFor(
    async () =>
      expect(await deliveries(id)).toMatchObject([{ status: 'delivered', attempts: [{ httpStatus: 204 }] }]),
    patient,
  );
  await program.kill();
  expect(await program.ended).toBe(0);
  expect(program.output()).toContain(`Removed the endpoint ${id}.`);
  expect(await endpoints()).toEqual([]);
});

it('reports a server that fails or is down, and its attempts fail with that', async () => {
  const { listen, local, trigger, endpoints, deliveries } = await development();
  local.answer = (response) => void response.writeHead(503).end('busy\0');
  const program = listen();
  const elsewhere = listen(['--to', 'localhost:9/webhooks']);
  await Promise.all([program.said('Ready'), elsewhere.said('Ready')]);
  await trigger();
  await program.said('->  503');
  await elsewhere.said('connection_refused: nothing listens there');
  const [first, second] = await endpoints();
  await vi.waitFor(async () => {
    const attempts = [...(await deliveries(first?.id ?? '')), ...(await deliveries(second?.id ?? ''))];
    expect(attempts.flatMap((delivery) => delivery.attempts)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ httpStatus: 503, error: 'status', response: 'busy\ufffd' }),
        expect.objectContaining({ httpStatus: null, error: 'connection_refused', response: null }),
      ]),
    );
  }, patient);
});

it('two programs get every event each, and one that was killed takes nothing from the next', async () => {
  const { listen, local, trigger, endpoints, call } = await development();
  const [first, second] = [listen(), listen()];
  await Promise.all([first.said('Ready'), second.said('Ready')]);
  const event = await trigger();
  await Promise.all([first.said(String(event.id)), second.said(String(event.id))]);
  expect(local.received).toHaveLength(2);
  await first.kill('SIGKILL');
  expect(await endpoints()).toHaveLength(2);
  const third = listen();
  await third.said('Ready');
  const later = await trigger();
  await Promise.all([second.said(String(later.id)), third.said(String(later.id))]);
  // Ends the attempt at the killed program, for which the end of the test would wait.
  const [left = ''] = /\bwe_\w+/.exec(first.output()) ?? [];
  expect((await call(`DELETE /v1/partner/webhooks/${left}`)).status).toBe(200);
});

it('is ready only when the service hands requests to it', async () => {
  const { provider, listen, trigger } = await development();
  const slow = createServer((request, response) => {
    const isTake = request.url?.endsWith('/take') === true;
    setTimeout(() => provider.ostiary.handler(request, response), isTake ? 500 : 0);
  });
  onTestFinished(() => {
    slow.closeAllConnections();
    slow.close();
  });
  await once(slow.listen(0, '127.0.0.1'), 'listening');
  const { port } = slow.address() as AddressInfo;
  const program = listen(['--base-url', `http://127.0.0.1:${port}`]);
  await program.said('Ready');
  const event = await trigger();
  await program.said(`${event.id}  ->  204`);
});

it('goes on after the service restarted, and ends when its key is revoked', async () => {
  const { provider, key, listen, local, trigger } = await development();
  let server = createServer(provider.ostiary.handler);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const program = listen(['--base-url', `http://127.0.0.1:${port}`]);
  await program.said('Ready');
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  await program.said('The service does not answer');
  server = createServer(provider.ostiary.handler);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const back = performance.now();
  await program.said('The service answers again.');
  // The service holds a call that finds no request for 20 s.
  expect(performance.now() - back).toBeLessThan(15_000);
  const event = await trigger();
  await program.said(`${event.id}  ->  204`);
  expect(local.received).toHaveLength(1);
  await provider.ostiary.admin.apiKeys.revoke(key.id);
  expect(await program.ended).toBe(1);
  expect(program.errors()).toContain('@ostiary/listen: ');
});

it('registers the event types that match, prints JSON, and uses the given secret', async () => {
  const { provider, key, listen, trigger, endpoints } = await development();
  const secret = 'whsec_0123456789abcdef';
  const program = listen(['--events', 'payment.*, kyc.updated', '--print-json', '--secret', secret]);
  await program.said('Ready');
  expect((await endpoints())[0]?.events).toEqual(['payment.completed', 'payment.failed', 'kyc.updated']);
  const event = await trigger('kyc.updated');
  await program.said(String(event.id));
  const line = JSON.parse(program.output());
  expect(line).toMatchObject({
    request: { body: JSON.stringify(event) },
    answer: { httpStatus: 204 },
    counted: true,
  });
  expect(program.errors()).not.toContain(secret);
  const headers = new Headers(
    line.request.headers.map((one: { name: string; value: string }) => [one.name, one.value]),
  );
  await verify(line.request.body, headers, { secret, now: provider.clock.now() });
  expect(key.mode).toBe('test');
});

it('refuses live keys and wrong usage, and explains them', async () => {
  const { provider, key, listen } = await development();
  const live = await provider.key({ partner: key.partner, mode: 'live' });
  const byLive = listen([], live.key);
  expect(await byLive.ended).toBe(2);
  expect(byLive.errors()).toContain('this is a live key');
  for (const [args, message] of [
    [['--to', 'ftp://x'], '--to is no address'],
    [['--events', 'nothing.*'], 'matches none of the types'],
    [['--events', 'payment.*,nothing.*'], 'nothing.* matches none of the types'],
    [['--wrong'], "Unknown option '--wrong'"],
  ] as const) {
    const program = listen(args);
    expect(await program.ended).toBe(2);
    expect(program.errors()).toContain(message);
  }
  const misspelt = listen(['--events', 'payment.*,kyc.updatd']);
  expect(await misspelt.ended).toBe(1);
  expect(misspelt.errors()).toContain('kyc.updatd');
  const bare = listening([]);
  expect(await bare.ended).toBe(2);
  expect(bare.errors()).toContain('needs --to');
  const helped = listening(['--help']);
  expect(await helped.ended).toBe(0);
  expect(helped.output()).toContain('npx @ostiary/listen --to localhost:4000/webhooks');
});

it('is no endpoint for others: their events do not arrive', async () => {
  const { provider, listen, local } = await development();
  const program = listen();
  await program.said('Ready');
  const other = await provider.key({ mode: 'test' });
  await register(provider, other, 'inbox:200');
  await trigger(provider, other);
  await provider.ostiary.worker.runDue();
  expect(local.received).toEqual([]);
});
