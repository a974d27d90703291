import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ht } from './ht.ts';
import { pt } from './pt.ts';
import type { Language, Texts } from './texts.ts';

/** The languages that ship, by their tags. */
export const shippedTexts: { readonly [L in Language]: Texts } = { en, fr, ht, es, pt };
