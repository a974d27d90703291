import type { Context } from 'koa';
import type { Core } from '../context.ts';
import type { Forms } from '../http/csrf.ts';
import type { Handler } from '../http/route.ts';
import { type EventRow, overviewPage } from '../pages/console/overview.ts';
import type { EventRecord } from '../ports/events.ts';
import type { Owner } from '../ports/owner.ts';
import type { Webhooks } from '../webhooks/create.ts';
import { answerPage, contextOf, noticeOf } from './answer.ts';
import { countStates } from './deliveries.ts';
import type { Guard } from './guard.ts';
import { createHistory } from './history.ts';
import { consoleUrl } from './paths.ts';
import { showSignIn } from './sign-in.ts';

/** The latest deliveries of each event that the list looks at. */
const deliveriesPerEvent = 20;

/** The page of events that an address names; anything that is none is the newest. */
function beforeOf({ query }: Context): number | null {
  const { before } = query;
  return typeof before === 'string' && /^[1-9][0-9]{0,14}$/.test(before) ? Number(before) : null;
}

/** Shows endpoints and events to a signed-in partner, and asks everybody else for a key. */
export function homeHandler(
  core: Core,
  { endpoints, catalogue }: Webhooks,
  guard: Guard,
  forms: Forms,
): Handler {
  const history = createHistory(core.storage.events);
  const pageUrl = (before: number | null) =>
    before === null ? null : consoleUrl(core, 'home', { before: String(before) });

  async function rowOf(owner: Owner, { id, type, createdAt }: EventRecord): Promise<EventRow> {
    const deliveries = await core.storage.deliveries.list({
      ...owner,
      eventId: id,
      endpointId: null,
      status: null,
      after: null,
      limit: deliveriesPerEvent + 1,
    });
    const href = consoleUrl(core, 'event', { id });
    const counts = countStates(deliveries.slice(0, deliveriesPerEvent));
    const hasOlder = deliveries.length > deliveriesPerEvent;
    return { id, type, createdAt: new Date(createdAt), href, counts, hasOlder };
  }

  return guard.page(
    async (ctx, visit) => {
      const { owner } = visit;
      const before = beforeOf(ctx);
      const page = await history.page(owner, before);
      const events: EventRow[] = [];
      // One after the other: what is read of each is much more than what is kept of it.
      for (const event of page.events) events.push(await rowOf(owner, event));
      const registered = await endpoints.list(owner);
      const view = overviewPage({
        ...contextOf(core, ctx, visit, pageUrl(before) ?? consoleUrl(core, 'home')),
        endpoints: registered.map(({ id, url, enabled, events: types }) => ({
          id,
          url,
          enabled,
          types,
          href: consoleUrl(core, 'endpoint', { id }),
        })),
        types: catalogue.types,
        events,
        newerUrl: pageUrl(page.newerThan),
        olderUrl: pageUrl(page.olderThan),
      });
      answerPage(ctx, view);
    },
    (ctx, reason) => {
      const notice = reason === 'ended' ? reason : noticeOf(ctx);
      showSignIn(core, forms, ctx, { notice: notice === 'ended' || notice === 'signed_out' ? notice : null });
    },
  );
}
