import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Browser } from '../../../examples/demo/src/walkthrough/browser.ts';
import { freePort } from '../../../lab/support/free-port.ts';
import { installBuilt } from '../../../lab/support/packages/install-built.ts';
import { start } from '../../../lab/support/shell.ts';
import { appFiles } from '../src/app.ts';
import { writeFiles } from '../src/folder.ts';

const redirectUri = 'http://localhost:4000/callback';

// Polling more often would reach the limit of new sign-ins per IP address.
const unhurried = { interval: 1_000 };

/**
 * Creates a Next.js app in this package's folder, whose development dependencies include those of the app.
 */
async function installedApp(): Promise<string> {
  const folder = resolve(import.meta.dirname, `../.data/next-dev-${process.pid}`);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(
    folder,
    appFiles({ folder, framework: 'next', storage: 'sqlite', languages: ['en'], mcp: false }),
  );
  for (const name of ['core', 'adapter-sqlite']) await installBuilt(name, folder);
  return folder;
}

/** Starts `next dev` as the README of an app says, and returns its origin once the login page responds. */
async function startedForWriting(folder: string): Promise<string> {
  const port = await freePort();
  const server = start(folder, 'npm run dev', { PORT: String(port), NODE_ENV: 'development' });
  onTestFinished(() => server.stop());
  const origin = `http://localhost:${port}`;
  for (; !server.hasEnded(); await pause(50))
    if ((await fetch(`${origin}/login`).catch(() => null))?.ok) return origin;
  throw new Error(`next dev ended: ${server.said()}`);
}

/** Replaces a text that occurs once in a file, as if edited during development. */
function edit(file: string, from: string, to: string): void {
  const [before, after, ...more] = readFileSync(file, 'utf8').split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file} has ${from} not once`);
  writeFileSync(file, `${before}${to}${after}`);
}

it('takes edits of the login while `next dev` runs, on the page and in a sign-in of an app', async () => {
  const folder = await installedApp();
  const origin = await startedForWriting(folder);
  const browser = new Browser();
  const isEnd = (location: string) => location.startsWith(redirectUri);
  /**
   * Signs in with the demo client, at the login page if necessary. Returns the titles of the pages on the
   * way, and the result: `code`, or the error code in the callback.
   */
  const signIn = async (more: Readonly<Record<string, string>> = {}) => {
    const challenge = createHash('sha256').update(randomBytes(32).toString('base64url')).digest('base64url');
    const request = {
      ...{ client_id: 'demo-app', redirect_uri: redirectUri, response_type: 'code', scope: 'openid profile' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', ...more },
    };
    let page = await browser.follow(
      await browser.open(`${origin}/oauth/authorize?${new URLSearchParams(request)}`),
      isEnd,
    );
    const titles = [];
    for (let [form] = page.forms; form !== undefined; [form] = page.forms) {
      titles.push(/<title>([^<]*)/.exec(page.html)?.[1]);
      const typed =
        'password' in form.fields ? { handle: 'ana', password: 'kafe ak pen' } : { decision: 'approve' };
      page = await browser.follow(await browser.submit(page, form, typed), isEnd);
    }
    const { searchParams } = new URL(page.location ?? page.url);
    return { titles, result: searchParams.get('error') ?? (searchParams.has('code') ? 'code' : page.html) };
  };

  /**
   * Checks with `prompt=none` whether Ostiary finds the user signed in. The demo client has no secret, so
   * users consent each time.
   */
  const silentResult = async () => (await signIn({ prompt: 'none' })).result;
  const login = join(folder, 'src/login.ts');

  expect(await signIn()).toEqual({
    titles: ['Sign in', expect.stringContaining('Demo app')],
    result: 'code',
  });
  expect(await silentResult()).toBe('consent_required');

  const [live, ended] = ['session.endsAt > Date.now()', 'session.endsAt < 0'];
  edit(login, live, ended);
  await expect.poll(silentResult, unhurried).toBe('login_required');
  // The session survived the edits.
  edit(login, ended, live);
  await expect.poll(silentResult, unhurried).toBe('consent_required');

  edit(login, "return page('Sign in', form", "return page('Sign in to the shop', form");
  await expect
    .poll(async () => (await fetch(`${origin}/login`)).text())
    .toContain('<title>Sign in to the shop</title>');
  expect(await signIn({ prompt: 'login' })).toMatchObject({
    titles: ['Sign in to the shop', expect.any(String)],
    result: 'code',
  });
}, 120_000);
