import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const deliveries: Words['deliveries'] = {
  title: 'Livrezon',
  emptyTitle: 'Pa gen livrezon',
  emptyEvent: 'Pa t gen okenn endpoint aktive ki te aksepte kalite evènman sa a lè yo te pibliye li.',
  emptyEndpoint: 'Nou poko voye anyen bay endpoint sa a.',
  again: 'Livre ankò isit la',
  states: {
    pending: 'Ap tann',
    delivered: 'Livre',
    dropped: 'Abandone',
    cancelled: 'Anile',
    none: 'Pa gen endpoint',
  },
  more: 'Livrezon ki pi ansyen',
  all: 'Tout livrezon yo',
  andOlder: 'ak lòt ki pi ansyen',
  attempt: (number, of) => html`Tantativ ${number} sou ${of}`,
  attemptBeyond: (number) => html`Tantativ ${number}`,
  succeeded: 'Endpoint ou aksepte evènman an.',
  noStatus: 'Pa gen repons',
  whatToDo: 'Sa pou w fè:',
  answer: (bytes) => html`Sa li reponn (${bytes} oktè)`,
  answerCut: 'Sa li reponn (16 premye KiB yo)',
  answerTo: (number) => `Repons pou tantativ ${number}`,
  noAnswer: 'Li reponn ak yon kò vid.',
  sent: 'Sa nou te voye',
  ofAttempt: (number) => `nan tantativ ${number}`,
  requestOf: (number) => `Demann tantativ ${number}`,
  curlOf: (number) => `Tantativ ${number} kòm kòmand curl`,
  requestUnknown: 'Nou pa konnen sa nou te voye ankò: yo retire endpoint la.',
  changed: (time) =>
    html`Yo chanje endpoint la ${time}. URL la ak siyati a se sa ki nan paramèt li genyen kounye a, e yo ka diferan de sa nou te voye.`,
  neverSent: 'Pa t gen koneksyon ki fèt, kidonk nou pa voye anyen.',
  oldSignature:
    'Siyati a se siyati moman tantativ la: 5 minit apre, moun k ap resevwa yo refize li paske li twò ansyen.',
  onlyTo: (endpoint) => html`Livrezon pou ${endpoint} sèlman.`,
  next: (time) => html`Pwochen tantativ: ${time}`,
  underWay: 'Premye tantativ la pral kòmanse.',
  dropped:
    'Tout tantativ yo echwe, e nou p ap eseye ankò pou kont nou. Livre li ankò lè w fin rezoud pwoblèm nan.',
  cancelled: 'Anile paske yo dezaktive oswa retire endpoint la.',
  history: {
    title: 'Dènye 24 èdtan yo',
    table: 'Lè pa lè',
    hour: 'Lè (UTC)',
    cut: 'Se sèlman 10 000 livrezon ki pi resan yo ki konte.',
  },
};
