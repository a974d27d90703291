import { onTestFinished } from 'vitest';
import type { TestBrowser } from '../../core/test/support/browser.ts';

/** A message of an update stream (server-sent event). */
export interface StreamMessage {
  readonly event: string;
  readonly data: string;
}

/** Reads the messages of an update stream one by one. */
export function messagesOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    response,
    /** Returns the next message of the stream; `null` if the stream has ended. */
    async next(): Promise<StreamMessage | null> {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          const of = (field: string) =>
            lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
          return { event: of('event').join(), data: of('data').join('\n') };
        }
        const { done = true, value } = (await reader?.read()) ?? {};
        if (done) return null;
        text += value;
      }
    },
  };
}

/** Opens the update stream of a page as a browser does. It is closed at the end of the test. */
export async function openStream(browser: TestBrowser, path = '/sandbox', headers = {}) {
  const tab = new AbortController();
  onTestFinished(() => tab.abort());
  const response = await fetch(browser.origin + path, {
    headers: { accept: 'text/event-stream', cookie: browser.cookieHeader('/sandbox'), ...headers },
    redirect: 'manual',
    signal: tab.signal,
  });
  return { ...messagesOf(response), close: () => tab.abort() };
}

/** Returns the ids of the page regions in a message. */
export const idsOf = (message: StreamMessage | null): string[] =>
  [...(message?.data ?? '').matchAll(/<[a-z]+ [^>]*id="([^"]+)"[^>]* data-live>/g)].map(([, id = '']) => id);
