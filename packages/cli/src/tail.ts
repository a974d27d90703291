import { setTimeout as delay } from 'node:timers/promises';
import type { Administration, ApiRequest, PublishedEvent, WebhookDelivery } from '@ostiary/core/admin';
import type { Owner } from '@ostiary/core/storage';
import { checkKnown } from './arguments.ts';
import { styled } from './colour.ts';
import {
  type CommandArguments,
  type CommandOutput,
  type Commands,
  present,
  toggle,
  value,
  values,
} from './command.ts';
import { deliveryStates, modeFlag, ownerOf, stateOf } from './webhooks.ts';

/** Maximum number of events, deliveries and requests that each poll reads, also if `--last` is larger. */
const watched = 500;

const colours = {
  pending: 'blue',
  failing: 'yellow',
  delivered: 'green',
  dropped: 'red',
  cancelled: 'gray',
} as const;

/** A line of output, and the time by which lines are ordered. */
interface Line extends Pick<CommandOutput, 'text' | 'json'> {
  readonly at: string;
}

/** Selects the lines that `ostiary tail` shows. */
interface Filter {
  readonly requests: 'none' | 'all' | 'failed';
  readonly types: readonly string[];
  readonly status: WebhookDelivery['state'] | undefined;
  readonly endpoint: string | undefined;
}

/** Reads the filter from the flags. @throws CommandUsageError that names unknown event types */
function filterOf({ webhooks: { eventTypes } }: Administration, args: CommandArguments): Filter {
  const types = args.list('event-types');
  checkKnown('event-types', types, eventTypes);
  const requests = args.has('failed') ? 'failed' : args.has('requests') ? 'all' : 'none';
  return {
    ...{ requests, types },
    ...{ status: args.oneOf('status', deliveryStates), endpoint: args.text('endpoint') },
  };
}

const eventLine = (event: PublishedEvent): Line => ({
  at: event.createdAt,
  text: `${event.createdAt}  ${styled('cyan', 'event')}     ${event.type}  ${event.id}  #${event.sequence}`,
  json: { kind: 'event', ...event },
});

function deliveryLine(delivery: WebhookDelivery, maxAttempts: number): Line {
  const { id, eventId, eventType, endpointId, state, attempts, createdAt, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const answer = last === undefined ? '' : `  ${last.httpStatus ?? last.error} on try ${last.number}`;
  const next = nextAttemptAt === null || last === undefined ? '' : `, next ${nextAttemptAt}`;
  const at = last?.at ?? createdAt;
  return {
    at,
    text: `${at}  ${styled(colours[state], 'delivery')}  ${eventType}  ${id}  ${stateOf(delivery, maxAttempts)} ${endpointId} (${eventId})${answer}${next}`,
    json: { kind: 'delivery', ...delivery },
  };
}

const requestLine = (request: ApiRequest): Line => {
  const { createdAt, method, route, status, code, durationMs, id } = request;
  const colour = status < 400 ? 'green' : 'red';
  return {
    at: createdAt,
    text: `${createdAt}  ${styled(colour, 'request')}   ${method} ${route}  ${status}${code === null ? '' : ` ${code}`}  ${durationMs} ms  ${id}`,
    json: { kind: 'request', ...request },
  };
};

/** Number of rows whose state is remembered, so that none is shown again that was not among the newest for a while. */
const remembered = 10_000;

/**
 * Makes a function that returns the rows that are new, or whose state has changed since the previous call.
 * The first call returns the newest rows, `first` at most.
 */
function changes<Item extends { readonly id: string }>(stateOf: (item: Item) => string) {
  let before: ReadonlyMap<string, string> | null = null;
  return (newestFirst: readonly Item[], first: number): readonly Item[] => {
    const known = before;
    const states = newestFirst.map((item) => [item.id, stateOf(item)] as const);
    before = new Map([...(known ?? []), ...states].slice(-remembered));
    return known === null
      ? newestFirst.slice(0, first)
      : newestFirst.filter((item) => known.get(item.id) !== stateOf(item));
  };
}

/**
 * Makes a function that polls for new rows of a partner and returns them oldest first. The first poll returns
 * some of the newest rows of each kind.
 */
function createPoll(admin: Administration, owner: Owner, { requests, types, status, endpoint }: Filter) {
  let sequence: number | null = null;
  const changedDeliveries = changes<WebhookDelivery>(({ state, attempts }) => `${state} ${attempts.length}`);
  // Requests are logged after their responses, in parallel: a later request may appear before an earlier one.
  const newRequests = changes<ApiRequest>(() => '');
  const isWanted = (type: string) => types.length === 0 || types.includes(type);

  async function eventsAt(first: number): Promise<readonly PublishedEvent[]> {
    const isFirst = sequence === null;
    const request = sequence === null ? { limit: Math.max(first, 1) } : { after: sequence, limit: watched };
    const found = await admin.webhooks.events(owner, request);
    sequence = found.at(-1)?.sequence ?? sequence ?? 0;
    return isFirst && first === 0 ? [] : found.filter(({ type }) => isWanted(type));
  }

  async function deliveriesAt(first: number): Promise<readonly WebhookDelivery[]> {
    // The storage selects the state: a delivery fails or is dropped long after it was among the newest.
    const request = { limit: watched, ...present({ endpointId: endpoint, status }) };
    const { deliveries } = await admin.webhooks.deliveries(owner, request);
    return changedDeliveries(
      deliveries.filter(({ eventType }) => isWanted(eventType)),
      first,
    );
  }

  async function requestsAt(first: number): Promise<readonly ApiRequest[]> {
    const request = { failed: requests === 'failed', limit: watched };
    return newRequests((await admin.requests.list(owner, request)).requests, first);
  }

  const hasWebhooks = requests !== 'failed';
  // Deliveries filtered by state or endpoint are shown without events.
  const hasEvents = hasWebhooks && status === undefined && endpoint === undefined;
  return async (first: number): Promise<readonly Line[]> => {
    const lines = [
      ...(requests === 'none' ? [] : await requestsAt(first)).map(requestLine),
      ...(hasEvents ? await eventsAt(first) : []).map(eventLine),
      ...(hasWebhooks ? await deliveriesAt(first) : []).map((delivery) =>
        deliveryLine(delivery, admin.webhooks.maxAttempts),
      ),
    ];
    return lines.toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  };
}

/** Commands that show requests, events and deliveries as they happen. */
export const tailCommands: Commands = {
  tail: {
    about: 'show events, deliveries and requests of a partner as they come, until Ctrl-C',
    example: 'kafe --event-types payment.completed,payment.failed',
    flags: {
      'event-types': values('only of these types'),
      status: value('only deliveries in this state, and no events', { oneOf: deliveryStates }),
      endpoint: value('only deliveries to this endpoint, and no events'),
      requests: toggle('requests to the API too'),
      failed: toggle('only requests that failed, and nothing else'),
      last: value('events, deliveries and requests of before', { is: 'whole number', default: '10' }),
      interval: value('seconds between two polls', { is: 'whole number', default: '1' }),
      once: toggle('end after what is there'),
      ...modeFlag,
    },
    positionals: ['partner'],
    async run({ admin, terminal }, args) {
      const filter = filterOf(admin, args);
      const last = Math.min(args.integer('last') ?? 10, watched);
      const pauseMs = (args.integer('interval') ?? 1) * 1000;
      const poll = createPoll(admin, await ownerOf(admin, args), filter);
      const done = { text: '', json: undefined };
      for (const line of await poll(last)) terminal.write(line);
      if (args.has('once')) return done;
      const { signal } = terminal;
      while (!signal.aborted) {
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) for (const line of await poll(last)) terminal.write(line);
      }
      return done;
    },
  },
};
