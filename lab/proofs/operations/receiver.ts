import { createServer, type IncomingMessage } from 'node:http';
import { safeVerify } from '@ostiary/webhook-verifier';

/** An endpoint of a partner's, that verifies what arrives. */
export interface Receiver {
  readonly url: string;
  /** With which deliveries are signed; known once the endpoint is registered. */
  secret: string;
  /** Transfers of which somebody told it that they are completed. */
  readonly completed: ReadonlySet<string>;
  /** Why requests were no deliveries. */
  readonly rejected: readonly string[];
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function openReceiver(): Promise<Receiver> {
  const completed = new Set<string>();
  const rejected: string[] = [];
  const server = createServer(async (request, response) => {
    try {
      const body = await bodyOf(request);
      const result = await safeVerify(body, request.headers, { secret: receiver.secret });
      if (!result.ok) {
        rejected.push(result.error.code);
        response.writeHead(400).end();
        return;
      }
      const event: { readonly type: string; readonly data: { readonly id: string } } = JSON.parse(
        body.toString(),
      );
      if (event.type === 'payment.completed') completed.add(event.data.id);
      response.writeHead(204).end();
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const receiver: Receiver = {
    url: `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}/`,
    secret: '',
    completed,
    rejected,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
