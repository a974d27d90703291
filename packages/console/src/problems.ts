import { fieldProblemOf } from '@ostiary/core/console';
import { fillText } from '@ostiary/core/pages';
import { counted } from './parts.ts';
import type { Voice } from './words.ts';

/**
 * Returns, in the language of the page, the reason why a value was refused. A text that has no code, such as
 * one of the host application, stays as it is.
 */
export function problemText(message: string, { language, words: { problems } }: Voice): string {
  // Some texts begin with the refused value, which the field still shows.
  const problem = fieldProblemOf(message.replace(/^"(?:[^"\\]|\\.)*" /s, ''));
  if (problem === null) return message;
  const number = counted(problem.number ?? 0, language);
  // The refused character of a name.
  const [character = ''] = / \(U\+[0-9A-F]+\)$/.exec(message) ?? [];
  return `${fillText(language, problems[problem.code], { number })}${character}`;
}
