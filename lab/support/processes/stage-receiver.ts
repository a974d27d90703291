import { type Delivered, Receiver } from '../receiver.ts';
import { secret } from './cluster-options.ts';

/** What came of one event at one endpoint. */
export interface Arrived {
  /** The numbers of the attempts, in the order of their arrival. */
  readonly attempts: number[];
  /** How many were answered with 2xx. */
  accepted: number;
}

/** An endpoint for every path, that remembers everything that arrives. */
export class StageReceiver extends Receiver {
  /** By path and id of the event. */
  readonly arrivals = new Map<string, Arrived>();
  /** Descriptions of transfers, and messages of test events, that were accepted. */
  readonly seen = new Set<unknown>();

  /** @param refusedFirst - of so many events one is refused at its first attempt; 0 for none */
  constructor(refusedFirst = 0) {
    super({
      secret,
      ignoresAge: true,
      answer: (delivered, response) =>
        response.writeHead(this.#accepts(delivered, refusedFirst) ? 204 : 503).end(),
    });
  }

  /** What came of an event at an endpoint. */
  of(path: string, eventId: string): Arrived | undefined {
    return this.arrivals.get(`${path} ${eventId}`);
  }

  #accepts({ path, id, attempt, event: { data } }: Delivered, refusedFirst: number): boolean {
    const key = `${path} ${id}`;
    const arrived = this.arrivals.get(key) ?? { attempts: [], accepted: 0 };
    this.arrivals.set(key, arrived);
    arrived.attempts.push(attempt);
    if (refusedFirst > 0 && arrived.attempts.length === 1 && lotOf(key) % refusedFirst === 0) return false;
    arrived.accepted += 1;
    this.seen.add(data.description ?? data.message);
    return true;
  }
}

/** A small number that depends on nothing but the text. */
function lotOf(text: string): number {
  let lot = 7;
  for (const character of text) lot = (lot * 31 + character.charCodeAt(0)) % 65_521;
  return lot;
}
