/**
 * Functions of `@ostiary/core` for `@ostiary/testing` and `@ostiary/cli`. Host apps must not use them: these
 * exports may change in any release.
 *
 * @packageDocumentation
 */
export { createFetchHandler } from './http/web.ts';
export type { ReadDocument } from './oauth/client-documents.ts';
export type { ReplacedParts } from './ostiary.ts';
export { assemble } from './ostiary.ts';
export { formatAmount } from './payments/money.ts';
export { userIdFormat } from './scopes/user-ids.ts';
export { escapeControls } from './text/printable.ts';
export { maxKeptBody } from './webhooks/attempt-answer.ts';
export { dialTarget, TlsError } from './webhooks/dial.ts';
export type { WebhookClient, WebhookRequest } from './webhooks/http-client.ts';
export { TargetError, type TargetPolicy } from './webhooks/targets.ts';
