import type { Words } from '../en/index.ts';

export const snippets: Words['snippets'] = {
  copy: 'Copier',
  copied: 'Copié.',
  notCopied:
    'Votre navigateur ne laisse pas la page copier. Le texte est sélectionné\u00a0: copiez-le au clavier.',
  curl: (title) => `${title}\u00a0: curl`,
  sdk: (title) => `${title}\u00a0: @ostiary/client-sdk`,
  key: 'La clé d’API est lue dans la variable d’environnement OSTIARY_API_KEY.',
  unknownId: 'Le journal ne garde pas ce qui était dans le chemin\u00a0: mettez-le dans la variable ID.',
  title: 'Depuis votre code',
  trigger: 'Déclencher cet événement',
  redeliver: 'Livrer à nouveau cet événement',
  repeat: 'Répéter cette requête',
  repeatHint: 'Complétez ce qui a été retiré du corps. Les paramètres de l’adresse ne sont pas gardés.',
  cut: 'Le corps a été coupé\u00a0: la requête ne peut pas être répétée d’ici.',
};
