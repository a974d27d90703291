import { actsOf } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { NewJob } from '../ports/queue.ts';
import type { Purged } from '../ports/storage.ts';
import { requireUserId } from '../scopes/user-ids.ts';
import { purgeNow } from '../worker/purge.ts';
import { type ApiKeyAdministration, apiKeyAdministration } from './api-keys.ts';
import { type AuditAdministration, auditAdministration } from './audit.ts';
import { type CheckTarget, type ClientAdministration, clientAdministration } from './clients.ts';
import { type ConsentAdministration, consentAdministration } from './consents.ts';
import { type Health, healthOf } from './health.ts';
import { type PartnerAdministration, partnerAdministration } from './partners.ts';
import { type ReconciliationAdministration, reconciliationAdministration } from './reconciliation.ts';
import { type RequestAdministration, requestAdministration } from './requests.ts';
import { type Resealed, resealNow } from './reseal.ts';
import { type SigningKeyAdministration, signingKeyAdministration } from './signing-keys.ts';
import { type WebhookAdministration, webhookAdministration } from './webhooks.ts';

/**
 * Operations of administrators. None of them can be reached over HTTP, except through the pages of the option
 * `operators`. Every change is in the audit log.
 */
export interface Administration<Name extends string = string> {
  readonly clients: ClientAdministration<Name>;
  readonly partners: PartnerAdministration;
  readonly apiKeys: ApiKeyAdministration;
  readonly signingKeys: SigningKeyAdministration;
  readonly webhooks: WebhookAdministration;
  readonly requests: RequestAdministration;
  readonly audit: AuditAdministration;
  readonly consents: ConsentAdministration<Name>;
  readonly users: {
    /**
     * Ends every consent, code and token of a user who was blocked or deleted. Takes effect with the next
     * request, in every process. Apps with a `backchannelLogoutUri` are notified that all sessions of the user ended.
     */
    end(sub: string): Promise<void>;
  };
  readonly reconciliation: ReconciliationAdministration;
  /** Reads waiting work, failures, and the sealing keys that are still needed. Changes nothing. */
  health(): Promise<Health>;
  /**
   * Removes old rows now, which the worker does every ten minutes by itself. Answers how many of each kind.
   * @param options - `onProgress` is called after each batch with the number of rows so far
   */
  purge(options?: { readonly onProgress?: (removed: number) => void }): Promise<Purged>;
  /**
   * Seals all secrets with the first sealing key now, which the worker does by itself while there is a previous one.
   * @param options - `onProgress` is called after each batch with how many secrets were looked at, and how many there are
   */
  reseal(options?: { readonly onProgress?: (done: number, of: number) => void }): Promise<Resealed>;
  /**
   * The same administration, with the name of who uses it for the audit log: 1 to 200 characters.
   * @throws TypeError
   * @example
   * ```ts
   * await ostiary.admin.as('ana@example.com').clients.disable('kafe');
   * ```
   */
  as(actor: string): Administration<Name>;
}

export function administration(
  core: Core,
  consequences: {
    readonly forgetKeys: () => void;
    readonly checkTarget: CheckTarget;
    /** Returns the jobs that notify the apps of a user that all sessions ended. Never rejects. */
    readonly noticesOf: (sub: string) => Promise<readonly NewJob[]>;
  },
  actor = 'host',
): Administration {
  const act = actsOf(core, actor);
  const { forgetKeys, checkTarget, noticesOf } = consequences;
  return {
    clients: clientAdministration(core, act, checkTarget),
    partners: partnerAdministration(core, act, forgetKeys),
    apiKeys: apiKeyAdministration(core, act, forgetKeys),
    signingKeys: signingKeyAdministration(core, act),
    webhooks: webhookAdministration(core, act),
    requests: requestAdministration(core),
    audit: auditAdministration(core, act),
    consents: consentAdministration(core, act),
    users: {
      async end(sub) {
        requireUserId(sub);
        // The apps are read first: the end revokes the consents. It stores the notices itself, so that a crash loses none.
        const jobs = await noticesOf(sub);
        const record = act('user.end', `user:${sub}`);
        await core.storage.consents.endUser(sub, core.clock.now(), jobs, record);
        if (jobs.length > 0) core.wake('jobs');
      },
    },
    reconciliation: reconciliationAdministration(core),
    health: () => healthOf(core),
    async purge({ onProgress } = {}) {
      const count = await purgeNow(core, onProgress);
      await core.storage.audit.append(act('storage.purge', 'storage', { ...count }));
      return count;
    },
    async reseal({ onProgress } = {}) {
      const count = await resealNow(core, onProgress);
      await core.storage.audit.append(act('storage.reseal', 'storage', { ...count }));
      return count;
    },
    as(name) {
      if (typeof name !== 'string' || name.trim() === '' || name.length > 200)
        throw new TypeError('admin.as: the name has to have 1 to 200 characters');
      return administration(core, consequences, name);
    },
  };
}
