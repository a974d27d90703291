import type { en } from './en.ts';

type Words<Model> = { readonly [Key in keyof Model]: Model[Key] extends string ? string : Words<Model[Key]> };

/**
 * Every word of the pages in one language; what each scope gives stands in the scope table. A name in braces, such as `{client}`,
 * is where the pages put something in. What English says, every other language has to say: a word that is missing does not compile.
 */
export type Texts = Words<typeof en> & {
  /** Names of the twelve months, where `Intl` does not know the language: dates are then `5 janvye 2026`. */
  readonly months?: readonly string[];
};

export type ErrorKind = keyof Texts['errors'];

/** What is put into a text stands in braces. */
export const holes = /\{(\w+)\}/;

/** The names in the braces of a text, in the order of the alphabet. */
export function holesOf(template: string): string[] {
  return [...template.matchAll(new RegExp(holes, 'g'))].map(([, name = '']) => name).sort();
}
