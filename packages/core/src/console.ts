/**
 * Types and functions for writing a partner console or operators' pages: the backend that the pages call, and
 * the pages that a console returns.
 * Pages are built with `@ostiary/core/pages`. Host applications usually pass a finished console,
 * `sandboxConsole()` of `@ostiary/console`.
 *
 * @packageDocumentation
 */
import type { z } from 'zod';
import type { Shown } from './admin/checked.ts';
import type { inboxRequest } from './partner/inbox-schemas.ts';
import type { sandboxPassport } from './partner/schemas.ts';
import type { deliverySchema, endpointSchema, eventSchema } from './partner/webhook-schemas.ts';
import type { LoggedRequest as StoredRequest } from './ports/request-log.ts';
import type { transferSchema } from './schemas/transfer.ts';

export { PartnerError } from './errors.ts';
export type { FirstRun } from './partner/first-run.ts';
export type { ExportSummary as ReconciliationSummary } from './payments/export-formats.ts';
export type {
  Operator,
  OperatorBackend,
  OperatorCheck,
  OperatorPage,
  OperatorPages,
  OperatorRight,
  OperatorRole,
  Operators,
  OperatorVisit,
  SignOutForm,
} from './ports/operators.ts';
export type {
  ConsoleAnswer,
  ConsoleBackend,
  ConsoleFile,
  ConsoleHandler,
  ConsoleInput,
  ConsolePage,
  ConsoleRequest,
  ConsoleRoute,
  ConsoleVisit,
  PartnerConsole,
  PartnerPortal,
  PortalBackend,
  SdkCall,
} from './ports/partner-console.ts';
export type { KycState } from './ports/users.ts';
export { version } from './telemetry/version.built-in.ts';
export { type FieldProblemCode, fieldProblemOf } from './text/field-problems.ts';
export { countedAtMost } from './text/list-pages.ts';
export { deliveryState, deliveryStates, failedAttempts } from './webhooks/delivery-state.ts';
export type { WebhookObstacle } from './webhooks/obstacles.ts';
export type { AttemptRequest } from './webhooks/past-requests.ts';
export { maxRecovered } from './webhooks/redelivery.ts';
export type { SignatureCheck } from './webhooks/signature-check.ts';

/** A webhook endpoint as returned by the partner API. */
export type WebhookEndpoint = z.output<typeof endpointSchema>;

/** A delivery as returned by the partner API. */
export type Delivery = z.output<typeof deliverySchema>;

/** A transfer as returned by the partner API. */
export type Transfer = z.output<typeof transferSchema>;

/** A sandbox passport with its token, which the partner API returns only once. */
export type SandboxPassport = z.output<typeof sandboxPassport>;

/** A request of an inbox as returned by the partner API. */
export type InboxRequest = z.output<typeof inboxRequest>;

/** An event as returned by the partner API. */
export type PartnerEvent = z.output<typeof eventSchema>;

/** A logged request to the partner API. Lists leave the bodies out. */
export type LoggedRequest = Shown<Omit<StoredRequest, 'partner' | 'mode'>>;
