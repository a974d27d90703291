import { Receiver } from '../../support/receiver.ts';

/** An endpoint of a partner's, that knows of which transfers somebody told it that they are completed. */
export class TransferReceiver extends Receiver {
  readonly completed = new Set<string>();

  constructor() {
    super({
      answer: ({ event: { type, data } }, response) => {
        if (type === 'payment.completed') this.completed.add(String(data.id));
        response.writeHead(204).end();
      },
    });
  }
}
