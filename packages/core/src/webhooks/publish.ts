import type { Catalogue } from '../events.ts';
import { events as builtInTypes } from '../events.ts';
import type { Core } from '../options/context.ts';
import type { HostTransaction, MaybePromise, NewEvent } from '../ports/events.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { Mode } from '../ports/partners.ts';
import { newEvent } from './outgoing.ts';

/** Format of a partner's slug. */
export const slugFormat = /^[a-z0-9-]{2,40}$/;

/** An event of the host application, to be published to a partner. */
export interface HostEvent {
  /** Slug of the partner that gets the event. */
  readonly partner: string;
  /** Mode (live or test) in which the event is published. @defaultValue `"live"` */
  readonly mode?: Mode;
  /** Event type, defined in the option `events`. */
  readonly type: string;
  readonly data: JsonObject;
}

/** Options of `events.publish` and `users.kycChanged`. */
export interface PublishOptions {
  /**
   * Handle of the host application's open transaction on the database that the storage uses. The event
   * commits and rolls back with that transaction.
   *
   * - PostgreSQL: a client of `pg`, as `pool.connect()` returns, after its `BEGIN`. Await the call before the
   *   `COMMIT`.
   * - SQLite: a better-sqlite3 `Database`. The call is synchronous and throws its errors, so that it may be made in
   *   a synchronous transaction.
   *
   * Any other value throws a TypeError, also `undefined`: leave the option out to publish outside of a transaction.
   */
  readonly transaction?: unknown;
}

/** Id and recipient of an event that was published. */
export interface PublishedEvent {
  /** Id of the event: `evt_…`. */
  readonly id: string;
  readonly partner: string;
}

/** Publishes the host application's own events. */
export interface EventPublishing {
  /**
   * Publishes an event to a partner: adds it to the partner's sequence and delivers it to the matching
   * endpoints.
   * @throws TypeError if the type is unknown or built in, the partner does not exist (in a transaction, only the slug's
   * format is checked), or the transaction is not an open one of the storage's database
   * @throws EventDataError if `data` does not fit the schema of the type
   */
  publish(event: HostEvent, options?: PublishOptions): Promise<PublishedEvent>;
}

/** Checks whether a value has the format of a slug. Other values are refused before a database sees them. */
function isSlug(value: unknown): boolean {
  return typeof value === 'string' && slugFormat.test(value);
}

/**
 * Calls `next` with a value: at once if the value is no promise, so that a synchronous transaction stays
 * synchronous.
 */
function whenThere<T, Next>(value: MaybePromise<T>, next: (value: T) => Next): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Stores events in the host application's transaction. Without one, stores them in a new transaction and then
 * notifies the worker.
 */
export function publishIn(
  core: Core,
  transaction: HostTransaction | null,
  events: readonly NewEvent[],
): MaybePromise<readonly PublishedEvent[]> {
  const result = events.map(({ id, partner }) => ({ id, partner }));
  if (events.length === 0) return result;
  if (transaction !== null) return whenThere(transaction.publish(events), () => result);
  return core.storage.events.publish(events, { idempotency: null, now: core.clock.now() }).then(() => {
    core.notifyWorkers('deliveries');
    return result;
  });
}

/**
 * Refuses options with an unknown name, and a transaction that is `undefined`: the event would commit although
 * the host application's change is rolled back.
 * @throws TypeError that names the wrong option
 */
export function checkPublishOptions(options: PublishOptions): void {
  const unknown = Object.keys(options).find((name) => name !== 'transaction');
  if (unknown !== undefined) throw new TypeError(`${unknown}: is no option; the only one is transaction`);
  if ('transaction' in options && options.transaction === undefined)
    throw new TypeError('transaction: is undefined; leave it out to publish outside of a transaction');
}

/**
 * Returns the event store inside the host application's transaction, or `null` if the host gave none. @throws
 * TypeError if the value is no open transaction of the storage's database
 */
export function transactionOf(core: Core, { transaction }: PublishOptions): HostTransaction | null {
  return transaction === undefined ? null : core.storage.events.within(transaction);
}

/**
 * Checks that partners exist. Not called inside a host's transaction, which cannot wait: there the host names
 * partners of its own database.
 * @throws TypeError if a partner does not exist
 */
export async function requirePartners(core: Core, slugs: readonly string[]): Promise<void> {
  for (const slug of slugs) {
    if ((await core.storage.partners.find(slug)) === null)
      throw new TypeError(`partner: there is no partner ${slug}`);
  }
}

/**
 * Returns a promise for a value that may be available already. An error that is thrown synchronously is
 * thrown, not turned into a rejection.
 */
export function promised<T, Next>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<Next>,
): Promise<Next> {
  return Promise.resolve(whenThere(value, next)).then((result) => result);
}

/**
 * Creates the functions of {@link EventPublishing}. Not `async`, because a failure inside a synchronous
 * transaction must be thrown.
 */
export function eventPublishing(core: Core, catalogue: Catalogue): EventPublishing {
  const hostTypes = catalogue.types.filter((type) => !Object.hasOwn(builtInTypes, type)).join(', ') || 'none';
  return {
    publish({ partner, mode = 'live', type, data }, options = {}) {
      checkPublishOptions(options);
      if (!isSlug(partner)) throw new TypeError('partner: has to be a slug');
      if (mode !== 'live' && mode !== 'test') throw new TypeError('mode: has to be live or test');
      if (typeof type !== 'string' || !catalogue.has(type))
        throw new TypeError(`type: ${String(type)} is not among the option events; known are ${hostTypes}`);
      if (Object.hasOwn(builtInTypes, type))
        throw new TypeError(`type: ${type} is published by Ostiary itself`);
      const event = newEvent(core, {
        partner,
        mode,
        type,
        data: catalogue.check(type, data),
        createdAt: core.clock.now(),
      });
      const transaction = transactionOf(core, options);
      const publish = () => publishIn(core, transaction, [event]);
      const first = (all: readonly PublishedEvent[]) => all[0] ?? { id: event.id, partner };
      if (transaction !== null) return promised(publish(), first);
      return requirePartners(core, [partner]).then(async () => first(await publish()));
    },
  };
}
