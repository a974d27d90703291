export type {
  Client,
  ClientAdministration,
  ClientSettings,
  ClientWithSecret,
  NewClient,
} from './admin/clients.ts';
export { ClientError } from './admin/clients.ts';
export type { SigningKeyAdministration, SigningKeyInfo } from './admin/signing-keys.ts';
export type { Clock } from './clock.ts';
export type { ErrorDefinition, OAuthErrorCode, OAuthErrorOptions } from './errors.ts';
export { OAuthError, oauthErrors } from './errors.ts';
export type { RequestHandler } from './http/app.ts';
export type { Logger } from './logger.ts';
export type { InteractionApi, InteractionDetails, InteractionRedirect } from './oauth/interaction-api.ts';
export type { OstiaryOptions, Theme } from './options.ts';
export type { Ostiary } from './ostiary.ts';
export { createOstiary } from './ostiary.ts';
export type { ClientRecord, ClientSecretRecord, ClientStore, SigningAlgorithm } from './ports/clients.ts';
export type {
  AccessTokenState,
  ConsentRecord,
  ConsentStore,
  GrantRecord,
  GrantState,
  GrantStore,
  NewAccessToken,
} from './ports/grants.ts';
export type { InteractionStore, JsonObject } from './ports/interactions.ts';
export type { Claim, ClaimedJob, NewJob, Queue } from './ports/queue.ts';
export type { SigningKeyRecord, SigningKeyStore } from './ports/signing-keys.ts';
export type { PurgeCount, Storage } from './ports/storage.ts';
export type {
  ActiveCredential,
  Authentication,
  KycStatus,
  Login,
  LoginRequest,
  UserDirectory,
  UserRecord,
} from './ports/users.ts';
export type { Language, Scope, ScopeDefinition } from './scopes.ts';
export { isScope, scopeNames, scopes } from './scopes.ts';
export type { JobHandler, JobResult, Worker } from './worker/worker.ts';
