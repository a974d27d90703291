import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const tools: Words['tools'] = {
  title: 'Zouti tès',
  missing: (scopes) =>
    html`Zouti sa a bezwen yon kle ki gen scope ${scopes}, e pa w la pa genyen l. Mande yon kle tès ki genyen l, epi konekte ak li.`,
  call: 'Menm bagay la ak yon apèl API',
  user: 'Itilizatè tès',
  refused: 'Sa pa fèt. API a reponn:',
  passport: {
    title: 'Paspò',
    intro: 'Sa yon itilizatè montre w epi ou fè verifye. Li dire 5 minit.',
    state: 'Eta',
    valid: 'Valab',
    expired: 'Li fini deja',
    mint: 'Fè yon paspò',
    token: 'Jeton paspò a',
    once: (time) =>
      html`Nou montre l yon sèl fwa, epi li fini ${time}. Voye li kòm <code>token</code> bay <code>POST /v1/partner/verify</code>.`,
    onceExpired: html`Nou montre l yon sèl fwa. Voye li kòm <code>token</code> bay <code>POST /v1/partner/verify</code>, ki reponn <code>token_expired</code>.`,
  },
  payment: {
    title: 'Peman',
    intro: 'Yon transfè bay yon itilizatè tès. Pa gen lajan ki deplase.',
    outcome: 'Rezilta',
    outcomes: {
      completed: 'Reyisi (montan ,00)',
      failed: 'Echwe (montan ,01)',
      pending: 'Rete ap tann (montan ,02)',
    },
    amount: 'Montan, san santim yo',
    amountHint: 'Rezilta a ajoute santim yo: se yo ki deside sa yon peman tès ap bay.',
    amountWrong: 'Ekri chif sèlman, tankou 125, e pa zewo lè rezilta a se “Reyisi”.',
    currency: 'Lajan',
    reference: 'Referans (si w vle)',
    referenceHint: 'Non ou menm ou bay peman an. Li rete pou yon sèl peman pou tout tan.',
    pay: 'Fè peman an',
    one: 'Peman tès',
    facts: 'Detay',
    status: 'Eta',
    states: { pending: 'Ap tann', completed: 'Reyisi', failed: 'Echwe' },
    total: 'Montan',
    recipient: 'Moun k ap resevwa',
    time: 'Kòmanse',
    failure: 'Rezon',
    id: 'Idantifyan transfè a',
    event: 'Evènman',
    noEventYet: 'Yon evènman anonse fen yon peman. Peman sa a ap tann toujou.',
    noEvent: 'Evènman li pa nan sa ki pi resan yo. Chèche li nan lis evènman yo.',
    another: 'Fè yon lòt peman',
  },
  kyc: {
    title: 'Verifikasyon idantite',
    intro:
      'Chanje eta verifikasyon idantite yon itilizatè tès. Kle tès ou yo wè sa nan rechèch ak verifikasyon, epi endpoint tès ou yo resevwa evènman kyc.updated. Apre 7 jou, tout bagay tounen jan l te ye nan kòmansman.',
    status: 'Nouvo eta',
    states: { approved: 'Apwouve', pending: 'Ap fèt', rejected: 'Pa apwouve' },
    now: 'Kounye a',
    tier: (tier) => html`nivo ${tier}`,
    changed: 'se ou ki chanje l',
    change: 'Chanje',
    reset: 'Remete tout itilizatè yo',
  },
  signature: {
    title: 'Tès siyati a',
    intro:
      'Voye de evènman tès alafwa bay yon endpoint: youn siyen ak sekrè li, lòt la gen yon fo siyati. Yon bon endpoint aksepte premye a ak 2xx epi li refize dezyèm nan ak 4xx. Okenn nan yo pa parèt nan lis la, e nou pa voye okenn ankò.',
    endpoint: 'Endpoint pou teste',
    none: 'Poko gen endpoint ki aktive.',
    check: 'Teste',
    verdicts: {
      right: 'Endpoint sa a verifye siyati yo: li aksepte bon evènman an, epi li refize fo a.',
      takes_forged:
        'Endpoint sa a aksepte fo evènman an. Nenpòt moun ki konnen adrès li ka voye evènman ba li: verifye siyati a, epi refize ak 400 sa ki pa koresponn.',
      fails_at_forged:
        'Endpoint sa a aksepte bon evènman an, li pa aksepte fo a, men li pa refize l ak 4xx non plis. Reponn 400 lè yon siyati pa koresponn.',
      refuses_genuine:
        'Endpoint sa a pa aksepte evènman ki byen siyen an. Konpare sekrè a, epi verifye sou oktè orijinal kò a.',
      no_answer: 'Endpoint sa a pa reponn evènman ki byen siyen an, kidonk nou pa ka di anyen sou li.',
    },
    genuine: 'Byen siyen',
    forged: 'Fo siyati',
    answer: (name) => `Repons pou: ${name}`,
  },
};
