export { operatorRoles } from './admin/rights.ts';
export type { ErrorDefinition, OAuthErrorCode, PartnerErrorCode } from './errors.ts';
export { OAuthError, oauthErrors, partnerErrors } from './errors.ts';
export type { EventDefinition, EventType, HostEventDefinition, HostEventSchema } from './events.ts';
export { EventDataError, events } from './events.ts';
export type { RequestHandler } from './http/request-handler.ts';
export type { FetchHandler, FetchOptions } from './http/web.ts';
export type { HostTexts, PageTexts } from './languages/page-language.ts';
export type { FlexibleLimiter } from './limits/rate-limiter-flexible.ts';
export { rateLimiterFlexible } from './limits/rate-limiter-flexible.ts';
export type { PartnerLimit } from './limits/request-limits.ts';
export type { ConnectedApp, ConnectedApps } from './oauth/connected-apps.ts';
export type { PresentedRequest } from './oauth/dpop-resource.ts';
export type { InteractionApi, InteractionRedirect } from './oauth/interaction-api.ts';
export type { ActiveToken, RefusedToken, TokenChecks, TokenRequirement } from './oauth/token-checks.ts';
export { defaultOptions } from './options/defaults.ts';
export type {
  ConsentPageDetails,
  ErrorPageDetails,
  HostPage,
  HostPages,
  InteractionDetails,
} from './options/host-pages.ts';
export type { RefreshTokenOptions, Theme, VerifyImportedSecret } from './options/oauth-options.ts';
export type { OstiaryOptions } from './options/options.ts';
export type { PartnerLimits, WebhookOptions } from './options/partner-options.ts';
export type { Ostiary } from './ostiary.ts';
export { createOstiary } from './ostiary.ts';
export type { IssuedPassport } from './passports/passports.ts';
export type { Settlement } from './payments/final.ts';
export type { PaymentAdministration } from './payments/settle.ts';
export type { Clock } from './ports/clock.ts';
export type { HostTransaction } from './ports/events.ts';
export type { HostSecrets, Resealed, ResealedPortion } from './ports/host-secrets.ts';
export type {
  ApiKeyEndingNotice,
  AppConnectedNotice,
  EndpointFailingNotice,
  EndpointGivenUpNotice,
  EndpointWorksNotice,
  Notice,
  Notify,
  SigningKeyRotatedNotice,
} from './ports/notices.ts';
export type {
  Operator,
  OperatorCheck,
  OperatorRight,
  OperatorRole,
  SignOutForm,
} from './ports/operators.ts';
export type {
  FinalStatus,
  PaymentRail,
  TransferContradiction,
  TransferOrder,
  TransferResult,
} from './ports/payments.ts';
export type {
  ActiveCredential,
  Authentication,
  KycState,
  KycStatus,
  Login,
  LoginRequest,
  PostalAddress,
  UserDirectory,
  UserRecord,
} from './ports/users.ts';
export type { ProtectedResourceSettings } from './resource-server/local.ts';
export type { ResourceMetadata } from './resource-server/metadata.ts';
export type { ProtectedResource } from './resource-server/protected-resource.ts';
export type { RefusalReason, RefusedRequest } from './resource-server/refusals.ts';
export type { ResourceAnswer, ResourceRequest } from './resource-server/requests.ts';
export type { StandardSchema } from './schemas/standard-schema.ts';
export type { AnyScope, HostScope, HostScopes, ScopeNames } from './scopes/catalog.ts';
export type { Language, ScopeTexts } from './scopes/consent-texts.ts';
export type { HostResources, Resource } from './scopes/resources.ts';
export type { Scope, ScopeDefinition } from './scopes/scopes.ts';
export { isScope, scopeNames, scopes } from './scopes/scopes.ts';
export type { Logger } from './telemetry/logger.ts';
export { silentLogger } from './telemetry/logger.ts';
export { type CountingLogger, countRepetitions } from './telemetry/repetitions.ts';
export type { SandboxUser } from './users/sandbox.ts';
export { sandboxUsers } from './users/sandbox.ts';
export type { KycChange, KycChanged } from './webhooks/kyc.ts';
export type { EventPublishing, HostEvent, PublishedEvent, PublishOptions } from './webhooks/publish.ts';
export type { Worker } from './worker/worker.ts';
