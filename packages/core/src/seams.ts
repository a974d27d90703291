/**
 * Parts of core that `@ostiary/testing` replaces or calls. Not for hosts: these may change in any release.
 *
 * @packageDocumentation
 */
export { createFetchHandler } from './http/web.ts';
export type { Seams } from './ostiary.ts';
export { assemble } from './ostiary.ts';
export { formatAmount } from './payments/money.ts';
export type { WebhookClient, WebhookRequest } from './webhooks/client.ts';
