import type en from '../../languages/en.json';

type Words<English> = {
  readonly [Name in keyof English]: English[Name] extends string ? string : Words<English[Name]>;
};

/**
 * All page texts in one language, as ICU messages. The set of scopes with texts depends on the options.
 */
export type Texts = Words<Omit<typeof en, 'scopes'>> & {
  /**
   * Names of the twelve months, for languages that `Intl` does not know. Dates are then written as `5 janvye
   * 2026`.
   */
  readonly months?: readonly string[];
};

/** Kind of error that an error page explains. */
export type ErrorKind = keyof Texts['errors'];
