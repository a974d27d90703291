import type en from '../../languages/en.json';

type Words<English> = {
  readonly [Name in keyof English]: English[Name] extends string ? string : Words<English[Name]>;
};

/** Every text of the pages in one language, as an ICU message. The texts of scopes depend on which scopes there are. */
export type Texts = Words<Omit<typeof en, 'scopes'>> & {
  /** Names of the twelve months, where `Intl` does not know the language: dates are then `5 janvye 2026`. */
  readonly months?: readonly string[];
};

/** Kind of an error page. */
export type ErrorKind = keyof Texts['errors'];
