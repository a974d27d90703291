import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorRole } from '@ostiary/core';
import { Secret, TOTP } from 'otpauth';
import { environment, start } from './server.ts';
import { fieldsOf, Visitor } from './visitor.ts';

export const password = 'a long enough password';

/** Returns the code of an authenticator app for the secret that the page shows. */
export const codeOf = (secret: string, at: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 }).generate({
    timestamp: at,
  });

/** Starts a server with pages for operators, and a clock that the test controls. */
export async function startForStaff(changes: NodeJS.ProcessEnv = {}) {
  let time = Date.now();
  const env = await environment({ OSTIARY_OPERATORS: 'on', ...changes });
  /** Returns the time of the test's clock, which advances with each use, so that acts have an order. */
  function nextMillisecond(): number {
    time += 1;
    return time;
  }
  const server = await start(env, { now: nextMillisecond });
  const origin = `http://localhost:${server.port}`;
  return {
    ...{ env, server, origin },
    now: () => time,
    advance(ms: number): void {
      time += ms;
    },
    /** Invites a staff member; returns the path of the invitation link. */
    async invite(email: string, role: OperatorRole): Promise<string> {
      const { token } = await server.installation.staff.invite(email, role);
      return `/staff/join?link=${token}`;
    },
    /** Returns the entries of the audit log, oldest first: actor, role, action. */
    async acts(): Promise<string[]> {
      const { entries } = await server.installation.admin.audit.list();
      return entries.map(({ actor, role, action }) => `${actor} ${role} ${action}`).reverse();
    },
  };
}

export type ForStaff = Awaited<ReturnType<typeof startForStaff>>;

/** Joins with a password and an app; returns the browser, the app's secret and the recovery codes. */
export async function joined(kit: ForStaff, email: string, role: OperatorRole) {
  const link = await kit.invite(email, role);
  const browser = new Visitor(kit.origin);
  const page = await browser.get(link);
  const secret = /class="token">([A-Z2-7]+)</.exec(page.html)?.[1] ?? '';
  const code = codeOf(secret, kit.now());
  const answer = await browser.post('/staff/join', { ...fieldsOf(page.html), password, code });
  const recovery = [...answer.html.matchAll(/<li><code>([^<]+)</g)].map(([, one = '']) => one);
  return { browser, link, secret, code, recovery, answer };
}

/** Signs in on the staff's page. Tries again if the server is too busy. */
export async function staffSignIn(
  browser: Visitor,
  given: { readonly email: string; readonly code: string; readonly password?: string },
  query = '',
) {
  for (let attempt = 1; ; attempt += 1) {
    const page = await browser.get(`/staff/login${query}`);
    const answer = await browser.post('/staff/login', { ...fieldsOf(page.html), password, ...given });
    if (answer.status !== 503 || attempt === 5) return answer;
    await delay(100);
  }
}

/** Returns the fields of the form that posts to this URL. */
export function formOf(html: string, action: string): Record<string, string> {
  const form = html.split('<form').find((part) => part.includes(`action="${action}"`)) ?? '';
  return fieldsOf(form.split('</form>')[0] ?? '');
}

/** Returns the CSRF token in the first form of an operators' page, skipping forms without a token. */
export const csrfOf = (html: string): string => /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? '';
