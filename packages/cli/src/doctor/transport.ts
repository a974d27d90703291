import { connect, type PeerCertificate } from 'node:tls';
import { ask, reasonOf } from './ask.ts';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';

const tls = findingsOf('tls');
const cookies = findingsOf('cookies');

const dayMs = 24 * 3_600_000;
/** When a certificate should have been renewed. */
const renewedBeforeDays = 14;

interface Presented {
  readonly certificate: PeerCertificate;
  /** Why it is not to be trusted. */
  readonly refused: string | null;
}

function present({ hostname, port }: URL): Promise<Presented> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      ...name,
      rejectUnauthorized: false,
      timeout: 5_000,
    });
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate();
      const refused = socket.authorized ? null : String(socket.authorizationError);
      socket.end();
      resolve({ certificate, refused });
    });
    socket.once('timeout', () => socket.destroy(new Error('no answer within 5 s')));
    socket.once('error', reject);
  });
}

async function checkCertificate(origin: string): Promise<Finding> {
  const { certificate, refused } = await present(new URL(origin));
  const days = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / dayMs);
  if (refused !== null) {
    return tls.problem(
      `the certificate of ${origin} is not to be trusted (${refused})`,
      'Browsers warn, and apps and partners do not connect.',
      'Renew it, for this name, from an authority that machines trust.',
    );
  }
  if (days < renewedBeforeDays) {
    return tls.warning(
      `the certificate of ${origin} ends in ${days} days`,
      'By now something should have renewed it.',
      'Look at what renews it.',
    );
  }
  return tls.ok(`the certificate of ${origin} is trusted for another ${days} days`);
}

async function checkStrict(origin: string, path: string): Promise<Finding> {
  const strict = (await ask(`${origin}${path}`)).header('strict-transport-security') ?? '';
  const seconds = Number(/max-age=(\d+)/.exec(strict)?.[1] ?? 0);
  return seconds >= 86_400
    ? tls.ok('browsers are told to come by https only')
    : tls.problem(
        `${origin} sends no Strict-Transport-Security`,
        'The first visit of a browser can be diverted to plain http.',
        'Let the proxy pass the header on; the server sends it when {authUrl} is https.',
      );
}

/** What plain http leads to, where https is on its usual port. */
async function checkPlain(origin: string): Promise<Finding | null> {
  const url = new URL(origin);
  if (url.port !== '') return null;
  try {
    const answer = await ask(`http://${url.hostname}/`);
    const target = answer.header('location') ?? '';
    if (answer.status < 300 || answer.status >= 400 || !target.startsWith('https:')) {
      return tls.warning(
        `http://${url.hostname}/ answers ${answer.status} instead of leading to https`,
        'Who types the name without https stays on plain http.',
        'Redirect it at the proxy, or close the port.',
      );
    }
  } catch {
    // Nothing there is as good.
  }
  return tls.ok('plain http leads nowhere else');
}

/** Whether connections are what they have to be. */
export async function checkTls({ settings }: Examined): Promise<readonly Finding[]> {
  const origins = [...new Set([settings.authUrl, settings.baseUrl])];
  const findings = origins.map(async (origin): Promise<readonly (Finding | null)[]> => {
    if (origin.startsWith('http:')) {
      return [
        tls.problem(
          `${origin} is plain http`,
          'Passwords, codes and tokens can be read on the way.',
          'Put a proxy with a certificate in front, and set https addresses.',
        ),
      ];
    }
    try {
      const certificate = await checkCertificate(origin);
      if (origin !== settings.authUrl) return [certificate];
      return [certificate, await checkStrict(origin, settings.signInPath ?? '/'), await checkPlain(origin)];
    } catch (error) {
      return [
        tls.problem(
          `${origin} speaks no TLS (${reasonOf(error)})`,
          'Nobody can connect.',
          'Look at the proxy.',
        ),
      ];
    }
  });
  return (await Promise.all(findings)).flat().filter((finding) => finding !== null);
}

/** Whether the cookies of the sign-in page reach browsers as they were sent. */
export async function checkCookies({ settings }: Examined): Promise<readonly Finding[]> {
  const { authUrl, signInPath } = settings;
  if (signInPath === null) return [];
  let received: readonly string[];
  try {
    received = (await ask(`${authUrl}${signInPath}`)).cookies;
  } catch {
    return [];
  }
  const [cookie = ''] = received;
  const needed = [/; *httponly/i, /; *samesite=(lax|strict)/i, /; *path=\/(;|$)/i];
  if (authUrl.startsWith('https:')) needed.push(/; *secure/i, /^__Host-/);
  return [
    cookie !== '' && needed.every((part) => part.test(cookie))
      ? cookies.ok('cookies arrive as they were sent')
      : cookies.problem(
          'the sign-in page sets no cookie, or one without what protects it',
          'A session can be stolen, or nobody can sign in.',
          'Let the proxy leave Set-Cookie alone, and cache no page.',
        ),
  ];
}
