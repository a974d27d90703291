import { setTimeout as delay } from 'node:timers/promises';
import type { Administration, ApiRequest, PublishedEvent, WebhookDelivery } from '@ostiary/core/admin';
import type { Owner } from '@ostiary/core/storage';
import {
  type CommandArguments,
  type CommandOutput,
  type Commands,
  CommandUsageError,
  styled,
  toggle,
  value,
  values,
} from './command.ts';
import { deliveryStatuses, modeFlag, ownerOf } from './webhooks.ts';

/** How many deliveries and requests are watched, the newest ones. */
const watched = 500;

const colours = { pending: 'yellow', delivered: 'green', dropped: 'red', cancelled: 'gray' } as const;

type Line = Pick<CommandOutput, 'text' | 'json'>;

/** What is shown and left out. */
interface Filter {
  readonly requests: 'none' | 'all' | 'failed';
  readonly types: readonly string[];
  readonly status: WebhookDelivery['status'] | undefined;
  readonly endpoint: string | undefined;
}

/** @throws CommandUsageError that names the types that there are not */
function filterOf({ webhooks: { eventTypes } }: Administration, args: CommandArguments): Filter {
  const types = args.list('event-types');
  const unknown = types.filter((type) => !eventTypes.includes(type));
  if (unknown.length > 0) {
    const names = unknown.map((type) => JSON.stringify(type)).join(', no ');
    throw new CommandUsageError(`--event-types: there is no ${names}; known are ${eventTypes.join(', ')}`);
  }
  const requests = args.has('failed') ? 'failed' : args.has('requests') ? 'all' : 'none';
  return {
    ...{ requests, types },
    ...{ status: args.oneOf('status', deliveryStatuses), endpoint: args.text('endpoint') },
  };
}

const eventLine = (event: PublishedEvent): Line => ({
  text: `${event.createdAt}  ${styled('cyan', 'event')}     ${event.type}  ${event.id}  #${event.sequence}`,
  json: { kind: 'event', ...event },
});

function deliveryLine(delivery: WebhookDelivery): Line {
  const { id, eventId, eventType, endpointId, status, attempts, createdAt, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const answer = last === undefined ? '' : `  ${last.httpStatus ?? last.error} on try ${last.number}`;
  const next = nextAttemptAt === null || last === undefined ? '' : `, next ${nextAttemptAt}`;
  return {
    text: `${last?.at ?? createdAt}  ${styled(colours[status], 'delivery')}  ${eventType}  ${id}  ${status} ${endpointId} (${eventId})${answer}${next}`,
    json: { kind: 'delivery', ...delivery },
  };
}

const requestLine = (request: ApiRequest): Line => {
  const { createdAt, method, route, status, code, durationMs, id } = request;
  const colour = status < 400 ? 'green' : 'red';
  return {
    text: `${createdAt}  ${styled(colour, 'request')}   ${method} ${route}  ${status}${code === null ? '' : ` ${code}`}  ${durationMs} ms  ${id}`,
    json: { kind: 'request', ...request },
  };
};

/** What is new in the log of requests at each look; at the first one the newest of what is there. */
function requestsAt({ requests }: Administration, owner: Owner, failed: boolean) {
  let seen: ReadonlySet<string> | null = null;
  return async (first: number): Promise<readonly ApiRequest[]> => {
    // The log is written behind the answers, in parallel: a later request may be there before an earlier one.
    const { requests: found } = await requests.list(owner, { failed, limit: watched });
    const before = seen;
    seen = new Set(found.map(({ id }) => id));
    return before === null ? found.slice(0, first) : found.filter(({ id }) => !before.has(id));
  };
}

/** What is new at a partner at each look, oldest first; at the first one the newest of what is there. */
function looksAt(admin: Administration, owner: Owner, { requests, types, status, endpoint }: Filter) {
  const { webhooks } = admin;
  const newRequests = requestsAt(admin, owner, requests === 'failed');
  let sequence: number | null = null;
  let states = new Map<string, string>();
  const isWanted = (type: string) => types.length === 0 || types.includes(type);

  async function newEvents(first: number) {
    const request = sequence === null ? { limit: Math.max(first, 1) } : { after: sequence, limit: watched };
    const isFirst = sequence === null;
    const found = await webhooks.events(owner, request);
    sequence = found.at(-1)?.sequence ?? sequence ?? 0;
    return isFirst && first === 0 ? [] : found.filter(({ type }) => isWanted(type));
  }

  async function newDeliveries(first: number) {
    const narrowed = { ...(endpoint !== undefined && { endpointId: endpoint }), limit: watched };
    const { deliveries } = await webhooks.deliveries(owner, narrowed);
    const before = states;
    const isFirst = sequence === null;
    states = new Map(deliveries.map(({ id, status, attempts }) => [id, `${status} ${attempts.length}`]));
    return deliveries
      .filter(({ id }) => isFirst || states.get(id) !== before.get(id))
      .filter((delivery) => isWanted(delivery.eventType) && (status ?? delivery.status) === delivery.status)
      .slice(0, isFirst ? first : watched);
  }

  return async (first: number): Promise<readonly Line[]> => {
    // Deliveries first: the second look knows by the number of events that there was a first.
    const deliveries = requests === 'failed' ? [] : await newDeliveries(first);
    // Who asks for deliveries of one state or endpoint wants no events.
    const events = requests === 'failed' ? [] : await newEvents(first);
    const isNarrow = status !== undefined || endpoint !== undefined;
    const logged = requests === 'none' ? [] : await newRequests(first);
    return [
      ...logged.map((request) => ({ at: request.createdAt, line: requestLine(request) })),
      ...(isNarrow ? [] : events.map((event) => ({ at: event.createdAt, line: eventLine(event) }))),
      ...deliveries.map((delivery) => ({
        at: delivery.attempts.at(-1)?.at ?? delivery.createdAt,
        line: deliveryLine(delivery),
      })),
    ]
      .toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
      .map(({ line }) => line);
  };
}

/** Shows what happens while it happens. */
export const tailCommands: Commands = {
  tail: {
    about: 'show events, deliveries and requests of a partner as they come, until Ctrl-C',
    example: 'kafe --event-types payment.completed,payment.failed',
    flags: {
      'event-types': values('only of these types'),
      status: value('only deliveries in this state, and no events', { oneOf: deliveryStatuses }),
      endpoint: value('only deliveries to this endpoint, and no events'),
      requests: toggle('requests to the API too'),
      failed: toggle('only requests that failed, and nothing else'),
      last: value('events, deliveries and requests of before', { is: 'whole number', default: '10' }),
      interval: value('seconds between two looks', { is: 'whole number', default: '1' }),
      once: toggle('end after what is there'),
      ...modeFlag,
    },
    positionals: ['partner'],
    async run({ admin, terminal }, args) {
      const filter = filterOf(admin, args);
      const last = Math.min(args.integer('last') ?? 10, watched);
      const pauseMs = (args.integer('interval') ?? 1) * 1000;
      const look = looksAt(admin, await ownerOf(admin, args), filter);
      const done = { text: '', json: undefined };
      for (const line of await look(last)) terminal.write(line);
      if (args.has('once')) return done;
      const { signal } = terminal;
      while (!signal.aborted) {
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) for (const line of await look(last)) terminal.write(line);
      }
      return done;
    },
  },
};
