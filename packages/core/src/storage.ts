/**
 * Interface of a storage: the stores that a database adapter implements, and the records that they contain.
 *
 * @packageDocumentation
 */
export type { ApiKeyRecord, ApiKeyState, ApiKeyStore, KeyScope } from './ports/api-keys.ts';
export type {
  AuditFilter,
  AuditHead,
  AuditRecord,
  AuditStore,
  ChainedAct,
  StoredAct,
} from './ports/audit.ts';
export type { ClientDocumentStore, DocumentInsertion } from './ports/client-documents.ts';
export type {
  ClientAlgorithm,
  ClientDocument,
  ClientJwk,
  ClientJwks,
  ClientProfile,
  ClientRecord,
  ClientSecretRecord,
  ClientState,
  ClientStore,
  LoopbackPorts,
  SigningAlgorithm,
} from './ports/clients.ts';
export type {
  AttemptRecord,
  ClaimedDelivery,
  DeliveryCount,
  DeliveryRecord,
  DeliveryResult,
  DeliveryState,
  DeliveryStatus,
  DeliveryStore,
  LateIdempotencyClaim,
  Redelivery,
} from './ports/deliveries.ts';
export type {
  EventFilter,
  EventRecord,
  EventSize,
  EventStore,
  EveryEventFilter,
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
  NewRefreshToken,
  RefreshResult,
  RefreshTokenDigests,
} from './ports/grants.ts';
export type { CountedPeriod, HourlyCount, HourlyCountStore } from './ports/hourly-counts.ts';
export type {
  ClaimOutcome,
  IdempotencyClaim,
  IdempotencyKey,
  IdempotencyOutcome,
  IdempotencyStore,
  StoredAnswer,
  StoredRequest,
} from './ports/idempotency.ts';
export type { InboxAnswer, InboxRequest, InboxStore } from './ports/inbox.ts';
export type { InteractionAnswerStore } from './ports/interaction-answers.ts';
export type { InteractionStore, JsonObject } from './ports/interactions.ts';
export type { ListPosition, NameSearch, Quota, SortedPage, TimedPage } from './ports/lists.ts';
export type { DueNotices, EndingKey, NoticedEndpoint, NoticeReason, NoticeStore } from './ports/notices.ts';
export type { Mode, Owner, PartnerReach, PartnerRecord, PartnerStore } from './ports/partners.ts';
export type { PortalRights, PortalSessionRecord, PortalStore } from './ports/portal.ts';
export type { PushedRequest, PushedRequestKey, PushedRequestStore } from './ports/pushed-requests.ts';
export type { Claim, ClaimedJob, NewJob, Queue, WakeUps, Work } from './ports/queue.ts';
export type {
  AddressCounts,
  RateLimitState,
  RateLimitStore,
} from './ports/rate-limits.ts';
export type {
  LoggedRequest,
  LoggedRequestChoice,
  LoggedRequestFilter,
  RequestLog,
} from './ports/request-log.ts';
export type { SandboxStore } from './ports/sandbox.ts';
export type { ResealedSecret, SealedSecret, SealedSecrets } from './ports/sealed-secrets.ts';
export type { OwnerName, Shares } from './ports/shares.ts';
export type { NewSigningKey, SigningKeyRecord, SigningKeyStore } from './ports/signing-keys.ts';
export type { LongestWaits, PurgeCount, Storage } from './ports/storage.ts';
export type { DroppedEndpoint, Survey, SurveyRequest, Waiting } from './ports/survey.ts';
export type {
  Currency,
  TransferCreation,
  TransferFailure,
  TransferRecord,
  TransferSelection,
  TransferStatus,
  TransferStore,
} from './ports/transfers.ts';
export type { UsedId, UsedIdStore } from './ports/used-ids.ts';
export type {
  EndpointCondition,
  EndpointCreation,
  EndpointFailure,
  EndpointFilter,
  FailingEndpoint,
  FailingFilter,
  WebhookEndpointRecord,
  WebhookEndpointStore,
} from './ports/webhooks.ts';
