import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ht } from './ht.ts';
import { pt } from './pt.ts';
import type { Texts } from './texts.ts';

/** The languages that ship, by their tags. */
export const shippedTexts = { en, fr, ht, es, pt } satisfies { readonly [tag: string]: Texts };
