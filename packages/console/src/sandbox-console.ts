import type { ConsoleBackend, ConsolePage, PartnerConsole } from '@ostiary/core/console';
import { button, buttonFile } from './button.ts';
import { dismissFirstRun } from './first-run.ts';
import { orGone } from './gone.ts';
import { createGuard, type Guard } from './guard.ts';
import { home } from './home.ts';
import { addInbox, changeInbox, inbox, inboxRequest } from './inbox.ts';
import { paceOf } from './live-stream.ts';
import { assetPages, pageAssets } from './page-assets.ts';
import { type PageName, pathOf } from './paths.ts';
import { linkPath, portalPages } from './portal.ts';
import { receiver, sendFirstEvent } from './receiver.ts';
import { sharedPages } from './shared-pages.ts';
import { signIn, signInPage } from './sign-in.ts';
import { changeKyc, checkSignature, mintPassport, pay } from './tools/actions.ts';
import { tools } from './tools/page.ts';
import { editEvent, sendEvent } from './trigger.ts';

const at = (name: PageName): string => pathOf('test', name);

/** Makes the routes of the console's pages. Visitors without a session only reach the first page. */
function consolePages(backend: ConsoleBackend, pace: typeof paceOf): ConsolePage[] {
  const assets = pageAssets(backend);
  const guard = createGuard(backend, 'test', assets, pace);
  const { guarded, action } = guard;
  return [
    {
      path: at('home'),
      summary: 'Sandbox console: endpoints and events of a partner in test mode.',
      GET: guarded(home, signInPage),
    },
    {
      path: at('signIn'),
      summary: 'Signs a partner in to the sandbox console with a test key.',
      POST: (request) => signIn(backend, guard, request),
    },
    {
      path: at('trigger'),
      summary: 'Triggers a test event, with data to edit.',
      GET: guarded(editEvent),
      POST: action(sendEvent),
    },
    ...sharedPages('test', guard),
    ...startPages(guard),
    ...toolPages(guard),
    ...assetPages('test', assets),
  ];
}

/** Makes the routes of pages for new partners: inboxes, code of receivers, and sign-in buttons. */
function startPages({ guarded, action }: Guard): ConsolePage[] {
  return [
    {
      path: at('inboxes'),
      summary: 'Registers an inbox of the service as an endpoint in test mode.',
      POST: action(addInbox),
    },
    {
      path: at('inbox'),
      summary: 'The last requests that arrived in an inbox; changes how it responds, or sends it an event.',
      GET: guarded(inbox),
      POST: action(orGone(changeInbox)),
    },
    {
      path: at('inboxRequest'),
      summary: 'A request as it arrived in an inbox: headers, body and the check of its signature.',
      GET: guarded(inboxRequest),
    },
    {
      path: at('receiver'),
      summary: 'Code that receives the events of an endpoint, and whether the first one has arrived.',
      GET: guarded(receiver),
      POST: action(orGone(sendFirstEvent)),
    },
    {
      path: at('button'),
      summary: 'Buttons for signing in with the service, in all languages, and the rules for them.',
      GET: guarded(button),
    },
    {
      path: at('buttonFile'),
      summary: 'A sign-in button as SVG.',
      GET: guarded(buttonFile),
    },
  ];
}

/** Makes the routes of the page "Test tools", and of the button that hides the guide to the first steps. */
function toolPages({ guarded, action }: Guard): ConsolePage[] {
  return [
    {
      path: at('tools'),
      summary: 'Test tools: passports, payments, identity checks and signatures.',
      GET: guarded(tools),
    },
    {
      path: at('passportTool'),
      summary: 'Creates a passport for a sandbox user.',
      POST: action(mintPassport),
    },
    {
      path: at('paymentTool'),
      summary: 'Makes a test payment with a chosen outcome.',
      POST: action(pay),
    },
    {
      path: at('kycTool'),
      summary: 'Changes the identity check of a sandbox user, or resets those that were changed.',
      POST: action(changeKyc),
    },
    {
      path: at('signatureTool'),
      summary: 'Checks that an endpoint verifies signatures.',
      POST: action(checkSignature),
    },
    {
      path: at('firstRun'),
      summary: 'Hides the guided first steps for a session.',
      POST: action(dismissFirstRun),
    },
  ];
}

/** Makes a sandbox console that checks open pages for changes at a given interval. */
export const consoleAt = (pace: typeof paceOf): PartnerConsole => ({
  opensWith: { scope: 'webhooks', testOnly: true },
  pages: (backend) => consolePages(backend, pace),
  portal: { linkPath, pages: (backend) => portalPages(backend, pace) },
});

/**
 * Makes the sandbox console at `{authUrl}/sandbox`, where partners try webhooks in test mode: they register
 * an endpoint, trigger an event, see whether the event was delivered and why not, and send it again. Partners
 * sign in with a test key that has the scope `webhooks`. The portal at `{authUrl}/portal` shows live
 * endpoints, events, requests and payments, without test tools, and opens only with a link from
 * `ostiary.admin.portal`.
 *
 * @example
 * ```ts
 * const ostiary = await createOstiary({ ...options, payments, console: sandboxConsole() });
 * ```
 */
export function sandboxConsole(): PartnerConsole {
  return consoleAt(paceOf);
}
