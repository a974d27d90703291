/**
 * For those who write a console: what it is given, and the kit that the pages of the service are made with. Hosts take a
 * finished one, `sandboxConsole()` of `@ostiary/console`.
 *
 * @packageDocumentation
 */
import type { z } from 'zod';
import type { deliverySchema, endpointSchema, eventSchema } from './partner/webhook-schemas.ts';

export { PartnerError } from './errors.ts';
export { negotiateLanguage } from './languages/negotiate.ts';
export { type Fragment, type Html, html, nameOf, render, visible } from './pages/html.ts';
export { type Page, page } from './pages/layout.ts';
export { icons } from './pages/parts.ts';
export type {
  ConsoleAnswer,
  ConsoleDesk,
  ConsoleHandler,
  ConsoleInput,
  ConsolePage,
  ConsoleRequest,
  ConsoleVisit,
  PartnerConsole,
} from './ports/console.ts';
export { languages } from './scopes.ts';

/** A language of the console. */
export type Language = 'en' | 'fr';

/** A webhook endpoint, as the partner API shows it. */
export type WebhookEndpoint = z.output<typeof endpointSchema>;

/** A delivery, as the partner API shows it. */
export type Delivery = z.output<typeof deliverySchema>;

/** An event, as the partner API shows it. */
export type PartnerEvent = z.output<typeof eventSchema>;
