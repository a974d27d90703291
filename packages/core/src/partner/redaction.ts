import { secretExpression } from '../text/secret-pattern.ts';

/**
 * Endings of names of JSON members whose values the request log removes, because they hold secrets or
 * personal data: names of this service, and names that partners use. Compared without case and with letters
 * only, with or without a final `s`: `client_secret`, `X-Api-Key`, `legalName`.
 */
const removedEndings = [
  ...[
    'secret',
    'token',
    'apikey',
    'password',
    'authorization',
    'passport',
    'credential',
    'cookie',
    'assertion',
  ],
  ...['secretkey', 'privatekey', 'signingkey', 'sealingkey', 'encryptionkey', 'accesskey'],
  ...['passphrase', 'passcode', 'passwd', 'pin', 'pincode', 'otp', 'cvc', 'cvv', 'codeverifier'],
  ...['name', 'handle', 'avatarurl', 'phone', 'phonenumber', 'email', 'address'],
];

const isRemoved = (name: string): boolean => {
  const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return removedEndings.some((ending) => letters.endsWith(ending) || letters.endsWith(`${ending}s`));
};

const removed = '[removed]';

/**
 * Matches runs of characters that may be JSON Web Tokens. Each run is matched once, even if several tokens
 * could begin in it.
 */
const tokenRuns = /[\w.-]+/g;

/**
 * Matches private keys as PEM (RFC 7468), up to the end of the text, because the end of a key may be missing.
 */
const privateKeys = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----[\s\S]*/g;

const withoutTokens = (run: string): string =>
  run.includes('eyJ') && run.split('.').length > 2 ? removed : run;

/** Maximum length of a logged request or response body, in characters. */
const maxLength = 8 * 1024;

/**
 * Creates a function that removes secrets and personal data from a body, for the request log.
 * @param prefix - prefix of the service's tokens and keys
 * @returns a function that returns JSON without secrets and personal data, cut to 8,192 characters; `null` for
 * text that is not JSON. It also removes values that an error names (by paths such as `events.0`), which may
 * be secrets in the wrong place
 */
export function bodyRedaction(prefix: string) {
  const secrets = new RegExp(secretExpression(prefix), 'g');

  const cleaned = (text: string): string =>
    text.replaceAll(privateKeys, removed).replaceAll(tokenRuns, withoutTokens).replaceAll(secrets, removed);

  function kept(value: unknown, path: string, blamed: ReadonlySet<string>): unknown {
    if (blamed.has(path)) return removed;
    if (typeof value === 'string') return cleaned(value);
    if (typeof value !== 'object' || value === null) return value;
    const inner = (name: string | number, member: unknown): unknown =>
      kept(member, path === '' ? String(name) : `${path}.${name}`, blamed);
    if (Array.isArray(value)) return value.map((item, index) => inner(index, item));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        cleaned(name),
        isRemoved(name) && member !== null ? removed : inner(name, member),
      ]),
    );
  }

  return (body: string, blamed: readonly string[] = []): string | null => {
    try {
      const whole = JSON.stringify(kept(JSON.parse(body), '', new Set(blamed)));
      return whole.slice(0, maxLength).toWellFormed();
    } catch {
      // In other formats it is unknown which parts are secret, so keep nothing.
      return null;
    }
  };
}
