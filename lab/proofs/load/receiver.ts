import type { RequestListener } from 'node:http';
import { safeVerify } from '@ostiary/webhook-verifier';

/** The partner's endpoint: it verifies, remembers the transfer and answers. */
export interface LoadReceiver {
  readonly handler: RequestListener;
  /** Transfers that somebody told of. */
  readonly told: ReadonlySet<string>;
  readonly lags: readonly number[];
  readonly rejected: number;
  forgetLags(): void;
}

export function createReceiver(secret: string): LoadReceiver {
  const told = new Set<string>();
  let lags: number[] = [];
  let rejected = 0;

  async function take(body: Buffer, headers: Parameters<typeof safeVerify>[1]): Promise<boolean> {
    const result = await safeVerify(body, headers, { secret });
    if (!result.ok) {
      rejected += 1;
      return false;
    }
    const event: { readonly createdAt: string; readonly data: { readonly id: string } } = JSON.parse(
      body.toString(),
    );
    told.add(event.data.id);
    lags.push(Math.max(0, Date.now() - Date.parse(event.createdAt)));
    return true;
  }

  return {
    handler(request, response) {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        take(Buffer.concat(chunks), request.headers).then(
          (taken) => response.writeHead(taken ? 204 : 400).end(),
          () => response.writeHead(500).end(),
        );
      });
    },
    told,
    get lags() {
      return lags;
    },
    get rejected() {
      return rejected;
    },
    forgetLags() {
      lags = [];
    },
  };
}
