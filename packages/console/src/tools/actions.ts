import type { ConsoleAnswer } from '@ostiary/core/console';
import { fill, html } from '@ostiary/core/pages';
import { moment } from '../parts.ts';
import { qrCode } from '../qr-code.ts';
import { snippet } from '../snippets.ts';
import { seeOther, type Visit } from '../visit.ts';
import { isChanged } from './kyc.ts';
import { useTool } from './page.ts';
import type { Filled } from './parts.ts';
import { orderOf } from './payment.ts';
import { signatureOutcome } from './signature.ts';

/** Creates a test passport, and shows its token only in this response. */
export function mintPassport(visit: Visit, form: Filled): Promise<ConsoleAnswer> {
  const { api, voice } = visit;
  const { passport: words } = voice.words.tools;
  return useTool(visit, 'passport', form, async () => {
    const expired = form.get('state') === 'expired';
    const body = JSON.stringify({ kid: form.get('kid') ?? '', expired });
    const { token, expiresAt } = await api('createSandboxPassport', { body });
    const what = fill(voice.language, expired ? words.onceExpired : words.once, {
      token: html`<code>token</code>`,
      call: html`<code>POST /v1/partner/verify</code>`,
      error: html`<code>token_expired</code>`,
      time: moment(expiresAt, voice.language),
    });
    const outcome = html`${snippet(voice, words.token, token)}
<p>${what}</p>
${qrCode(token, words.code)}
<p class="small muted">${words.codeUse}</p>`;
    return { outcome };
  });
}

/** Makes a test payment. Sending the same form again does not pay twice. */
export function pay(visit: Visit, form: Filled): Promise<ConsoleAnswer> {
  const { api, urlOf } = visit;
  return useTool(visit, 'payment', form, async () => {
    const body = JSON.stringify(orderOf(form));
    const { id } = await api('createPayment', { body, idempotencyKey: form.get('once') ?? '' });
    return seeOther(urlOf('payment', { id, notice: 'paid' }));
  });
}

/** Changes the identity check of a sandbox user, or resets all users to their original state. */
export function changeKyc(visit: Visit, form: Filled): Promise<ConsoleAnswer> {
  const { api, urlOf } = visit;
  const change = (kid: string, kycStatus: string, once: { readonly idempotencyKey?: string } = {}) =>
    api('changeSandboxKyc', { path: { kid }, body: JSON.stringify({ kycStatus }), ...once });
  return useTool(visit, 'kyc', form, async () => {
    if (form.get('action') === 'reset') {
      const { data: users } = await api('listSandboxUsers');
      for (const { kid, original } of users.filter(isChanged)) await change(kid, original.kycStatus);
      return seeOther(urlOf('tools', { notice: 'kyc_reset' }));
    }
    const { eventId } = await change(form.get('kid') ?? '', form.get('status') ?? '', {
      idempotencyKey: form.get('once') ?? '',
    });
    return seeOther(
      eventId === null
        ? urlOf('tools', { notice: 'kyc_same' })
        : urlOf('event', { id: eventId, notice: 'kyc_changed' }),
    );
  });
}

/** Sends a genuine and a forged event to an endpoint, and explains the endpoint's responses. */
export function checkSignature(visit: Visit, form: Filled): Promise<ConsoleAnswer> {
  return useTool(visit, 'signature', form, async () => {
    const path = { id: form.get('endpoint') ?? '' };
    return { outcome: signatureOutcome(await visit.api('checkWebhookSignature', { path }), visit) };
  });
}
