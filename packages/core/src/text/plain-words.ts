import type { z } from 'zod';
import type { ErrorDetail } from '../errors.ts';

// Error texts for values that a schema refuses. They follow the path of the field, and do not mention the
// validation library. A schema can have its own texts.

const kinds: { readonly [type: string]: string } = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a date',
  null: 'null',
};

const formats: { readonly [format: string]: string } = {
  datetime: 'a time in UTC such as 2026-01-31T12:00:00Z',
  url: 'a URL such as https://example.com/picture.png',
};

/** Units in error texts about sizes: characters of text, entries of a list. */
const units: { readonly [origin: string]: string } = { string: 'characters', array: 'entries' };

function tooBig({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): string {
  const unit = units[origin];
  if (unit !== undefined) return `has to have at most ${maximum} ${unit}`;
  return `has to be ${inclusive === false ? 'below' : 'at most'} ${maximum}`;
}

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  const unit = units[origin];
  if (unit !== undefined) return minimum === 1 ? 'is empty' : `has to have at least ${minimum} ${unit}`;
  return `has to be ${inclusive === false ? 'above' : 'at least'} ${minimum}`;
}

/**
 * Combines the errors that the alternatives of a union type report about the value itself. Errors about parts
 * of the value are reported separately.
 */
function noneOf(alternatives: readonly (readonly z.core.$ZodIssue[])[]): string {
  const own = alternatives.flat().filter(({ path }) => path.length === 0);
  const words = [...new Set(own.map(({ message }) => message))];
  if (words.length === 0) return 'matches none of the allowed forms';
  return words.map((text, at) => (at === 0 ? text : text.replace(/^has to be /, ''))).join(', or ');
}

function wordsFor(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `has to be ${kinds[issue.expected] ?? `of the kind ${issue.expected}`}`;
    case 'invalid_value':
      return `has to be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return `has to ${formats[issue.format] === undefined ? 'have another form' : `be ${formats[issue.format]}`}`;
    case 'too_big':
      return tooBig(issue as z.core.$ZodIssueTooBig);
    case 'too_small':
      return tooSmall(issue as z.core.$ZodIssueTooSmall);
    case 'unrecognized_keys':
      return `takes no ${issue.keys.map((key) => JSON.stringify(key.slice(0, 64))).join(', ')}`;
    case 'invalid_union':
      return noneOf(issue.errors);
    case 'invalid_key':
      return `its name ${issue.issues[0]?.message ?? 'cannot be taken'}`;
    default:
      return 'cannot be taken';
  }
}

/**
 * Option of zod's parse functions for error texts in plain words: `schema.safeParse(value, inPlainWords)`.
 */
export const inPlainWords = { error: wordsFor } as const satisfies z.core.ParseContext<z.core.$ZodIssue>;

function problemsBelow(base: readonly string[], issues: readonly z.core.$ZodIssue[]): ErrorDetail[] {
  return issues.flatMap((issue): ErrorDetail[] => {
    // Cut names of members, which callers choose, to a bounded length.
    const path = [...base, ...issue.path.map((part) => String(part).slice(0, 64))];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...path, key.slice(0, 64)].join('.'),
        message: 'is not a known field',
      }));
    }
    if (issue.code === 'invalid_union') {
      // Report the errors of the alternative with the fewest errors. If two have equally few, report the
      // whole union.
      const [closest = [], second = []] = issue.errors.toSorted((a, b) => a.length - b.length);
      if (closest.length < second.length) return problemsBelow(path, closest);
    }
    return [{ path: path.join('.'), message: issue.message }];
  });
}

/** Returns the faulty fields of a parse with {@link inPlainWords}, each once. */
export function problemsOf(issues: readonly z.core.$ZodIssue[]): ErrorDetail[] {
  const problems = problemsBelow([], issues);
  return problems.filter(({ path }, at) => problems.findIndex((other) => other.path === path) === at);
}

/** Formats several problems in one line. A problem without a path is listed under the name `whole`. */
export function inOneLine(problems: readonly ErrorDetail[], whole: string): string {
  return problems.map(({ path, message }) => `${path === '' ? whole : path}: ${message}`).join('; ');
}
