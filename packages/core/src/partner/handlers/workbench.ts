import type { Core } from '../../options/context.ts';
import type { RateLimitStore } from '../../ports/rate-limits.ts';
import type { Webhooks } from '../../webhooks/create-webhooks.ts';
import { webhookObstacles } from '../../webhooks/obstacles.ts';
import { firstRuns } from '../first-run.ts';
import { requireAllowed } from '../refused-count.ts';
import { operation, type PartnerOperation } from '../request.ts';
import { endpointPath } from '../webhook-schemas.ts';

/**
 * Maximum number of webhook signature checks of one partner per minute: each check sends two requests to a
 * URL that the partner chose. Further checks get a 429.
 */
const maxChecks = 6;

/** Console operations for trying out webhooks, in addition to the partner API. */
export function workbenchOperations(
  core: Core,
  { checkSignature }: Pick<Webhooks, 'checkSignature'>,
  counts: RateLimitStore,
): PartnerOperation[] {
  const { storage } = core;
  const steps = firstRuns(core);

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
        const bucket = `signature check:${partner}`;
        requireAllowed(await counts.consume({ bucket, limit: maxChecks, windowMs: 60_000, now }), now);
        const body = await checkSignature({ partner, mode }, path.id);
        if (body.verdict === 'right') await steps.signatureChecked(partner, now);
        return { status: 200, body };
      },
    }),
  ];
}
