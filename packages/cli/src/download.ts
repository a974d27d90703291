import { type IncomingMessage, request } from 'node:http';
import { dialTarget, TargetError, type TargetPolicy } from '@ostiary/core/internal';
import { CommandUsageError } from './command.ts';

interface DownloadOptions {
  /** Maximum size of the downloaded file, in bytes. */
  readonly maxBytes: number;
  /** Decides to which IP addresses connections are made. @defaultValue public addresses only */
  readonly policy?: TargetPolicy;
  /** Time limit for the whole download, in milliseconds. @defaultValue 10,000 */
  readonly timeoutMs?: number;
}

/**
 * Downloads a small file from a public https URL. Follows no redirect.
 * @throws CommandUsageError if the URL is not allowed, does not return the file in time, or the file is too
 * large
 */
export async function download(
  text: string,
  { maxBytes, policy = { allowPrivate: false }, timeoutMs = 10_000 }: DownloadOptions,
): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const socket = await dialTarget(text, policy, signal);
    const url = new URL(text);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { host: url.host, accept: 'image/png', 'accept-encoding': 'identity' };
      const path = `${url.pathname}${url.search}`;
      const asked = request({ createConnection: () => socket, path, headers, signal });
      asked.once('response', resolve).once('error', reject).end();
    });
    if (response.statusCode !== 200) {
      socket.destroy();
      throw new CommandUsageError(`${text} answered ${response.statusCode}; redirects are not followed`);
    }
    return await bodyOf(response, text, maxBytes);
  } catch (error) {
    if (error instanceof CommandUsageError) throw error;
    if (error instanceof TargetError) throw new CommandUsageError(`${text}: ${error.message}`);
    const reason = signal.aborted ? `no response within ${timeoutMs / 1000} s` : String(error);
    throw new CommandUsageError(`${text} cannot be downloaded: ${reason}`);
  }
}

async function bodyOf(response: IncomingMessage, text: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop destroys the response and closes its connection.
  for await (const chunk of response) {
    size += chunk.length;
    if (size > maxBytes) throw new CommandUsageError(`${text} is larger than ${maxBytes / 1024} KiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
