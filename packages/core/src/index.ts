export type { Clock } from './clock.ts';
export type { ErrorDefinition, OAuthErrorCode, PartnerErrorCode } from './errors.ts';
export { OAuthError, oauthErrors, partnerErrors } from './errors.ts';
export type { EventDefinition, EventType, HostEventDefinition, HostEventSchema } from './events.ts';
export { EventDataError, events } from './events.ts';
export type { RequestHandler } from './http/app.ts';
export type { FetchHandler, FetchOptions } from './http/web.ts';
export type { HostTexts, PageTexts } from './languages/page-language.ts';
export type { Language, ScopeTexts } from './languages/texts.ts';
export type { PartnerLimit } from './limits.ts';
export type { Logger } from './logger.ts';
export { silentLogger } from './logger.ts';
export type { ConnectedApp, ConnectedApps } from './oauth/connected-apps.ts';
export type { InteractionApi, InteractionRedirect } from './oauth/interaction-api.ts';
export type { ActiveToken, RefusedToken, TokenChecks } from './oauth/token-checks.ts';
export type {
  OstiaryOptions,
  PartnerLimits,
  RefreshTokenOptions,
  Theme,
  VerifyImportedSecret,
  WebhookOptions,
} from './options.ts';
export type { Ostiary } from './ostiary.ts';
export { createOstiary } from './ostiary.ts';
export type {
  ConsentPageDetails,
  ErrorPageDetails,
  InteractionDetails,
  OwnPage,
  OwnPages,
} from './own-pages.ts';
export type { IssuedPassport } from './passports/passports.ts';
export type { Settlement } from './payments/final.ts';
export type { PaymentAdministration } from './payments/settle.ts';
export type { HostTransaction } from './ports/events.ts';
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
export type { FlexibleLimiter } from './rate-limiter-flexible.ts';
export { rateLimiterFlexible } from './rate-limiter-flexible.ts';
export type { AnyScope, HostScope, HostScopes, ScopeNames } from './scope-catalog.ts';
export type { Scope, ScopeDefinition } from './scopes.ts';
export { isScope, scopeNames, scopes } from './scopes.ts';
export type { StandardSchema } from './standard-schema.ts';
export type { SandboxUser } from './users/sandbox.ts';
export { sandboxUsers } from './users/sandbox.ts';
export type { KycChange, KycChanged } from './webhooks/kyc.ts';
export type { EventPublishing, HostEvent, PublishedEvent, PublishOptions } from './webhooks/publish.ts';
export type { Worker } from './worker/worker.ts';
