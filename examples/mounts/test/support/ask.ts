/** One answer, with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): Record<string, unknown>;
}

/** What is sent: a form, or JSON (an object, or text that is sent as it is), or nothing. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly form?: Record<string, string> | undefined;
  readonly body?: object | string | undefined;
}

/** How long an answer may take on a machine that is busy, in milliseconds. Nothing in these tests waits on purpose. */
const patienceMs = 20_000;

/** One request; nothing is followed. */
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
