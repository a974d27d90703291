import { z } from 'zod';
import en from '../../languages/en.json' with { type: 'json' };
import type { Consents } from '../scopes/consent-texts.ts';
import { argumentsOf, messageFault } from '../text/messages.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import type { PageTexts } from './page-language.ts';

function merged(whole: object, part: object): object {
  const members = Object.entries(part).map(([key, value]) => {
    const own: unknown = Reflect.get(whole, key);
    const areBoth = [own, value].every(
      (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
    );
    return [key, areBoth ? merged(Object(own), Object(value)) : value];
  });
  return { ...whole, ...Object.fromEntries(members) };
}

/**
 * Returns the schema that a host application's translation of an English text must match: an ICU message with
 * the same arguments.
 */
function wordsFor(english: string): z.ZodType<string> {
  const names = argumentsOf(english);
  return z
    .string()
    .max(2000)
    .refine((own) => own.trim() !== '', 'is empty')
    .superRefine((own, context) => {
      const message = messageFault(own, names);
      if (message !== null) context.addIssue({ code: 'custom', message });
    });
}

/** Returns a schema for a set of translated texts with the same members as the English texts. */
function schemaFor(english: object): z.ZodObject {
  const members = Object.entries(english).map(([key, words]) => {
    return [key, typeof words === 'string' ? wordsFor(words) : schemaFor(Object(words))];
  });
  return z.strictObject(Object.fromEntries(members));
}

/** Returns a schema for all page texts of a language. */
function schemaOf(consents: Consents): z.ZodObject {
  const anyWords = Object.keys(consents).map((name) => [name, { title: 'title', detail: 'detail' }] as const);
  return schemaFor({ ...en, scopes: Object.fromEntries(anyWords) }).extend({
    months: z.array(z.string().min(1)).length(12).optional(),
  });
}

/**
 * Merges page texts of the host application into the built-in texts of a language.
 * @throws TypeError that names missing and wrong texts by their path
 */
export function withHostTexts(tag: string, known: object, own: object, consents: Consents): PageTexts {
  const whole = merged(known, own);
  const { error } = schemaOf(consents).safeParse(whole, inPlainWords);
  if (error === undefined) return whole as PageTexts;
  const found = problemsOf(error.issues).map(({ path, message }) => ({
    path: `texts.${tag}.${path}`,
    message,
  }));
  throw new TypeError(inOneLine(found, 'texts'));
}
