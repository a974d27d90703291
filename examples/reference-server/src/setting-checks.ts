import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { checked, list, whole } from '@ostiary/web-kit';
import { z } from 'zod';
import { staffRoles } from './staff/members.ts';

// Checks of this server's own variables. Messages never contain a value.

export const sealingKeys = list.pipe(
  z
    .array(z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'each must be 32 bytes in base64url (43 characters)'))
    .min(1, 'needs at least one key')
    .max(10, 'takes at most ten keys'),
);

/** Schema of an address to which the server sends requests. */
export const httpUrl = checked((value, refuse) => {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  return isHttp ? value : refuse('must be an http or https URL');
});

/**
 * Checks whether a sealing key was typed or counted up instead of generated. The probability that a random
 * key fails is 10⁻¹³.
 */
export function isGuessableKey(key: string): boolean {
  const bytes = [...Buffer.from(key, 'base64url')];
  const steps = bytes.map((byte, at) => (byte - (bytes[at - 1] ?? 0)) & 255).slice(1);
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  return isText || new Set(bytes).size < 12 || new Set(steps).size < 8;
}

/**
 * Schema of the trusted proxies: CIDR ranges, where an address alone is a range of one, and `unix` for a
 * proxy on this server's Unix socket.
 */
export const proxies = list.pipe(
  z.array(
    checked((entry, refuse) => {
      if (entry === 'unix') return entry;
      const [address = '', bits, ...rest] = entry.split('/');
      const width = isIP(address) === 6 ? 128 : 32;
      const length = bits ?? String(width);
      if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > width) {
        return refuse('must be addresses, CIDR ranges such as 10.0.0.0/8, or unix');
      }
      return `${address}/${length}`;
    }),
  ),
);

/**
 * Schema of the path of a Unix socket. All systems accept at least 104 bytes, including the NUL at the end.
 */
export const socketPath = z
  .string()
  .refine(
    (path) => path.startsWith('/') && Buffer.byteLength(path) <= 103 && !path.includes('\0'),
    'must be an absolute path of at most 103 bytes',
  );

/** Schema of the permissions of the Unix socket file, in octal. */
export const fileMode = z
  .string()
  .regex(/^0?[0-7]{3}$/, 'must be permissions in octal, such as 660')
  .transform((value) => Number.parseInt(value, 8));

export const processes = z
  .string()
  .transform((value) => (value === 'auto' ? String(availableParallelism()) : value))
  .pipe(whole(1, 256, '1 to 256 processes, or auto'));

/** Schema of the retry delays: as many as Ostiary accepts, each above zero and at most a week. */
export const delays = list.pipe(
  z
    .array(
      z
        .string()
        .regex(/^\d{1,6}(\.\d{1,3})?$/, 'must be seconds, comma separated, such as 60,300')
        .transform(Number)
        .refine((seconds) => seconds > 0 && seconds <= 604_800, 'must be above 0 and at most 604800 seconds'),
    )
    .min(1, 'needs at least one delay')
    .max(20, 'has more than 20 delays'),
);

/**
 * Returns a PostgreSQL connection string with only the first of its hosts, because `URL` cannot parse a list
 * of hosts.
 */
const withOneHost = (value: string): string => value.replace(/^(\w+:\/\/(?:[^/?#]*@)?[^/?#,]*)[^/?#]*/, '$1');

/**
 * Schema of a PostgreSQL connection string that the driver can parse. Error messages contain no part of it.
 */
export const databaseUrl = checked((value, refuse) => {
  if (!/^postgres(?:ql)?:\/\/./.test(value)) return refuse('must begin with postgres:// or postgresql://');
  if (!URL.canParse(withOneHost(value)))
    return refuse('must be a URL; encode special characters of user and password');
  try {
    decodeURIComponent(value);
  } catch {
    return refuse('has a % that is not encoded as %25');
  }
  return value;
});

/**
 * Schema of a list of scope names (RFC 6749, appendix A.4). Whether they exist is checked with the other
 * options of Ostiary.
 */
export const scopeNames = list.pipe(
  z.array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,128}$/, 'must be names of scopes, comma separated')),
);

const resourceTable = z.record(
  z.string(),
  z.strictObject({ name: z.string(), scopes: z.array(z.string()).default([]) }),
);

/**
 * Parses the setting that lists the APIs for which apps request tokens; `undefined` if the text is no such
 * JSON.
 */
function parseResources(text: string) {
  try {
    return resourceTable.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Schema of the APIs for which apps request tokens, as JSON. URIs and scopes are checked with the other
 * options of Ostiary.
 */
export const resources = z
  .string()
  .transform(parseResources)
  .refine(
    (table) => table !== undefined,
    'must be JSON such as {"https://tools.example.com/mcp":{"name":"Tools"}}',
  );

/** Schema of an e-mail address. */
export const mailAddress = z
  .email('must be an e-mail address such as operators@example.com')
  .max(254, 'must be an e-mail address of at most 254 characters');

/**
 * Schema of the URL of a mail server. Error messages contain no part of the URL, because it may contain a
 * password.
 */
export const smtpUrl = checked((value, refuse) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    return refuse('must be a URL such as smtps://user:password@mail.example.com:465');
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    return refuse('must have nothing after host and port');
  if (url.password !== '' && url.username === '') return refuse('has a password and no user');
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return refuse('has a % that is not encoded as %25');
  }
  return value;
});

/** Schema of the name of a header, in lower case as Node lists headers. */
export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header')
  .transform((name) => name.toLowerCase());

/** Schema of the roles of operators, by the name or group of the person. */
export const roleMapping = list.pipe(
  z.array(
    checked((entry, refuse) => {
      const at = entry.lastIndexOf('=');
      const name = entry.slice(0, Math.max(0, at)).trim();
      const role = staffRoles.find((known) => known === entry.slice(at + 1).trim());
      if (name === '' || role === undefined)
        return refuse(`must be names with a role (${staffRoles.join(', ')}), such as ana@example.com=owner`);
      return [name, role] as const;
    }),
  ),
);
