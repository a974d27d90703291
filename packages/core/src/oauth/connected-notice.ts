import { createHash } from 'node:crypto';
import { noticeJobs } from '../notices/job.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { NewJob } from '../ports/queue.ts';
import { iso } from '../time/clock.ts';

/**
 * Returns the job of the notice that a user connected an app; returns no job if the app is connected already,
 * or without the option `notify`. The job's id is the same for two clicks in the same millisecond, and
 * contains nothing about the user in plain text.
 */
export async function connectedJobs(
  core: Core,
  { clientId, name, partner }: ClientRecord,
  { sub, scopes, now }: { readonly sub: string; readonly scopes: readonly string[]; readonly now: number },
): Promise<readonly NewJob[]> {
  const { storage, options } = core;
  if (options.notify === undefined || (await storage.consents.find(sub, clientId)) !== null) return [];
  const owner = partner === null ? null : await storage.partners.find(partner);
  const digest = createHash('sha256')
    .update(JSON.stringify([sub, clientId, now]))
    .digest('base64url');
  return noticeJobs(core, {
    id: `app.connected:${digest.slice(0, 22)}`,
    type: 'app.connected',
    at: iso(now),
    ...{ partner, partnerName: owner?.name ?? null, mode: 'live' },
    ...{ sub, clientId, clientName: name, scopes },
  });
}
