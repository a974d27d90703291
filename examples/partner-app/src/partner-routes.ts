import type Router from '@koa/router';
import { OstiaryError, OstiaryPartner } from '@ostiary/client-sdk';
import { readForm } from '@ostiary/web-kit';
import type { Context } from 'koa';
import type { PartnerConfig } from './config.ts';
import { cashbackAmounts } from './pages/cashback.ts';
import { verifyPage } from './pages/verify-page.ts';
import type { Notice, PartnerSession } from './sessions.ts';
import type { Transfer, Transfers } from './transfers.ts';

/** What these routes need of the app around them. */
export interface Surroundings {
  readonly sessionOf: (ctx: Context) => PartnerSession | null;
  readonly show: (ctx: Context, html: string, status?: number) => void;
  readonly goHome: (ctx: Context) => void;
  readonly transfers: Transfers;
}

/** A session remembers only so many. */
const shownTransfers = 5;

function problem(error: unknown): Notice {
  if (!(error instanceof OstiaryError)) throw error;
  return { kind: 'bad', text: `The partner API answered ${error.code}: ${error.message}` };
}

/** The customer's public id, once they signed in and shared it. */
export function kidOf(session: PartnerSession | null): string | null {
  const kid = session?.signedIn?.identity.kid;
  return typeof kid === 'string' ? kid : null;
}

/** The payments of a session, as far as the shop knows by now. */
export function paymentsOf(session: PartnerSession | null, transfers: Transfers): readonly Transfer[] {
  return (session?.transfers ?? []).flatMap((id) => transfers.get(id) ?? []);
}

/** What the shop does with its API key: it pays the customer, and verifies passports. */
export function addPartnerRoutes(router: Router, config: PartnerConfig, surroundings: Surroundings): void {
  const { sessionOf, show, goHome, transfers } = surroundings;
  const api =
    config.partnerApi === null
      ? null
      : new OstiaryPartner({
          apiKey: config.partnerApi.key,
          signingSecret: config.partnerApi.signingSecret,
          baseUrl: config.provider.baseUrl,
          // Somebody is waiting for a page.
          timeout: 10_000,
          totalTimeout: 15_000,
        });

  function keep(session: PartnerSession, transfer: Transfer): void {
    transfers.remember(transfer);
    const others = session.transfers.filter((id) => id !== transfer.id);
    session.transfers = [transfer.id, ...others].slice(0, shownTransfers);
  }

  router.post('/cashback', async (ctx) => {
    const form = await readForm(ctx.req);
    const session = sessionOf(ctx);
    const kid = kidOf(session);
    if (session !== null && kid !== null && api !== null) {
      const amount = cashbackAmounts.find((candidate) => candidate === form.get('amount'));
      const idempotencyKey = form.get('idempotency_key') ?? '';
      if (amount === undefined || !/^cashback-[\w-]{24}$/.test(idempotencyKey)) {
        session.notice = { kind: 'bad', text: 'Please choose an amount.' };
        return goHome(ctx);
      }
      try {
        // The recipient is who signed in, never what a form says.
        const payment = {
          amount,
          currency: 'HTG',
          recipient: { kid },
          description: 'Cashback',
          // It stands in the signed body, and is good for one payment for ever: who sends the body again pays nothing.
          reference: idempotencyKey,
        } as const;
        keep(session, await api.payments.create(payment, { idempotencyKey }));
        session.notice = { kind: 'good', text: `${amount} HTG are on their way to you.` };
      } catch (error) {
        const { kind, text } = problem(error);
        const isUnknown = error instanceof OstiaryError && error.outcome !== 'not_executed';
        session.notice = { kind, text: isUnknown ? `${text}. It may have been paid all the same.` : text };
      }
    }
    goHome(ctx);
  });

  router.post('/cashback/refresh', async (ctx) => {
    const form = await readForm(ctx.req);
    const session = sessionOf(ctx);
    const known = session?.transfers.find((id) => id === form.get('id'));
    if (session !== null && known !== undefined && api !== null) {
      try {
        const transfer = await api.payments.retrieve(known);
        transfers.remember(transfer);
        session.notice = {
          kind: transfer.status === 'failed' ? 'bad' : 'good',
          text: `The payment is ${transfer.status}.`,
        };
      } catch (error) {
        session.notice = problem(error);
      }
    }
    goHome(ctx);
  });

  router.get('/verify', (ctx) => show(ctx, verifyPage(config, { verification: null, notice: null })));

  // The passport stands in the body of the request and nowhere else: not in an address, a session, or a log.
  router.post('/verify', async (ctx) => {
    const token = ((await readForm(ctx.req)).get('token') ?? '').trim();
    if (api === null) return show(ctx, verifyPage(config, { verification: null, notice: null }));
    try {
      show(ctx, verifyPage(config, { verification: await api.passports.verify({ token }), notice: null }));
    } catch (error) {
      show(ctx, verifyPage(config, { verification: null, notice: problem(error) }), 422);
    }
  });
}
