/**
 * Error texts about form fields, by code, for pages that show them in other languages. `#` stands for a
 * number. Schemas and checks take their texts from here; the texts of `plain-words.ts` are repeated here.
 */
export const fieldProblems = {
  missing: 'is missing',
  empty: 'is empty',
  max_characters: 'has to have at most # characters',
  max_entries: 'has to have at most # entries',
  max_number: 'has to be at most #',
  min_number: 'has to be at least #',
  slug_form: 'takes 2 to 40 of a-z 0-9 -',
  name_empty: 'must not be empty',
  name_invisible: 'must contain a letter, a digit or a sign',
  name_deceiving: 'must not contain control, invisible or direction characters',
  address_range: 'is not an IP address or a CIDR range',
  time_past: 'has to be in the future',
  client_id_form: 'takes 1 to 255 of A-Z a-z 0-9 _ -',
  scope_empty: 'names no scope; null is for none',
  uris_none: 'needs at least one',
  uris_twice: 'names one twice',
  uris_many: 'takes # at most',
  uri_long: 'is longer than # characters',
  uri_wildcard: 'has a wildcard',
  uri_fragment: 'has a fragment',
  uri_characters: 'has characters that a URI cannot have',
  uri_relative: 'is not an absolute URI',
  uri_user: 'has user information',
  uri_host: 'has no host',
  uri_http: 'is http, which is allowed for loopback addresses only',
  uri_scheme: 'has a scheme that is not allowed',
  uri_scheme_dot: 'has a scheme that is not allowed: without a dot it needs a firstParty client',
  uri_scheme_public: 'has a private-use scheme, which is allowed for public clients only',
  url_long: 'The URL must have at most # characters.',
  url_characters: 'The URL must not contain whitespace, control characters or backslashes.',
  url_fragment: 'The URL must not contain a fragment.',
  url_https: 'The URL must begin with https:// and a host.',
  url_credentials: 'The URL must not contain credentials.',
  url_malformed: 'The URL is malformed.',
  url_port: 'The port must be 443, or 1024 and above.',
  url_host: 'The host must resolve, and to public addresses only.',
  jwks_private: 'is a private key, and only public keys are taken',
  jwks_invalid: 'is no valid key',
  jwks_bits: 'has to have 2048 to 8192 bits',
  jwks_twice: 'has two keys with the same kid',
  jwks_both: 'the client has jwks, and takes one of the two',
  keys_public: 'a public client has no keys',
  secret_public: 'a public client has no secret',
  port_public: 'any port is for public clients only',
  scope_not_allowed: 'is not among allowedScopes',
  scope_openid: 'openid cannot be left out, because it makes a sign-in OpenID Connect',
  option_keys: 'needs the option privateKeyJwt',
  option_pushed: 'needs the option pushedRequests',
  option_dpop: 'needs the option dpop',
  profile_options: 'fapi2 needs the options privateKeyJwt, pushedRequests and dpop',
  profile_keys: 'fapi2 needs a client with keys: jwks or jwksUri',
  profile_alg: 'the profile fapi2 needs ES256',
  profile_https: 'the profile fapi2 needs https',
  logo_png: 'is no PNG',
  logo_unknown: 'is no PNG that viewers know',
  logo_bytes: 'may have # bytes at most',
  logo_square: 'has to be square',
  logo_pixels: 'has to have 32 to 1024 pixels on a side',
  logo_plain: 'save it as a plain PNG, without animation, color profile and metadata',
  logo_damaged: 'is damaged',
  secret_length: 'has to have 16 to 256 characters',
} as const;

/** Code of an error text about a form field. */
export type FieldProblemCode = keyof typeof fieldProblems;

const codes = new Map<string, FieldProblemCode>();
for (const [code, text] of Object.entries(fieldProblems)) codes.set(text, code as FieldProblemCode);

/**
 * Returns the code of an error text about a field, with its number if it has one; `null` for any other text.
 */
export function fieldProblemOf(
  message: string,
): { readonly code: FieldProblemCode; readonly number: number | null } | null {
  const exact = codes.get(
    message.replace(/^(?:\S+ )+(?=is not among )|^has \w+: (?=save )| \([^()]*\)$/g, ''),
  );
  if (exact !== undefined) return { code: exact, number: null };
  const [digits = ''] = /-?\d+/.exec(message) ?? [];
  const code = codes.get(message.replace(digits, '#'));
  return code === undefined ? null : { code, number: Number(digits) };
}
