import type { IncomingMessage } from 'node:http';
import { type OperatorCheck, type OperatorRole, operatorRoles } from '@ostiary/core';
import { staffRoles } from './members.ts';

/** Headers with which a trusted proxy names the operator, and the roles of names and groups. */
export interface ProxyHeaderSettings {
  readonly header: string;
  /** Header with the groups of the operator, comma separated; `null` if the proxy sends none. */
  readonly groupsHeader: string | null;
  /** Roles of operators by name or group. `*` stands for everyone whom the proxy names. */
  readonly roles: readonly (readonly [nameOrGroup: string, role: OperatorRole])[];
}

/** Address of a documentation network (RFC 5737), which no client has. */
const probe = '192.0.2.1';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8, which proxies send and Node reads as Latin-1. Any other value stays as Node has read it. */
function decoded(value: string): string {
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** Returns all values of a header from the raw headers, since Node joins repeated headers. */
const valuesOf = ({ rawHeaders }: IncomingMessage, name: string): string[] =>
  rawHeaders
    .filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
    .map(decoded);

/**
 * Makes the function that reads operators from a header of a trusted proxy. From anywhere else, the header is
 * ignored, and a warning is logged.
 * @param addressOf - Ostiary's rule for client addresses, which knows the trusted proxies
 */
export function createProxyHeader(
  settings: ProxyHeaderSettings,
  addressOf: (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string | null,
  log: (message: string) => void,
  now: () => number,
) {
  const { header, groupsHeader, roles } = settings;
  let loggedAt = Number.NEGATIVE_INFINITY;

  /** Logs a warning about an untrusted header, at most once a minute: anybody can send headers. */
  function warn(message: string): void {
    if (Math.abs(now() - loggedAt) < 60_000) return;
    loggedAt = now();
    log(message);
  }

  /**
   * Checks whether a request comes from a trusted proxy: Ostiary believes only `X-Forwarded-For` of trusted
   * proxies.
   */
  const isFromProxy = ({ socket }: IncomingMessage): boolean =>
    addressOf({ socket, headers: { 'x-forwarded-for': probe } }) === probe;

  function roleOf(name: string, groups: readonly string[]): OperatorRole | null {
    const given = new Set([name, ...groups, '*']);
    const found = roles.filter(([one]) => given.has(one)).map(([, role]) => role);
    return staffRoles.findLast((role) => found.includes(role)) ?? null;
  }

  return (request: IncomingMessage): OperatorCheck => {
    const [name, ...more] = valuesOf(request, header);
    if (name === undefined) return null;
    if (!isFromProxy(request)) {
      warn(`${header} came from an address that is not in OSTIARY_TRUSTED_PROXIES, and was ignored`);
      return null;
    }
    // If the header came several times, one of the values may be the caller's own.
    if (more.length > 0 || name.trim() === '') {
      warn(`${header} came more than once or empty, and was ignored: let the proxy remove what callers send`);
      return null;
    }
    const groups = groupsHeader === null ? [] : valuesOf(request, groupsHeader);
    if (groups.length > 1) {
      warn(`${groupsHeader} came more than once, and was ignored: let the proxy remove what callers send`);
      return null;
    }
    const role = roleOf(
      name,
      (groups[0] ?? '').split(',').map((group) => group.trim()),
    );
    return role === null ? null : { name, role, may: operatorRoles[role] };
  };
}
