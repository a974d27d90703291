/**
 * Verifies the signed webhooks of Ostiary.
 *
 * @packageDocumentation
 */
export type { RawBody } from './body.ts';
export { type WebhookErrorCode, WebhookVerificationError, webhookErrorCodes } from './errors.ts';
export type {
  AnyEvent,
  CompletedTransfer,
  EventOf,
  FailedTransfer,
  KycChange,
  KycState,
  Transfer,
  WebhookEvent,
} from './events.ts';
export type { WebhookHeaders } from './headers.ts';
export type { VerifyOptions } from './options.ts';
export { weaknessOf } from './secrets.ts';
export { type SignedDelivery, type SignOptions, signWebhook } from './sign.ts';
export { type TamperedDelivery, type TamperOptions, tamper } from './tamper.ts';
export { safeVerify, type VerifiedDelivery, type VerifyResult, verify } from './verify.ts';
