import type { Core } from '../options/context.ts';
import type { StoredAct } from '../ports/audit.ts';
import type { Owner, PartnerRecord } from '../ports/partners.ts';
import type { EndpointCondition, EndpointFailure, WebhookEndpointRecord } from '../ports/webhooks.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { iso } from '../time/clock.ts';

/**
 * Time after which due work counts as late, in milliseconds. Workers poll at least every second, so late work
 * means that no worker runs or that all are busy.
 */
export const lateMs = 60_000;

/**
 * Length of the period in which events without a delivery and failures of endpoints count as recent, for
 * reports about webhooks that do not arrive, in milliseconds.
 */
export const recentMs = 24 * 3_600_000;

/** Number of newest events among which events without a delivery are searched. */
const searchedEvents = 1_000;

/** Number of latest audit log entries about a partner or endpoint that are searched for the disabling act. */
const searchedActs = 50;

/**
 * Maximum difference between the time of an audit log entry and the time of the change of an endpoint that it
 * belongs to: the entry is recorded first.
 */
const sameChangeMs = 1_000;

/**
 * A reason why webhooks of a partner do not arrive in one mode. Times are ISO 8601. `by` is the actor who
 * disabled something, an administrator or a portal link, as far as the audit log shows; otherwise `null`.
 */
export type WebhookObstacle =
  | { readonly reason: 'partner_disabled'; readonly at: string; readonly by: string | null }
  /**
   * The partner has no webhook endpoint. `events` is the number of events of the last day that were therefore
   * not delivered, counted among the newest 1,000 events.
   */
  | { readonly reason: 'no_endpoint'; readonly events: number }
  /** Deliveries have been due for more than a minute, and no worker claims them. */
  | { readonly reason: 'no_worker'; readonly since: string }
  | {
      readonly reason: 'endpoint_disabled';
      readonly endpointId: string;
      readonly url: string;
      /** Time of the endpoint's last change. */
      readonly at: string;
      readonly by: string | null;
    }
  | {
      readonly reason: 'failing';
      readonly endpointId: string;
      readonly url: string;
      /** Start of the failed delivery attempt with which the endpoint's current failure began. */
      readonly since: string;
      readonly lastAttempt: {
        readonly at: string;
        readonly httpStatus: number | null;
        readonly error: string | null;
      };
      /** Number of deliveries that wait for another attempt, at most 10,000. */
      readonly deliveries: number;
      /** Time from which the next attempt can be made; `null` if none is planned. */
      readonly nextAttemptAt: string | null;
    }
  /**
   * Events of the last day without a delivery, whose types no enabled endpoint subscribes to. They are
   * counted among the newest 1,000 events.
   */
  | { readonly reason: 'no_match'; readonly events: number; readonly types: readonly string[] };

/**
 * Returns the audit log entry of the act that disabled an object: the first one since the object was last
 * enabled; `null` if there is none.
 */
function disablingAct(newestFirst: readonly StoredAct[], kind: 'partner' | 'endpoint'): StoredAct | null {
  const enabled = newestFirst.findIndex(({ action }) => action === `${kind}.enable`);
  const since = enabled === -1 ? newestFirst : newestFirst.slice(0, enabled);
  return since.findLast(({ action }) => action === `${kind}.disable`) ?? null;
}

const actsOn = ({ storage }: Core, target: string): Promise<StoredAct[]> =>
  storage.audit.list({
    ...{ target, actor: null, action: null, from: null },
    ...{ after: null, limit: searchedActs },
  });

async function partnerDisabled(core: Core, { slug, disabledAt }: PartnerRecord): Promise<WebhookObstacle> {
  const act = disablingAct(await actsOn(core, `partner:${slug}`), 'partner');
  return { reason: 'partner_disabled', at: iso(disabledAt ?? 0), by: act?.actor ?? null };
}

async function endpointDisabled(
  core: Core,
  { id, url, updatedAt }: WebhookEndpointRecord,
): Promise<WebhookObstacle> {
  const act = disablingAct(await actsOn(core, `endpoint:${id}`), 'endpoint');
  // A later change was the partner's, who may have enabled and disabled the endpoint again.
  const isLast = act !== null && updatedAt - act.at <= sameChangeMs;
  const by = isLast ? act.actor : null;
  return { reason: 'endpoint_disabled', endpointId: id, url, at: iso(updatedAt), by };
}

/**
 * Checks whether an endpoint's failure still continues: its last attempt is recent, or a delivery waits for
 * another attempt.
 */
const isRecent = ({ lastAttempt }: EndpointFailure, failing: number, now: number): boolean =>
  failing > 0 || lastAttempt.at >= now - recentMs;

function failingOf(
  { id, url }: WebhookEndpointRecord,
  { failure, failing, nextAttemptAt }: EndpointCondition,
  now: number,
): WebhookObstacle[] {
  if (failure === null || !isRecent(failure, failing, now)) return [];
  const { at, httpStatus, error } = failure.lastAttempt;
  return [
    {
      ...{ reason: 'failing', endpointId: id, url, since: iso(failure.since), deliveries: failing },
      lastAttempt: { at: iso(at), httpStatus, error },
      nextAttemptAt: nextAttemptAt === null ? null : iso(nextAttemptAt),
    },
  ];
}

function withoutWorker(conditions: readonly EndpointCondition[], now: number): WebhookObstacle[] {
  const isLate = (at: number | null): at is number => at !== null && now - at > lateMs;
  const late = conditions
    .filter(({ servedAt }) => servedAt === null || isLate(servedAt))
    .map(({ nextAttemptAt }) => nextAttemptAt)
    .filter(isLate);
  return late.length === 0 ? [] : [{ reason: 'no_worker', since: iso(Math.min(...late)) }];
}

/**
 * Finds the reasons why webhooks of a partner do not arrive in one mode, the most important reason first. The
 * result is empty if nothing is known to be wrong.
 */
export async function webhookObstacles(
  core: Core,
  partner: PartnerRecord,
  mode: Owner['mode'],
): Promise<readonly WebhookObstacle[]> {
  if (partner.disabledAt !== null) return [await partnerDisabled(core, partner)];
  const { webhooks, events } = core.storage;
  const owner = { partner: partner.slug, mode };
  const now = core.clock.now();
  const search = { ...owner, since: now - recentMs, limit: searchedEvents };
  const [endpoints, conditions, undelivered] = await Promise.all([
    webhooks.list(owner),
    webhooks.conditions(owner, countedAtMost),
    events.countUndelivered(search),
  ]);
  const sum = (counts: typeof undelivered): number => counts.reduce((total, { count }) => total + count, 0);
  if (endpoints.length === 0) return [{ reason: 'no_endpoint', events: sum(undelivered) }];

  const byId = new Map(conditions.map((condition) => [condition.endpointId, condition]));
  const enabled = endpoints.filter((endpoint) => endpoint.enabled);
  const wanted = new Set(enabled.flatMap((endpoint) => endpoint.events));
  const unmatched = wanted.has('*') ? [] : undelivered.filter(({ type }) => !wanted.has(type));
  const disabled = endpoints.filter((endpoint) => !endpoint.enabled);
  const enabledConditions = enabled.flatMap(({ id }) => byId.get(id) ?? []);
  return [
    ...withoutWorker(enabledConditions, now),
    ...enabled.flatMap((endpoint) => {
      const condition = byId.get(endpoint.id);
      return condition === undefined ? [] : failingOf(endpoint, condition, now);
    }),
    ...(await Promise.all(disabled.map((endpoint) => endpointDisabled(core, endpoint)))),
    ...(enabled.length === 0 || unmatched.length === 0
      ? []
      : [
          {
            ...{ reason: 'no_match' as const, events: sum(unmatched) },
            types: unmatched.map(({ type }) => type),
          },
        ]),
  ];
}
