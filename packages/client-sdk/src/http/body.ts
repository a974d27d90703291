/** No answer of this API is longer, in bytes. */
const most = 64 * 1024 * 1024;

const decoder = new TextDecoder();

/** Thrown for an answer with a good status that cannot be read. */
export class Unreadable extends Error {
  readonly code: string;

  constructor(message = 'No answer of this API', code = 'unexpected_answer') {
    super(message);
    this.code = code;
  }
}

/**
 * Reads a body as text, at most 64 MiB of it.
 * @throws Unreadable
 */
export async function textOf(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    // Nearly every answer is one part. A new decoder for each would double the time of a call.
    if (done) return parts.length > 1 ? new Blob(parts).text() : decoder.decode(parts[0]);
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new Unreadable('The answer is too long');
    }
    parts.push(value);
  }
}

/** The object that a text is the JSON of, or `null`. */
export function objectOf(text: string): { readonly [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
