import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { dialTarget, TargetError, type TargetPolicy, TlsError } from '@ostiary/core/internal';
import { ask, patienceMs, reasonOf } from './ask.ts';
import type { Examined } from './examined.ts';
import { type CheckResult, ok, problem, warning } from './finding.ts';
import { endpointUrls } from './readings.ts';

const dayMs = 24 * 3_600_000;
/** Number of days before its expiry by which a certificate should have been renewed. */
const renewedBeforeDays = 14;

/**
 * Opens a TLS connection to a server of this installation, sends nothing and closes it. Calls `read` with the
 * open connection and returns the result.
 */
function greet<Result>({ hostname, port }: URL, read: (socket: TLSSocket) => Result): Promise<Result> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = isIP(host) === 0 ? { servername: host } : {};
  return new Promise((resolve, reject) => {
    const options = { host, port: Number(port || 443), timeout: patienceMs };
    const socket = connect({ ...options, ...name, rejectUnauthorized: false });
    socket.once('secureConnect', () => {
      resolve(read(socket));
      socket.destroy();
    });
    socket.once('timeout', () => socket.destroy(new Error('no response within 5 s')));
    socket.once('error', reject);
  });
}

async function checkCertificate(origin: string): Promise<CheckResult> {
  const { validTo, refused } = await greet(new URL(origin), (socket) => ({
    validTo: Date.parse(socket.getPeerCertificate().valid_to),
    refused: socket.authorized ? null : String(socket.authorizationError),
  }));
  if (refused !== null) {
    return problem(
      `the certificate of ${origin} is not trusted (${refused})`,
      'Browsers warn, and apps and partners do not connect.',
      'Renew it, for this name, from an authority that machines trust.',
    );
  }
  const days = Math.floor((validTo - Date.now()) / dayMs);
  if (days >= renewedBeforeDays)
    return ok(`the certificate of ${origin} is trusted for another ${days} days`);
  return warning(
    `the certificate of ${origin} ends in ${days} days`,
    'It should have been renewed by now.',
    'Check the program that renews it.',
  );
}

async function checkStrict(origin: string, path: string): Promise<CheckResult> {
  const strict = (await ask(`${origin}${path}`)).header('strict-transport-security') ?? '';
  const seconds = Number(/max-age=(\d+)/.exec(strict)?.[1] ?? 0);
  if (seconds >= 86_400) return ok('browsers are required to use https');
  return problem(
    `${origin} sends no Strict-Transport-Security`,
    'The first visit of a browser can be diverted to plain http.',
    'Let the proxy pass the header on; the server sends it when {authUrl} is https.',
  );
}

/** Checks whether plain http redirects to https, if https uses its default port. */
async function* checkPlain(origin: string): AsyncGenerator<CheckResult> {
  const { hostname, port } = new URL(origin);
  if (port !== '') return;
  // No server on port 80 is as good as a redirect to https.
  const answer = await ask(`http://${hostname}/`).catch(() => null);
  const leadsAway =
    answer === null ||
    (Math.floor(answer.status / 100) === 3 && answer.header('location')?.startsWith('https:'));
  yield leadsAway
    ? ok('plain http redirects to https or is closed')
    : warning(
        `http://${hostname}/ answers ${answer.status} instead of redirecting to https`,
        'Users who type the name without https stay on plain http.',
        'Redirect it at the proxy, or close the port.',
      );
}

/**
 * Checks the certificates of `authUrl` and `baseUrl`, and at `authUrl` also the header
 * `Strict-Transport-Security` and the redirect from http.
 */
export async function* checkTls({ settings }: Examined): AsyncGenerator<CheckResult> {
  for (const origin of new Set([settings.authUrl, settings.baseUrl])) {
    if (origin.startsWith('http:')) {
      yield problem(
        `${origin} is plain http`,
        'Passwords, codes and tokens can be read on the way.',
        'Put a proxy with a certificate in front, and set https addresses.',
      );
      continue;
    }
    try {
      yield await checkCertificate(origin);
      if (origin !== settings.authUrl) continue;
      yield await checkStrict(origin, settings.signInPath ?? '/');
      yield* checkPlain(origin);
    } catch (error) {
      yield problem(
        `${origin} speaks no TLS (${reasonOf(error)})`,
        'Nobody can connect.',
        'Check the proxy.',
      );
    }
  }
}

/** Checks whether browsers receive the first cookie of the sign-in page with its protection. */
export async function* checkCookies({ settings }: Examined): AsyncGenerator<CheckResult> {
  const { authUrl, signInPath } = settings;
  if (signInPath === null) return;
  const answer = await ask(`${authUrl}${signInPath}`).catch(() => null);
  if (answer === null) return;
  const [cookie = ''] = answer.cookies;
  const needed = [/; *httponly/i, /; *samesite=(lax|strict)/i, /; *path=\/(;|$)/i];
  if (authUrl.startsWith('https:')) needed.push(/; *secure/i, /^__Host-/);
  yield needed.every((part) => part.test(cookie))
    ? ok('cookies arrive as they were sent')
    : problem(
        'the sign-in page sets no cookie, or one without its protection',
        'A session can be stolen, or users cannot sign in.',
        'Let the proxy leave Set-Cookie alone, and cache no page.',
      );
}

/** Maximum number of hosts to which the doctor opens a connection. The others are not tried. */
const triedAtMost = 5;

/**
 * Opens a connection to a webhook target as a worker does, and closes it. Returns why the target cannot be
 * reached, or `null`.
 */
async function tryTarget(url: URL, policy: TargetPolicy): Promise<string | null> {
  try {
    (await dialTarget(url.href, policy, AbortSignal.timeout(patienceMs))).destroy();
    return null;
  } catch (error) {
    // A host with an invalid certificate was still reached.
    if (error instanceof TlsError) return null;
    const reason = error instanceof TargetError ? 'no address, or one that is not public' : reasonOf(error);
    return `${url.host} (${reason})`;
  }
}

/**
 * Checks whether this machine can send webhooks. Opens TLS connections to the URL `asked`, or else to
 * endpoints of partners, and sends no request. Resolves host names as deliveries do. No connection leads into
 * the internal network, unless the operator named the URL or a server allows private targets. Only https URLs
 * are tried, because plain http is for receivers on the same machine.
 */
export async function* checkEgress(
  { database, nodes }: Examined,
  asked: string | null,
): AsyncGenerator<CheckResult> {
  const urls = asked === null ? await endpointUrls(database, 100) : [asked];
  const https = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:');
  const targets = [...new Map(https.map((url) => [url.host, url])).values()].slice(0, triedAtMost);
  if (targets.length === 0) {
    const none =
      urls.length === 0 ? 'no partner has an endpoint' : 'no https endpoint, partners have only http ones';
    return yield ok(`not tried: ${none} (--egress https://… tries one)`);
  }
  const allowPrivate = asked !== null || (nodes ?? []).some(({ facts }) => facts.privateTargets);
  const results = await Promise.all(targets.map((url) => tryTarget(url, { allowPrivate })));
  const failed = results.filter((result) => result !== null);
  if (failed.length === 0)
    return yield ok(`${targets.length} of ${targets.length} hosts can be reached from here`);
  yield (failed.length === targets.length ? problem : warning)(
    `cannot be reached from here: ${failed.join(', ')}`,
    'Webhooks do not arrive there, if the workers run on a machine like this one.',
    'Let workers query name servers and connect to the internet, port 443 and above 1023; or ask the partner.',
  );
}
