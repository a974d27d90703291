import { createHmac } from 'node:crypto';

/** The rules for verifiers in any language, by their number in the documentation. */
export type Rule = 1 | 2 | 3 | 4 | 5 | 6;

/**
 * `contract`: whoever follows the rules decides like this. `strictness`: the rules leave it open, and this package refuses.
 * `configuration`: an option differs from what it is by default, such as the prefix.
 */
export type Kind = 'contract' | 'strictness' | 'configuration';

/** One case of `vectors.json`. */
export interface Vector {
  readonly name: string;
  /** The rule that refuses it; for a valid one the rule that a wrong verifier would break. */
  readonly rule: Rule;
  readonly kind: Kind;
  /** Base64 of the bytes of the body. */
  readonly body: string;
  /** A header that came more than once has a list. */
  readonly headers: { readonly [name: string]: string | readonly string[] };
  readonly secrets: readonly string[];
  /** Unix seconds. */
  readonly now: number;
  readonly tolerance: number;
  readonly prefix: string;
  readonly expected:
    | {
        readonly valid: true;
        readonly id: string;
        readonly type: string;
        readonly timestamp: number;
        readonly attempt: number | null;
        readonly partner: string;
        readonly matchedSecret: number;
      }
    | { readonly valid: false; readonly code: string };
}

/** A case that is not yet under its rule. */
export type Draft = Omit<Vector, 'rule'>;

export const timestamp = 1_780_000_000;
export const secret = 'correct horse battery staple';
export const id = 'evt_01J8ZQ4N5T';
export const type = 'payment.completed';
export const transfer = {
  id: 'tr_01J8ZQ4N5T',
  status: 'completed',
  mode: 'live',
  amount: '1250.00',
  currency: 'HTG',
  recipient: { kid: 'kid_7Q2M' },
  description: 'Café crème – 2 €',
  reference: 'invoice-42',
  metadata: { 'déjà vu': '日本語 🦉' },
  failure: null,
  createdAt: '2026-05-28T19:26:38.000Z',
  updatedAt: '2026-05-28T19:26:40.000Z',
  completedAt: '2026-05-28T19:26:40.000Z',
};
export const event = { id, type, createdAt: '2026-05-28T19:26:40.000Z', mode: 'live', data: transfer };
export const text = JSON.stringify(event);
export const bytes = Buffer.from(text);

interface Signing {
  readonly body?: Uint8Array;
  readonly key?: string | Uint8Array;
  readonly at?: number | string;
  readonly prefix?: string;
  readonly of?: { readonly id: string; readonly type: string };
}

/** Written from the specification with nothing of the package, so that a mistake there does not repeat itself here. */
export function signed({
  body = bytes,
  key = secret,
  at = timestamp,
  prefix = 'SVC',
  of = { id, type },
}: Signing = {}): { readonly [name: string]: string } {
  return {
    'Content-Type': 'application/json',
    [`X-${prefix}-Event`]: of.type,
    [`X-${prefix}-EventId`]: of.id,
    [`X-${prefix}-Timestamp`]: `${at}`,
    [`X-${prefix}-Signature`]: createHmac('sha256', key).update(`${at}.`).update(body).digest('hex'),
    [`X-${prefix}-Partner`]: 'acme-pay',
    [`X-${prefix}-Attempt`]: '1',
  };
}

/** What differs from a plain delivery and its receiver. */
export type Given = Partial<Omit<Draft, 'name' | 'kind' | 'expected' | 'body'>> & {
  readonly body?: Uint8Array;
};

function draft(name: string, given: Given, expected: Vector['expected']): Draft {
  const { body = bytes, headers = signed(), secrets = [secret], now = timestamp, tolerance = 300 } = given;
  const prefix = given.prefix ?? 'svc';
  return {
    name,
    kind: 'contract',
    body: Buffer.from(body).toString('base64'),
    headers,
    secrets,
    now,
    tolerance,
    prefix,
    expected,
  };
}

export function valid(name: string, given: Given = {}, expected: object = {}): Draft {
  const usual = {
    valid: true,
    id,
    type,
    timestamp,
    attempt: 1,
    partner: 'acme-pay',
    matchedSecret: 0,
  } as const;
  return draft(name, given, { ...usual, ...expected });
}

export const invalid = (name: string, code: string, given: Given): Draft =>
  draft(name, given, { valid: false, code });

export const strictness = (draft: Draft): Draft => ({ ...draft, kind: 'strictness' });
export const configuration = (draft: Draft): Draft => ({ ...draft, kind: 'configuration' });

/** Puts cases under the rule that they test. */
export const underRule = (rule: Rule, drafts: readonly Draft[]): readonly Vector[] =>
  drafts.map(({ name, ...draft }) => ({ name, rule, ...draft }));

export const header = (name: string, value: string | readonly string[]): Given => ({
  headers: { ...signed(), [name]: value },
});

export function without(
  name: string,
  of: Given['headers'] = signed(),
): { readonly headers: Vector['headers'] } {
  const { [name]: _, ...headers } = of;
  return { headers };
}

/** A body that is not the signed one. */
export const body = (altered: Uint8Array | string): Given => ({ body: Buffer.from(altered) });

/** Signed as it stands, so that only what comes after the signature can refuse it. */
export function signedBody(altered: Uint8Array | string, of = { id, type }): Given {
  const body = Buffer.from(altered);
  return { body, headers: signed({ body, of }) };
}
