import { weaknessOf } from '@ostiary/webhook-verifier';
import { type Act, withBefore } from '../audit/acts.ts';
import { PartnerError } from '../errors.ts';
import {
  claimOf,
  earlierAnswer,
  type RepeatableAnswer,
  type RepeatableRequest,
} from '../idempotency/repeatable-request.ts';
import { keptSecret, webhookSecretContext } from '../keys/webhook-secrets.ts';
import type { Core } from '../options/context.ts';
import type { AuditRecord } from '../ports/audit.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import type { Mode, Owner } from '../ports/partners.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { checkInboxUrl, isInboxUrl, listenUrl } from './inbox-url.ts';
import type { Listeners } from './listeners.ts';
import { TargetError } from './targets.ts';
import { endpointView } from './views.ts';

/** Maximum number of endpoints of one partner and mode. Further registrations are refused. */
const maxEndpoints = 50;

/** Settings of a webhook endpoint that its partner chooses. */
export interface EndpointSettings {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
  readonly enabled: boolean;
}

/**
 * A webhook endpoint to register, with the function that makes the audit log entry; `null` for a change that
 * is not in the audit log.
 */
interface Registration {
  readonly settings: Omit<EndpointSettings, 'enabled'>;
  readonly act: Act | null;
}

export const unknownEndpoint = () =>
  new PartnerError('not_found', { description: 'There is no such webhook endpoint.' });

export const disabledEndpoint = () =>
  new PartnerError('invalid_request', { description: 'The webhook endpoint is disabled; enable it first.' });

/** Returns an endpoint of a partner and mode. @throws PartnerError `not_found` if there is none with this id */
export async function findEndpoint(
  { storage }: Pick<Core, 'storage'>,
  owner: Owner,
  id: string,
): Promise<WebhookEndpointRecord> {
  const endpoint = await storage.webhooks.find(owner, id);
  if (endpoint === null) throw unknownEndpoint();
  return endpoint;
}

/** Refuses a webhook secret that the verification libraries of receivers would refuse as too weak. */
function refuseWeak(secret: string): void {
  const message = weaknessOf(secret);
  if (message !== null) throw new PartnerError('invalid_request', { details: [{ path: 'secret', message }] });
}

function refuseTarget(error: unknown): never {
  if (!(error instanceof TargetError)) throw error;
  throw new PartnerError('invalid_request', { details: [{ path: 'url', message: error.message }] });
}

/**
 * Applies a change to the latest stored version of an endpoint. Tries again if a concurrent change came
 * first; this ends, because each time one change takes effect. Returns `null` if there is no such endpoint.
 */
export async function changeEndpoint(
  { storage, sealer }: Core,
  { partner, mode, id }: Owner & { readonly id: string },
  changes: Partial<WebhookEndpointRecord>,
  now: number,
  audit?: AuditRecord,
): Promise<WebhookEndpointRecord | null> {
  for (;;) {
    const current = await storage.webhooks.find({ partner, mode }, id);
    if (current === null) return null;
    const sealedSecret = keptSecret(sealer, current);
    const next = { ...current, sealedSecret, ...changes, updatedAt: now, version: current.version + 1 };
    if (await storage.webhooks.replace(next, now, audit)) return next;
  }
}

/**
 * Makes the audit log entry of changed endpoint settings, under the name of the change. The entry never
 * contains the endpoint's secret.
 */
function changeRecord(
  act: Act,
  endpoint: WebhookEndpointRecord,
  { url, events, enabled, sealedSecret }: Partial<WebhookEndpointRecord>,
): AuditRecord {
  const { id, partner, mode } = endpoint;
  const target = `endpoint:${id}`;
  const settings = { ...(url !== undefined && { url }), ...(events !== undefined && { events }) };
  if (Object.keys(settings).length > 0)
    return act(
      'endpoint.update',
      target,
      withBefore({ partner, mode, ...settings, ...(enabled !== undefined && { enabled }) }, endpoint),
    );
  if (sealedSecret !== undefined) return act('endpoint.rotate_secret', target, { partner, mode });
  return act(enabled === false ? 'endpoint.disable' : 'endpoint.enable', target, { partner, mode });
}

/** Creates the operations on partners' endpoints. `checkTarget` returns the URL in canonical spelling. */
export function createEndpoints(
  core: Core,
  checkTarget: (url: string) => Promise<URL>,
  listeners: Listeners,
) {
  const { storage, sealer, random } = core;

  /**
   * Checks the URL of an endpoint and returns it in canonical spelling. @throws PartnerError
   * `invalid_request` if it is refused
   */
  async function targetOf(url: string, mode: Mode): Promise<string> {
    try {
      if (!isInboxUrl(url)) return (await checkTarget(url)).href;
      checkInboxUrl(url, mode);
      return url;
    } catch (error) {
      return refuseTarget(error);
    }
  }

  function sealedSecret(id: string, secret: string): string {
    refuseWeak(secret);
    return sealer.seal(secret, webhookSecretContext(id));
  }

  return {
    list: (owner: Owner) => storage.webhooks.list(owner),
    find: (owner: Owner, id: string) => findEndpoint(core, owner, id),

    /**
     * Registers an endpoint. @throws PartnerError `invalid_request` if the URL is refused, the secret is weak,
     * or there are {@link maxEndpoints} already; `idempotency_conflict` if the `Idempotency-Key` was used with
     * another payload
     */
    async create(request: RepeatableRequest & Registration): Promise<RepeatableAnswer> {
      const { partner, mode, now, settings, act } = request;
      const id = `we_${random.bytes(16).toString('hex')}`;
      const endpoint: WebhookEndpointRecord = {
        id,
        partner,
        mode,
        url: await targetOf(settings.url, mode),
        events: settings.events,
        enabled: true,
        sealedSecret: sealedSecret(id, settings.secret),
        createdAt: now,
        updatedAt: now,
        version: 1,
      };
      if (endpoint.url === listenUrl) await listeners.removeAbandoned({ partner, mode });
      const answer: StoredAnswer = { status: 201, body: JSON.stringify(endpointView(endpoint)) };
      const claim = claimOf(request);
      const { url, events } = endpoint;
      const creation = await storage.webhooks.create({
        endpoint,
        idempotency: claim && { ...claim, answer },
        max: maxEndpoints,
        now,
        ...(act && { audit: act('endpoint.create', `endpoint:${id}`, { partner, mode, url, events }) }),
      });
      switch (creation.outcome) {
        case 'created':
          return { ...answer, replayed: false };
        case 'too_many':
          throw new PartnerError('invalid_request', {
            description: `There are ${maxEndpoints} webhook endpoints already; remove one first.`,
          });
        default:
          return earlierAnswer(core, request, creation);
      }
    },

    /**
     * Changes settings of an endpoint. @throws PartnerError `not_found` for an unknown endpoint,
     * `invalid_request` for a refused URL or a weak secret
     */
    async change(
      owner: Owner,
      id: string,
      changes: { readonly [Setting in keyof EndpointSettings]?: EndpointSettings[Setting] | undefined },
      now: number,
      act: Act | null,
    ): Promise<WebhookEndpointRecord> {
      const { url, events, secret, enabled } = changes;
      // Check first, so that no host name is resolved for an endpoint that does not exist.
      const found = await findEndpoint(core, owner, id);
      const given = {
        ...(url !== undefined && { url: await targetOf(url, owner.mode) }),
        ...(events !== undefined && { events }),
        ...(enabled !== undefined && { enabled }),
        ...(secret !== undefined && { sealedSecret: sealedSecret(id, secret) }),
      };
      const audit = act === null ? undefined : changeRecord(act, found, given);
      const changed = await changeEndpoint(core, { ...owner, id }, given, now, audit);
      if (changed === null) throw unknownEndpoint();
      return changed;
    },

    /** Removes an endpoint. @throws PartnerError `not_found` if there is none with this id */
    async remove(owner: Owner, id: string, now: number, act: Act | null): Promise<void> {
      const { partner, mode } = owner;
      const audit = act?.('endpoint.remove', `endpoint:${id}`, { partner, mode });
      if (await storage.webhooks.remove(owner, id, now, audit)) return;
      throw unknownEndpoint();
    },
  };
}
