import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const endpoints: Words['endpoints'] = {
  title: 'Endpoint yo',
  add: 'Ajoute yon endpoint',
  emptyTitle: 'Poko gen endpoint',
  empty: 'Anrejistre adrès kote aplikasyon ou resevwa evènman yo.',
  enabled: 'Aktive',
  disabled: 'Dezaktive',
  allTypes: 'Tout kalite evènman',
  enable: 'Aktive li',
  disable: 'Dezaktive li',
  disableHint: 'Lè w dezaktive yon endpoint, tout sa k ap tann pou li anile.',
  remove: 'Retire endpoint sa a',
  removeHint: 'Ou pa ka fè l tounen, epi tout sa k ap tann pou li anile.',
  removeNow: 'Retire li nèt',
  removed: 'Endpoint ki retire',
  since: (time) => html`Anrejistre ${time}`,
  addTitle: 'Ajoute yon endpoint',
  url: 'Adrès (URL)',
  urlHint: 'Yon adrès https piblik. Nou voye chak evènman ba li ak yon POST.',
  secret: 'Sekrè webhook la',
  secretHint:
    'Li siyen chak evènman; aplikasyon ou dwe konnen li. Kite li vid pou w jwenn youn otomatik, oswa tape youn ki gen 16 pou rive 256 karaktè.',
  types: 'Kalite evènman',
  refused: 'Endpoint la pa anrejistre.',
  badTypes: 'Chwazi omwen yon kalite.',
  secretAgain:
    'Paj la pa kenbe li: tape li ankò, 16 pou rive 256 karaktè. Si w kite li vid, w ap jwenn youn otomatik.',
  twin: (id) => html`Yon lòt endpoint ou genyen gen adrès sa a: ${id}. Toulède t ap resevwa chak evènman.`,
  anyway: 'Anrejistre li kanmenm',
  saveAnyway: 'Sove li kanmenm',
  edit: 'Chanje adrès la ak kalite yo',
  rotate: 'Ranplase sekrè a',
  editTitle: 'Chanje yon endpoint',
  editUrlHint: 'Yon adrès https piblik. Sa k ap tann pou endpoint la prale la apati pwochen tantativ la.',
  editRefused: 'Endpoint la pa chanje.',
  save: 'Sove',
  goneTitle: 'Endpoint sa a pa egziste',
};

export const secrets: Words['secrets'] = {
  title: 'Ranplase sekrè a',
  underWay:
    'Yon endpoint gen yon sèl sekrè alafwa. Nouvo a siyen tout tantativ apati pwochen an, menm lè n ap eseye ankò pou evènman ki deja sou wout.',
  overlap:
    'Fè aplikasyon ou aksepte toulède sekrè yo anvan, pou l pa refize okenn evènman. Si l refize youn, nou eseye ankò, menm jan ak nenpòt tantativ ki echwe.',
  generateTitle: 'Yon sekrè otomatik',
  generateHint: 'Se ou menm ki wè l anvan. Ansyen an rete an vigè jiskaske ou bay lòd la.',
  generate: 'Fè yon sekrè',
  generatedTitle: 'Nouvo sekrè ou',
  generatedHint: 'Li poko an vigè. Bay aplikasyon ou li, apre sa fè l siyen.',
  onlyNow: 'Nou montre l kounye a, epi nou p ap janm montre l ankò.',
  use: 'Siyen ak li apati kounye a',
  discard: 'Kenbe ansyen an',
  ownTitle: 'Yon sekrè ou chwazi',
  own: 'Nouvo sekrè',
  ownHint: '16 pou rive 256 karaktè o aza. Nou pa janm montre li.',
  refused: 'Sekrè a pa ranplase.',
  toEndpoint: 'Ale sou endpoint la',
  newTitle: 'Sekrè endpoint ou',
  newHint: 'Bay aplikasyon ou sekrè sa a: se ak li nou siyen chak evènman.',
};

export const recovery: Words['recovery'] = {
  title: 'Reprann sa ki abandone',
  hint: 'Livre ankò sa ki te abandone apre dènye tantativ la, depi yon sèten lè.',
  disabled: 'Aktive endpoint la anvan.',
  since: 'Depi (UTC)',
  sinceHint: 'Dat ak lè an UTC, tankou sou paj sa a.',
  recover: 'Reprann',
  refused: 'Nou pa reprann anyen.',
  badSince: 'Bay yon dat ak yon lè, tankou 2026-01-31 14:05.',
  none: 'Anyen pa abandone depi lè sa a.',
  done: (count) => `Livrezon ki tounen nan liy: ${count}.`,
  more: (count) => `Livrezon ki tounen nan liy: ${count}. Ka gen lòt toujou: reprann yon lòt fwa.`,
};
