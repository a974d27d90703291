/**
 * Administration of an installation: the types of `ostiary.admin` and the errors that it throws.
 *
 * @packageDocumentation
 */
export type { Administration } from './admin/administration.ts';
export type { ApiKey, ApiKeyAdministration, IssuedApiKey, NewApiKey } from './admin/api-keys.ts';
export { ApiKeyError, keyScopes } from './admin/api-keys.ts';
export type { AuditAdministration, AuditEntry, AuditSearch } from './admin/audit.ts';
export type { AuditProblem, AuditVerification } from './admin/audit-chain.ts';
export type { Client, ClientSettings, NewClient } from './admin/client-settings.ts';
export type { ClientAdministration, ClientWithSecret } from './admin/clients.ts';
export { ClientError } from './admin/clients.ts';
export type { ConsentAdministration, ConsentOfUser, ImportedConsent } from './admin/consents.ts';
export type { Counts, CountsOfPeriod, CountsReport, CountsRequest } from './admin/counts.ts';
export type { FailingEndpoint, Health, WaitingWork } from './admin/health.ts';
export type { PageRequest, SortedRequest, TimedRequest, TwoWayPage } from './admin/list-page.ts';
export type { DisabledPartner, EnabledPartner, Partner, PartnerAdministration } from './admin/partners.ts';
export { PartnerNameError } from './admin/partners.ts';
export type { PortalAdministration, PortalLink, PortalSession } from './admin/portal.ts';
export { PortalError } from './admin/portal.ts';
export type {
  ReconciliationAdministration,
  ReconciliationRequest,
  ReconciliationSummary,
  SpreadsheetRequest,
} from './admin/reconciliation.ts';
export type { ApiRequest, PartnerRequest, RequestAdministration, RequestSearch } from './admin/requests.ts';
export type { SearchHit, SearchResult } from './admin/search.ts';
export { searchedPerKind } from './admin/search.ts';
export type { SigningKeyAdministration, SigningKeyInfo } from './admin/signing-keys.ts';
export type {
  ListedTransfer,
  PartnerTransfer,
  TransferAdministration,
  TransferEvent,
  TransferFilters,
  TransferSearch,
} from './admin/transfers.ts';
export type {
  EndpointSearch,
  EventSearch,
  EverywhereSearch,
  ListedEvent,
  WebhookEndpoint,
  WebhookLists,
} from './admin/webhook-lists.ts';
export type { PublishedEvent, WebhookAdministration, WebhookDelivery } from './admin/webhooks.ts';
export { WebhookError } from './admin/webhooks.ts';
export type { SpreadsheetColumn, SpreadsheetStyle } from './payments/spreadsheet.ts';
export type { Resealed } from './ports/host-secrets.ts';
export type { DroppedEndpoint } from './ports/survey.ts';
export type { WebhookObstacle } from './webhooks/obstacles.ts';
