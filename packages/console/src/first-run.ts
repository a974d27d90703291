import { createHash } from 'node:crypto';
import type { ConsoleAnswer, FirstRun } from '@ostiary/core/console';
import { type Html, html, icons } from '@ostiary/core/pages';
import { csrfField } from './frame.ts';
import { type ApiCall, apiSnippets } from './snippets.ts';
import { seeOther, type Visit } from './visit.ts';

/**
 * Partner API calls that complete the first steps of a new partner, to be shown as code; `null` for a step
 * that needs the console.
 */
const calls: { readonly [step in keyof FirstRun]: Omit<ApiCall, 'id'> | null } = {
  endpoint: {
    operation: 'createWebhook',
    body: { url: 'https://…', events: ['*'], secret: '…' },
  },
  event: { operation: 'createSandboxEvent', body: { type: 'webhook.test' } },
  signature: null,
  payment: {
    operation: 'createPayment',
    body: { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } },
  },
};

const order = ['endpoint', 'event', 'signature', 'payment'] as const;

/**
 * Makes the cookie that hides the guide to the first steps for one session. It has no effect in another
 * session.
 */
function dismissal({ backend, urlOf }: Visit, session: string) {
  const { protocol, pathname } = new URL(urlOf('home'));
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Secure-' : ''}${backend.prefix}_sandbox_steps`;
  const value = createHash('sha256').update(`first steps ${session}`).digest('base64url').slice(0, 16);
  const pair = `${name}=${value}`;
  return {
    pair,
    cookie: `${pair}; Path=${pathname}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`,
  };
}

function stepItem(name: keyof FirstRun, isDone: boolean, visit: Visit): Html {
  const { backend, urlOf, voice } = visit;
  const { tools, firstRun: words } = voice.words;
  const addresses = {
    endpoint: urlOf('endpoints'),
    event: `${urlOf('home')}#trigger`,
    signature: `${urlOf('tools')}#signature`,
    payment: `${urlOf('tools')}#payment`,
  };
  const { title, go } = words[name];
  const call = calls[name];
  const todo = html`<p><a href="${addresses[name]}">${go}</a></p>
${call === null ? null : apiSnippets(backend, voice, { id: `step-${name}-call`, title: tools.call, about: title, call: { id: null, ...call } })}`;
  return html`<li id="step-${name}"><span class="tick ${isDone ? 'done' : ''}" aria-hidden="true">${isDone ? icons.check : order.indexOf(name) + 1}</span><div><p><span class="hidden">${isDone ? words.done : words.open}</span> <strong>${title}</strong></p>${isDone ? null : todo}</div></li>`;
}

/**
 * Shows the guide to the first steps, with a tick at each step that the partner has done. Returns `null` once
 * the guide was hidden in this session, and an empty region once all steps are done.
 */
export async function firstRun(visit: Visit, session: string): Promise<Html | null> {
  const { api, request, urlOf, voice } = visit;
  const { firstRun: words } = voice.words;
  const cookies = (request.raw.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  if (cookies.includes(dismissal(visit, session).pair)) return null;
  const steps = await api('getFirstRun');
  const isOver = order.every((name) => steps[name]);
  // Keep the region, so that an open page removes the guide after the last step.
  const inner = isOver
    ? null
    : html`<section class="panel" aria-labelledby="first-run-title"><div class="head"><h2 id="first-run-title">${words.title}</h2>
<form method="post" action="${urlOf('firstRun')}">${csrfField(visit)}<button class="compact">${words.dismiss}</button></form></div>
<p class="small muted">${words.intro}</p>
<ol class="steps">${order.map((name) => stepItem(name, steps[name], visit))}</ol></section>`;
  return html`<div class="across live-part" id="first-run" data-live>${inner}</div>`;
}

/** Hides the guide to the first steps until the next sign-in. */
export async function dismissFirstRun(
  visit: Visit,
  _form: ReadonlyMap<string, string>,
  session: string,
): Promise<ConsoleAnswer> {
  return seeOther(visit.urlOf('home'), { 'Set-Cookie': dismissal(visit, session).cookie });
}
