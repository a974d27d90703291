import file from '../../vectors.json' with { type: 'json' };

/** Rules for verifiers in any language, by their numbers in the documentation. */
export type Rule = 1 | 2 | 3 | 4 | 5 | 6;

/**
 * Kind of a test vector. `contract`: every verifier that follows the rules decides like this. `strictness`:
 * the rules leave the decision open, and this package refuses. `configuration`: an option differs from its
 * default, such as the prefix.
 */
export type Kind = 'contract' | 'strictness' | 'configuration';

/** A test vector: a case of `vectors.json`. */
export interface Vector {
  readonly name: string;
  /**
   * Rule that refuses the delivery; for a valid delivery, the rule that a wrong verifier would apply wrongly.
   */
  readonly rule: Rule;
  readonly kind: Kind;
  /** Body of the webhook, as Base64 of its bytes. */
  readonly body: string;
  /** Headers of the webhook. A header that came more than once has a list of values. */
  readonly headers: { readonly [name: string]: string | readonly string[] };
  readonly secrets: readonly string[];
  /** Current time at the verification, in Unix seconds. */
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

/**
 * Published test vectors. To add one, write it into the file; its signature is `printf '%s.' TIMESTAMP | cat
 * - BODY | openssl dgst -sha256 -hmac SECRET`.
 */
export const vectors = file.cases as readonly unknown[] as readonly Vector[];
