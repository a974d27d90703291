/**
 * Types of a console: what it gets, and what it returns. Its pages are made with `@ostiary/core/pages`. Hosts take a finished
 * console, `sandboxConsole()` of `@ostiary/console`.
 *
 * @packageDocumentation
 */
import type { z } from 'zod';
import type { Shown } from './admin/checked.ts';
import type { sandboxPassport } from './partner/schemas.ts';
import type { deliverySchema, endpointSchema, eventSchema } from './partner/webhook-schemas.ts';
import type { LoggedRequest as StoredRequest } from './ports/request-log.ts';
import type { transferSchema } from './schemas/transfer.ts';

export { PartnerError } from './errors.ts';
export type { FirstRun } from './partner/first-run.ts';
export type {
  ConsoleAnswer,
  ConsoleDesk,
  ConsoleHandler,
  ConsoleInput,
  ConsolePage,
  ConsoleRequest,
  ConsoleRoute,
  ConsoleVisit,
  PartnerConsole,
  SdkCall,
} from './ports/console.ts';
export type {
  OperatorCheck,
  OperatorDesk,
  OperatorPage,
  OperatorPages,
  Operators,
  OperatorVisit,
} from './ports/operators.ts';
export type { KycState } from './ports/users.ts';
export { version } from './telemetry/version.built-in.ts';
export type { AttemptRequest } from './webhooks/past-requests.ts';
export type { SignatureCheck } from './webhooks/signature-check.ts';

/** A webhook endpoint, as the partner API shows it. */
export type WebhookEndpoint = z.output<typeof endpointSchema>;

/** A delivery, as the partner API shows it. */
export type Delivery = z.output<typeof deliverySchema>;

/** A transfer, as the partner API shows it. */
export type Transfer = z.output<typeof transferSchema>;

/** A passport of the sandbox, as it is shown once. */
export type SandboxPassport = z.output<typeof sandboxPassport>;

/** An event, as the partner API shows it. */
export type PartnerEvent = z.output<typeof eventSchema>;

/** A request to the partner API, as its log has it; a list leaves the bodies out. */
export type LoggedRequest = Shown<Omit<StoredRequest, 'partner' | 'mode'>>;
