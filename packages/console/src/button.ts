import type { ConsoleAnswer } from '@ostiary/core/console';
import { fillText, type Html, html, initialOf, readableOn, render } from '@ostiary/core/pages';
import { answerFramed } from './frame.ts';
import { snippet } from './snippets.ts';
import type { Visit } from './visit.ts';
import { allWords, type Language, languages } from './words.ts';

/** Colours of the sign-in button: on light pages and on dark pages. */
const schemes = {
  light: { background: '#ffffff', border: '#747775', text: '#1f1f1f' },
  dark: { background: '#131314', border: '#8e918f', text: '#e3e3e3' },
} as const;

type Scheme = keyof typeof schemes;

/** Height of the sign-in button in pixels, large enough for fingers. */
const height = 44;

/**
 * Estimates the width of a character at a font size of 16 pixels. The exact width depends on the font of the
 * reader's system.
 */
function widthOf(character: string): number {
  if (/[iIjl.,:;'|! ]/.test(character)) return 5.5;
  if (/[frt()[\]-]/.test(character)) return 7;
  if (/[mwMW@%]/.test(character)) return 15;
  if (/[A-Z]/.test(character)) return 11.5;
  return character <= '\u024f' ? 9.5 : 16;
}

/** Returns the text of the sign-in button in a language. */
async function buttonText({ backend }: Visit, language: Language): Promise<string> {
  const { button } = await allWords[language]();
  return fillText(language, button.text, { name: backend.theme.name });
}

/** Draws the sign-in button as SVG, without external fonts and images. */
function drawn({ backend: { theme } }: Visit, scheme: Scheme, text: string): Html {
  const { background, border, text: ink } = schemes[scheme];
  const length = Math.ceil([...text].reduce((sum, character) => sum + widthOf(character), 0));
  const width = length + 62;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${text}"><rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${background}" stroke="${border}"/><circle cx="24" cy="22" r="12" fill="${theme.colour}"/><text x="24" y="27" fill="${readableOn(theme.colour)}" font-family="system-ui, sans-serif" font-size="14" font-weight="700" text-anchor="middle">${initialOf(theme.name)}</text><text x="46" y="27.5" fill="${ink}" font-family="system-ui, sans-serif" font-size="16" font-weight="600" textLength="${length}" lengthAdjust="spacingAndGlyphs">${text}</text></svg>`;
}

const isLanguage = (name: string | null): name is Language => name !== null && Object.hasOwn(allWords, name);

const fileName = (scheme: Scheme, language: Language): string => `sign-in-${scheme}-${language}.svg`;

/** Responds with a sign-in button as an SVG file. */
export async function buttonFile(visit: Visit): Promise<ConsoleAnswer> {
  const { query } = visit.request;
  const scheme: Scheme = query.get('scheme') === 'dark' ? 'dark' : 'light';
  const asked = query.get('lang');
  const language = isLanguage(asked) ? asked : visit.voice.language;
  return {
    status: 200,
    headers: {
      'Content-Type': 'image/svg+xml; charset=utf-8',
      'Content-Disposition': `attachment; filename="${fileName(scheme, language)}"`,
    },
    body: render(drawn(visit, scheme, await buttonText(visit, language))),
  };
}

/** Returns HTML that shows the sign-in button in the colours that fit the reader's colour scheme. */
const markupOf = (text: string, language: Language): string => `<a href="/login">
  <picture>
    <source srcset="/${fileName('dark', language)}" media="(prefers-color-scheme: dark)">
    <img src="/${fileName('light', language)}" height="${height}" alt="${text.replaceAll('"', '&quot;')}">
  </picture>
</a>`;

/** Shows the sign-in buttons in all languages, and the rules for them. */
export async function button(visit: Visit): Promise<ConsoleAnswer> {
  const { backend, urlOf, voice } = visit;
  const words = voice.words.button;
  const file = (scheme: Scheme, language: Language, text: string): Html => {
    const href = urlOf('buttonFile', { scheme, lang: language });
    return html`<div class="sample"><div lang="${language}">${drawn(visit, scheme, text)}</div><p class="small"><a href="${href}" download>${words[scheme]} <span class="hidden">${text}</span></a></p></div>`;
  };
  const texts = await Promise.all(
    languages.map(async (language) => [language, await buttonText(visit, language)] as const),
  );
  const rules = Object.values(words.rules).map((rule) =>
    fillText(voice.language, rule, { name: backend.theme.name }),
  );
  const [own = ''] = texts.flatMap(([language, text]) => (language === voice.language ? [text] : []));
  return answerFramed(visit, {
    title: words.title,
    layout: 'main-first',
    section: 'tools',
    body: html`<section class="panel" aria-labelledby="files"><h2 id="files">${words.files}</h2>${texts.map(
      ([language, text]) =>
        html`<div class="samples">${file('light', language, text)}${file('dark', language, text)}</div>`,
    )}</section>
<div class="column"><section class="panel" aria-labelledby="rules"><h2 id="rules">${words.rulesTitle}</h2><ul class="rules">${rules.map((rule) => html`<li>${rule}</li>`)}</ul></section>
<section class="panel">${snippet(voice, 'HTML', markupOf(own, voice.language))}</section></div>`,
  });
}
