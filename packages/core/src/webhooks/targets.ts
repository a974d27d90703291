import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { fieldProblems } from '../text/field-problems.ts';
import { isPublicAddress } from './addresses.ts';

export interface TargetPolicy {
  /**
   * True if private addresses, plain http and any port are allowed, for development and tests on one machine.
   */
  readonly allowPrivate: boolean;
}

/**
 * Resolves a host name to all of its IP addresses. Rejects, or returns an empty list, if there are none. Must
 * settle by itself: a delivery has a deadline, but a registration waits.
 */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * Error text for every webhook host that is refused. It is always the same, so that it reveals neither which
 * names exist in this server's network, nor their addresses.
 */
const refusedHost = fieldProblems.url_host;

/**
 * Thrown for a webhook URL that is not allowed. Its message is public and reveals nothing beyond the URL
 * itself.
 */
export class TargetError extends Error {
  override readonly name = 'TargetError';
  readonly code = 'TARGET_REFUSED';
}

/** Maximum length of a webhook URL, in UTF-16 code units. Longer URLs are refused. */
const maxLength = 2048;
const tooLong = `The URL must have at most ${maxLength} characters.`;

/**
 * Characters that URLs must not contain: blanks, control and invisible characters, lone surrogates, and the
 * backslash, which some parsers take for a slash.
 */
const suspect = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Z}\\]/u;

/** Checks whether a webhook URL may use a port: 443, or one that needs no privileges. */
function isPublicPort(port: string): boolean {
  return port === '' || port === '443' || Number(port) >= 1024;
}

/** Returns the host of a URL for a resolver or socket: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/**
 * Parses a webhook URL and makes the checks that need no name resolution.
 * @throws TargetError if the URL or its host is not allowed
 */
export function parseTarget(text: string, policy: TargetPolicy): URL {
  if (text.length > maxLength) throw new TargetError(tooLong);
  if (suspect.test(text)) {
    throw new TargetError(fieldProblems.url_characters);
  }
  if (text.includes('#')) throw new TargetError(fieldProblems.url_fragment);
  // The URL parser would accept a missing or a third slash, and find another host than a human reader.
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([^/?]+)/i.exec(text) ?? [];
  const isSecure = scheme.toLowerCase() === 'https';
  if (!isSecure && !(policy.allowPrivate && scheme.toLowerCase() === 'http')) {
    throw new TargetError(fieldProblems.url_https);
  }
  if (authority.includes('@')) throw new TargetError(fieldProblems.url_credentials);
  const url = URL.parse(text);
  if (url === null || url.hostname === '') throw new TargetError(fieldProblems.url_malformed);
  // Check the canonical spelling, which is stored and which percent-encoding makes longer.
  if (url.href.length > maxLength) throw new TargetError(tooLong);
  if (url.port === '0' || !(policy.allowPrivate || isPublicPort(url.port))) {
    throw new TargetError(fieldProblems.url_port);
  }
  if (!policy.allowPrivate && !mayBePublic(hostOf(url))) throw new TargetError(refusedHost);
  return url;
}

/** Checks whether a URL's host is a public IP address, or a name that may have one. */
function mayBePublic(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // A name with a dot at the end is the same to a resolver, but not to TLS and to comparisons of names.
  return !host.endsWith('.') && host !== 'localhost' && !host.endsWith('.localhost');
}

/**
 * Returns all IP addresses of a checked URL's host, which may itself be an IP address.
 * @throws TargetError if there are no addresses, or one of them is not allowed
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
 * Checks a URL and every current IP address of its host, when the URL of an endpoint or of a client is set.
 * Each new connection checks again, because the name may have other addresses by then.
 * @throws TargetError if the URL or its host is not allowed
 */
export async function checkTarget(text: string, policy: TargetPolicy, resolve: Resolve): Promise<URL> {
  const url = parseTarget(text, policy);
  await targetAddresses(url, policy, resolve);
  return url;
}

/** Resolves names as the operating system does: with hosts file, local names and search domains. */
const resolveLocally: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'verbatim' })).map(({ address }) => address);

/**
 * Time to wait for the addresses of the other family (IPv4 or IPv6) after those of the first have arrived, in
 * milliseconds.
 */
const otherFamilyMs = 500;

/**
 * Resolves names through name servers only, IPv4 first, without hosts file and search domains. Does not use
 * the process's few threads, because a handful of slow names would block all of them.
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
 * Returns the resolver used if the host application provides none. The operating system's resolver is used
 * for private targets only: it blocks one of the process's few threads while a name server is silent, so a
 * handful of unreachable names would delay all deliveries.
 */
export function defaultResolve(policy: TargetPolicy): Resolve {
  return policy.allowPrivate ? resolveLocally : resolveByNameServers;
}
