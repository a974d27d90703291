import type { Words } from '../en/index.ts';

export const snippets: Words['snippets'] = {
  copy: 'Kopye',
  copied: 'Kopye fèt.',
  notCopied: 'Navigatè ou pa kite paj la kopye. Tèks la chwazi deja: kopye li ak klavye a.',
  curl: (title) => `${title}: curl`,
  sdk: (title) => `${title}: @ostiary/client-sdk`,
  key: 'Nou li kle API a nan varyab anviwònman OSTIARY_API_KEY.',
  unknownId: 'Jounal la pa kenbe sa ki te nan chemen an: mete li nan varyab ID.',
  title: 'Nan pwòp kòd ou',
  trigger: 'Deklanche evènman sa a',
  redeliver: 'Livre evènman sa a ankò',
  repeat: 'Repete demann sa a',
  repeatHint: 'Ranpli sa nou retire nan kò a. Nou pa kenbe paramèt adrès la.',
  cut: 'Kò a koupe, kidonk ou pa ka repete demann lan depi isit la.',
};
