/** A response with its body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): Record<string, unknown>;
}

/** Body: a form, or JSON (an object, or text that is sent unchanged), or nothing. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly form?: Record<string, string> | undefined;
  readonly body?: object | string | undefined;
}

/** Time for a response on a busy machine, in milliseconds. These tests never wait on purpose. */
const patienceMs = 20_000;

/** Sends one request, and follows no redirect. */
export async function ask(url: string | URL, { method, headers, form, body }: Sent = {}): Promise<Answer> {
  const json = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method: method ?? 'GET',
    headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: form === undefined ? (json ?? null) : new URLSearchParams(form),
    redirect: 'manual',
    signal: AbortSignal.timeout(patienceMs),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}
