import { type Act, actsOf } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { Resealed } from '../ports/host-secrets.ts';
import type { OperatorRight } from '../ports/operators.ts';
import type { NewJob } from '../ports/queue.ts';
import type { Purged } from '../ports/storage.ts';
import { requireUserId } from '../scopes/user-ids.ts';
import { isUnstorable } from '../text/storable.ts';
import { purgeNow } from '../worker/purge.ts';
import { type ApiKeyAdministration, apiKeyAdministration } from './api-keys.ts';
import { type AuditAdministration, auditAdministration } from './audit.ts';
import type { CheckTarget } from './client-checks.ts';
import { type ClientAdministration, clientAdministration } from './clients.ts';
import { type ConsentAdministration, consentAdministration } from './consents.ts';
import { type CountsReport, type CountsRequest, countsReport } from './counts.ts';
import { type Health, healthOf } from './health.ts';
import { type PartnerAdministration, partnerAdministration } from './partners.ts';
import { type PortalAdministration, portalAdministration } from './portal.ts';
import { type ReconciliationAdministration, reconciliationAdministration } from './reconciliation.ts';
import { type RequestAdministration, requestAdministration } from './requests.ts';
import { resealNow } from './reseal.ts';
import { operatorRights, requireRight, rightFor } from './rights.ts';
import { createSearch, type SearchResult } from './search.ts';
import { type SigningKeyAdministration, signingKeyAdministration } from './signing-keys.ts';
import { type TransferAdministration, transferAdministration } from './transfers.ts';
import { type WebhookAdministration, webhookAdministration } from './webhooks.ts';

/**
 * Administrative calls of an installation (`ostiary.admin`). Over HTTP they are reachable only through the
 * pages of the option `operators`. Every change is recorded in the audit log.
 */
export interface Administration<Name extends string = string> {
  readonly clients: ClientAdministration<Name>;
  readonly partners: PartnerAdministration;
  readonly apiKeys: ApiKeyAdministration;
  readonly portal: PortalAdministration;
  readonly signingKeys: SigningKeyAdministration;
  readonly webhooks: WebhookAdministration;
  readonly requests: RequestAdministration;
  readonly transfers: TransferAdministration;
  readonly audit: AuditAdministration;
  readonly consents: ConsentAdministration<Name>;
  readonly users: {
    /**
     * Revokes every consent, code and token of a user who was blocked or deleted. Takes effect with the next
     * request, in every process. Notifies apps with a `backchannelLogoutUri` that all sessions of the user
     * ended.
     */
    end(sub: string): Promise<void>;
  };
  readonly reconciliation: ReconciliationAdministration;
  /**
   * Finds objects of all partners, at most 6 of each kind: a partner or a client by the beginning of its id
   * or of a word of its name, an API key by its id or its beginning, and an endpoint, event, delivery,
   * request or transfer by its id.
   */
  search(text: string): Promise<SearchResult>;
  /**
   * Returns the state of the service: waiting work, failures, and the number of stored secrets that are
   * encrypted with another key than the first sealing key. Changes nothing.
   */
  health(): Promise<Health>;
  /**
   * Returns what the service did in the last hours or days: sign-ins, webhook attempts, requests to the
   * partner API, and the longest time that work waited. Covers all processes, except for the last seconds of
   * other processes. Counts are kept for 90 days.
   * @throws TypeError if an argument is invalid
   * @example
   * ```ts
   * const { total, periods } = await ostiary.admin.counts({ by: 'day', last: 7 });
   * ```
   */
  counts(request?: CountsRequest): Promise<CountsReport>;
  /**
   * Removes database rows that are no longer needed. The worker does this every ten minutes by itself.
   * Returns the number of removed rows of each kind.
   * @param options - `onProgress` is called after each batch with the number of rows removed so far
   */
  purge(options?: { readonly onProgress?: (removed: number) => void }): Promise<Purged>;
  /**
   * Encrypts the stored secrets of API keys and webhook endpoints with the first sealing key, and those of
   * the option `hostSecrets`. Signing keys are encrypted with it at every start. The worker does this by
   * itself as long as a previous sealing key is configured. Returns the numbers of secrets by result.
   * @param options - `onProgress` is called after each batch with the number of Ostiary's own secrets checked so far,
   * and their total
   */
  reseal(options?: { readonly onProgress?: (done: number, of: number) => void }): Promise<Resealed>;
  /**
   * Returns the administrative calls for another actor in the audit log: a name of 1 to 200 characters, and a
   * role of at most 40. With `may`, the actor has at most these rights: any other change throws an error with
   * status 403, and changes nothing. Reading transfers and their files also needs the right `payments`, and reading
   * the consents of a user the right `users`. A later call of `as` on the result cannot add rights.
   * @throws TypeError if the name or role is empty, too long, or holds U+0000 or half of a surrogate pair, or a
   * right does not exist
   * @example
   * ```ts
   * await ostiary.admin.as('ana@example.com').clients.disable('kafe');
   * const support = ostiary.admin.as('bob@example.com', { role: 'support', may: operatorRoles.support });
   * ```
   */
  as(
    actor: string,
    options?: { readonly role?: string; readonly may?: readonly OperatorRight[] },
  ): Administration<Name>;
}

/** Person or program in whose name administrative acts are recorded. */
interface Actor {
  readonly name: string;
  readonly role: string | null;
  readonly may: readonly OperatorRight[];
}

/** Parses the arguments of `admin.as`. @throws TypeError if one is invalid */
function actorOf(
  name: string,
  { role, may = operatorRights }: { readonly role?: string; readonly may?: readonly OperatorRight[] },
  before: Actor,
): Actor {
  if (typeof name !== 'string' || name.trim() === '' || name.length > 200)
    throw new TypeError('admin.as: the name has to have 1 to 200 characters');
  if (role !== undefined && (typeof role !== 'string' || role.trim() === '' || role.length > 40))
    throw new TypeError('admin.as: the role has to have 1 to 40 characters');
  // The audit log could not be verified any more: its digests cover the text as it was given.
  if (isUnstorable(name) || isUnstorable(role ?? ''))
    throw new TypeError('admin.as: the name and the role must not hold U+0000 or half of a surrogate pair');
  if (!Array.isArray(may) || may.some((right) => !operatorRights.includes(right)))
    throw new TypeError(`admin.as: may has to be a list of ${operatorRights.join(', ')}`);
  return { name, role: role ?? null, may: before.may.filter((right) => may.includes(right)) };
}

export function administration(
  core: Core,
  consequences: {
    readonly forgetKeys: () => void;
    readonly checkTarget: CheckTarget;
    /** Returns the jobs that notify a user's apps that all sessions of the user ended. Never rejects. */
    readonly noticesOf: (sub: string) => Promise<readonly NewJob[]>;
  },
  actor: Actor = { name: 'host', role: null, may: operatorRights },
): Administration {
  const recorded = actsOf(core, actor.name, actor.role);
  // Every change stores its act together with what it changes, so no change can go round this check. `purge` and
  // `reseal`, which store their act at the end, check the right at the start.
  const act: Act = (action, ...about) => {
    requireRight(actor.may, rightFor(action));
    return recorded(action, ...about);
  };
  const { forgetKeys, checkTarget, noticesOf } = consequences;
  return {
    clients: clientAdministration(core, act, checkTarget),
    partners: partnerAdministration(core, act, forgetKeys),
    apiKeys: apiKeyAdministration(core, act, forgetKeys),
    portal: portalAdministration(core, act),
    signingKeys: signingKeyAdministration(core, act),
    webhooks: webhookAdministration(core, act),
    requests: requestAdministration(core),
    transfers: transferAdministration(core, actor.may),
    // Needs no right: the host records acts of its own in the name of any operator, such as the sign-in of one who
    // may change nothing.
    audit: auditAdministration(core, recorded),
    consents: consentAdministration(core, act, actor.may),
    users: {
      async end(sub) {
        requireUserId(sub);
        // Find the apps before their consents are revoked. The notification jobs are stored with the
        // revocation, so that a crash loses none.
        const jobs = await noticesOf(sub);
        const record = act('user.end', `user:${sub}`);
        await core.storage.consents.endUser(sub, core.clock.now(), jobs, record);
        if (jobs.length > 0) core.notifyWorkers('jobs');
      },
    },
    reconciliation: reconciliationAdministration(core, actor.may),
    search: createSearch(core),
    health: () => healthOf(core),
    counts: (request = {}) => countsReport(core, request),
    async purge({ onProgress } = {}) {
      requireRight(actor.may, 'service');
      const count = await purgeNow(core, onProgress);
      await core.storage.audit.append(act('storage.purge', 'storage', { ...count }));
      return count;
    },
    async reseal({ onProgress } = {}) {
      requireRight(actor.may, 'service');
      const count = await resealNow(core, onProgress);
      await core.storage.audit.append(act('storage.reseal', 'storage', { ...count }));
      return count;
    },
    as: (name, options = {}) => administration(core, consequences, actorOf(name, options, actor)),
  };
}
