import type { Notice } from '@ostiary/core';

/**
 * Notice that operators get by e-mail. Notices of connected apps are left out, because they concern one user
 * alone.
 */
export type OperatorNotice = Exclude<Notice, { readonly type: 'app.connected' }>;

/** An e-mail in plain text. */
export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/**
 * Removes from a name that people chose the characters that could begin a new line or header, or hide text.
 */
const inOneLine = (name: string): string => name.replaceAll(/\p{C}+|[\u2028\u2029]/gu, ' ').trim();

/** Formats a time for people, in UTC. */
const shown = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

function answerOf({
  at,
  httpStatus,
  error,
}: {
  at: string;
  httpStatus: number | null;
  error: string | null;
}): string {
  const answer = httpStatus === null ? `no answer (${error ?? 'unknown'})` : `status ${httpStatus}`;
  return `${answer} at ${shown(at)}`;
}

/** Text of a notice's e-mail: what happened, what to do first, and the path of a page for operators. */
interface Words {
  readonly subject: string;
  readonly happened: string;
  readonly first: string;
  readonly path: string;
}

function wordsOf(notice: OperatorNotice): Words {
  if (notice.type === 'signing_key.rotated') {
    const { kid, alg, activeFrom } = notice;
    return {
      subject: 'Signing key rotated',
      happened: `A new ${alg} key (${kid}) signs ID tokens from ${shown(activeFrom)} on.`,
      first: 'If you did not rotate the key, find out who did: the audit log has the person.',
      path: '/signing-keys',
    };
  }
  const { partner, mode } = notice;
  const whose = `${inOneLine(notice.partnerName)} (${partner}, ${mode} mode)`;
  const page = `/partners/${encodeURIComponent(partner)}`;
  const query = mode === 'test' ? '?mode=test' : '';
  if (notice.type === 'api_key.ending') {
    const { keyId, keyName, expiresAt } = notice;
    return {
      subject: `API key of ${partner} ends (${mode})`,
      happened: `The API key "${inOneLine(keyName)}" (${keyId}) of ${whose} expires at ${shown(expiresAt)}.`,
      first: 'Roll the key with an overlap, and send the new one to the partner.',
      path: `${page}/keys/${encodeURIComponent(keyId)}${query}`,
    };
  }
  const { endpointId, host, lastFailure } = notice;
  const endpoint = `The webhook endpoint ${endpointId} at ${host} of ${whose}`;
  const path = `${page}/webhooks/${encodeURIComponent(endpointId)}${query}`;
  const last = `Last failure: ${answerOf(lastFailure)}.`;
  if (notice.type === 'endpoint.works') {
    return {
      subject: `Webhooks to ${partner} work again (${mode})`,
      happened: `${endpoint} works again. ${last}`,
      first: 'If deliveries were given up in the meantime, recover them on the page of the endpoint.',
      path,
    };
  }
  const given = {
    'endpoint.failing': { subject: 'fail', happened: 'has been failing for more than an hour' },
    'endpoint.given_up': {
      subject: 'were given up',
      happened: 'failed until the last attempt, and a delivery was given up',
    },
  }[notice.type];
  return {
    subject: `Webhooks to ${partner} ${given.subject} (${mode})`,
    happened: `${endpoint} ${given.happened}. ${last}`,
    first: 'Look at the attempts on the page of the endpoint, and ask the partner whether the server is up.',
    path,
  };
}

/**
 * Writes the e-mail of a notice.
 * @param operatorsUrl - URL of the pages for operators; `null` if there are none
 */
export function mailOf(
  notice: OperatorNotice,
  { name, operatorsUrl }: { readonly name: string; readonly operatorsUrl: string | null },
): Mail {
  const { subject, happened, first, path } = wordsOf(notice);
  const link = operatorsUrl === null ? [] : [`${operatorsUrl}${path}`];
  return {
    subject: `[${inOneLine(name)}] ${subject}`,
    text: `${[happened, first, ...link].join('\n\n')}\n`,
  };
}
