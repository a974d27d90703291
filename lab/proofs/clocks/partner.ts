import { createHash, randomBytes } from 'node:crypto';
import { type Installation, limit, type Running, sub, user } from './installation.ts';
import type { Outside } from './outside.ts';
import type { World } from './world.ts';

const [second, minute] = [1_000, 60_000];
const passportMs = 5 * minute;
const tokenMs = 60 * minute;
/** Time after its expiry for which a token is stored. */
const storedMs = 24 * 60 * minute;

/** A passport or an access token, with its expiry. */
interface Issued {
  readonly kind: 'passport' | 'token';
  readonly text: string;
  readonly expiresAt: number;
  readonly lengthMs: number;
}

/** Checks whether a full window may go on: a clock that was set back by less than a window reaches its end later. */
const mayGoOn = (end: number, now: number): boolean => end > now && end - now <= limit.windowMs;

/**
 * Simulates a partner that pays, reaches a limit, and presents passports and access tokens. Wrong responses
 * are recorded.
 */
export function createPartner({ world }: World, outside: Outside, { call, clientId }: Installation) {
  const problems = { limits: [] as string[], tokens: [] as string[] };
  const done = { probes: 0, checks: 0 };
  let issued: Issued[] = [];
  /** Tokens that a worker may have removed, because a clock was far ahead. */
  const removed = new Set<string>();
  let fullSince: number | null = null;
  /** Ends of the last full windows, by the clock of the process that filled each of them. */
  let fullEnds: number[] = [];
  const random = outside.random;

  async function pay(process: Running): Promise<void> {
    const payment = { amount: '1.00', currency: 'HTG', recipient: { kid: user.kid } };
    const answer = await call(process, 'POST', 'payments', payment);
    if (answer.status !== 201) throw new Error(`a payment was answered with ${answer.status}`);
    const { id } = (await answer.json()) as { readonly id: string };
    outside.paid(id);
  }

  /** Uses up the rate limit, or checks that the limit allows requests again in time. */
  async function probe(process: Running): Promise<void> {
    done.probes += 1;
    const { status } = await call(process, 'GET', `users/${user.kid}`);
    if (status !== 429) {
      for (let count = 1; count < limit.requests; count += 1) await call(process, 'GET', `users/${user.kid}`);
      if ((await call(process, 'GET', `users/${user.kid}`)).status === 429) {
        fullSince = world.real;
        fullEnds = [...fullEnds.slice(-9), process.ostiary.now() + limit.windowMs];
      }
      return;
    }
    // Each change of a clock may start a new window, in each process at the time when it follows the change.
    const since = Math.max(fullSince ?? world.real, world.disturbedAt);
    const isOver = !fullEnds.some((end) => mayGoOn(end, process.ostiary.now()));
    if (isOver && world.real - since > limit.windowMs + 25 * second)
      problems.limits.push(`it has been closed for ${world.real - since} ms`);
  }

  async function issue(process: Running): Promise<void> {
    const { token, expiresAt } = await process.ostiary.passports.issue(sub);
    issued.push({ kind: 'passport', text: token, expiresAt: expiresAt.getTime(), lengthMs: passportMs });
    const now = process.ostiary.now();
    const { storage } = process;
    const text = `svc_at_${randomBytes(32).toString('base64url')}`;
    const digest = (value: string) => createHash('sha256').update(value).digest();
    const scopes = ['openid', 'profile'];
    await storage.consents.remember({ sub, clientId, scopes, now });
    const codeDigest = digest(`code ${text}`);
    await storage.grants.issue({
      ...{ codeDigest, clientId, sub, scopes, redirectUri: 'https://app.example/cb', codeChallenge: null },
      resources: null,
      ...{ nonce: null, dpopJkt: null, sid: 'a session', idTokenDetails: null, authenticatedAt: now },
      ...{ issuedAt: now, expiresAt: now + 10 * minute },
    });
    await storage.grants.redeem({
      ...{ codeDigest, refreshToken: null, maxFailedVerifiers: 5, now },
      token: {
        ...{ digest: digest(text), issuedAt: now, expiresAt: now + tokenMs },
        ...{ scopes: null, resources: null, dpopJkt: null },
      },
    });
    issued.push({ kind: 'token', text, expiresAt: now + tokenMs, lengthMs: tokenMs });
    issued = issued.slice(-40);
  }

  /** Marks the tokens that the worker of a process may remove now. */
  function expire(process: Running): void {
    const now = process.ostiary.now();
    for (const { kind, text, expiresAt } of issued)
      if (kind === 'token' && now > expiresAt + storedMs) removed.add(text);
  }

  /**
   * Presents a credential. By the process's clock, the credential must be accepted before its expiry and
   * refused afterwards. A passport from more than five seconds in the future must be refused, too. A token that may be
   * removed is only refused for certain after its expiry.
   */
  async function check(process: Running): Promise<void> {
    const one = issued[Math.floor(random() * issued.length)];
    if (one === undefined) return;
    done.checks += 1;
    const now = process.ostiary.now();
    const works =
      one.kind === 'token'
        ? (await process.ostiary.tokens.verify(one.text)).active
        : (await call(process, 'POST', 'verify', { token: one.text })).status === 200;
    const leftMs = one.expiresAt - now;
    const isFromAhead = one.kind === 'passport' && leftMs > one.lengthMs + 5 * second;
    const isBeforeEnd = leftMs > 0 || (leftMs === 0 && one.kind === 'passport');
    if (!works && removed.has(one.text)) return;
    if (works !== (isBeforeEnd && !isFromAhead))
      problems.tokens.push(`a ${one.kind} ${works ? 'works' : 'is refused'} ${leftMs} ms before its end`);
  }

  return { pay, probe, issue, expire, check, problems, done };
}
