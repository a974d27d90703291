/**
 * Protects an API that runs in another process than Ostiary: serves the metadata document of the API (RFC
 * 9728), and checks requests by token introspection (RFC 7662). For an API in the same process see
 * `ostiary.protectedResource`.
 *
 * @packageDocumentation
 */
export type { ActiveToken, RefusedToken } from './oauth/token-checks.ts';
export type { ResourceMetadata } from './resource-server/metadata.ts';
export type { ProtectedResource } from './resource-server/protected-resource.ts';
export type { RefusalReason, RefusedRequest } from './resource-server/refusals.ts';
export {
  protectedResource,
  type RemoteAuthorizationServer,
  type RemoteResourceSettings,
} from './resource-server/remote.ts';
export type { ResourceAnswer, ResourceRequest } from './resource-server/requests.ts';
export type { UsedProofs } from './resource-server/used-proofs.ts';
export type { Logger } from './telemetry/logger.ts';
