import { IntlMessageFormat } from 'intl-messageformat';

type Elements = ReturnType<IntlMessageFormat['getAst']>;

/**
 * Cache of parsed ICU messages by language and text. Texts come from language files and options only, so
 * their number is bounded.
 */
const parsed = new Map<string, IntlMessageFormat>();

/**
 * Parses an ICU message once and caches the result. Tags in the text are not parsed: markup comes only from
 * the values of a message.
 * @throws SyntaxError for a text that is no ICU message
 */
export function parseMessage(language: string, text: string): IntlMessageFormat {
  const key = `${language} ${text}`;
  const message = parsed.get(key) ?? new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
  parsed.set(key, message);
  return message;
}

function argumentNames(elements: Elements): string[] {
  return elements.flatMap((element) => {
    if ('options' in element) {
      const branches = Object.values(element.options).flatMap(({ value }) => argumentNames(value));
      return [element.value, ...branches];
    }
    // Literal text, and the `#` of a plural, are not arguments.
    return element.type === 0 || !('value' in element) ? [] : [element.value];
  });
}

/**
 * Returns the names of an ICU message's arguments in alphabetical order. A name that occurs twice is listed
 * twice.
 * @throws SyntaxError for a text that is no ICU message
 */
export function argumentsOf(text: string): readonly string[] {
  return argumentNames(parseMessage('en', text).getAst()).sort();
}

/** Explains why a translated text cannot replace a message with these arguments; `null` if it can. */
export function messageFault(text: string, names: readonly string[]): string | null {
  const wanted = names.map((name) => `{${name}}`).join(' and ') || 'no braces';
  try {
    return argumentsOf(text).join() === names.join() ? null : `has to hold ${wanted}`;
  } catch {
    return `has to hold ${wanted}, and be an ICU message`;
  }
}
