import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';
import { deliveries } from './deliveries.ts';
import { endpoints, recovery, secrets } from './endpoints.ts';
import { events, trigger } from './events.ts';
import { failures } from './failures.ts';
import { firstRun } from './first-run.ts';
import { operators } from './operators.ts';
import { requests } from './requests.ts';
import { snippets } from './snippets.ts';
import { tools } from './tools.ts';

/** The words of the sandbox console in Haitian Creole. */
export const creole: Words = {
  title: 'Konsòl tès',
  testMode: 'Mòd tès',
  signOut: 'Dekonekte',
  back: 'Evènman ak endpoint yo',
  cancel: 'Anile',
  show: 'Montre',
  filter: 'Filtre',
  nothingFits: 'Anyen pa koresponn ak filt sa a.',
  live: 'An dirèk',
  lost: 'Pa gen koneksyon, n ap eseye ankò',
  reload: 'Rechaje paj la pou w wè sa ki nouvo',
  notices: {
    signed_out: 'Ou dekonekte.',
    ended: 'Nou dekonekte w: sesyon an fini, oswa kle a pa louvri konsòl la ankò.',
    sent: 'Evènman an sou wout.',
    redelivered: 'Evènman an sou wout ankò.',
    no_match: 'Nou pa voye anyen: pa gen endpoint aktive ki aksepte kalite evènman sa a.',
    disabled: 'Nou pa voye anyen: endpoint la dezaktive. Aktive li anvan.',
    gone: 'Nou pa chanje anyen: endpoint la pa egziste ankò.',
    endpoint_added: 'Endpoint la anrejistre.',
    endpoint_enabled: 'Endpoint la aktive.',
    endpoint_disabled: 'Endpoint la dezaktive, epi sa ki t ap tann pou li anile.',
    endpoint_removed: 'Endpoint la retire, epi sa ki t ap tann pou li anile.',
    endpoint_saved: 'Endpoint la sove.',
    secret_changed: 'Nouvo sekrè a siyen apati pwochen tantativ la.',
    kyc_changed: 'Verifikasyon idantite a chanje, epi nou avèti endpoint tès ou yo.',
    kyc_same: 'Anyen pa chanje: verifikasyon idantite a te deja konsa.',
    kyc_reset: 'Tout itilizatè tès yo tounen jan yo te ye nan kòmansman.',
    paid: 'Peman an kòmanse: men sa ki rive li.',
  },
  signIn: {
    intro: (prefix) =>
      html`Konekte ak yon kle API tès: li kòmanse ak ${prefix} epi li gen scope <code>webhooks</code>.`,
    key: 'Kle API tès',
    submit: 'Konekte',
    refused: (prefix) =>
      html`Kle sa a pa louvri konsòl la. Se kle tès sèlman ki louvri li: yo kòmanse ak ${prefix}, yo gen scope <code>webhooks</code>, yo an vigè, yo pa mande demann ki siyen, epi yo soti nan yon adrès yo otorize.`,
    tooMany: 'Te gen twòp tantativ ki soti nan adrès ou. Tanpri tann yon minit.',
    wrongKey: 'Kle sa a pa aksepte.',
    promise: 'Navigatè ou pa kenbe kle a. W ap dekonekte apre 8 èdtan.',
  },
  endpoints,
  trigger,
  events,
  deliveries,
  failures,
  requests,
  secrets,
  recovery,
  tools,
  firstRun,
  snippets,
  operators,
};
