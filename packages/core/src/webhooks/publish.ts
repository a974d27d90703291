import type { Catalogue } from '../events.ts';
import { events as ownTypes } from '../events.ts';
import type { Core } from '../options/context.ts';
import type { HostTransaction, MaybePromise, NewEvent } from '../ports/events.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { Mode } from '../ports/partners.ts';
import { newEvent } from './outgoing.ts';

/** Names of partners. */
export const slugFormat = /^[a-z0-9-]{2,40}$/;

/** An event of the host. */
export interface HostEvent {
  /** The partner's slug. */
  readonly partner: string;
  /** @defaultValue `"live"` */
  readonly mode?: Mode;
  /** A type of the option `events`. */
  readonly type: string;
  readonly data: JsonObject;
}

/** Partner and mode of a publication. */
export interface PublishOptions {
  /**
   * The host's own handle, in a transaction on the database that the storage uses: the event commits and rolls
   * back with it.
   *
   * - PostgreSQL: a client of `pg`, such as `pool.connect()` gives, after its `BEGIN`. Wait for the call before the
   *   `COMMIT`.
   * - SQLite: a better-sqlite3 `Database`. Everything has happened when the call returns, so that it may stand in a
   *   synchronous transaction; what goes wrong is thrown there.
   *
   * `undefined` is a TypeError, like every other value that is no transaction: leave the option out instead.
   */
  readonly transaction?: unknown;
}

/** An event that was published. */
export interface PublishedEvent {
  /** `evt_…` */
  readonly id: string;
  readonly partner: string;
}

/** For hosts with events of their own. */
export interface EventPublishing {
  /**
   * Publishes an event to a partner: it enters the partner's sequence and goes to the endpoints that match.
   * @throws TypeError when the type is unknown or Ostiary's own, the partner does not exist (in a transaction:
   * cannot exist), or the transaction is none
   * @throws EventDataError when `data` does not fit the schema of the type
   */
  publish(event: HostEvent, options?: PublishOptions): Promise<PublishedEvent>;
}

/** Checks whether a value can name a partner. Others are refused before any database sees them. */
function isSlug(value: unknown): boolean {
  return typeof value === 'string' && slugFormat.test(value);
}

/** Goes on at once with a value that is there already, so that a synchronous transaction stays one. */
function whenThere<T, Next>(value: MaybePromise<T>, next: (value: T) => Next): MaybePromise<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Writes events in the host's transaction, or in a new one, and notifies the worker of the latter. */
export function publishIn(
  core: Core,
  transaction: HostTransaction | null,
  events: readonly NewEvent[],
): MaybePromise<readonly PublishedEvent[]> {
  const result = events.map(({ id, partner }) => ({ id, partner }));
  if (events.length === 0) return result;
  if (transaction !== null) return whenThere(transaction.publish(events), () => result);
  return core.storage.events.publish(events, { idempotency: null, now: core.clock.now() }).then(() => {
    core.wake('deliveries');
    return result;
  });
}

/**
 * Refuses a handle that is `undefined` or was given under another name: the event would commit although the host's change is rolled back.
 * @throws TypeError
 */
export function checkPublishOptions(options: PublishOptions): void {
  const unknown = Object.keys(options).find((name) => name !== 'transaction');
  if (unknown !== undefined) throw new TypeError(`${unknown}: is no option; the only one is transaction`);
  if ('transaction' in options && options.transaction === undefined)
    throw new TypeError('transaction: is undefined; leave it out to publish outside of a transaction');
}

/** Returns the host's transaction, or `null` if the host gave none. @throws TypeError */
export function transactionOf(core: Core, { transaction }: PublishOptions): HostTransaction | null {
  return transaction === undefined ? null : core.storage.events.within(transaction);
}

/**
 * Checks whether there are such partners. Not done inside a host's transaction, which cannot wait: the host
 * names partners of its own database there.
 * @throws TypeError
 */
export async function requirePartners(core: Core, slugs: readonly string[]): Promise<void> {
  for (const slug of slugs) {
    if ((await core.storage.partners.find(slug)) === null)
      throw new TypeError(`partner: there is no partner ${slug}`);
  }
}

/** A promise of something that may be there already. What was thrown before stays thrown. */
export function promised<T, Next>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<Next>,
): Promise<Next> {
  return Promise.resolve(whenThere(value, next)).then((result) => result);
}

/**
 * Publishes; see {@link EventPublishing}. Not `async`, because a failure inside a synchronous transaction
 * must be thrown.
 */
export function eventPublishing(core: Core, catalogue: Catalogue): EventPublishing {
  const hostTypes = catalogue.types.filter((type) => !Object.hasOwn(ownTypes, type)).join(', ') || 'none';
  return {
    publish({ partner, mode = 'live', type, data }, options = {}) {
      checkPublishOptions(options);
      if (!isSlug(partner)) throw new TypeError('partner: has to be a slug');
      if (mode !== 'live' && mode !== 'test') throw new TypeError('mode: has to be live or test');
      if (typeof type !== 'string' || !catalogue.has(type))
        throw new TypeError(`type: ${String(type)} is not among the option events; known are ${hostTypes}`);
      if (Object.hasOwn(ownTypes, type)) throw new TypeError(`type: ${type} is published by Ostiary itself`);
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
