import { createHash } from 'node:crypto';
import type { Notice, Notify } from '@ostiary/core';
import { isLoopbackUrl } from '@ostiary/web-kit';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { ServerConfig } from '../config.ts';
import type { Accounts } from '../users/accounts.ts';
import { mailOf } from './mails.ts';

/**
 * Time limits for the steps of sending an e-mail, in milliseconds. Ostiary gives a notice ten seconds
 * altogether.
 */
const timeouts = { connectionTimeout: 4_000, greetingTimeout: 4_000, socketTimeout: 8_000 };

/** Returns an http URL with the host name of an SMTP URL, for {@link isLoopbackUrl}. */
const asHttp = (url: URL): string => `http://${url.hostname}`;

/** Sends notices by e-mail. */
export interface Mailer {
  readonly notify: Notify;
  /** Connects to the mail server and signs in there. If that fails, logs a warning. */
  check(): Promise<void>;
}

/** Creates the mailer with the server's settings. */
export function createMailer(
  config: ServerConfig,
  notices: NonNullable<ServerConfig['notices']>,
  logger: Logger,
  accounts: Pick<Accounts, 'getBySub'>,
): Mailer {
  const { name, authUrl } = config;
  const { to: operators } = notices;
  const url = new URL(notices.smtpUrl);
  const user = decodeURIComponent(url.username);
  const secure = url.protocol === 'smtps:';
  const transport = createTransport({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    // A password is sent in the clear only to a mail server on this machine.
    requireTLS: !secure && user !== '' && !isLoopbackUrl(asHttp(url)),
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const context = { name, authUrl, hasOperators: config.operators !== null, language: notices.language };
  const domain = notices.from.slice(notices.from.lastIndexOf('@') + 1);

  /** Returns the addresses to which a notice is sent: the operators', or that of the user whom it concerns. */
  async function receiversOf(notice: Notice): Promise<string[]> {
    if (notice.type !== 'app.connected') return [...operators];
    const account = await accounts.getBySub(notice.sub);
    return account === null || account.email === null ? [] : [account.email];
  }

  return {
    async notify(notice) {
      const to = await receiversOf(notice);
      if (to.length === 0) return;
      const digest = createHash('sha256').update(notice.id).digest('hex').slice(0, 32);
      await transport.sendMail({
        from: { name, address: notices.from },
        to,
        ...mailOf(notice, context),
        // The same for each repetition, so that mail programs show one.
        messageId: `<${digest}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    async check() {
      try {
        await transport.verify();
      } catch (error) {
        logger.warn(
          { reason: error instanceof Error ? error.message : String(error) },
          'the mail server of OSTIARY_SMTP_URL cannot be used; notices are tried again for three days',
        );
      }
    },
  };
}
