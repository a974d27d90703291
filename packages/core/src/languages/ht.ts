import type { Texts } from './texts.ts';

/** Haitian Creole. */
export const ht: Texts = {
  signedInAs: 'Konekte kòm',
  consent: {
    title: 'Otorize {client}?',
    ask: 'mande aksè nan kont {service} ou',
    switchAccount: 'Sèvi ak yon lòt kont',
    scopes: 'Si w otorize li, {client} ap kapab:',
    onlyNew: 'Li mande plis pase sa w te otorize anvan. Sa ki ajoute yo make “nouvo”.',
    newBadge: 'Nouvo',
    noPassword: '{client} pa janm wè modpas ou.',
    withdraw: 'Ou ka retire aksè sa a nenpòt lè nan “Aplikasyon ki konekte”.',
    sentBack: 'Nan tou de ka yo, w ap retounen sou {host}',
    approve: 'Otorize',
    deny: 'Refize',
    terms: 'Kondisyon aplikasyon an',
    privacy: 'Konfidansyalite aplikasyon an',
  },
  apps: {
    title: 'Aplikasyon ki konekte',
    intro: 'Aplikasyon sa yo ka wè kèk pati nan kont {service} ou paske ou te otorize yo.',
    since: 'Otorize depi {date}',
    changed: 'Dènye chanjman: {date}',
    remove: 'Retire aksè a',
    removeOf: 'pou {client}',
    removed: 'Aplikasyon an pa gen aksè nan kont ou ankò.',
    emptyTitle: 'Pa gen aplikasyon ki konekte',
    empty:
      'Lè w otorize yon aplikasyon wè kont {service} ou, l ap parèt isit la, epi w ap ka retire li ankò.',
  },
  cancel: {
    title: 'Tounen san w pa konekte?',
    text: 'Ou pa konekte, epi {client} pa jwenn okenn aksè.',
    back: 'Tounen nan {client}',
  },
  logout: {
    title: 'Dekonekte?',
    ask: 'Ou pral dekonekte sou {service}.',
    askedBy: '{client} mande pou dekonekte w sou {service}.',
    leave: 'Dekonekte',
    stay: 'Rete konekte',
    left: { title: 'Ou dekonekte', advice: 'Ou pa konekte sou {service} ankò. Ou ka fèmen paj sa a.' },
    stayed: { title: 'Ou toujou konekte', advice: 'Anyen pa chanje sou {service}. Ou ka fèmen paj sa a.' },
  },
  errors: {
    unknown_client: {
      title: 'Nou pa konnen aplikasyon sa a',
      advice:
        'Aplikasyon ki voye w isit la pa anrejistre lakay nou, oswa yo fèmen li. Retounen nan aplikasyon an, epi di moun ki fè li yo si sa rive ankò.',
    },
    redirect_mismatch: {
      title: 'Nou kanpe pou pwoteje w',
      advice:
        'Aplikasyon an mande nou voye w nan yon adrès li pa anrejistre lakay nou, kidonk nou pa ale pi lwen. Nou pa pataje anyen. Tanpri di moun ki fè aplikasyon an.',
    },
    invalid_request: {
      title: 'Aplikasyon an fè yon erè',
      advice:
        'Aplikasyon an voye ban nou yon demann nou pa ka konprann. Retounen nan aplikasyon an epi eseye ankò; si sa pa mache, di moun ki fè li yo.',
    },
    expired: {
      title: 'Paj sa a pa valab ankò',
      advice:
        'Li te rete louvri twò lontan, oswa ou te deja reponn. Retounen nan aplikasyon an epi rekòmanse.',
    },
    no_cookie: {
      title: 'Navigatè ou pa voye cookie nou an',
      advice:
        'Yon koneksyon kontinye sèlman nan navigatè kote li te kòmanse a, epi li bezwen yon cookie. Aksepte cookie sit sa a nan paramèt navigatè ou, apre sa retounen nan aplikasyon an epi rekòmanse.',
    },
    csrf: {
      title: 'Nou pa t kapab verifye repons ou',
      advice:
        'Pou sekirite w, nou pa chanje anyen. Asire w navigatè ou aksepte cookie yo, apre sa retounen, rechaje paj la epi eseye ankò.',
    },
    not_found: {
      title: 'Pa gen paj isit la',
      advice: 'Tcheke adrès la, oswa retounen nan aplikasyon an epi rekòmanse.',
    },
    rate_limited: {
      title: 'Twòp tantativ',
      advice: 'Tanpri tann yon minit, apre sa eseye ankò.',
    },
    unavailable: {
      title: 'N ap tounen talè',
      advice: 'Sèvis la pa ka reponn kounye a. Tanpri eseye ankò nan kèk minit.',
    },
    internal: {
      title: 'Gen yon pwoblèm bò kote pa nou',
      advice: 'Tanpri eseye ankò. Si sa pa mache, kontakte nou epi ban nou referans ki anba a.',
    },
    method: {
      title: 'Paj sa a pa ka louvri konsa',
      advice: 'Retounen nan aplikasyon an epi rekòmanse.',
    },
  },
  technical: 'Pou devlopè aplikasyon an',
  reference: 'Referans:',
  months: [
    ...['janvye', 'fevriye', 'mas', 'avril', 'me', 'jen'],
    ...['jiyè', 'out', 'septanm', 'oktòb', 'novanm', 'desanm'],
  ],
};
