import type { Words } from '../en/index.ts';

/** By the `error` of an attempt; `status` has several. */
export const failures: Words['failures'] = {
  target_refused: {
    what: 'Adrès la pa otorize, kidonk nou pa voye anyen.',
    advice:
      'Non sèvè a dwe bay adrès, epi adrès piblik sèlman. Tcheke anrejistreman DNS li yo; pandan w ap devlope, sèvi ak yon tinèl ki gen yon adrès https piblik.',
  },
  timeout: {
    what: 'Pa gen repons nan 10 segonn.',
    advice:
      'Reponn 2xx depi evènman an anrejistre, epi fè travay la apre. Si anyen pa rive nan sèvè ou menm, tcheke firewall li.',
  },
  connection_refused: {
    what: 'Pa gen anyen k ap koute nan adrès sa a.',
    advice: 'Demare sèvè a, epi konpare pò li ak pò ki nan URL la.',
  },
  connection_failed: {
    what: 'Pa gen chemen pou rive nan adrès sa a.',
    advice: 'Tcheke si anrejistreman DNS yo mennen nan yon sèvè ki sou entènèt la.',
  },
  connection_reset: {
    what: 'Koneksyon an fèmen anvan yon repons rive.',
    advice: 'Chèche yon pàn nan jounal sèvè ou, oswa yon proxy devan li ki abandone twò bonè.',
  },
  certificate: {
    what: 'Nou pa ka fè sètifika TLS la konfyans.',
    advice:
      'Bay yon sètifika otorite piblik ki an vigè, ki kouvri non sèvè sa a epi ki vini ak sètifika entèmedyè li yo.',
  },
  tls: {
    what: 'Pa t gen koneksyon an sekirite ki fèt.',
    advice: 'Tcheke si pò sa a pale TLS 1.2 oswa pi resan: http senp pa mache isit la.',
  },
  protocol: {
    what: 'Repons lan pa t bon HTTP/1.1.',
    advice: 'Tcheke si pò a se pò yon sèvè web, epi si antèt repons li yo piti.',
  },
  redirect: {
    what: 'Li reponn ak yon redireksyon, e nou pa swiv li.',
    advice: 'Anrejistre dènye adrès la, souvan sa ki gen oswa ki pa gen yon ba nan fen an.',
  },
  status_denied: {
    what: 'Li refize demann lan.',
    advice:
      'Pi souvan, se siyati a ki pa t koresponn: verifye li sou oktè orijinal kò a, ak sekrè endpoint sa a. Pa mande moun konekte sou chemen sa a.',
  },
  status_missing: {
    what: 'Li pa aksepte yon POST sou chemen sa a.',
    advice: 'Konpare chemen ki nan URL la ak wout aplikasyon ou.',
  },
  status_busy: {
    what: 'Li di te gen twòp demann.',
    advice: 'Pa mete chemen sa a nan limit demann ou yo. Pwochen tantativ la ka pase pou kont li.',
  },
  status_server: {
    what: 'Sèvè ou tonbe anpàn pandan l ap trete evènman an.',
    advice: 'Gade repons ki anba a ak jounal sèvè ou nan lè sa a.',
  },
  status_other: {
    what: 'Li pa reponn ak yon estati 2xx.',
    advice: 'Reponn nenpòt estati ant 200 ak 299 lè evènman an anrejistre. Repons ki anba a ka di plis.',
  },
  aborted: {
    what: 'Tantativ la koupe bò kote pa nou.',
    advice: 'Ou pa gen anyen pou w fè: sèvè ou ka te wè evènman an, e nou voye li ankò.',
  },
  internal: {
    what: 'Gen yon pwoblèm bò kote pa nou.',
    advice: 'Ou pa gen anyen pou w fè: n ap eseye ankò. Di nou si sa rive souvan.',
  },
  unknown: { what: 'Tantativ la echwe.', advice: 'Repons ki anba a ka di plis.' },
};
