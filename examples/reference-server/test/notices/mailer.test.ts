import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notice } from '@ostiary/core';
import { SMTPServer } from 'smtp-server';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/index.ts';
import { mailOf } from '../../src/notices/mails.ts';
import { languages } from '../../src/settings.ts';
import { approve, createPartner } from '../support/partners.ts';
import { anaika, environment, jean, startServer } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

/**
 * Starts a mail server on a free port, which collects the mails that it accepts. While `isDown` is true, the
 * mail server refuses mails.
 */
async function mailServer() {
  const mails: { readonly to: readonly string[]; readonly text: string }[] = [];
  const state = { isDown: false };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === 'ostiary' && password === 'p@ss:word'
        ? done(null, { user: username })
        : done(new Error('no')),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (state.isDown) return done(Object.assign(new Error('try later'), { responseCode: 451 }));
        mails.push({
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks)
            .toString('utf8')
            .replaceAll(/(?<!\?)=\r\n/g, ''),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { mails, state, url: `smtp://ostiary:p%40ss%3Aword@127.0.0.1:${port}` };
}

const addresses = {
  OSTIARY_NOTICES_TO: 'ana@example.com,jo@example.com',
  OSTIARY_NOTICES_FROM: 'ostiary@id.example.com',
};

/** Starts a reference server that sends notices to a mail server, with a clock that a test moves. */
async function mailing(env: NodeJS.ProcessEnv = {}) {
  const mail = await mailServer();
  let aheadMs = 0;
  const settings = { OSTIARY_SMTP_URL: mail.url, OSTIARY_OPERATORS: 'on', ...addresses, ...env };
  const started = await startServer({ now: () => Date.now() + aheadMs }, settings);
  const { ostiary } = started.server.installation;
  // Work is done when the test says so.
  await ostiary.worker.stop();
  return {
    ...{ ...started, mail, admin: ostiary.admin, ostiary },
    async work(advanceMs = 0): Promise<void> {
      aheadMs += advanceMs;
      while ((await ostiary.worker.runDue()) > 0);
    },
  };
}

it('sends what the operators should know, with a link to the page', async () => {
  const { origin, mail, admin, work } = await mailing({ OSTIARY_NAME: 'Kès\u00a0la' });
  await admin.partners.create({ slug: 'kafe', name: 'Kafe "Bcc: eve@example.com"' });
  const expiresAt = new Date(Date.now() + 86_400_000);
  const scopes = ['webhooks' as const];
  const { apiKey } = await admin.apiKeys.issue({
    partner: 'kafe',
    mode: 'test',
    name: 'Till',
    scopes,
    expiresAt,
  });
  // The search at the start found nothing, and the next one is a minute later.
  await work(60_000);
  expect(mail.mails).toHaveLength(1);
  const [{ to, text } = { to: [], text: '' }] = mail.mails;
  expect(to).toEqual(['ana@example.com', 'jo@example.com']);
  const end = text.indexOf('\r\n\r\n');
  const headers = text.slice(0, end);
  expect(headers).not.toMatch(/^bcc:/im);
  expect(headers).toMatch(/^Message-ID: <[0-9a-f]{32}@id\.example\.com>$/m);
  expect(headers).toMatch(/^Auto-Submitted: auto-generated$/m);
  expect(headers).toMatch(/^From: .*<ostiary@id\.example\.com>$/m);
  expect(text.slice(end)).toContain(`${origin}/operators/partners/kafe/keys/${apiKey.id}?mode=3Dtest`);
  expect(text).not.toMatch(/^Bcc/im);
});

it('writes names that people chose into one line of the text, and into no header', async () => {
  const { mail, server } = await mailing({ OSTIARY_NAME: 'Kès\r\nBcc: eve@example.com' });
  const hostile = 'Kafe\r\nBcc: eve@example.com\r\n\r\n\u2028\u202eURGENT';
  await server.installation.mailer?.notify({
    ...{ id: 'a\r\nBcc: eve@example.com', type: 'endpoint.given_up', at: new Date().toISOString() },
    ...{ partner: 'kafe', partnerName: hostile, mode: 'live', endpointId: 'we_1', host: 'kafe.example' },
    lastFailure: { at: new Date().toISOString(), httpStatus: null, error: 'timeout' },
  });
  const [{ to, text } = { to: [], text: '' }] = mail.mails;
  expect(to).toEqual(['ana@example.com', 'jo@example.com']);
  expect(text).not.toMatch(/^ *(?:Bcc|URGENT)/im);
  expect(text).toContain('kafe.example');
});

it('sends a user the notice of a connected app, in no claim that apps receive', async () => {
  const { origin, server, mail, work } = await mailing({ OSTIARY_NOTICES_LANGUAGE: 'ht' });
  await server.installation.accounts.setEmail('anaika', 'anaika@example.com');
  const { clientId } = await createPartner(server, 'kafe');
  for (const { handle, password } of [anaika, jean]) {
    const visitor = new Visitor(origin);
    await visitor.signIn(handle, password);
    const body = new URLSearchParams({ ...(await approve(visitor, clientId, 'openid kyc')) });
    const tokens = await (await fetch(`${origin}/v1/oauth/token`, { method: 'POST', body })).json();
    const headers = { Authorization: `Bearer ${tokens.access_token}` };
    const claims = await (await fetch(`${origin}/v1/oauth/userinfo`, { headers })).text();
    expect(claims).toContain('"kycStatus"');
    expect(claims).not.toMatch(/e-?mail|example\.com/i);
  }
  await work();
  // The other user has no address.
  expect(mail.mails).toHaveLength(1);
  const [{ to, text } = { to: [], text: '' }] = mail.mails;
  expect(to).toEqual(['anaika@example.com']);
  expect(text).toContain(`${origin}/account/apps`);
  expect(text).toContain('Si se pa t ou menm');
});

const origin = { id: 'a', at: '2026-11-28T02:30:00.000Z' };
const ofPartner = { partner: 'kafe', partnerName: 'Kafe Lakay', mode: 'test' } as const;
const failure = { at: '2026-11-28T01:00:00.000Z', httpStatus: null, error: null };
const endpoint = { ...origin, ...ofPartner, endpointId: 'we_1', host: 'kafe.example', lastFailure: failure };
const ofNone = { partner: null, partnerName: null, mode: null } as const;

const notices: readonly Notice[] = [
  { ...endpoint, type: 'endpoint.failing', since: failure.at },
  { ...endpoint, type: 'endpoint.given_up' },
  { ...endpoint, type: 'endpoint.works', lastFailure: { ...failure, httpStatus: 503 } },
  {
    ...{ ...origin, ...ofPartner, type: 'api_key.ending', keyId: 'key_1', keyName: 'Till' },
    expiresAt: '2026-12-01T00:00:00.000Z',
  },
  {
    ...{ ...origin, ...ofNone, type: 'app.connected', sub: 'usr_1' },
    ...{ clientId: 'kafe', clientName: 'Kafe\r\nBcc: eve@example.com', scopes: ['openid'] },
  },
  { ...origin, ...ofNone, type: 'signing_key.rotated', kid: 'k1', alg: 'RS256', activeFrom: origin.at },
];

it.each(languages)('writes every mail in %s, with all of its values', (language) => {
  const context = { name: 'Kès la', authUrl: 'https://id.example', hasOperators: true, language };
  const mails = notices.map((notice) => mailOf(notice, context));
  const english = notices.map((notice) => mailOf(notice, { ...context, language: 'en' }));
  for (const [index, { subject, text }] of mails.entries()) {
    expect(`${subject}${text}`).not.toMatch(/[{}]|undefined|^Bcc/m);
    expect(subject).not.toContain('\n');
    const valuesOf = (mail: string) =>
      mail.match(/\d{4}-\d\d-\d\d \d\d:\d\d UTC|\b(?:we|key)_1\b|https:\S+|503|RS256/g);
    expect(valuesOf(text)?.toSorted()).toEqual(valuesOf(english[index]?.text ?? '')?.toSorted());
    if (language !== 'en') expect(text).not.toBe(english[index]?.text);
  }
});

it('tries again after the mail server refused a mail, with the same message id', async () => {
  const { mail, admin, work, lines } = await mailing({ OSTIARY_OPERATORS: 'off' });
  mail.state.isDown = true;
  const { kid } = await admin.signingKeys.rotate();
  await work();
  expect(mail.mails).toEqual([]);
  expect(lines.join('')).toContain('notify failed; the notice is tried again');
  expect(lines.join('')).not.toContain('p@ss');
  mail.state.isDown = false;
  await work(60_000);
  expect(mail.mails).toHaveLength(1);
  expect(mail.mails[0]?.text).toContain(kid);
  expect(mail.mails[0]?.text).not.toContain('/operators');
  await work(86_400_000);
  expect(mail.mails).toHaveLength(1);
});

it('warns at the start of a mail server that cannot be used, and starts anyway', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  await new Promise((resolve) => silent.close(resolve));
  const { lines } = await startServer({}, { OSTIARY_SMTP_URL: `smtp://127.0.0.1:${port}`, ...addresses });
  await expect
    .poll(() => lines.join(''), { timeout: 10_000 })
    .toContain('the mail server of OSTIARY_SMTP_URL');
});

it.each([
  [{ OSTIARY_NOTICES_FROM: '' }, 'need each other'],
  [{ OSTIARY_NOTICES_TO: '' }, 'need each other'],
  [{ OSTIARY_SMTP_URL: '' }, 'need each other'],
  [{ OSTIARY_SMTP_URL: 'https://mail.example.com' }, 'OSTIARY_SMTP_URL must be a URL such as'],
  [{ OSTIARY_SMTP_URL: 'smtp://mail.example.com/?tls=no' }, 'OSTIARY_SMTP_URL must have nothing after'],
  [{ OSTIARY_SMTP_URL: 'smtp://a:%zz@mail.example.com' }, 'OSTIARY_SMTP_URL has a % that'],
  [{ OSTIARY_NOTICES_TO: 'ana@example.com,jo' }, 'OSTIARY_NOTICES_TO must be an e-mail address'],
  [{ OSTIARY_NOTICES_LANGUAGE: 'de' }, 'OSTIARY_NOTICES_LANGUAGE must be one of en, fr, ht, es, pt'],
  [{ OSTIARY_NOTICES_FROM: 'Ana <ana@example.com>' }, 'OSTIARY_NOTICES_FROM must be an e-mail address'],
])('refuses settings of which a part is missing or wrong: %j', async (changes, words) => {
  const env = await environment({ OSTIARY_SMTP_URL: 'smtps://mail.example.com', ...addresses, ...changes });
  expect(() => loadConfig(env)).toThrow(words);
});
