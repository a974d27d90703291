import { once } from 'node:events';
import { request, type Server } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { close, listen } from '../../../../lab/support/http.ts';
import { patient } from '../../../../lab/support/patient.ts';
import { memoryDedupe } from '../../src/dedupe/index.ts';
import type { WebhookEvent } from '../../src/index.ts';
import { signWebhook, tamper, type WebhookVerificationError } from '../../src/index.ts';
import type { ReceiverOptions, WebhookHandler } from '../../src/receivers/fetch.ts';
import { event, now, secret, timestamp } from '../support/delivery.ts';

/** A running server with a webhook receiver at `/webhooks`. */
export interface RunningReceiver {
  readonly url: string;
  close(): unknown;
}

/** Starts a real server of a framework. `before` is middleware in front of the receiver. */
export type StartReceiver<Before = never> = (
  options: ReceiverOptions,
  handler: WebhookHandler<WebhookEvent, unknown>,
  before?: Before,
) => Promise<RunningReceiver>;

/**
 * Middleware in front of the receiver, by name. Without `code`, the raw body is kept and deliveries work.
 * With `code`, the raw body is lost, and the error names the line to change.
 */
export type Befores<Before> = Readonly<
  Record<string, readonly [Before] | readonly [Before, code: string, line: string]>
>;

const signing = { secret, id: event.id, type: event.type, timestamp, partner: 'acme' };
const delivery = await signWebhook(JSON.stringify(event), signing);

interface Answered {
  readonly status: number;
  readonly json: { readonly [name: string]: unknown };
}

async function post(url: string, { headers, body } = delivery): Promise<Answered> {
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) });
  return { status: response.status, json: (await response.json()) as Answered['json'] };
}

/** Posts a body of the given length and returns the status. */
function postMany(url: string, bytes: number, chunked: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...delivery.headers, ...(chunked ? {} : { 'Content-Length': `${bytes}` }) };
    const outgoing = request(url, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on('error', reject);
    if (chunked) outgoing.write(Buffer.alloc(bytes / 2, 32));
    outgoing.end(Buffer.alloc(chunked ? bytes / 2 : bytes, 32));
  });
}

/** Helper functions that a test case of a receiver gets. */
interface Kit {
  readonly framework: string;
  readonly start: StartReceiver;
  readonly receive: ReturnType<typeof receiving<never>>;
}

/** Starts webhook receivers that record their calls, and adds them to `running`. */
function receiving<Before>(start: StartReceiver<Before>, running: RunningReceiver[]) {
  return async (
    more: ReceiverOptions = {},
    handler: WebhookHandler<WebhookEvent, unknown> = () => undefined,
    before?: Before,
  ) => {
    const seen = vi.fn(handler);
    const onError = vi.fn<(error: unknown) => void>();
    const onRefused = vi.fn<(error: WebhookVerificationError) => void>();
    const options = { secret, now: () => now, onError, onRefused, ...more };
    const server = await start(options, seen, before);
    running.push(server);
    return { url: server.url, seen, onError, onRefused };
  };
}

const cases: { readonly [name: string]: (kit: Kit) => Promise<void> } = {
  'hands a verified delivery to the handler, with the request, and acknowledges it': async ({ receive }) => {
    const { url, seen, onError, onRefused } = await receive();
    expect(await post(url)).toEqual({ status: 200, json: { received: true } });
    // Headers that the specification requires: all except the attempt.
    const { 'X-SVC-Attempt': _, ...headers } = delivery.headers;
    expect((await post(url, { ...delivery, headers })).status).toBe(200);
    const verified = { id: event.id, type: event.type, event, partner: 'acme' };
    expect(seen.mock.calls).toMatchObject([
      [{ ...verified, attempt: 1 }, expect.anything()],
      [{ ...verified, attempt: null }, expect.anything()],
    ]);
    expect([onError, onRefused].map((each) => each.mock.calls.length)).toEqual([0, 0]);
  },

  'acknowledges when the handler is done, not before': async ({ receive }) => {
    let finish = (): void => undefined;
    const { url, seen } = await receive({}, () => new Promise<void>((resolve) => (finish = resolve)));
    let answered = false;
    const answer = post(url).then((result) => {
      answered = true;
      return result;
    });
    await vi.waitFor(() => expect(seen).toHaveBeenCalled(), patient);
    expect(answered).toBe(false);
    finish();
    expect((await answer).status).toBe(200);
  },

  'refuses every tampered delivery with 400 and its code, and the handler sees none': async ({ receive }) => {
    const { url, seen, onRefused } = await receive();
    const copies = tamper(delivery);
    for (const { name, code, ...copy } of copies) {
      const { status, json } = await post(url, copy);
      expect([name, status, json.error]).toEqual([name, 400, code]);
    }
    expect(seen).not.toHaveBeenCalled();
    expect(onRefused).toHaveBeenCalledTimes(copies.length);
  },

  'answers 500 when the handler throws, so that the delivery comes again, and says nothing of why': async ({
    receive,
  }) => {
    let broken = true;
    const { url, onError } = await receive({}, async () => {
      if (broken)
        throw Object.assign(new Error('password of the database'), { status: 404, statusCode: 404 });
    });
    const failed = await post(url);
    expect(failed.status).toBe(500);
    expect(JSON.stringify(failed.json)).not.toContain('password');
    expect(onError.mock.calls).toMatchObject([[{ message: 'password of the database' }]]);
    broken = false;
    expect((await post(url)).status).toBe(200);
  },

  'refuses a body that is too long with 413, and takes one that is just as long as allowed': async ({
    receive,
  }) => {
    const { url, seen } = await receive({ maxBodyBytes: delivery.body.length });
    for (const chunked of [false, true]) expect(await postMany(url, 10_002, chunked)).toBe(413);
    expect(seen).not.toHaveBeenCalled();
    expect((await post(url)).status).toBe(200);
  },

  'refuses a length that is too long before the body comes': async ({ receive }) => {
    const { url } = await receive({ maxBodyBytes: 10_000 });
    const outgoing = request(url, {
      method: 'POST',
      headers: { ...delivery.headers, 'Content-Length': '10001' },
    });
    outgoing.on('error', () => undefined).flushHeaders();
    const [response] = await once(outgoing, 'response');
    expect(response.statusCode).toBe(413);
    outgoing.destroy();
  },

  'survives a sender that goes away during the body': async ({ receive, framework }) => {
    const { url, seen, onRefused } = await receive();
    const headers = { ...delivery.headers, 'Content-Length': '1000' };
    await new Promise<void>((resolve) => {
      const outgoing = request(url, { method: 'POST', headers });
      outgoing.on('error', () => resolve());
      outgoing.write('{', () => outgoing.destroy(new Error('gone')));
    });
    expect((await post(url)).status).toBe(200);
    expect(seen).toHaveBeenCalledTimes(1);
    // Fastify reads the body itself, and responds itself if that fails.
    if (framework === 'Fastify') return;
    await vi.waitFor(
      () => expect(onRefused.mock.calls).toMatchObject([[{ code: 'body_incomplete' }]]),
      patient,
    );
  },

  'handles an event once, whoever delivers it, and a crashed handler’s event again': async ({ receive }) => {
    let time = now;
    let broken = true;
    const store = memoryDedupe();
    const crash = async () => {
      if (broken) throw new Error('crash');
    };
    const { url, seen } = await receive({ dedupe: store, now: () => time, leaseMs: 1_000 }, crash);
    expect((await post(url)).status).toBe(500);
    broken = false;

    await store.claim({ id: event.id, token: 'a process that dies', now: time, leaseMs: 1_000 });
    expect(await post(url)).toMatchObject({ status: 503, json: { error: 'event_in_progress' } });
    expect(seen).toHaveBeenCalledTimes(1);

    time += 1_000;
    expect(await post(url)).toEqual({ status: 200, json: { received: true, duplicate: false } });
    const retry = await signWebhook(delivery.body, { ...signing, timestamp: timestamp + 60, attempt: 2 });
    time += 60_000;
    expect(await post(url, retry)).toEqual({ status: 200, json: { received: true, duplicate: true } });
    expect(seen).toHaveBeenCalledTimes(2);
  },

  'answers 500 when the dedupe store is down': async ({ receive }) => {
    const down = () => Promise.reject(new Error('store down'));
    const dedupe = { claim: down, complete: down, release: down };
    const { url, seen, onError } = await receive({ dedupe });
    expect((await post(url)).status).toBe(500);
    expect(seen).not.toHaveBeenCalled();
    expect(onError).toHaveBeenCalledTimes(1);
  },

  'does not start with a weak secret or wrong options': async ({ receive, start }) => {
    await expect(receive({ secret: undefined })).rejects.toMatchObject({ code: 'weak_secret' });
    await expect(receive({ tolerance: 0 })).rejects.toThrow(TypeError);
    await expect(receive({ maxBodyBytes: 0 })).rejects.toThrow(TypeError);
    await expect(receive({ leaseMs: Number.NaN })).rejects.toThrow(TypeError);
    await expect(start({ secret }, undefined as never)).rejects.toThrow(TypeError);
  },
};

/** Defines the tests that every webhook receiver must pass, over real HTTP. */
export function receiverContract<Before>(
  framework: string,
  start: StartReceiver<Before>,
  befores: Befores<Before> = {},
): void {
  describe(`a receiver for ${framework}`, () => {
    const running: RunningReceiver[] = [];
    const receive = receiving(start, running);
    afterEach(() => Promise.all(running.splice(0).map((each) => each.close())));

    it.each(Object.entries(cases))('%s', (_name, run) => run({ framework, start, receive }));

    it.each(Object.entries(befores))('behind %s works, or names the line to change', async (_name, habit) => {
      const [before, code, line] = habit;
      const { url, seen, onError } = await receive(
        { maxBodyBytes: delivery.body.length },
        () => undefined,
        before,
      );
      const { status, json } = await post(url);
      expect([status, json.error]).toEqual(code === undefined ? [200, undefined] : [500, code]);
      expect(seen).toHaveBeenCalledTimes(code === undefined ? 1 : 0);
      expect(onError).toHaveBeenCalledTimes(code === undefined ? 0 : 1);
      if (line !== undefined) return expect(json.message).toContain(line);
      const long = await signWebhook(`${JSON.stringify(event)} `, signing);
      expect((await post(url, long)).status).toBe(413);
    });
  });
}

/** Waits until a server is listening. */
export async function listening(server: Server): Promise<RunningReceiver> {
  return { url: `${await listen(server)}/webhooks`, close: () => close(server) };
}
