/**
 * A client of Ostiary's partner API.
 *
 * @packageDocumentation
 */
export { OstiaryPartner } from './client.ts';
export type { DoctorCheck, DoctorReport } from './doctor.ts';
export {
  AbortedError,
  AddressError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  type ErrorCode,
  type ErrorDetail,
  type ErrorFacts,
  InvalidRequestError,
  NotFoundError,
  OstiaryError,
  type Outcome,
  PermissionError,
  ProtocolError,
  RateLimitError,
  ServerError,
  SignatureError,
  TimeoutError,
  TokenExpiredError,
} from './errors.ts';
export type { Answer, ApiPromise, RawResponse } from './http/api-promise.ts';
export type { CursorPage, List, Page } from './http/list.ts';
export type {
  FetchRequest,
  FetchResponse,
  IdempotentOptions,
  Logger,
  OstiaryPartnerOptions,
  RequestOptions,
  TransportOptions,
} from './options.ts';
export type {
  EventPage,
  EventQuery,
  Events,
  ListedEvent,
  Redeliveries,
  RedeliverRequest,
  SentEvent,
} from './resources/events.ts';
export type { KycStatus, Mode, Open } from './resources/open.ts';
export type { Passports, Verification, VerifyRequest } from './resources/passports.ts';
export type { PaymentQuery, PaymentRequest, Payments, Transfer } from './resources/payments.ts';
export type {
  AnswerCounted,
  AnswerRequest,
  InboxAnswer,
  InboxRequest,
  InboxRequests,
  Sandbox,
  SandboxEventRequest,
  SandboxPassport,
  SandboxPassportRequest,
  TakeRequest,
} from './resources/sandbox.ts';
export type { User, Users } from './resources/users.ts';
export type {
  Delivery,
  DeliveryAttempt,
  DeliveryQuery,
  Recovered,
  RecoverRequest,
  WebhookChanges,
  WebhookEndpoint,
  WebhookRemoved,
  WebhookRequest,
  Webhooks,
} from './resources/webhooks.ts';
export type { Whoami } from './resources/whoami.ts';
