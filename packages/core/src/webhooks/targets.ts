import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.ts';

export interface TargetPolicy {
  /** Also addresses that are not public, plain http and any port: development and tests on one machine. */
  readonly allowPrivate: boolean;
}

/**
 * Finds every address of a host name. Rejects, or returns none, if there is none. It must settle by itself: a
 * delivery has a deadline, but a registration waits.
 */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * One sentence for every refused host, so that it reveals neither which names exist in the network of this
 * server, nor their addresses.
 */
const refusedHost = 'The host must resolve, and to public addresses only.';

/** A target that is not allowed. Its message is public, and reveals nothing beyond the URL itself. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
  readonly code = 'TARGET_REFUSED';
}

/** The longest URL, in UTF-16 code units. */
const maxLength = 2048;
const tooLong = `The URL must have at most ${maxLength} characters.`;

/** Blanks, control and invisible characters, lone surrogates, and what some parsers take for a slash. */
const suspect = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u;

/** Port numbers that a receiver of webhooks may use: 443, and what needs no privileges. */
function isPublicPort(port: string): boolean {
  return port === '' || port === '443' || Number(port) >= 1024;
}

/** The host of a URL as a resolver or a socket takes it: without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/**
 * Checks what can be seen in a URL's text alone.
 * @throws TargetError
 */
export function parseTarget(text: string, policy: TargetPolicy): URL {
  if (text.length > maxLength) throw new TargetError(tooLong);
  if (suspect.test(text)) {
    throw new TargetError('The URL must not contain whitespace, control characters or backslashes.');
  }
  if (text.includes('#')) throw new TargetError('The URL must not contain a fragment.');
  // The URL parser would forgive a missing or a third slash and so find another host than the reader.
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([^/?]+)/i.exec(text) ?? [];
  const isSecure = scheme.toLowerCase() === 'https';
  if (!isSecure && !(policy.allowPrivate && scheme.toLowerCase() === 'http')) {
    throw new TargetError('The URL must begin with https:// and a host.');
  }
  if (authority.includes('@')) throw new TargetError('The URL must not contain credentials.');
  const url = URL.parse(text);
  if (url === null || url.hostname === '') throw new TargetError('The URL is malformed.');
  // The canonical spelling is stored, which percent-encoding makes longer.
  if (url.href.length > maxLength) throw new TargetError(tooLong);
  if (url.port === '0' || !(policy.allowPrivate || isPublicPort(url.port))) {
    throw new TargetError('The port must be 443, or 1024 and above.');
  }
  if (!policy.allowPrivate && !mayBePublic(hostOf(url))) throw new TargetError(refusedHost);
  return url;
}

/** Checks whether a host, as the URL parser spells it, is a public address or at least a name. */
function mayBePublic(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // A dot at the end names the same host to a resolver, and another one to TLS and to comparisons of names.
  return !host.endsWith('.') && host !== 'localhost' && !host.endsWith('.localhost');
}

/**
 * Every address of a checked URL's host. An address literal is its own.
 * @throws TargetError when there is none, or one of them is not allowed
 */
export async function targetAddresses(
  url: URL,
  policy: TargetPolicy,
  resolve: Resolve,
): Promise<readonly string[]> {
  const host = hostOf(url);
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch (error) {
    throw new TargetError(refusedHost, { cause: error });
  }
  const isAllowed = policy.allowPrivate ? (address: string) => isIP(address) !== 0 : isPublicAddress;
  if (addresses.length === 0 || !addresses.every(isAllowed)) throw new TargetError(refusedHost);
  return addresses;
}

/**
 * Checks a URL and every present address of its host, at registration, change and test. The connection checks
 * again later, because a name may have other addresses by then.
 * @throws TargetError
 */
export async function checkTarget(text: string, policy: TargetPolicy, resolve: Resolve): Promise<URL> {
  const url = parseTarget(text, policy);
  await targetAddresses(url, policy, resolve);
  return url;
}

/** As the operating system resolves names: hosts file, local names, search domains. */
const resolveLocally: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'verbatim' })).map(({ address }) => address);

/** Time to wait for the other address family after the first has come, in milliseconds. */
const otherFamilyMs = 500;

/**
 * As name servers answer, IPv4 first, without hosts file and search domains, and without one of the process's few
 * threads, all of which a handful of slow names would take.
 */
const resolveByNameServers: Resolve = async (hostname) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  let timer: NodeJS.Timeout | undefined;
  const ask = async (query: Promise<readonly string[]>): Promise<readonly string[]> => {
    const addresses = await query;
    timer ??= setTimeout(() => resolver.cancel(), otherFamilyMs);
    return addresses;
  };
  const answers = await Promise.allSettled([
    ask(resolver.resolve4(hostname)),
    ask(resolver.resolve6(hostname)),
  ]);
  clearTimeout(timer);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
};

/**
 * Resolves names unless a host provides a resolver. The operating system's resolver is used for private
 * targets only, because it blocks one of the process's few threads while a name server is silent, and a
 * handful of dead names would delay all deliveries.
 */
export function defaultResolve(policy: TargetPolicy): Resolve {
  return policy.allowPrivate ? resolveLocally : resolveByNameServers;
}
