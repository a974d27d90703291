import { randomUUID } from 'node:crypto';
import { type Html, html } from '@ostiary/core/pages';
import { formOf, type Problems } from '../forms.ts';
import { csrfField } from '../frame.ts';
import { choiceField } from '../parts.ts';
import type { Visit } from '../visit.ts';
import type { Words } from '../words.ts';
import { type ToolsData, userOptions } from './data.ts';
import { type Filled, missingScopes, refusal, toolCall, toolPanel, type Used } from './parts.ts';

/** Cents of an amount by the outcome that they cause for a sandbox payment. */
const cents = { completed: '00', failed: '01', pending: '02' } as const;

const isOutcome = (name: string): name is keyof typeof cents => Object.hasOwn(cents, name);

const currencies = ['HTG', 'USD'].map((name) => [name, name] as const);

/** Converts the form of the payment tool to the request body of a payment. */
export function orderOf(form: Filled) {
  const outcome = form.get('outcome') ?? 'completed';
  const reference = (form.get('reference') ?? '').trim();
  return {
    amount: `${(form.get('amount') ?? '').trim()}.${isOutcome(outcome) ? cents[outcome] : outcome}`,
    currency: form.get('currency') ?? '',
    recipient: { kid: form.get('kid') ?? '' },
    ...(reference === '' ? {} : { reference }),
  };
}

/** Fields of the payment form into which text is typed. */
const typed = ['amount', 'reference'];

/**
 * Returns the API's problems with the typed fields of the payment form. The message about the amount is
 * replaced, because it refers to the amount with the cents that the tool added.
 */
function wrongOf({ problem }: Used, { amountWrong }: Words['tools']['payment']): Problems {
  const details = (problem?.details ?? []).filter(({ path }) => typed.includes(path));
  return new Map(details.map(({ path, message }) => [path, [path === 'amount' ? amountWrong : message]]));
}

const line = (value = '', maximum: number): Html =>
  html`<input value="${value.slice(0, maximum)}" maxlength="${maximum}" spellcheck="false" autocapitalize="none"`;

/** Shows the test tool that makes payments with a chosen outcome. */
export function paymentPanel(visit: Visit, { scopes, users }: ToolsData, used: Used): Html {
  const { urlOf, voice } = visit;
  const { payment: words, user } = voice.words.tools;
  const { filled } = used;
  const kid = filled.get('kid') ?? users[0]?.kid ?? '';
  const currency = filled.get('currency') ?? 'HTG';
  const shown = new Map([['amount', '125'], ['kid', kid], ['currency', currency], ...filled]);
  const fields = formOf({ amount: words.amount, reference: words.reference }, wrongOf(used, words), '');
  const select = (given: Omit<Parameters<typeof choiceField>[0], 'id'>) =>
    choiceField({ ...given, id: `payment-${given.name}` });
  return toolPanel(voice, {
    name: 'payment',
    lacks: missingScopes(['payments:write', 'payments:read'], scopes),
    used,
    refused: refusal(used, voice.words, typed),
    // `once` is the idempotency key: a form pays once, however often it is sent.
    form: html`<form class="form" method="post" action="${urlOf('paymentTool')}">${csrfField(visit)}<input type="hidden" name="once" value="${randomUUID()}">
${select({ name: 'outcome', label: words.outcome, options: Object.entries(words.outcomes), chosen: filled.get('outcome') ?? 'completed' })}
${fields.field({ name: 'amount', tag: line(shown.get('amount'), 15), hint: words.amountHint })}
${select({ name: 'currency', label: words.currency, options: currencies, chosen: currency })}
${select({ name: 'kid', label: user, options: userOptions(users), chosen: kid })}
${fields.field({ name: 'reference', tag: line(shown.get('reference'), 100), hint: words.referenceHint })}
<div class="row"><button class="primary">${words.pay}</button></div></form>`,
    call: toolCall(visit, 'payment', {
      operation: 'createPayment',
      id: null,
      body: orderOf(shown),
    }),
  });
}
