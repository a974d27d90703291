import type { ConsoleBackend, ConsolePage, PartnerConsole } from '@ostiary/core/console';
import { answer } from './answer.ts';
import { answerAsset } from './assets.ts';
import { button, buttonFile } from './button.ts';
import { changeEndpoint, endpoint } from './endpoint.ts';
import { addEndpoint, editEndpoint, newEndpoint, saveEndpoint } from './endpoint-form.ts';
import { event, redeliver } from './event.ts';
import { dismissFirstRun } from './first-run.ts';
import { orGone } from './gone.ts';
import { createGuard } from './guard.ts';
import { home } from './home.ts';
import { addInbox, changeInbox, inbox, inboxRequest } from './inbox.ts';
import { liveScript } from './live.ts';
import { paceOf } from './live-stream.ts';
import { paths, urlsOf } from './paths.ts';
import { payment } from './payment.ts';
import { receiver, sendFirstEvent } from './receiver.ts';
import { request, requests } from './requests.ts';
import { search } from './search.ts';
import { changeSecret, secret } from './secret.ts';
import { signInPage } from './sign-in.ts';
import { consoleStyle } from './style.ts';
import { changeKyc, checkSignature, mintPassport, pay } from './tools/actions.ts';
import { tools } from './tools/page.ts';
import { editEvent, sendEvent } from './trigger.ts';

/** Makes the routes of the console's pages. Visitors without a session only reach the first page. */
function consolePages(backend: ConsoleBackend, pace: typeof paceOf): ConsolePage[] {
  const urlOf = urlsOf(backend);
  const live = liveScript();
  const style = consoleStyle(backend.theme);
  const assets = {
    script: urlOf('script', { v: live.version }),
    style: urlOf('style', { v: style.version }),
  };
  const { guarded, action, signIn, signOut } = createGuard(backend, urlOf, assets, pace);

  return [
    {
      path: paths.home,
      summary: 'Sandbox console: endpoints and events of a partner in test mode.',
      GET: guarded(home, signInPage),
    },
    {
      path: paths.signIn,
      summary: 'Signs a partner in to the sandbox console with a test key.',
      POST: signIn,
    },
    {
      path: paths.signOut,
      summary: 'Signs a partner out of the sandbox console.',
      POST: signOut,
    },
    {
      path: paths.trigger,
      summary: 'Triggers a test event, with data to edit.',
      GET: guarded(editEvent),
      POST: action(sendEvent),
    },
    {
      path: paths.event,
      summary: 'An event, and its deliveries with every attempt.',
      GET: guarded(event),
    },
    {
      path: paths.redeliver,
      summary: 'Delivers an event again.',
      POST: action(redeliver),
    },
    {
      path: paths.answer,
      summary: 'The response of an endpoint to a delivery attempt.',
      GET: guarded(answer),
    },
    {
      path: paths.endpoints,
      summary: 'Registers a webhook endpoint in test mode.',
      GET: guarded(newEndpoint),
      POST: action(addEndpoint),
    },
    {
      path: paths.endpoint,
      summary: 'A webhook endpoint, and the deliveries to it; enables, disables, recovers or removes it.',
      GET: guarded(endpoint),
      POST: action(orGone(changeEndpoint)),
    },
    {
      path: paths.search,
      summary: 'Finds an event, a delivery, an endpoint, a payment or a request of the partner.',
      GET: guarded(search),
    },
    {
      path: paths.requests,
      summary: 'The last requests of the partner’s test keys.',
      GET: guarded(requests),
    },
    {
      path: paths.request,
      summary: 'A request: when it came, how it ended, what was sent and answered.',
      GET: guarded(request),
    },
    {
      path: paths.script,
      summary: 'The script that keeps the pages up to date.',
      GET: async () => answerAsset(live, 'public'),
    },
    {
      path: paths.style,
      summary: 'The style sheet of the pages.',
      GET: async () => answerAsset(style, 'public'),
    },
    {
      path: paths.editEndpoint,
      summary: 'Changes the URL and the event types of a webhook endpoint.',
      GET: guarded(editEndpoint),
      POST: action(orGone(saveEndpoint)),
    },
    {
      path: paths.secret,
      summary:
        'Changes the secret of a webhook endpoint: to a generated one, or to one of the partner’s own.',
      GET: guarded(secret),
      POST: action(orGone(changeSecret)),
    },
    ...startPages({ guarded, action }),
    ...toolPages({ guarded, action }),
  ];
}

/** Makes the routes of pages for new partners: inboxes, code of receivers, and sign-in buttons. */
function startPages({
  guarded,
  action,
}: Pick<ReturnType<typeof createGuard>, 'guarded' | 'action'>): ConsolePage[] {
  return [
    {
      path: paths.inboxes,
      summary: 'Registers an inbox of the service as an endpoint in test mode.',
      POST: action(addInbox),
    },
    {
      path: paths.inbox,
      summary: 'The last requests that arrived in an inbox; changes how it responds, or sends it an event.',
      GET: guarded(inbox),
      POST: action(orGone(changeInbox)),
    },
    {
      path: paths.inboxRequest,
      summary: 'A request as it arrived in an inbox: headers, body and the check of its signature.',
      GET: guarded(inboxRequest),
    },
    {
      path: paths.receiver,
      summary: 'Code that receives the events of an endpoint, and whether the first one has arrived.',
      GET: guarded(receiver),
      POST: action(orGone(sendFirstEvent)),
    },
    {
      path: paths.button,
      summary: 'Buttons for signing in with the service, in all languages, and the rules for them.',
      GET: guarded(button),
    },
    {
      path: paths.buttonFile,
      summary: 'A sign-in button as SVG.',
      GET: guarded(buttonFile),
    },
  ];
}

/** Makes the routes of the page "Test tools". */
function toolPages({
  guarded,
  action,
}: Pick<ReturnType<typeof createGuard>, 'guarded' | 'action'>): ConsolePage[] {
  return [
    {
      path: paths.tools,
      summary: 'Test tools: passports, payments, identity checks and signatures.',
      GET: guarded(tools),
    },
    {
      path: paths.passportTool,
      summary: 'Creates a passport for a sandbox user.',
      POST: action(mintPassport),
    },
    {
      path: paths.paymentTool,
      summary: 'Makes a test payment with a chosen outcome.',
      POST: action(pay),
    },
    {
      path: paths.kycTool,
      summary: 'Changes the identity check of a sandbox user, or resets those that were changed.',
      POST: action(changeKyc),
    },
    {
      path: paths.signatureTool,
      summary: 'Checks that an endpoint verifies signatures.',
      POST: action(checkSignature),
    },
    {
      path: paths.payment,
      summary: 'A test payment: its state, and its event.',
      GET: guarded(payment),
    },
    {
      path: paths.firstRun,
      summary: 'Hides the guided first steps for a session.',
      POST: action(dismissFirstRun),
    },
  ];
}

/** Makes a sandbox console that checks open pages for changes at a given interval. */
export const consoleAt = (pace: typeof paceOf): PartnerConsole => ({
  opensWith: { scope: 'webhooks', testOnly: true },
  pages: (backend) => consolePages(backend, pace),
});

/**
 * Makes the sandbox console at `{authUrl}/sandbox`, where partners try webhooks in test mode: register an
 * endpoint, trigger an event, see whether it was delivered and why not, and send it again. Partners sign in
 * with a test key that has the scope `webhooks`.
 *
 * @example
 * ```ts
 * const ostiary = await createOstiary({ ...options, payments, console: sandboxConsole() });
 * ```
 */
export function sandboxConsole(): PartnerConsole {
  return consoleAt(paceOf);
}
