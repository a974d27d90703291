import type { Notice } from '@ostiary/core';
import { fillText } from '@ostiary/core/pages';
import { texts } from '../pages/texts.ts';
import type { Language } from '../settings.ts';

/** An e-mail in plain text. */
export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** Service and language of an e-mail. */
export interface MailContext {
  /** Name of the service. */
  readonly name: string;
  readonly authUrl: string;
  /** True if the service has pages for operators. */
  readonly hasOperators: boolean;
  readonly language: Language;
}

/** Values that the texts of an e-mail name, and the path of the page that the e-mail links to. */
interface Subject {
  readonly values: { readonly [name: string]: string };
  readonly path: string;
}

type EndpointNotice = Extract<Notice, { readonly endpointId: string }>;

/**
 * Removes from a name that people chose the characters that could begin a new line or header, or hide text.
 */
const inOneLine = (name: string): string => name.replaceAll(/\p{C}+|[\u2028\u2029]/gu, ' ').trim();

/** Formats a time for people, in UTC. */
const shown = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** Describes a failed webhook attempt in words: the status of the response, or the error without one. */
function failureOf(
  { lastFailure: { at, httpStatus, error } }: EndpointNotice,
  { language }: MailContext,
): string {
  const text = texts[language].mails;
  const time = shown(at);
  return httpStatus === null
    ? fillText(language, text.noAnswer, { error: error ?? text.unknown, time })
    : fillText(language, text.status, { status: String(httpStatus), time });
}

/** Returns the subject of a notice: the values for its texts, and the path of its page. */
function subjectOf(notice: Notice, context: MailContext): Subject {
  const { language } = context;
  const text = texts[language].mails;
  if (notice.type === 'signing_key.rotated') {
    const { kid, alg, activeFrom } = notice;
    return { values: { kid, alg, time: shown(activeFrom) }, path: '/operators/signing-keys' };
  }
  if (notice.type === 'app.connected') {
    const values = { app: inOneLine(notice.clientName), service: inOneLine(context.name) };
    return { values: { ...values, time: shown(notice.at) }, path: '/account/apps' };
  }
  const { partner } = notice;
  const mode = text.modes[notice.mode];
  const whose = fillText(language, text.of, { name: inOneLine(notice.partnerName), partner, mode });
  const page = `/operators/partners/${encodeURIComponent(partner)}`;
  const query = notice.mode === 'test' ? '?mode=test' : '';
  if (notice.type === 'api_key.ending') {
    const { keyId: id, keyName, expiresAt } = notice;
    return {
      values: { partner, mode, whose, id, key: inOneLine(keyName), time: shown(expiresAt) },
      path: `${page}/keys/${encodeURIComponent(id)}${query}`,
    };
  }
  const { endpointId: endpoint, host } = notice;
  return {
    values: { partner, mode, whose, endpoint, host, failure: failureOf(notice, context) },
    path: `${page}/webhooks/${encodeURIComponent(endpoint)}${query}`,
  };
}

/** Writes the e-mail of a notice: what happened, what to do first, and a link to the page, if there is one. */
export function mailOf(notice: Notice, context: MailContext): Mail {
  const { name, authUrl, hasOperators, language } = context;
  const { subject, happened, first } = texts[language].mails[notice.type];
  const { values, path } = subjectOf(notice, context);
  const hasPage = hasOperators || notice.type === 'app.connected';
  const lines = [happened, first].map((text) => fillText(language, text, values));
  return {
    subject: `[${inOneLine(name)}] ${fillText(language, subject, values)}`,
    text: `${[...lines, ...(hasPage ? [`${authUrl}${path}`] : [])].join('\n\n')}\n`,
  };
}
