import { readForm, seeOther } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { allowScript } from '../http/headers.ts';
import { languageOf } from '../pages/layout.ts';
import { joinPage, linkOverPage, recoveryPage } from '../pages/staff-pages.ts';
import { texts } from '../pages/texts.ts';
import { passwordSchema } from '../users/input.ts';
import type { StaffContext } from './context.ts';
import { StaffError, type StaffLink } from './members.ts';
import { enrolment } from './one-time-codes.ts';

/** Makes the handlers of the pages on which an invited person sets up a sign-in. */
export function createJoinRoutes(context: StaffContext) {
  const { authUrl, name, branding, csrf, staff, forms, passkeys, secretOf, start, record } = context;

  function showOver(ctx: Context): void {
    ctx.status = 410;
    ctx.type = 'html';
    ctx.body = linkOverPage(branding, languageOf(branding, ctx));
  }

  async function show(ctx: Context, link: StaffLink, problem: string | null, status: number): Promise<void> {
    const cookie = forms.begin(ctx);
    allowScript(ctx);
    ctx.status = status;
    ctx.type = 'html';
    ctx.body = joinPage(branding, languageOf(branding, ctx), {
      csrf: csrf.token(cookie, 'staff-join', null),
      ...{ token: link.token, member: link.member, problem },
      totp: enrolment(secretOf(link), name, link.member.email),
      passkeyOptions: await passkeys.registration(link.member, [], cookie),
    });
  }

  /**
   * Reads a posted form of the invitation page. Responds and returns `null` if the link is no longer valid,
   * or the form is not genuine.
   */
  async function opened(ctx: Context) {
    const form = await readForm(ctx.req);
    const link = await staff.findLink(form.get('link') ?? '');
    if (link === null) {
      showOver(ctx);
      return null;
    }
    const cookie = forms.genuine(ctx, form, 'staff-join', null);
    if (cookie !== null) return { form, link, cookie };
    await show(ctx, link, texts[languageOf(branding, ctx)].stale, 403);
    return null;
  }

  /**
   * Runs a change that uses up an invitation link. Responds and returns `null` if another request was first,
   * or the passkey is registered already.
   */
  async function once<Result>(ctx: Context, change: () => Promise<Result>): Promise<Result | null> {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof StaffError)) throw error;
      showOver(ctx);
      return null;
    }
  }

  return {
    async showJoin(ctx: Context): Promise<void> {
      const link = await staff.findLink(new URLSearchParams(ctx.querystring).get('link') ?? '');
      if (link === null) showOver(ctx);
      else await show(ctx, link, null, 200);
    },

    async joinWithPassword(ctx: Context): Promise<void> {
      const given = await opened(ctx);
      if (given === null) return;
      const { form, link } = given;
      const { staff: t } = texts[languageOf(branding, ctx)];
      const password = passwordSchema.safeParse(form.get('password') ?? '');
      if (!password.success) return show(ctx, link, t.passwordRule, 422);
      const totp = { secret: secretOf(link), code: form.get('code') ?? '' };
      const codes = await once(ctx, async () => ({
        list: await staff.setPassword(link, password.data, totp),
      }));
      if (codes === null) return;
      if (codes.list === null) return show(ctx, link, t.wrongCode, 422);
      await record(link.member, 'staff.join', { how: 'password' });
      await start(ctx, link.member, 'password');
      ctx.type = 'html';
      ctx.body = recoveryPage(branding, languageOf(branding, ctx), codes.list);
    },

    async joinWithPasskey(ctx: Context): Promise<void> {
      const given = await opened(ctx);
      if (given === null) return;
      const { form, link, cookie } = given;
      const passkey = await passkeys.verifyRegistration(form.get('credential') ?? '', cookie);
      const { staff: t } = texts[languageOf(branding, ctx)];
      if (passkey === null) return show(ctx, link, t.passkeyFailed, 422);
      const added = await once(ctx, async () => {
        await staff.addPasskey(link.member.id, passkey, link);
        return true;
      });
      if (added === null) return;
      await record(link.member, 'staff.join', { how: 'passkey' });
      await start(ctx, link.member, 'passkey');
      seeOther(ctx, `${authUrl}/operators`);
    },
  };
}
