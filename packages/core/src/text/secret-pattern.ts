/**
 * Returns the regular expression that matches secrets in a text: tokens and keys with the service's prefix,
 * including future kinds, and webhook secrets, which may be base64. Client ids are public and do not match.
 */
export const secretExpression = (prefix: string): string =>
  `${prefix}_(?!client_)[a-z]+_[\\w-]+|whsec_[\\w+/=-]+`;

/** Returns a function that checks whether a text contains a secret of the service, a JSON Web Token or a private key. */
export function secretPattern(prefix: string): (text: string) => boolean {
  const secrets = new RegExp(
    `${secretExpression(prefix)}|eyJ[\\w-]+\\.[\\w-]+\\.|-----BEGIN [A-Z ]*PRIVATE KEY`,
  );
  return (text) => secrets.test(text);
}
