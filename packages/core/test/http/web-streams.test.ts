import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { manyPages, settled } from '../payments/books.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';

const site = 'https://api.example';

const exportOf = (key: string, init: RequestInit = {}) =>
  new Request(`${site}/v1/partner/reconciliation?date=2024-01-01&format=ndjson`, {
    ...init,
    headers: { 'x-api-key': key },
  });

// What a stream as body asks for; the types do not know it.
const half = { duplex: 'half' } as RequestInit;
const post = (key: string, body: BodyInit, init: RequestInit = {}) =>
  new Request(`${site}/v1/partner/payments`, {
    method: 'POST',
    body,
    ...half,
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...init.headers },
  });

describe('an export that a Request asks for', () => {
  it('is made no faster than it is read, and ends with its reader', async () => {
    const { provider, key, pages } = await manyPages();
    const response = await provider.ostiary.fetch(exportOf(key));
    const reader = response.body?.getReader();
    await reader?.read();
    const unread = await settled(() => pages.asked);
    expect(unread).toBeLessThan(10);
    for (let chunk = 0; chunk < 50; chunk += 1) await reader?.read();
    const read = await settled(() => pages.asked);
    expect(read).toBeGreaterThan(unread);
    expect(read).toBeLessThan(unread + 60);
    await reader?.cancel();
    expect(await settled(() => pages.asked)).toBeLessThan(read + 20);
    expect(provider.errors).toEqual([]);
  });

  it('ends when the request is aborted, with the reason', async () => {
    const { provider, key, pages } = await manyPages();
    const control = new AbortController();
    const response = await provider.ostiary.fetch(exportOf(key, { signal: control.signal }));
    const reader = response.body?.getReader();
    await reader?.read();
    const reason = new RangeError('enough');
    control.abort(reason);
    const rest = async () => {
      for (;;) if ((await reader?.read())?.done !== false) return 'the end';
    };
    await expect(rest()).rejects.toBe(reason);
    expect(await settled(() => pages.asked)).toBeLessThan(20);
  });

  it('fails to be read when it breaks off', async () => {
    const { provider, key, pages } = await manyPages();
    pages.breakAfter = 3;
    const response = await provider.ostiary.fetch(exportOf(key));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(provider.logged.map(({ message }) => message)).toContain('an answer broke off');
  });
});

const { provider } = await partnerProvider();
const { key } = await provider.key();

describe('the body of a Request', () => {
  it('is taken no further than its limit, and not at all without a key', async () => {
    for (const [by, status] of [
      [key, 413],
      ['svc_live_none', 401],
    ] as const) {
      // Without end.
      const pull = vi.fn((to: ReadableStreamDefaultController) =>
        to.enqueue(new Uint8Array(16_384).fill(0x20)),
      );
      const cancel = vi.fn();
      const { ostiary } = provider;
      expect((await ostiary.fetch(post(by, new ReadableStream({ pull, cancel })))).status).toBe(status);
      await vi.waitFor(() => expect(cancel).toHaveBeenCalled(), patient);
      expect(pull.mock.calls.length).toBeLessThan(120);
    }
  });

  it('may come slowly', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const answer = provider.ostiary.fetch(post(key, readable));
    const writer = writable.getWriter();
    // Byte by byte, also within a character.
    for (const byte of new TextEncoder().encode(JSON.stringify({ ...payment, description: 'Fête du é' }))) {
      await writer.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writer.close();
    expect(await (await answer).json()).toMatchObject({ description: 'Fête du é' });
  });

  it('is not waited for any more when the request is aborted, and executes nothing', async () => {
    const { key } = await provider.key();
    const control = new AbortController();
    const { signal } = control;
    const cancel = vi.fn();
    const start = (to: ReadableStreamDefaultController) => to.enqueue(new TextEncoder().encode('{"amount":'));
    const answer = provider.ostiary.fetch(post(key, new ReadableStream({ start, cancel }), { signal }));
    setImmediate(() => control.abort());
    const isAborted = expect.objectContaining({ name: 'AbortError' });
    await expect(answer).rejects.toThrow(isAborted);
    await vi.waitFor(() => expect(cancel).toHaveBeenCalled(), patient);
    await expect(provider.ostiary.fetch(post(key, '{}', { signal }))).rejects.toThrow(isAborted);
    const list = await provider.partnerCall(key, 'GET /v1/partner/payments');
    expect(list.json()).toMatchObject({ data: [] });
  });

  it('that breaks off makes the call fail with its error', async () => {
    const error = new RangeError('the disk is gone');
    const body = new ReadableStream({ pull: (controller) => controller.error(error) });
    await expect(provider.ostiary.fetch(post(key, body))).rejects.toBe(error);
  });

  it.each([
    ['longer', 2],
    ['shorter', 5_000],
  ])('that is %s than announced reaches nobody as another request', async (_name, length) => {
    const hidden = `GET /v1/partner/whoami HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\nx-forwarded-for: 127.0.0.1\r\n\r\n`;
    const request = post(key, `{}${hidden}`, { headers: { 'content-length': String(length) } });
    await expect(provider.ostiary.fetch(request)).rejects.toThrow('Content-Length');
  });
});

it('many Requests at once are answered each for itself', async () => {
  const { signal } = new AbortController();
  const ask = async (_: unknown, index: number) => {
    const body = JSON.stringify({ ...payment, amount: `${index + 1}.00` });
    return (await provider.ostiary.fetch(post(key, body, { signal }))).json();
  };
  const answers = await Promise.all(Array.from({ length: 200 }, ask));
  expect(answers).toMatchObject(answers.map((_, index) => ({ amount: `${index + 1}.00` })));
});
