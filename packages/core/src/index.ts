export type { Administration } from './admin/administration.ts';
export type { ApiKey, ApiKeyAdministration, IssuedApiKey, NewApiKey } from './admin/api-keys.ts';
export { ApiKeyError, keyScopes } from './admin/api-keys.ts';
export type { AuditAdministration, AuditEntry } from './admin/audit.ts';
export type { AuditProblem, AuditVerification } from './admin/audit-chain.ts';
export type { Client, ClientSettings, NewClient } from './admin/client-settings.ts';
export type { ClientAdministration, ClientWithSecret } from './admin/clients.ts';
export { ClientError } from './admin/clients.ts';
export type { DisabledPartner, EnabledPartner, Partner, PartnerAdministration } from './admin/partners.ts';
export { PartnerNameError } from './admin/partners.ts';
export type { SigningKeyAdministration, SigningKeyInfo } from './admin/signing-keys.ts';
export type { WebhookAdministration, WebhookDelivery, WebhookEndpoint } from './admin/webhooks.ts';
export { WebhookError } from './admin/webhooks.ts';
export type { Clock } from './clock.ts';
export type { ErrorDefinition, OAuthErrorCode, OAuthErrorOptions, PartnerErrorCode } from './errors.ts';
export { OAuthError, oauthErrors, partnerErrors } from './errors.ts';
export type {
  Catalogue,
  EventDefinition,
  EventType,
  HostEventDefinition,
  HostEventSchema,
} from './events.ts';
export { EventDataError, events } from './events.ts';
export type { RequestHandler } from './http/app.ts';
export type { FetchHandler, FetchOptions } from './http/web.ts';
export type { Logger } from './logger.ts';
export { silentLogger } from './logger.ts';
export type { InteractionApi, InteractionDetails, InteractionRedirect } from './oauth/interaction-api.ts';
export type { OstiaryOptions, PartnerLimit, PartnerLimits, Theme, WebhookOptions } from './options.ts';
export type { Ostiary } from './ostiary.ts';
export { createOstiary } from './ostiary.ts';
export type { FlexibleLimiter, FlexibleLimiterResult } from './partner/rate-limiter-flexible.ts';
export { rateLimiterFlexible } from './partner/rate-limiter-flexible.ts';
export type { IssuedPassport } from './passports/passports.ts';
export type { PaymentAdministration, Settlement } from './payments/settle.ts';
export type { ApiKeyRecord, ApiKeyState, ApiKeyStore, KeyScope } from './ports/api-keys.ts';
export type {
  AuditHead,
  AuditRecord,
  AuditStore,
  ChainedAct,
  StoredAct,
} from './ports/audit.ts';
export type {
  ClientRecord,
  ClientSecretRecord,
  ClientState,
  ClientStore,
  SigningAlgorithm,
} from './ports/clients.ts';
export type {
  AttemptRecord,
  ClaimedDelivery,
  DeliveryRecord,
  DeliveryResult,
  DeliveryStatus,
  DeliveryStore,
  LateIdempotencyClaim,
  Redelivery,
} from './ports/deliveries.ts';
export type {
  EventRecord,
  EventStore,
  HostTransaction,
  MaybePromise,
  NewEvent,
  Publication,
} from './ports/events.ts';
export type {
  AccessTokenState,
  ConsentRecord,
  ConsentStore,
  GrantRecord,
  GrantState,
  GrantStore,
  NewAccessToken,
} from './ports/grants.ts';
export type {
  ClaimOutcome,
  IdempotencyClaim,
  IdempotencyOutcome,
  IdempotencyStore,
  StoredAnswer,
} from './ports/idempotency.ts';
export type { InteractionStore, JsonObject } from './ports/interactions.ts';
export type { ListPosition } from './ports/lists.ts';
export type { Owner } from './ports/owner.ts';
export type { Mode, PartnerReach, PartnerRecord, PartnerStore } from './ports/partners.ts';
export type { PaymentRail, TransferOrder, TransferResult } from './ports/payments.ts';
export type { Claim, ClaimedJob, NewJob, Queue } from './ports/queue.ts';
export type { RateLimitState, RateLimitStore, SharedRateLimits } from './ports/rate-limits.ts';
export type { ResealedSecret, SealedSecret, SealedSecrets } from './ports/sealed-secrets.ts';
export type { SigningKeyRecord, SigningKeyStore } from './ports/signing-keys.ts';
export type { PurgeCount, Storage } from './ports/storage.ts';
export type {
  Currency,
  TransferCreation,
  TransferFailure,
  TransferRecord,
  TransferStatus,
  TransferStore,
} from './ports/transfers.ts';
export type {
  ActiveCredential,
  Authentication,
  KycStatus,
  Login,
  LoginRequest,
  UserDirectory,
  UserRecord,
} from './ports/users.ts';
export type { EndpointCreation, WebhookEndpointRecord, WebhookEndpointStore } from './ports/webhooks.ts';
export type { Language, Scope, ScopeDefinition } from './scopes.ts';
export { isScope, scopeNames, scopes } from './scopes.ts';
export type { SandboxUser } from './users/sandbox.ts';
export { sandboxUsers } from './users/sandbox.ts';
export type { KycChange, KycChanged, KycState } from './webhooks/kyc.ts';
export type { EventPublishing, HostEvent, PublishedEvent, PublishOptions } from './webhooks/publish.ts';
export type { JobHandler, JobResult, Worker } from './worker/worker.ts';
