import { PartnerError } from '../../errors.ts';
import { secondsUntil } from '../../limits/fixed-windows.ts';
import type { Core } from '../../options/context.ts';
import { findFinalEvent } from '../../payments/final-event.ts';
import type { RateLimitStore } from '../../ports/rate-limits.ts';
import type { Webhooks } from '../../webhooks/create-webhooks.ts';
import { webhookObstacles } from '../../webhooks/obstacles.ts';
import { eventView } from '../../webhooks/views.ts';
import { firstRuns } from '../first-run.ts';
import { operation, type PartnerOperation } from '../request.ts';
import { transferPath } from '../schemas.ts';
import { endpointPath } from '../webhook-schemas.ts';

/**
 * Maximum number of webhook signature checks of one partner per minute: each check sends two requests to a
 * URL that the partner chose.
 */
const maxChecks = 6;

/** Console operations for trying out webhooks and payments, in addition to the partner API. */
export function workbenchOperations(
  core: Core,
  { checkSignature }: Pick<Webhooks, 'checkSignature'>,
  counts: RateLimitStore,
): PartnerOperation[] {
  const { storage } = core;
  const steps = firstRuns(core);

  async function countCheck(partner: string, now: number): Promise<void> {
    const bucket = `signature check:${partner}`;
    const { allowed, endsAt } = await counts.consume({ bucket, limit: maxChecks, windowMs: 60_000, now });
    if (allowed) return;
    const headers = { 'Retry-After': secondsUntil(endsAt, now) };
    throw new PartnerError('rate_limit_exceeded', { headers });
  }

  return [
    operation({
      operation: 'getFirstRun',
      scope: 'webhooks',
      testOnly: true,
      handle: async ({ partner, now }) => ({ status: 200, body: { ...(await steps.of(partner, now)) } }),
    }),

    operation({
      operation: 'getWebhookObstacles',
      portal: 'view',
      scope: 'webhooks',
      /**
       * Returns the reasons why the partner's webhooks do not arrive, without the names of administrators.
       */
      async handle({ partner, mode }) {
        const record = await storage.partners.find(partner);
        const found = record === null ? [] : await webhookObstacles(core, record, mode);
        const data = found.map((obstacle) => ('by' in obstacle ? { ...obstacle, by: null } : obstacle));
        return { status: 200, body: { data } };
      },
    }),

    operation({
      operation: 'checkWebhookSignature',
      scope: 'webhooks',
      testOnly: true,
      pathSchema: endpointPath,
      async handle({ path, partner, mode, now }) {
        await countCheck(partner, now);
        const body = await checkSignature({ partner, mode }, path.id);
        if (body.verdict === 'right') await steps.signatureChecked(partner, now);
        return { status: 200, body };
      },
    }),

    operation({
      operation: 'getPaymentEvent',
      portal: 'view',
      scope: 'payments:read',
      pathSchema: transferPath,
      /**
       * Returns the event about the outcome of a transfer; `null` if there is none yet, or if many events
       * came after it.
       */
      async handle({ path, partner, mode }) {
        const transfer = await storage.transfers.find({ partner, mode }, path.id);
        const event = transfer && (await findFinalEvent(storage, transfer));
        return { status: 200, body: { event: event && eventView(event) } };
      },
    }),
  ];
}
