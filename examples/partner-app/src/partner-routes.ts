import type Router from '@koa/router';
import { OstiaryError, OstiaryPartner } from '@ostiary/client-sdk';
import { fillText, readForm, seeOther } from '@ostiary/web-kit';
import { type PartnerConfig, patience } from './config.ts';
import { show } from './http.ts';
import { cashbackAmounts, paymentsPart, statusIn } from './pages/cashback.ts';
import { verifyPage } from './pages/verify-page.ts';
import { english, type Words, wordsFor } from './pages/words.ts';
import type { Notice, Session, Sessions } from './sessions.ts';
import type { Transfer, Transfers } from './transfers.ts';

/** Maximum number of payments that a customer's session remembers. */
const shownTransfers = 5;

function problem(words: Words, error: unknown): Notice {
  if (!(error instanceof OstiaryError)) throw error;
  const { code, message } = error;
  return { kind: 'bad', text: fillText(words.language, words.partnerAnswered, { code, message }) };
}

/** Returns the payments in a customer's session, each in the latest state that the shop knows. */
export function paymentsOf(session: Session | null, transfers: Transfers): readonly Transfer[] {
  return (session?.transfers ?? []).flatMap((id) => transfers.get(id) ?? []);
}

/** Makes the client of the partner API, or returns `null` for a shop without a key. */
function partnerOf({ partnerApi, provider }: PartnerConfig): OstiaryPartner | null {
  return (
    partnerApi &&
    new OstiaryPartner({
      apiKey: partnerApi.key,
      signingSecret: partnerApi.signingSecret,
      baseUrl: provider.baseUrl,
      ...patience,
    })
  );
}

/** Pays a customer, only once per form. Returns the message for the customer. */
async function pay(
  words: Words,
  api: OstiaryPartner,
  form: URLSearchParams,
  kid: string,
  keep: (transfer: Transfer) => void,
): Promise<Notice> {
  const amount = cashbackAmounts.find((candidate) => candidate === form.get('amount'));
  const idempotencyKey = form.get('idempotency_key') ?? '';
  if (amount === undefined || !/^cashback-[\w-]{24}$/.test(idempotencyKey)) {
    return { kind: 'bad', text: words.chooseAmount };
  }
  try {
    const payment = {
      amount,
      currency: 'HTG',
      // The recipient is the signed-in user, never a value of the form.
      recipient: { kid },
      description: 'Cashback',
      // The reference is part of the signed body and valid for one payment for ever, so replaying the body
      // pays nothing.
      reference: idempotencyKey,
    } as const;
    keep(await api.payments.create(payment, { idempotencyKey }));
    return { kind: 'good', text: fillText(words.language, words.onTheWay, { amount }) };
  } catch (error) {
    const notice = problem(words, error);
    const isUnknown = error instanceof OstiaryError && error.outcome !== 'not_executed';
    return isUnknown
      ? { ...notice, text: fillText(words.language, words.maybePaid, { problem: notice.text }) }
      : notice;
  }
}

/** Adds the routes that use the API key: paying the customer, and verifying passports. */
export function addPartnerRoutes(
  router: Router,
  config: PartnerConfig,
  sessions: Sessions,
  transfers: Transfers,
): void {
  const api = partnerOf(config);

  router.post('/cashback', async (ctx) => {
    const form = await readForm(ctx.req);
    const session = sessions.of(ctx);
    const kid = session?.signedIn?.identity.kid;
    if (session !== null && kid !== undefined && api !== null) {
      session.notice = await pay(wordsFor(ctx), api, form, kid, (transfer) => {
        transfers.remember(transfer);
        const others = session.transfers.filter((id) => id !== transfer.id);
        session.transfers = [transfer.id, ...others].slice(0, shownTransfers);
      });
    }
    seeOther(ctx, '/');
  });

  // HTML fragment for `live.js`; without payments after the customer has signed out.
  router.get('/cashback/payments', (ctx) =>
    show(ctx, paymentsPart(wordsFor(ctx), paymentsOf(sessions.of(ctx), transfers))),
  );

  router.post('/cashback/refresh', async (ctx) => {
    const form = await readForm(ctx.req);
    const session = sessions.of(ctx);
    const words = wordsFor(ctx);
    const known = session?.transfers.find((id) => id === form.get('id'));
    if (session !== null && known !== undefined && api !== null) {
      try {
        const transfer = await api.payments.retrieve(known);
        transfers.remember(transfer);
        const kind = transfer.status === 'failed' ? 'bad' : 'good';
        session.notice = {
          kind,
          text: fillText(words.language, words.paymentIs, { status: statusIn(words, transfer.status) }),
        };
      } catch (error) {
        session.notice = problem(words, error);
      }
    }
    seeOther(ctx, '/');
  });

  const nothing = { verification: null, notice: null };
  router.get('/verify', (ctx) => show(ctx, verifyPage(config, nothing)));

  // The passport is only in the body of the request, never in a URL, a session or a log.
  router.post('/verify', async (ctx) => {
    const token = ((await readForm(ctx.req)).get('token') ?? '').trim();
    if (api === null) return show(ctx, verifyPage(config, nothing));
    try {
      const verification = await api.passports.verify({ token });
      show(ctx, verifyPage(config, { ...nothing, verification }));
    } catch (error) {
      show(ctx, verifyPage(config, { ...nothing, notice: problem(english, error) }), 422);
    }
  });
}
