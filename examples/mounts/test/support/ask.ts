/** An HTTP response with the body as text. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): Record<string, unknown>;
}

/** Options of a request. The body is a form, JSON (an object, or a text that is sent unchanged), or empty. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly form?: Record<string, string> | undefined;
  readonly body?: object | string | undefined;
}

/** Time limit for a response on a busy machine, in milliseconds. No test waits for it on purpose. */
const patienceMs = 20_000;

/** Sends one request and does not follow redirects. */
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
