import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import type { ErrorDetail } from '../errors.ts';
import type { ClientJwk, ClientJwks } from '../ports/clients.ts';
import { fieldProblems } from '../text/field-problems.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';

/** Maximum number of keys of one client. Key sets with more keys are refused as a whole. */
const maxKeys = 50;

/** Smallest and largest RSA modulus, in bits. A longer one makes each verification slower. */
const rsaBits = { min: 2048, max: 8192 };

/** Names of members that private and symmetric keys have (RFC 7518, section 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

const encoded = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[A-Za-z0-9_-]+$/, 'has to be base64url');

const common = {
  kid: z.string().min(1).max(255).exactOptional(),
  use: z.literal('sig').exactOptional(),
  key_ops: z
    .array(z.string())
    .refine((operations) => operations.includes('verify'), 'has to contain verify')
    .exactOptional(),
};

const jwkSchema = z.discriminatedUnion('kty', [
  z.object({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    ...{ x: encoded(64), y: encoded(64) },
    alg: z.literal('ES256').exactOptional(),
    ...common,
  }),
  z.object({
    kty: z.literal('RSA'),
    // The usual exponent is 65,537. A long exponent would make each verification slow.
    ...{ n: encoded(1366), e: encoded(6) },
    alg: z.literal('PS256').exactOptional(),
    ...common,
  }),
  z.object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: encoded(64),
    alg: z.enum(['EdDSA', 'Ed25519']).exactOptional(),
    ...common,
  }),
]);

const jwksSchema = z.object({ keys: z.array(z.unknown()).min(1).max(maxKeys) });

/** Parses a value with a schema. @throws TypeError that names the invalid member by its path below `name` */
function read<Output>(schema: z.ZodType<Output>, value: unknown, name: string): Output {
  const result = schema.safeParse(value, inPlainWords);
  if (result.success) return result.data;
  const below = ({ path, message }: ErrorDetail) => ({
    path: path === '' ? name : `${name}.${path}`,
    message,
  });
  throw new TypeError(inOneLine(problemsOf(result.error.issues).map(below), name));
}

/**
 * Reads a client's public key that can verify ES256, PS256 or EdDSA signatures. Removes members that
 * verification does not need.
 * @throws TypeError with the reason if it cannot
 */
function readKey(value: unknown, name: string): ClientJwk {
  if (typeof value === 'object' && value !== null && privateMembers.some((member) => member in value))
    throw new TypeError(`${name}: ${fieldProblems.jwks_private}`);
  const { key_ops: _, ...key } = read(jwkSchema, value, name);
  let bits: number | undefined;
  try {
    bits = createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails?.modulusLength;
  } catch {
    throw new TypeError(`${name}: ${fieldProblems.jwks_invalid}`);
  }
  if (key.kty === 'RSA' && (bits === undefined || bits < rsaBits.min || bits > rsaBits.max))
    throw new TypeError(`${name}: ${fieldProblems.jwks_bits}`);
  return key;
}

/**
 * Reads the public keys that an administrator sets for a client. Every key must be usable, and no `kid` may
 * occur twice.
 * @throws TypeError that names the first faulty key
 */
export function readClientJwks(value: unknown): ClientJwks {
  const keys = read(jwksSchema, value, 'jwks').keys.map((key, at) => readKey(key, `jwks.keys.${at}`));
  const kids = keys.flatMap(({ kid }) => kid ?? []);
  if (new Set(kids).size !== kids.length) throw new TypeError(`jwks: ${fieldProblems.jwks_twice}`);
  return { keys };
}

/**
 * Returns the usable keys of a JWK Set that a client publishes. Ignores keys that {@link readKey} refuses, such
 * as keys for other purposes.
 * @throws TypeError if the document is no JWK Set, or has no key or too many
 */
export function usableKeys(document: unknown): ClientJwks {
  const keys = read(jwksSchema, document, 'jwks').keys.flatMap((key) => {
    try {
      return [readKey(key, 'key')];
    } catch {
      return [];
    }
  });
  return { keys };
}
