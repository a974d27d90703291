import type { Language } from '@ostiary/core/console';
import en from '../../texts/en.json' with { type: 'json' };
import fr from '../../texts/fr.json' with { type: 'json' };

export type { Language };

/** What the pages say. */
export type Texts = ReturnType<typeof textsOf>;

function textsOf({ throttledOnce, throttledFor, ...rest }: typeof en) {
  return {
    ...rest,
    throttled: (minutes: number): string =>
      minutes <= 1 ? throttledOnce : throttledFor.replace('{minutes}', String(minutes)),
  };
}

export const texts: Readonly<Record<Language, Texts>> = { en: textsOf(en), fr: textsOf(fr) };

/** The language of a page: what the app asked for (`ui_locales`), then what the browser prefers, then English. */
export { negotiateLanguage as chooseLanguage } from '@ostiary/core/console';
