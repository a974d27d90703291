import { Receiver } from '../../support/receiver.ts';

/** The partner's endpoint: it remembers which transfers it was told of, and how late. */
export class LoadReceiver extends Receiver {
  /** Transfers that somebody told of. */
  readonly told = new Set<string>();
  /** From the creation of an event to its arrival, in milliseconds. */
  lags: number[] = [];

  constructor(secret: string) {
    super({
      secret,
      answer: ({ event: { createdAt, data } }, response) => {
        this.told.add(String(data.id));
        this.lags.push(Math.max(0, Date.now() - Date.parse(createdAt)));
        response.writeHead(204).end();
      },
    });
  }
}
