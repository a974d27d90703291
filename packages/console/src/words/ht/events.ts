import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const trigger: Words['trigger'] = {
  title: 'Deklanche yon evènman tès',
  intro: 'Li sanble ak yon vrè, epi li ale nan endpoint tès ou yo. Pa gen lajan ki deplase.',
  type: 'Kalite',
  send: 'Voye',
  edit: 'Chanje done yo anvan',
  editTitle: 'Chanje yon evènman tès',
  data: 'Done',
  dataHint: 'Yon objè JSON ki koresponn ak kalite a. Se manm “data” nan kò a.',
  refused: 'Nou pa voye evènman an.',
};

export const events: Words['events'] = {
  title: 'Evènman',
  emptyTitle: 'Poko gen evènman',
  empty: 'Deklanche youn, oswa fè yon peman ak yon kle tès.',
  newest: 'Evènman ki pi resan',
  older: 'Evènman ki pi ansyen',
  all: 'Tout kalite evènman',
  body: 'Kò',
  bodyHint: 'Nou montre li ak liy ki koupe. Li siyen epi li pati san yo, ak menm oktè yo nan chak tantativ.',
  filters: 'Filt',
  type: 'Kalite evènman',
  state: 'Livrezon',
  endpoint: 'Yon endpoint',
  allEndpoints: 'Tout endpoint yo',
  until: 'Jiska (UTC)',
  untilWrong: (example) => `Ekri dat la tankou ${example}. Lis la pa sèvi ak sa a.`,
  clear: 'Efase filt yo',
  id: 'Idantifyan evènman an',
  find: 'Louvri',
  notFound: 'Pa gen evènman ki gen idantifyan sa a.',
  nothingYet: 'Anyen pa koresponn ak filt sa a nan evènman nou chèche yo: 5 000 alafwa.',
  searchOlder: 'Chèche nan evènman ki pi ansyen',
  json: 'An JSON',
  sequence: (number) => html`Evènman ${number}`,
  redeliverAll: 'Livre ankò',
  redeliverHint: 'Bay chak endpoint aktive ki aksepte kalite sa a kounye a, ak menm idantifyan ak menm kò a.',
};
